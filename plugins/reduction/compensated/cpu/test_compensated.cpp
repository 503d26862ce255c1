// SPDX-License-Identifier: BSD-3-Clause
// reduction.compensated.cpu: its error bound on ill-conditioned sums whose exact value is known by construction; bits
// over threads and instruction sets; infinities, NaN and the ends of the number range.
#include <cmath>
#include <cstdint>

#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::Random;

const sxt_kernel &kernel() { return find_kernel(load_own("reduction-compensated"), "reduction.compensated.cpu"); }

double reduce(std::int32_t operation, const std::vector<double> &x, const std::vector<double> &y, int threads = 1,
              int level = 3) {
  const auto n = static_cast<std::int64_t>(x.size());
  double result = -1;
  const sxt_reduction_query query{
      {{sizeof query, SXT_KIND_REDUCTION}, 1, 0, SXT_F64}, n, operation, SXT_ACCURACY_DOUBLED};
  sxt_reduction_args args{{sizeof args, SXT_KIND_REDUCTION}, n, operation, 0, x.data(), y.data(), &result};
  sxt_candidate candidate = candidate_of(kernel(), &query.q, threads);
  candidate.launch[1] = level;
  Ready ready(kernel(), &query.q, candidate);
  EXPECT_EQ(ready.run(&args.h), SXT_OK) << Host::sentence;
  return result;
}

// Products x y whose sum is exactly `small`: pairs of opposite large products around it, shuffled.
struct Cancelling {
  std::vector<double> x, y;
  double exact, magnitudes = 0;
};
Cancelling cancelling(std::size_t pairs, double large, double small, std::uint64_t stream) {
  Random random(5, stream);
  Cancelling c{{}, {}, small};
  for (std::size_t i = 0; i < pairs; ++i) {
    const double a = large * random.symmetric(), b = random.symmetric();
    c.x.insert(c.x.end(), {a, -a});
    c.y.insert(c.y.end(), {b, b});
    c.magnitudes += 2 * std::abs(a * b);
  }
  c.x.push_back(small), c.y.push_back(1);
  for (std::size_t i = c.x.size() - 1; i > 0; --i) {
    const auto j = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i + 1)));
    std::swap(c.x[i], c.x[j]), std::swap(c.y[i], c.y[j]);
  }
  return c;
}

// |result - exact| <= u |exact| + gamma_n^2 sum |x y|, gamma_n = n u / (1 - n u), with n rounded up for the products.
TEST(ReductionCompensated, ErrorBoundOnIllConditionedProducts) {
  const double u = 0x1p-53;
  for (double large : {1e4, 1e8, 1e14})
    for (std::size_t pairs : {1u, 15u, 16u, 700u, 2047u, 2048u, 9000u})
      for (double small : {1.0, 0.1}) {
        const Cancelling c = cancelling(pairs, large, small, pairs);
        const double n = 2 * static_cast<double>(c.x.size()), gamma = n * u / (1 - n * u);
        const double bound = u * small + gamma * gamma * c.magnitudes;
        EXPECT_LE(std::abs(reduce(SXT_REDUCTION_DOT, c.x, c.y) - c.exact), bound) << large << ", " << pairs;
      }
}

// The condition number is near 1e20: a plain sum has no digit left, which shows that the bound above is significant.
TEST(ReductionCompensated, KeepsDigitsWherePlainSumsLoseAll) {
  const Cancelling c = cancelling(5000, 1e17, 1, 1);
  double plain = 0;
  for (std::size_t i = 0; i < c.x.size(); ++i) plain += c.x[i] * c.y[i];
  EXPECT_GT(std::abs(plain - 1), 0.5);
  EXPECT_NEAR(reduce(SXT_REDUCTION_DOT, c.x, c.y), 1, 1e-6);
  std::vector<double> x = {1e100, 1, -1e100};
  EXPECT_EQ(reduce(SXT_REDUCTION_SUM, x, {}), 1);
  EXPECT_EQ(reduce(SXT_REDUCTION_ASUM, {-1, 0x1p-60, -0x1p-60, 0x1p-53}, {}), 1 + 0x1p-52);  // 1 + 1.0...1 ulp / 2
}

TEST(ReductionCompensated, SameBitsOnAnyThreadsAndInstructionSet) {
  for (std::size_t n : {0u, 1u, 7u, 31u, 33u, 4095u, 4096u, 4097u, 20000u}) {
    Random random(6, n);
    std::vector<double> x(n), y(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = std::ldexp(random.symmetric(), static_cast<int>(random.below(80)) - 40);
    for (double &value : y) value = random.symmetric();
    for (std::int32_t operation = SXT_REDUCTION_SUM; operation <= SXT_REDUCTION_ASUM; ++operation) {
      const double one = reduce(operation, x, y, 1, 1);
      for (int threads : {1, 2, 5})
        for (int level : {1, 2, 3}) EXPECT_EQ(reduce(operation, x, y, threads, level), one) << n << ", " << operation;
    }
  }
}

TEST(ReductionCompensated, InfinitiesNanAndTheEndsOfTheRange) {
  const double infinity = std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::max();
  EXPECT_EQ(reduce(SXT_REDUCTION_SUM, {1, infinity, 2}, {}), infinity);
  EXPECT_TRUE(std::isnan(reduce(SXT_REDUCTION_SUM, {1, infinity, -infinity}, {})));
  EXPECT_TRUE(std::isnan(reduce(SXT_REDUCTION_DOT, {1, std::nan("")}, {1, 1})));
  EXPECT_EQ(reduce(SXT_REDUCTION_DOT, {most}, {2}), infinity);
  EXPECT_EQ(reduce(SXT_REDUCTION_NRM2, {most}, {}), most);
  EXPECT_EQ(reduce(SXT_REDUCTION_NRM2, {3e-320, 4e-320}, {}), 5e-320);
  EXPECT_DOUBLE_EQ(reduce(SXT_REDUCTION_NRM2, {3e200, 4e200}, {}), 5e200);
  EXPECT_EQ(reduce(SXT_REDUCTION_SUM, {0x1p-1074, 0x1p-1074}, {}), 0x1p-1073);
}

TEST(ReductionCompensated, OnlyItServesDoubledAccuracy) {
  const sxt_reduction_query query{
      {{sizeof query, SXT_KIND_REDUCTION}, 1, 0, SXT_F64}, 10, SXT_REDUCTION_SUM, SXT_ACCURACY_DOUBLED};
  EXPECT_EQ(refusal(kernel(), &query.q), "");
  EXPECT_EQ(refusal(find_kernel(load_own("reduction-tree"), "reduction.tree.cpu"), &query.q),
            "sums in working precision; accuracy 1 is asked for");
  EXPECT_EQ(refusal(find_kernel(load_own("reduction-blocks"), "reduction.blocks.cpu"), &query.q),
            "sums in working precision; accuracy 1 is asked for");
  sxt_reduction_query largest = query;
  largest.operation = SXT_REDUCTION_AMAX;
  EXPECT_EQ(refusal(kernel(), &largest.q), "operation 6 is no sum; 1 to 5 are");
}

}  // namespace
}  // namespace plugin_test
