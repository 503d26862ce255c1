// SPDX-License-Identifier: BSD-3-Clause
// vector_group_dots.leaves.cpu: vectors have the bits of the kernel without products, and products those of
// multidot.tree.cpu on the updated vectors, for any number of threads.
#include <algorithm>
#include <cstdint>

#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/vector_group_dots.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::Array;
using sextant::plugin::cases::Random;

const sxt_kernel &with_dots() { return find_kernel(load_own("vector_group-cpu"), "vector_group_dots.leaves.cpu"); }
const sxt_kernel &without() { return find_kernel(load_own("vector_group-cpu"), "vector_group.loops.cpu"); }

constexpr std::int32_t left[] = {1, 0, 2, 3}, right[] = {1, 2, 3, 1};

void fill(sxt_vector_group_args &args, std::int32_t group, std::vector<Array> &vectors, const Array &alpha,
          const Array &beta) {
  args.n = vectors[0].size();
  args.group = group;
  args.scalars[0].value = alpha.data();
  args.scalars[1].value = beta.data();
  for (std::size_t k = 0; k < vectors.size(); ++k) args.vectors[k] = vectors[k].data();
}

Array update_with_dots(std::int32_t group, std::vector<Array> &vectors, const Array &alpha, const Array &beta,
                       std::int32_t pairs, int threads) {
  const sxt_value_type type = alpha.type();
  Array dots(type, 4);
  const sxt_vector_group_dots_query query{
      {{sizeof query, SXT_KIND_VECTOR_GROUP_DOTS}, 1, 0, type}, vectors[0].size(), group, pairs};
  sxt_vector_group_dots_args args{};
  fill(args.g, group, vectors, alpha, beta);
  args.g.h = {sizeof args, SXT_KIND_VECTOR_GROUP_DOTS};
  args.n_dots = pairs;
  std::copy_n(left, 4, args.a);
  std::copy_n(right, 4, args.b);
  args.dots = dots.data();
  Ready ready(with_dots(), &query.q, candidate_of(with_dots(), &query.q, threads));
  EXPECT_EQ(ready.run(&args.g.h), SXT_OK);
  return dots;
}

void update_alone(std::int32_t group, std::vector<Array> &vectors, const Array &alpha, const Array &beta) {
  const sxt_vector_group_query query{
      {{sizeof query, SXT_KIND_VECTOR_GROUP}, 1, 0, alpha.type()}, vectors[0].size(), group, 0};
  sxt_vector_group_args args{};
  fill(args, group, vectors, alpha, beta);
  args.h = {sizeof args, SXT_KIND_VECTOR_GROUP};
  Ready ready(without(), &query.q, candidate_of(without(), &query.q, 1));
  EXPECT_EQ(ready.run(&args.h), SXT_OK);
}

Array products(std::vector<Array> &vectors, std::int32_t pairs) {
  const sxt_kernel &kernel = find_kernel(load_own("multidot-tree"), "multidot.tree.cpu");
  const sxt_value_type type = vectors[0].type();
  const std::int64_t n = vectors[0].size();
  Array result(type, 4);
  const void *u[4], *v[4];
  for (int d = 0; d < 4; ++d) u[d] = vectors[left[d]].data(), v[d] = vectors[right[d]].data();
  const sxt_multidot_query query{{{sizeof query, SXT_KIND_MULTIDOT}, 1, 0, type}, n, pairs, 4};
  sxt_multidot_args args{{sizeof args, SXT_KIND_MULTIDOT}, n, pairs, 0, u, v, result.data()};
  Ready ready(kernel, &query.q, candidate_of(kernel, &query.q, 1));
  EXPECT_EQ(ready.run(&args.h), SXT_OK);
  return result;
}

TEST(VectorGroupDots, HaveTheBitsOfTheUpdateAndOfTheProductsAlone) {
  for (std::int32_t group : {SXT_GROUP_CLASSICAL_XR, SXT_GROUP_CHRONOPOULOS_GEAR, SXT_GROUP_PREDICT_RECOMPUTE})
    for (sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128})
      for (std::int64_t n : {0, 1, 1023, 1024, 1025, 7 * 1024 + 500}) {
        Random random(4, static_cast<std::uint64_t>(n));
        const Array alpha(type, 1, random), beta(type, 1, random);
        std::vector<Array> start;
        for (int k = 0; k < 6; ++k) start.emplace_back(type, n, random);
        std::vector<Array> expected = start;
        update_alone(group, expected, alpha, beta);
        for (std::int32_t pairs : {0, 1, 4}) {
          const Array want = products(expected, pairs);
          for (int threads : {1, 2, 3, 9}) {
            std::vector<Array> vectors = start;
            const Array got = update_with_dots(group, vectors, alpha, beta, pairs, threads);
            for (int d = 0; d < 4; ++d)
              ASSERT_EQ(got.at(d), want.at(d))
                  << "group " << group << ", pair " << d << ", n = " << n << ", " << threads;
            for (std::size_t k = 0; k < vectors.size(); ++k)
              for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(vectors[k].at(i), expected[k].at(i)) << group << ", " << n;
          }
        }
      }
}

TEST(VectorGroupDots, DeclinesUnknownRequests) {
  sxt_vector_group_dots_query query{{{sizeof query, SXT_KIND_VECTOR_GROUP_DOTS}, 1, 0, SXT_F64}, 10, 4, 1};
  EXPECT_EQ(refusal(with_dots(), &query.q), "group 4 is not one of 1 to 3");
  query.group = SXT_GROUP_CLASSICAL_XR;
  query.n_dots = 5;
  EXPECT_EQ(refusal(with_dots(), &query.q), "5 inner products; at most 4 are taken");
}

// Products cost flops, and no bytes beside those of the update.
TEST(VectorGroupDots, ModelCountsBytesOfTheUpdateOnly) {
  const sxt_vector_group_dots_query query{
      {{sizeof query, SXT_KIND_VECTOR_GROUP_DOTS}, 1, 0, SXT_F64}, 1024000, SXT_GROUP_CHRONOPOULOS_GEAR, 2};
  for (const sxt_candidate &candidate : ask_candidates(with_dots(), &query.q, make_machine(4))) {
    EXPECT_DOUBLE_EQ(candidate.terms[2], 1024000 * 10 * 8.0);
    EXPECT_DOUBLE_EQ(candidate.terms[4], 1024000 * (4 + 2) * 2.0);
    EXPECT_EQ(candidate.scratch_bytes, 1000u * 2 * 8);
  }
}

}  // namespace
}  // namespace plugin_test
