// Call frame programs written by hand: what the compilers' are made of, and broken ones.
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <vector>

#include "allocator/capture/cfa_program.h"

namespace cuheap::capture {
namespace {

using Kind = UnwindRule::Kind;
using Place = UnwindRule::Place;

constexpr std::uint64_t kBegin = 0x1000;

DwarfReader ReaderOf(const std::vector<std::uint8_t>& bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(bytes.data());
  return {begin, begin + bytes.size()};
}

// What every function starts with: CFA = rsp + 8, return address at CFA - 8.
const std::vector<std::uint8_t> kEntry = {0x0c, 7, 8, 0x90, 1};

UnwindRule RuleOf(const std::vector<std::uint8_t>& own, std::uint64_t offset = 100,
                  const std::vector<std::uint8_t>& initial = kEntry) {
  FrameDescription function;
  function.begin = kBegin;
  function.end = kBegin + 1000;
  function.data_alignment = -8;
  function.initial = ReaderOf(initial);
  function.own = ReaderOf(own);
  return RunCfaProgram(function, kBegin + offset);
}

void ExpectRule(const UnwindRule& rule, Kind kind, int cfa, Place rbp, int rbp_at) {
  EXPECT_EQ(rule.kind, kind);
  EXPECT_EQ(rule.cfa_offset, cfa);
  EXPECT_EQ(rule.rbp.place, rbp);
  EXPECT_EQ(rule.rbp.offset, rbp_at);
}

TEST(CfaProgram, AFunctionBeginsWithItsReturnAddressOnTop) {
  ExpectRule(RuleOf({}), Kind::kFromRsp, 8, Place::kKept, 0);
}

TEST(CfaProgram, RulesHoldFromTheirPlaceOn) {
  // push rbp at +1, mov rsp, rbp at +4
  const std::vector<std::uint8_t> own = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6};
  ExpectRule(RuleOf(own, 0), Kind::kFromRsp, 8, Place::kKept, 0);
  ExpectRule(RuleOf(own, 1), Kind::kFromRsp, 16, Place::kFromCfa, -16);
  ExpectRule(RuleOf(own, 3), Kind::kFromRsp, 16, Place::kFromCfa, -16);
  ExpectRule(RuleOf(own, 4), Kind::kFromRbp, 16, Place::kFromCfa, -16);
}

TEST(CfaProgram, ARememberedRowComesBack) {
  const std::vector<std::uint8_t> own = {0x41, 0x0e, 32, 0x86, 2,    0x0a,
                                         0x41, 0x0e, 8,  0xc6, 0x41, 0x0b};
  ExpectRule(RuleOf(own, 2), Kind::kFromRsp, 8, Place::kKept, 0);
  ExpectRule(RuleOf(own, 3), Kind::kFromRsp, 32, Place::kFromCfa, -16);
}

TEST(CfaProgram, TheRuleOfAPltEntryDependsOnTheInstruction) {
  // CFA = rsp + 8 + ((rip & 15) >= 11) * 8
  const std::vector<std::uint8_t> own = {0x0f, 11,   0x77, 8,    0x80, 0,   0x3f,
                                         0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
  EXPECT_EQ(RuleOf(own, 10).cfa_offset, 8);
  EXPECT_EQ(RuleOf(own, 11).cfa_offset, 16);
  EXPECT_EQ(RuleOf(own, 11).kind, Kind::kFromRsp);
}

TEST(CfaProgram, ARealignedFrameIsFoundThroughItsSavedBase) {
  // CFA = *(rbp - 8), rbp at *rbp, rbx at rbp - 40
  const std::vector<std::uint8_t> own = {0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6,   2,
                                         0x76, 0, 0x10, 3,    2,    0x76, 0x58};
  const UnwindRule rule = RuleOf(own);
  ExpectRule(rule, Kind::kAtRbp, -8, Place::kFromRbp, 0);
  EXPECT_EQ(rule.rbx.place, Place::kFromRbp);
  EXPECT_EQ(rule.rbx.offset, -40);
}

TEST(CfaProgram, TheOutermostFrameHasNoReturnAddress) {
  EXPECT_EQ(RuleOf({0x07, 16}).kind, Kind::kEnd);
}

TEST(CfaProgram, WhatNoCompilerMakesEndsTheWalk) {
  EXPECT_EQ(RuleOf({0x0c, 12, 8}).kind, Kind::kEnd);          // CFA from r12
  EXPECT_EQ(RuleOf({0x90, 3}).kind, Kind::kEnd);              // return address elsewhere
  EXPECT_EQ(RuleOf({0x0b}).kind, Kind::kEnd);                 // nothing was remembered
  EXPECT_EQ(RuleOf({0x3f}).kind, Kind::kEnd);                 // unknown instruction
  EXPECT_EQ(RuleOf({0x0c, 7}).kind, Kind::kEnd);              // cut short
  EXPECT_EQ(RuleOf({0x0f, 100, 0x77}).kind, Kind::kEnd);      // expression longer than the program
  EXPECT_EQ(RuleOf({0x0f, 2, 0x06, 0x06}).kind, Kind::kEnd);  // expression without operands
  EXPECT_EQ(RuleOf({}, 0, {}).kind, Kind::kEnd);              // no rule at all
}

TEST(CfaProgram, RandomProgramsNeverCrash) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    std::vector<std::uint8_t> own(random() % 24);
    for (auto& byte : own)
      byte = static_cast<std::uint8_t>(random() % 3 == 0 ? random() % 0x17 : random());
    const UnwindRule rule = RuleOf(own, random() % 300);
    EXPECT_NE(rule.kind, Kind::kNone);
    EXPECT_EQ(UnwindRule::Unpack(rule.Pack()).Pack(), rule.Pack());
  }
}

TEST(UnwindRule, SurvivesPacking) {
  for (const int offset : {8, 16, 4096, 1 << 20, -8}) {
    const UnwindRule rule{Kind::kFromRbp, offset, {Place::kFromCfa, -16}, {Place::kFromRbp, -4096}};
    const UnwindRule back = UnwindRule::Unpack(rule.Pack());
    ExpectRule(back, Kind::kFromRbp, offset, Place::kFromCfa, -16);
    EXPECT_EQ(back.rbx.place, Place::kFromRbp);
    EXPECT_EQ(back.rbx.offset, -4096);
  }
}

TEST(UnwindRule, OneThatDoesNotFitEndsTheWalk) {
  EXPECT_EQ(UnwindRule::Unpack(UnwindRule{Kind::kFromRsp, 12, {}, {}}.Pack()).kind, Kind::kEnd);
  EXPECT_EQ(UnwindRule::Unpack(UnwindRule{Kind::kFromRsp, 1 << 30, {}, {}}.Pack()).kind,
            Kind::kEnd);
  EXPECT_EQ(
      UnwindRule::Unpack(UnwindRule{Kind::kFromRsp, 8, {Place::kFromCfa, 1 << 20}, {}}.Pack()).kind,
      Kind::kEnd);
}

}  // namespace
}  // namespace cuheap::capture
