// Any bytes as instructions for the best fit, beside its naive model. Ends at the first difference,
// with the instruction's number.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/core/best_fit_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cuheap::core::BestFitModel;
  constexpr std::size_t kBytes = 5;
  constexpr std::size_t kMostInstructions = 400;
  if (size == 0) return 0;
  std::vector<BestFitModel::Instruction> instructions;
  for (std::size_t at = 1; at + kBytes <= size && instructions.size() < kMostInstructions;
       at += kBytes) {
    BestFitModel::Instruction instruction{.what = data[at], .which = 0, .amount = 0};
    std::memcpy(&instruction.which, data + at + 1, 2);
    std::memcpy(&instruction.amount, data + at + 3, 2);
    instructions.push_back(instruction);
  }
  // The first byte says how full the tables get.
  BestFitModel model(2u + data[0], 2u + data[0] / 8u);
  std::string failure = model.Run(instructions);
  if (failure.empty()) failure = model.End();
  if (failure.empty()) return 0;
  std::fprintf(stderr, "best fit: %s\n", failure.c_str());
  std::abort();
}
