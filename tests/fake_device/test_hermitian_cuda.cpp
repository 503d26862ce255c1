// SPDX-License-Identifier: BSD-3-Clause
// The CUDA kernels for sets of Hermitian systems over the fake libraries, through their tables: what they refuse, what
// their models predict, and that each vendor call may fail without a leak.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fake_device/hermitian_kernels.hpp"

namespace {

using namespace fake_test;

constexpr auto query = [](std::int64_t n, std::int64_t batch, std::int32_t definiteness = SXT_HERMITIAN_DEFINITE) {
  return hermitian_query(n, batch, definiteness);
};

class HermitianCuda : public HermitianKernels {
 protected:
  static const sxt_kernel &kernel(const std::string &method) {
    const std::string folder = method == "pivoted_tile" ? "pivoted" : method;
    return find(("hermitian-" + folder + "-cuda").c_str(), "hermitian." + method + ".cuda");
  }
};

TEST_F(HermitianCuda, RefuseWhatTheyCannotDo) {
  EXPECT_EQ(refusal(kernel("tile"), query(64, 10)), "");
  EXPECT_THAT(refusal(kernel("tile"), query(700, 10)), HasSubstr("order 700 is above"));
  EXPECT_THAT(refusal(kernel("tile"), query(300, 10)), HasSubstr("bytes of shared memory, a block has 232448"));
  EXPECT_THAT(refusal(kernel("tile"), query(64, 10, SXT_HERMITIAN_INDEFINITE)), HasSubstr("only positive definite"));
  EXPECT_THAT(refusal(kernel("tile"), query(64, 10, SXT_HERMITIAN_TRY_DEFINITE)), HasSubstr("only positive definite"));
  EXPECT_EQ(refusal(kernel("block"), query(1700, 10)), "");
  EXPECT_THAT(refusal(kernel("block"), query(20000, 10)), HasSubstr("bytes of shared memory"));
  EXPECT_EQ(refusal(kernel("pivoted"), query(1700, 10, SXT_HERMITIAN_INDEFINITE)), "");
  EXPECT_THAT(refusal(kernel("pivoted"), query(20000, 10, SXT_HERMITIAN_INDEFINITE)),
              HasSubstr("order 20000: one of its columns"));
  EXPECT_THAT(refusal(kernel("pivoted"), query(64, 10)), HasSubstr("only sets called indefinite"));
  EXPECT_EQ(refusal(kernel("pivoted_tile"), query(96, 10, SXT_HERMITIAN_INDEFINITE)), "");
  EXPECT_THAT(refusal(kernel("pivoted_tile"), query(97, 10, SXT_HERMITIAN_INDEFINITE)), HasSubstr("more than 96 rows"));
  EXPECT_THAT(refusal(kernel("pivoted_tile"), query(64, 10)), HasSubstr("only sets called indefinite"));
}

// A launch for each number of rounds, with fewer rows on chip the more systems share a multiprocessor.
TEST_F(HermitianCuda, SmallIndefiniteSystemsTradeRoundsForRowsOnChip) {
  const sxt_machine machine = make_gpu();
  const sxt_hermitian_query few = query(64, 10, SXT_HERMITIAN_INDEFINITE),
                            many = query(64, 8 * machine.units, SXT_HERMITIAN_INDEFINITE);
  const auto of_few = ask_candidates(kernel("pivoted_tile"), &few.q, machine),
             of_many = ask_candidates(kernel("pivoted_tile"), &many.q, machine);
  ASSERT_EQ(of_few.size(), 1u);
  EXPECT_EQ(of_few[0].launch[2], 64);  // rows on chip
  ASSERT_EQ(of_many.size(), 2u);
  EXPECT_EQ(of_many[0].launch[2], 64);
  EXPECT_LT(of_many[1].launch[2], 64);
  EXPECT_GT(of_many[0].terms[3], 1.5 * of_many[1].terms[3]);  // columns that a multiprocessor waits for
  EXPECT_EQ(of_many[0].terms[4], 0);                          // of them in memory
  EXPECT_EQ(of_many[1].terms[4], 64 - of_many[1].launch[2]);
}

// Terms are finite, and more systems or a larger order never cost less.
TEST_F(HermitianCuda, ModelsGrowWithTheWork) {
  for (const char *method : {"tile", "block", "pivoted"}) {
    const std::int32_t kind = std::string(method) == "pivoted" ? SXT_HERMITIAN_INDEFINITE : SXT_HERMITIAN_DEFINITE;
    const sxt_hermitian_query small = query(48, 1000, kind), many = query(48, 9000, kind);
    EXPECT_EQ(offered(kernel(method), small).size(), offered(kernel(method), many).size()) << method;
    expect_growth(kernel(method), small, many);
    expect_growth(kernel(method), small, query(112, 1000, kind));
  }
}

// Systems on a multiprocessor compete; the busiest multiprocessor decides the time.
TEST_F(HermitianCuda, TheTileModelCountsTheBusiestMultiprocessor) {
  constexpr int products = 3;
  const sxt_machine machine = make_gpu();
  const auto cost = [&](std::int64_t batch, std::size_t shape) {
    const sxt_hermitian_query q = query(96, batch, SXT_HERMITIAN_DEFINITE);
    const sxt_candidate c = ask_candidates(kernel("tile"), &q.q, machine).at(shape);
    return c.terms[products] / c.units;
  };
  EXPECT_EQ(cost(1, 2), cost(132, 2));
  EXPECT_EQ(2 * cost(132, 2), cost(133, 2));
  EXPECT_EQ(cost(265, 2), cost(300, 2));
  EXPECT_EQ(cost(4, 0), cost(528, 0));  // four systems a block
  EXPECT_LT(cost(528, 0), cost(529, 0));
}

// Memory for the panels is asked of core, a bounded number of times the panel however many systems there are.
TEST_F(HermitianCuda, PivotedScratchDoesNotGrowWithTheBatch) {
  const sxt_machine machine = make_gpu();
  const sxt_hermitian_query some = query(1700, 2000, SXT_HERMITIAN_INDEFINITE),
                            many = query(1700, 70000, SXT_HERMITIAN_INDEFINITE);
  const auto of_some = ask_candidates(kernel("pivoted"), &some.q, machine),
             of_many = ask_candidates(kernel("pivoted"), &many.q, machine);
  ASSERT_FALSE(of_some.empty());
  for (std::size_t c = 0; c < of_some.size(); ++c) EXPECT_EQ(of_some[c].scratch_bytes, of_many[c].scratch_bytes);
  // Two per cent of the 2000 systems, at most.
  for (const sxt_candidate &c : of_some) EXPECT_LE(static_cast<double>(c.scratch_bytes), 0.02 * 16 * some.sum_n2);
}

// Loading the code, reserving shared memory, launching.
TEST_F(HermitianCuda, EveryCallMayFail) {
  for (const char *method : {"tile", "block", "pivoted", "pivoted_tile"}) {
    const bool pivoted = std::string(method).starts_with("pivoted");
    const sxt_hermitian_query q = query(48, 20, pivoted ? SXT_HERMITIAN_INDEFINITE : SXT_HERMITIAN_DEFINITE);
    every_call_may_fail(kernel(method), q, offered(kernel(method), q).front(), 1, 3);
  }
}

// Invalid arguments give an error message, not a launch.
TEST_F(HermitianCuda, ArgumentsAreChecked) {
  const sxt_machine machine = make_gpu();
  const sxt_kernel &k = kernel("tile");
  const sxt_hermitian_query q = query(16, 4);
  const sxt_candidate candidate = ask_candidates(k, &q.q, machine).front();
  sxt_exec exec = plugin_test::make_exec();
  const sxt_problem problem{sizeof problem, &q.q, nullptr, nullptr};
  void *state = nullptr;
  ASSERT_EQ(k.prepare(&problem, &candidate, nullptr, &exec, &state), SXT_OK);
  sxt_hermitian_args args{};
  args.h = {sizeof args, SXT_KIND_HERMITIAN};
  args.phase = SXT_HERMITIAN_FACTOR, args.definiteness = SXT_HERMITIAN_DEFINITE, args.value_type = SXT_C128;
  args.batch = 4, args.n_max = 16;
  const std::int64_t launches = fake_count("launches");
  EXPECT_EQ(k.run(state, nullptr, &args.h, &exec), SXT_E_ARGUMENT);
  EXPECT_THAT(plugin_test::Host::sentence, HasSubstr("exactly one of a and a_array"));
  args.batch = 0;
  EXPECT_EQ(k.run(state, nullptr, &args.h, &exec), SXT_OK);
  EXPECT_EQ(fake_count("launches"), launches);
  k.release(state);
}

}  // namespace
