// SPDX-License-Identifier: BSD-3-Clause
// rendezvous.reference.cpu: the kind's suite; two members as threads, over many epochs; a member that does not come.
#include <array>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "sextant/plugin/kinds/rendezvous.h"
#include "tests/plugins/conformance.hpp"

namespace plugin_test {
namespace {

constexpr int members = 2;
constexpr std::int64_t room = 64;

const sxt_kernel &reference() { return find_kernel(load_own("exchange-reference"), "rendezvous.reference.cpu"); }

sxt_rendezvous_query query_of(int of = members) {
  sxt_rendezvous_query query{};
  query.q = {{sizeof query, SXT_KIND_RENDEZVOUS}, 1, 0, SXT_F64};
  query.members = of;
  return query;
}

// Memory of two members, and the arguments that all steps of one share.
struct Rendezvous {
  Rendezvous() {
    for (int m = 0; m < members; ++m) {
      packets[m].assign(SXT_RENDEZVOUS_WORDS(members), 0);
      places[m] = packets[m].data();
      squares[m].assign(room, -1);
    }
  }
  sxt_rendezvous_args args(int own, std::int32_t step, double patience = 20) {
    sxt_rendezvous_args a{};
    a.h = {sizeof a, SXT_KIND_RENDEZVOUS};
    a.step = step, a.members = members, a.own = own;
    a.patience = patience;
    a.control = &control[own];
    a.dots = dots[own].data();
    a.packets = places.data();
    a.alpha = &alpha[own], a.beta = &beta[own];
    a.report = &report[own];
    a.squares = squares[own].data();
    a.room = room;
    return a;
  }
  std::array<std::vector<std::uint64_t>, members> packets;
  std::array<std::uint64_t *, members> places{};
  std::array<std::vector<double>, members> squares;
  std::array<std::array<double, 3>, members> dots{};
  std::array<sxt_rendezvous_control, members> control{};
  std::array<sxt_rendezvous_report, members> report{};
  std::array<double, members> alpha{}, beta{};
};

TEST(RendezvousKind, EveryRendezvousPassesTheSuite) {
  const Plugins plugins;
  const sxt_kind *kind = plugins.kind(SXT_KIND_RENDEZVOUS);
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(check_kernel(plugins, *kind, reference()).run, static_cast<int>(kind->n_cases));
}

TEST(RendezvousKind, TheSuiteRejectsWrongRendezvous) {
  const Plugins plugins;
  const sxt_kind *kind = plugins.kind(SXT_KIND_RENDEZVOUS);
  ASSERT_NE(kind, nullptr);
  const auto error_of = [&](std::uint64_t i, auto &&spoil) {
    Case got(*kind, i), want(*kind, i);
    Ready ready(reference(), got.value.query, candidate_of(reference(), got.value.query, 1));
    auto &args = *reinterpret_cast<sxt_rendezvous_args *>(got.value.args);
    EXPECT_EQ(ready.run(want.value.args), SXT_OK);
    EXPECT_EQ(ready.run(&args.h), SXT_OK);
    spoil(args);
    char text[256] = "";
    sxt_message message{text, sizeof text};
    double error = 0;
    EXPECT_EQ(kind->compare(&got.value, &want.value, &error, &message), SXT_OK);
    return error;
  };
  constexpr std::uint64_t later_step = 5, values_given = 4 * 12 + 1;  // of f64
  EXPECT_LE(error_of(later_step, [](auto &) {}), 1);
  EXPECT_GT(error_of(later_step, [](auto &a) { *static_cast<double *>(a.alpha) *= 1 + 1e-12; }), 1);
  EXPECT_GT(error_of(later_step, [](auto &a) { *static_cast<double *>(a.beta) += 1e-12; }), 1);
  EXPECT_GT(error_of(later_step, [](auto &a) { ++a.control->epoch; }), 1);
  EXPECT_GT(error_of(later_step, [](auto &a) { a.report->ended = SXT_RENDEZVOUS_MET; }), 1);
  EXPECT_GT(error_of(later_step, [](auto &a) { a.squares[11 % 8] = 1; }), 1);
  EXPECT_GT(error_of(values_given, [](auto &a) { static_cast<double *>(a.links[1].to)[3] = 0; }), 1);
  EXPECT_GT(error_of(values_given, [](auto &a) { *a.flags[1] = 6; }), 1);
}

// Whole numbers: gamma = 2 + 4, delta = 3 + 5; then the sums of other ones.
TEST(RendezvousReference, TwoMembersFindTheSameScalars) {
  const sxt_rendezvous_query query = query_of();
  Ready ready(reference(), &query.q, candidate_of(reference(), &query.q, 1));
  Rendezvous rendezvous;
  constexpr int epochs = 40;
  const auto member = [&](int own) {
    sxt_rendezvous_args begin = rendezvous.args(own, SXT_RENDEZVOUS_BEGIN);
    begin.tolerance = 0, begin.last = epochs, begin.restart = 1;
    ready.run(&begin.h);
    for (int k = 0; k < epochs; ++k) {
      rendezvous.dots[own] = {3.0 + 2 * own, 2.0 + 2 * own, 0};
      sxt_rendezvous_args step = rendezvous.args(own, SXT_RENDEZVOUS_STEP);
      ready.run(&step.h);
    }
  };
  std::thread other(member, 1);
  member(0);
  other.join();
  for (int own = 0; own < members; ++own) {
    EXPECT_EQ(rendezvous.report[own].k, epochs - 1);
    EXPECT_EQ(rendezvous.report[own].ended, SXT_RENDEZVOUS_RUNNING);
    EXPECT_EQ(rendezvous.squares[own][0], 6);
    EXPECT_EQ(rendezvous.squares[own][epochs - 1], 6);
    EXPECT_EQ(rendezvous.control[own].epoch, static_cast<std::uint64_t>(epochs));
    EXPECT_EQ(rendezvous.control[own].k, epochs);
  }
  EXPECT_EQ(rendezvous.alpha[0], rendezvous.alpha[1]);
  EXPECT_EQ(rendezvous.alpha[0], 6.0 / 8);  // r'r stays, so that p'A p cancels: the direction is begun anew
  EXPECT_EQ(rendezvous.beta[0], 0);
}

TEST(RendezvousReference, FirstStepIsAlongTheGradient) {
  const sxt_rendezvous_query query = query_of();
  Ready ready(reference(), &query.q, candidate_of(reference(), &query.q, 1));
  Rendezvous rendezvous;
  std::thread other([&] {
    rendezvous.dots[1] = {5, 4, 0};
    sxt_rendezvous_args begin = rendezvous.args(1, SXT_RENDEZVOUS_BEGIN),
                        step = rendezvous.args(1, SXT_RENDEZVOUS_STEP);
    begin.last = 9, begin.restart = 1;
    ready.run(&begin.h), ready.run(&step.h);
  });
  rendezvous.dots[0] = {3, 2, 0};
  sxt_rendezvous_args begin = rendezvous.args(0, SXT_RENDEZVOUS_BEGIN), step = rendezvous.args(0, SXT_RENDEZVOUS_STEP);
  begin.last = 9, begin.restart = 1;
  ready.run(&begin.h), ready.run(&step.h);
  other.join();
  EXPECT_EQ(rendezvous.alpha[0], 6.0 / 8);
  EXPECT_EQ(rendezvous.beta[0], 0);
  EXPECT_EQ(rendezvous.alpha[1], rendezvous.alpha[0]);
}

// After the tolerance was met the direction has its history still, in the control and in p: the steps that change
// nothing turn p over, and every second one turns it back.
TEST(RendezvousReference, GoesOnAfterATolerance) {
  const sxt_rendezvous_query query = query_of(1);
  Ready ready(reference(), &query.q, candidate_of(reference(), &query.q, 1));
  Rendezvous rendezvous;
  const auto run = [&](std::int32_t step, double tolerance, std::array<double, 3> dots) {
    sxt_rendezvous_args args = rendezvous.args(0, step);
    args.members = 1;
    args.last = 9, args.restart = rendezvous.control[0].k == 0, args.tolerance = tolerance;
    rendezvous.dots[0] = dots;
    return ready.run(&args.h);
  };
  EXPECT_EQ(run(SXT_RENDEZVOUS_BEGIN, 1, {}), SXT_OK);
  EXPECT_EQ(run(SXT_RENDEZVOUS_STEP, 1, {8, 4, 0}), SXT_OK);
  EXPECT_EQ(run(SXT_RENDEZVOUS_STEP, 1, {3, 1, 0}), SXT_OK);
  EXPECT_EQ(rendezvous.report[0].ended, SXT_RENDEZVOUS_MET);
  EXPECT_EQ(rendezvous.alpha[0], 0);
  EXPECT_EQ(rendezvous.beta[0], -1);
  EXPECT_EQ(run(SXT_RENDEZVOUS_BEGIN, 0.5, {}), SXT_OK);
  EXPECT_EQ(run(SXT_RENDEZVOUS_STEP, 0.5, {3, 1, 0}), SXT_OK);
  EXPECT_EQ(rendezvous.report[0].ended, SXT_RENDEZVOUS_RUNNING);
  EXPECT_EQ(rendezvous.beta[0], 1.0 / 4);
  EXPECT_EQ(rendezvous.alpha[0], 1 / (3 - 0.25 / 0.5));
}

// A member that never comes: the other one ends by its clock, and later steps do not wait again.
TEST(RendezvousReference, AMemberAloneEndsByItsClock) {
  const sxt_rendezvous_query query = query_of();
  Ready ready(reference(), &query.q, candidate_of(reference(), &query.q, 1));
  Rendezvous rendezvous;
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  sxt_rendezvous_args begin = rendezvous.args(0, SXT_RENDEZVOUS_BEGIN),
                      step = rendezvous.args(0, SXT_RENDEZVOUS_STEP, 0.2);
  begin.last = 9, begin.restart = 1;
  rendezvous.dots[0] = {3, 2, 0};
  EXPECT_EQ(ready.run(&begin.h), SXT_OK);
  EXPECT_EQ(ready.run(&step.h), SXT_OK);
  EXPECT_EQ(rendezvous.report[0].ended, SXT_RENDEZVOUS_ALONE);
  EXPECT_EQ(rendezvous.alpha[0], 0);
  EXPECT_GE(seconds(), 0.2);
  std::uint64_t flag = 0;
  std::uint64_t *flags[] = {&flag};
  sxt_rendezvous_args await = rendezvous.args(0, SXT_RENDEZVOUS_AWAIT, 100);
  await.count = 1, await.flags = flags;
  step.patience = 100;
  for (int again = 0; again < 3; ++again) {
    EXPECT_EQ(ready.run(&await.h), SXT_OK);
    EXPECT_EQ(ready.run(&step.h), SXT_OK);
  }
  EXPECT_LT(seconds(), 50);
  EXPECT_EQ(rendezvous.report[0].ended, SXT_RENDEZVOUS_ALONE);
}

}  // namespace
}  // namespace plugin_test
