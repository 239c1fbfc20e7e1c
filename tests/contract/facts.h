// Questions about a device that the documents do not settle. Each is asked in a process of its own,
// because some of the answers are a broken context or a signal.
#pragma once

#include <string>
#include <string_view>

namespace cuheap::contract {

// The answer of the device, asked in this process. Writes "name<TAB>answer" to stdout. 0: done;
// 1: no such fact.
int PrintFact(std::string_view name);

// Runs this program again with --fact. "killed by signal 11" if the question kills it.
std::string AskInChild(std::string_view name);

// Writes the answers that differ from the table's as a table, or "no differences"; how many.
int PrintDifferences();

// The answer to a question about waiting where nothing can be made to wait.
inline constexpr char kNotUnderThisClock[] = "cannot be asked under this clock";

// The answers, a function each.
#define FACT(name, question, answer) std::string Answer_##name();
#include "tests/contract/facts.def"
#undef FACT

}  // namespace cuheap::contract
