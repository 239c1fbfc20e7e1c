#include "allocator/capture/modules.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "allocator/capture/module_instances.h"
#include "allocator/capture/module_map.h"

namespace cuheap::capture {
namespace {

std::uint64_t AddressOf(const void* symbol) { return reinterpret_cast<std::uint64_t>(symbol); }

std::string PathOf(const Module& module) {
  char path[4096];
  return std::string(ModulePath(module, path));
}

int InThisProgram() { return 1; }

TEST(Modules, FindTheLibraryOfAFunction) {
  Module module;
  ASSERT_TRUE(FindModule(AddressOf(dlsym(RTLD_DEFAULT, "gnu_get_libc_version")), &module));
  EXPECT_NE(PathOf(module).find("libc.so"), std::string::npos);
  EXPECT_FALSE(ModuleBuildId(module).empty());
}

TEST(Modules, NameTheMainProgramByItsFile) {
  Module module;
  ASSERT_TRUE(FindModule(AddressOf(reinterpret_cast<void*>(InThisProgram)), &module));
  EXPECT_EQ(PathOf(module), std::filesystem::canonical("/proc/self/exe"));
  EXPECT_EQ(ModuleBuildId(module).size(), 20u);
}

TEST(Modules, NameALibraryThatWasLoadedByARelativePath) {
  const std::filesystem::path whole(CUHEAP_FRAMES_SMALL);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(whole.parent_path());
  void* const library = dlopen(("./" + whole.filename().string()).c_str(), RTLD_NOW);
  std::filesystem::current_path(before);
  ASSERT_NE(library, nullptr) << dlerror();
  Module module;
  ASSERT_TRUE(FindModule(AddressOf(dlsym(library, "CallThrough")), &module));
  EXPECT_EQ(PathOf(module), std::filesystem::canonical(whole));
  dlclose(library);
}

TEST(Modules, CutAPathThatDoesNotFit) {
  Module module;
  ASSERT_TRUE(FindModule(AddressOf(dlsym(RTLD_DEFAULT, "gnu_get_libc_version")), &module));
  char path[5];
  EXPECT_EQ(ModulePath(module, path).size(), 5u);
}

TEST(Modules, KnowNothingOfDataAndInventedAddresses) {
  Module module;
  const auto heap = std::make_unique<int>(1);
  EXPECT_FALSE(FindModule(AddressOf(heap.get()), &module));
  EXPECT_FALSE(FindModule(0, &module));
  EXPECT_FALSE(FindModule(~std::uint64_t{0}, &module));
}

TEST(Modules, TheMapOfOlderSystemsSaysTheSame) {
  static ModuleMap map;
  Module module;
  EXPECT_FALSE(map.Find(AddressOf(reinterpret_cast<void*>(InThisProgram)), &module));
  for (int round = 0; round < 3; ++round) {
    map.Refresh();
    for (void* const symbol :
         {dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), dlsym(RTLD_DEFAULT, "_dl_find_object"),
          reinterpret_cast<void*>(InThisProgram)}) {
      Module expected;
      ASSERT_TRUE(FindModule(AddressOf(symbol), &expected));
      ASSERT_TRUE(map.Find(AddressOf(symbol), &module));
      EXPECT_EQ(module.map_begin, expected.map_begin);
      EXPECT_EQ(module.load_bias, expected.load_bias);
      EXPECT_EQ(module.link_map, expected.link_map);
      EXPECT_EQ(module.unwind_table, expected.unwind_table);
    }
  }
  EXPECT_FALSE(map.Find(1, &module));
  EXPECT_FALSE(map.Find(~std::uint64_t{0}, &module));
}

TEST(Modules, TheMapForgetsALibraryThatIsGone) {
  static ModuleMap map;
  void* const library = dlopen(CUHEAP_FRAMES_SMALL, RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const std::uint64_t pc = AddressOf(dlsym(library, "CallThrough"));
  map.Refresh();
  Module module;
  EXPECT_TRUE(map.Find(pc, &module));
  dlclose(library);
  EXPECT_FALSE(map.Find(pc, &module));
}

TEST(Modules, ASuccessorAtTheSamePlaceHasANumberOfItsOwn) {
  ModuleInstance first{};
  Module place;
  for (int i = 0; i < 20; ++i) {
    void* const library = dlopen(i % 2 == 0 ? CUHEAP_FRAMES_SMALL : CUHEAP_FRAMES_LARGE, RTLD_NOW);
    ASSERT_NE(library, nullptr);
    Module module;
    ASSERT_TRUE(FindModule(AddressOf(dlsym(library, "CallThrough")), &module));
    const ModuleInstance number = NumberModule(module);
    EXPECT_NE(number, ModuleInstance::kNone);
    EXPECT_EQ(number, NumberModule(module));
    if (i % 2 == 0) {
      first = number;
      place = module;
    } else if (module.map_begin == place.map_begin) {
      EXPECT_NE(number, first);
    }
    dlclose(library);
  }
}

}  // namespace
}  // namespace cuheap::capture
