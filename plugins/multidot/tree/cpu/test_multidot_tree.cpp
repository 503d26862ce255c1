// SPDX-License-Identifier: BSD-3-Clause
// multidot.tree.cpu: each pair has the bits of reduction.tree.cpu's dotc, for any number of threads and any other
// pairs.
#include <cstdint>

#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::Array;
using sextant::plugin::cases::Random;

const sxt_kernel &kernel() { return find_kernel(load_own("multidot-tree"), "multidot.tree.cpu"); }

// The result of one pair by the kernel for single reductions.
Array dotc(const Array &u, const Array &v) {
  const sxt_kernel &single = find_kernel(load_own("reduction-tree"), "reduction.tree.cpu");
  Array result(u.type(), 1);
  const sxt_reduction_query query{
      {{sizeof query, SXT_KIND_REDUCTION}, 1, 0, u.type()}, u.size(), SXT_REDUCTION_DOTC, 0};
  sxt_reduction_args args{
      {sizeof args, SXT_KIND_REDUCTION}, u.size(), SXT_REDUCTION_DOTC, 0, u.data(), v.data(), result.data()};
  Ready ready(single, &query.q, candidate_of(single, &query.q, 1));
  EXPECT_EQ(ready.run(&args.h), SXT_OK);
  return result;
}

TEST(MultidotTree, BitsOfEveryPairAreThoseOfDotc) {
  for (sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128})
    for (std::int64_t n : {0, 1, 1023, 1024, 1025, 7 * 1024 + 500}) {
      Random random(2, static_cast<std::uint64_t>(n));
      const Array a(type, n, random), b(type, n, random), c(type, n, random);
      const Array *left[] = {&a, &a, &b, &c, &c, &b, &a, &b}, *right[] = {&a, &b, &a, &c, &a, &b, &c, &c};
      const void *u[8], *v[8];
      for (int d = 0; d < 8; ++d) u[d] = left[d]->data(), v[d] = right[d]->data();
      for (int threads : {1, 2, 3, 8})
        for (std::int32_t pairs : {1, 2, 8}) {
          Array result(type, 8);
          const sxt_multidot_query query{{{sizeof query, SXT_KIND_MULTIDOT}, 1, 0, type}, n, pairs, 3};
          sxt_multidot_args args{{sizeof args, SXT_KIND_MULTIDOT}, n, pairs, 0, u, v, result.data()};
          Ready ready(kernel(), &query.q, candidate_of(kernel(), &query.q, threads));
          ASSERT_EQ(ready.run(&args.h), SXT_OK);
          for (std::int32_t d = 0; d < 8; ++d)
            EXPECT_EQ(result.at(d), d < pairs ? dotc(*left[d], *right[d]).at(0) : Array::guard_value())
                << "pair " << d << " of " << pairs << ", n = " << n << ", " << threads << " threads";
        }
    }
}

TEST(MultidotTree, DeclinesMoreThanEightPairs) {
  const sxt_multidot_query query{{{sizeof query, SXT_KIND_MULTIDOT}, 1, 0, SXT_F64}, 10, 9, 3};
  EXPECT_EQ(refusal(kernel(), &query.q), "9 pairs; at most 8 are taken");
}

// Bytes follow the distinct arrays, flops the pairs.
TEST(MultidotTree, ModelCountsSharedArraysOnce) {
  const sxt_multidot_query query{{{sizeof query, SXT_KIND_MULTIDOT}, 1, 0, SXT_F64}, 1024000, 4, 3};
  const auto candidates = ask_candidates(kernel(), &query.q, make_machine(4));
  ASSERT_EQ(candidates.size(), 3u);
  for (const sxt_candidate &candidate : candidates) {
    EXPECT_DOUBLE_EQ(candidate.terms[2], 1024000 * 3 * 8.0);
    EXPECT_DOUBLE_EQ(candidate.terms[4], 1024000 * 4 * 2.0);
    EXPECT_EQ(candidate.scratch_bytes, 1000u * 4 * 8);
  }
  // Ten leaves on four threads: the busiest has three of them, not two and a half.
  sxt_multidot_query few = query;
  few.n = 10 * 1024;
  EXPECT_DOUBLE_EQ(ask_candidates(kernel(), &few.q, make_machine(4))[2].terms[2], 1.2 * few.n * 3 * 8);
}

}  // namespace
}  // namespace plugin_test
