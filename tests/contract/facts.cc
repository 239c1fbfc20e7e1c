#include "tests/contract/facts.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>

namespace cuheap::contract {
namespace {

struct Fact {
  std::string_view name;
  const char* question;
  const char* simulated;
  std::string (*answer)();
};

constexpr Fact kFacts[] = {
#define FACT(name, question, answer) {#name, question, answer, Answer_##name},
#include "tests/contract/facts.def"
#undef FACT
};

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) > 128) {  // as the shell says it
    return "killed by signal " + std::to_string(WEXITSTATUS(status) - 128);
  }
  return "ended with status " + std::to_string(WEXITSTATUS(status)) + " without an answer";
}

}  // namespace

int PrintFact(std::string_view name) {
  for (const Fact& fact : kFacts) {
    if (fact.name != name) continue;
    std::printf("%.*s\t%s\n", static_cast<int>(name.size()), name.data(), fact.answer().c_str());
    std::fflush(stdout);
    return 0;
  }
  return 1;
}

std::string AskInChild(std::string_view name) {
  const std::string command = "exec /proc/" + std::to_string(getpid()) + "/exe --fact " +
                              std::string(name) + " 2>/dev/null";
  std::FILE* const child = popen(command.c_str(), "r");
  if (child == nullptr) return "cannot be asked";
  std::string output;
  char buffer[512];
  while (std::fgets(buffer, sizeof buffer, child) != nullptr) output += buffer;
  const int status = pclose(child);
  const std::string start = std::string(name) + "\t";
  const std::size_t found = output.find(start);
  if (found == std::string::npos) return HowItEnded(status);
  const std::size_t from = found + start.size();
  return output.substr(from, output.find('\n', from) - from);
}

int PrintDifferences() {
  int differences = 0;
  for (const Fact& fact : kFacts) {
    const std::string answer = AskInChild(fact.name);
    if (answer == fact.simulated) continue;
    if (differences++ == 0) std::printf("\n%-78s | %-46s | this device\n", "fact", "simulated");
    std::printf("%-78s | %-46s | %s\n", fact.question, fact.simulated, answer.c_str());
  }
  if (differences == 0) std::printf("\nno fact differs from the simulated device's\n");
  return differences;
}

// One test for each fact, so that a change of the simulation shows which.
class Facts : public ::testing::TestWithParam<Fact> {};

TEST_P(Facts, AreTheSimulatedDevicesOwn) {
  const std::string answer = AskInChild(GetParam().name);
  if (answer == kNotUnderThisClock) GTEST_SKIP() << answer;
  EXPECT_EQ(GetParam().simulated, answer) << GetParam().question;
}

INSTANTIATE_TEST_SUITE_P(Device, Facts, ::testing::ValuesIn(kFacts),
                         [](const auto& fact) { return std::string(fact.param.name); });

}  // namespace cuheap::contract
