// SPDX-License-Identifier: BSD-3-Clause
// The vector groups on numbers a person can check, in both kernels; bits and threads of the fused one.
#include <cstdint>

#include "sextant/plugin/kinds/vector_group.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::Array;
using sextant::plugin::cases::Random;
using sextant::plugin::cases::Wide;

const sxt_kernel &fused() { return find_kernel(load_own("vector_group-cpu"), "vector_group.loops.cpu"); }
const sxt_kernel &reference() { return find_kernel(load_own("vector_group-reference"), "vector_group.reference.cpu"); }

// Runs a group on vectors that are changed in place.
void run(const sxt_kernel &kernel, std::int32_t group, std::vector<Array> &vectors, const Array &alpha,
         const Array &beta, int threads) {
  const sxt_value_type type = alpha.type();
  const std::int64_t n = vectors[0].size();
  const sxt_vector_group_query query{{{sizeof query, SXT_KIND_VECTOR_GROUP}, 1, 0, type}, n, group, 0};
  sxt_vector_group_args args{};
  args.h = {sizeof args, SXT_KIND_VECTOR_GROUP};
  args.n = n;
  args.group = group;
  args.scalars[0].value = alpha.data();
  args.scalars[1].value = beta.data();
  for (std::size_t k = 0; k < vectors.size(); ++k) args.vectors[k] = vectors[k].data();
  Ready ready(kernel, &query.q, candidate_of(kernel, &query.q, threads));
  ASSERT_EQ(ready.run(&args.h), SXT_OK);
}

// One element each, alpha = 2, beta = 10.
void expect_group(std::int32_t group, const std::vector<double> &before, const std::vector<double> &after) {
  for (const sxt_kernel *kernel : {&fused(), &reference()}) {
    std::vector<Array> vectors;
    for (double value : before) vectors.emplace_back(SXT_F64, 1), vectors.back().set(0, value);
    Array alpha(SXT_F64, 1), beta(SXT_F64, 1);
    alpha.set(0, 2);
    beta.set(0, 10);
    run(*kernel, group, vectors, alpha, beta, 1);
    for (std::size_t k = 0; k < after.size(); ++k)
      EXPECT_EQ(vectors[k].at(0), Wide(after[k])) << kernel->name << ", vector " << k;
  }
}

TEST(VectorGroup, Classical) { expect_group(SXT_GROUP_CLASSICAL_XR, {1, 5, 3, 4}, {7, -3, 3, 4}); }
TEST(VectorGroup, ChronopoulosGear) {
  // p = u + 10 p = 37, s = w + 10 s = 46, x += 2 p, r -= 2 s
  expect_group(SXT_GROUP_CHRONOPOULOS_GEAR, {1, 5, 3, 4, 7, 6}, {75, -87, 37, 46, 7, 6});
}
TEST(VectorGroup, PredictRecompute) {
  // r -= 2 q, x += 2 p, p = r + 10 p
  expect_group(SXT_GROUP_PREDICT_RECOMPUTE, {1, 5, 3, 4}, {7, -3, 27, 4});
}

TEST(VectorGroup, SameBitsOnAnyNumberOfThreads) {
  for (std::int32_t group : {SXT_GROUP_CLASSICAL_XR, SXT_GROUP_CHRONOPOULOS_GEAR, SXT_GROUP_PREDICT_RECOMPUTE})
    for (sxt_value_type type : {SXT_F32, SXT_C128})
      for (std::int64_t n : {63, 64, 65, 1000}) {
        Random random(4, static_cast<std::uint64_t>(n));
        const Array alpha(type, 1, random), beta(type, 1, random);
        std::vector<Array> start;
        for (int k = 0; k < 6; ++k) start.emplace_back(type, n, random);
        std::vector<Array> one = start;
        run(fused(), group, one, alpha, beta, 1);
        for (int threads : {2, 3, 9}) {
          std::vector<Array> more = start;
          run(fused(), group, more, alpha, beta, threads);
          for (std::size_t k = 0; k < one.size(); ++k)
            for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(one[k].at(i), more[k].at(i)) << group << ", " << threads;
        }
      }
}

TEST(VectorGroup, DeclinesUnknownGroups) {
  const sxt_vector_group_query query{{{sizeof query, SXT_KIND_VECTOR_GROUP}, 1, 0, SXT_F64}, 10, 4, 0};
  EXPECT_EQ(refusal(fused(), &query.q), "group 4 is not one of 1 to 3");
}

}  // namespace
}  // namespace plugin_test
