#include "tools/trace/symbolizer.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <filesystem>

namespace cuheap::trace {
namespace {

[[gnu::noinline]] int CalledFunction(int value);

// Where this program lies, so that an address in it becomes an offset as a trace has it.
std::uint64_t OffsetOf(const void* address) {
  Dl_info info;
  link_map* map = nullptr;
  EXPECT_NE(dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP), 0);
  return reinterpret_cast<std::uint64_t>(address) - map->l_addr;
}

Module ThisProgram() {
  Module module;
  module.path = std::filesystem::read_symlink("/proc/self/exe").string();
  return module;
}

const void* return_address = nullptr;

[[gnu::always_inline]] inline int InlinedCaller(int value) { return CalledFunction(value) + 1; }
[[gnu::noinline]] int OuterFunction(int value) { return InlinedCaller(value) * 2; }
[[gnu::noinline]] int CalledFunction(int value) {
  return_address = __builtin_return_address(0);
  return value + 1;
}

TEST(SymbolizerTest, InlinedCallsAreFramesOfTheirOwn) {
  OuterFunction(3);
  Symbolizer symbolizer;
  const std::vector<Frame> frames = symbolizer.Resolve(ThisProgram(), OffsetOf(return_address) - 1);
  ASSERT_GE(frames.size(), 2u);
  EXPECT_NE(frames[0].function.find("InlinedCaller"), std::string::npos) << frames[0].function;
  EXPECT_NE(frames[1].function.find("OuterFunction"), std::string::npos) << frames[1].function;
  for (const Frame& frame : frames) {
    EXPECT_NE(frame.file.find("symbolizer_test.cc"), std::string::npos);
    EXPECT_GT(frame.line, 0);
    EXPECT_FALSE(frame.python);
  }
  EXPECT_EQ(frames[0].line + 1, frames[1].line);
}

TEST(SymbolizerTest, WithoutDwarfTheSymbolTableNamesTheFunction) {
  void* function = dlsym(RTLD_DEFAULT, "qsort");
  Dl_info info;
  ASSERT_NE(dladdr(function, &info), 0);
  Module libc;
  libc.path = std::filesystem::canonical(info.dli_fname).string();
  Symbolizer symbolizer;
  const std::vector<Frame> frames = symbolizer.Resolve(libc, OffsetOf(function) + 1);
  EXPECT_NE(frames[0].function.find("qsort"), std::string::npos) << frames[0].function;
}

TEST(SymbolizerTest, AnotherBuildOfTheModuleIsNotUsed) {
  Module module = ThisProgram();
  module.build_id.assign(20, 0xab);
  Symbolizer symbolizer;
  const std::vector<Frame> frames = symbolizer.Resolve(module, 0x1234);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_TRUE(frames[0].function.ends_with("+0x1234")) << frames[0].function;
}

TEST(SymbolizerTest, AMissingModuleGivesItsNameAndTheOffset) {
  Symbolizer symbolizer;
  Module module;
  module.path = "/no/such/libsolver.so";
  EXPECT_EQ(symbolizer.Resolve(module, 0x10)[0].function, "libsolver.so+0x10");
  EXPECT_EQ(symbolizer.Resolve({}, 0x10)[0].function, "?+0x10");
}

}  // namespace
}  // namespace cuheap::trace
