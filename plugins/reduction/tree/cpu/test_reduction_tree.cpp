// SPDX-License-Identifier: BSD-3-Clause
// reduction.tree.cpu: bits against the tree as its description defines it, for any number of threads; norms at the ends
// of the number range.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::Random;

const sxt_kernel &kernel() { return find_kernel(load_own("reduction-tree"), "reduction.tree.cpu"); }

template <class T>
constexpr sxt_value_type type_of = std::is_same_v<T, float>    ? SXT_F32
                                   : std::is_same_v<T, double> ? SXT_F64
                                                               : SXT_C128;

template <class T, class Result = T>
Result reduce(std::int32_t operation, const std::vector<T> &x, const std::vector<T> &y, int threads) {
  const auto n = static_cast<std::int64_t>(x.size());
  Result result{};
  const sxt_reduction_query query{{{sizeof query, SXT_KIND_REDUCTION}, 1, 0, type_of<T>}, n, operation, 0};
  sxt_reduction_args args{{sizeof args, SXT_KIND_REDUCTION}, n, operation, 0, x.data(), y.data(), &result};
  Ready ready(kernel(), &query.q, candidate_of(kernel(), &query.q, threads));
  EXPECT_EQ(ready.run(&args.h), SXT_OK) << Host::sentence;
  return result;
}

// The tree as a person would write it down from the description: no groups, no scratch, levels as new vectors.
template <class T>
T tree_sum(const std::vector<T> &terms) {
  std::vector<T> level;
  for (std::size_t first = 0; first < terms.size(); first += 1024) {
    std::vector<T> lane(32, T(0));
    for (std::size_t i = first; i < std::min(first + 1024, terms.size()); ++i) lane[(i - first) % 32] += terms[i];
    for (std::size_t half = 16; half > 0; half /= 2)
      for (std::size_t l = 0; l < half; ++l) lane[l] += lane[l + half];
    level.push_back(lane[0]);
  }
  while (level.size() > 1) {
    std::vector<T> next;
    for (std::size_t j = 0; j + 1 < level.size(); j += 2) next.push_back(level[j] + level[j + 1]);
    if (level.size() % 2) next.push_back(level.back());
    level = next;
  }
  return level.empty() ? T(0) : level[0];
}

template <class T>
std::vector<T> random_vector(std::size_t n, std::uint64_t stream) {
  Random random(11, stream);
  std::vector<T> x(n);
  for (T &value : x) {
    value = static_cast<T>(random.symmetric());
    if constexpr (sextant::plugin::is_complex<T>) value = {random.symmetric(), random.symmetric()};
  }
  return x;
}

const std::size_t sizes[] = {0, 1, 31, 32, 33, 1023, 1024, 1025, 2048, 3071, 3072, 5 * 1024 + 7, 40 * 1024 + 1};

template <class T>
void expect_tree_bits() {
  for (std::size_t n : sizes) {
    const std::vector<T> x = random_vector<T>(n, 1), y = random_vector<T>(n, 2);
    std::vector<T> products(n);
    for (std::size_t i = 0; i < n; ++i) products[i] = sextant::plugin::product(sextant::plugin::conjugate(x[i]), y[i]);
    const T sum = tree_sum(x), dot = tree_sum(products);
    for (int threads : {1, 2, 3, 8, 64}) {
      EXPECT_EQ(reduce(SXT_REDUCTION_SUM, x, y, threads), sum) << n << " numbers, " << threads << " threads";
      EXPECT_EQ(reduce(SXT_REDUCTION_DOTC, x, y, threads), dot) << n << " numbers, " << threads << " threads";
    }
  }
}

TEST(ReductionTree, BitsFollowTheDescribedTreeInF32) { expect_tree_bits<float>(); }
TEST(ReductionTree, BitsFollowTheDescribedTreeInF64) { expect_tree_bits<double>(); }
TEST(ReductionTree, BitsFollowTheDescribedTreeInC128) { expect_tree_bits<std::complex<double>>(); }

TEST(ReductionTree, EveryOperationIgnoresThreads) {
  const std::vector<double> x = random_vector<double>(10000, 3), y = random_vector<double>(10000, 4);
  for (std::int32_t operation = SXT_REDUCTION_SUM; operation <= SXT_REDUCTION_AMAX; ++operation)
    for (int threads : {2, 5, 10, 11})
      EXPECT_EQ(reduce(operation, x, y, 1), reduce(operation, x, y, threads)) << operation;
  for (int threads : {2, 7})
    EXPECT_EQ((reduce<double, std::int64_t>(SXT_REDUCTION_IAMAX, x, y, 1)),
              (reduce<double, std::int64_t>(SXT_REDUCTION_IAMAX, x, y, threads)));
}

TEST(ReductionTree, IndexOfTheFirstLargestAtAnyPosition) {
  for (std::size_t at : {0, 1, 1023, 1024, 2047, 2048, 4999}) {
    std::vector<double> x(5000, 1);
    x[at] = -3;
    x[4999] = 3;
    EXPECT_EQ((reduce<double, std::int64_t>(SXT_REDUCTION_IAMAX, x, x, 3)), static_cast<std::int64_t>(at));
    x[2500] = std::nan("");  // larger than everything
    EXPECT_EQ((reduce<double, std::int64_t>(SXT_REDUCTION_IAMAX, x, x, 3)), 2500);
  }
}

// k equal elements of size s have the norm s sqrt(k), as long as that is a number.
TEST(ReductionTree, NormsNeitherOverflowNorVanish) {
  const double s = 0x1p-1074;
  for (double size : {s, 5 * s, 0x1p-1022, 0x1p-600, 0x1p-520, 1e-154, 1.0, 1e150, 0x1p600, 0x1p1018})
    for (std::size_t n : {1u, 4u, 2500u}) {
      const double expected = size * std::sqrt(static_cast<double>(n));
      EXPECT_NEAR(reduce(SXT_REDUCTION_NRM2, std::vector<double>(n, size), {}, 2), expected, 1e-13 * expected + s)
          << size << " x " << n;
    }
  for (float size : {0x1p-149f, 0x1p-126f, 0x1p-80f, 0x1p-50f, 1.0f, 0x1p62f, 0x1p100f, 0x1p120f})
    for (std::size_t n : {1u, 4u, 2500u}) {
      const double expected = static_cast<double>(size) * std::sqrt(static_cast<double>(n));
      EXPECT_NEAR(reduce(SXT_REDUCTION_NRM2, std::vector<float>(n, size), {}, 2), expected, 1e-5 * expected + 0x1p-149)
          << size << " x " << n;
    }
}

TEST(ReductionTree, NormsOfTheLargestNumbers) {
  const double most = std::numeric_limits<double>::max(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(reduce(SXT_REDUCTION_NRM2, std::vector<double>{most}, {}, 1), most);
  EXPECT_EQ(reduce(SXT_REDUCTION_NRM2, std::vector<double>{most, most}, {}, 1), infinity);
  EXPECT_EQ(reduce(SXT_REDUCTION_NRM2, std::vector<double>{1, -infinity, 1}, {}, 1), infinity);
  // |re| + |im| is beyond the range, the norm is not.
  const std::vector<std::complex<double>> z = {{0.6 * most, 0.6 * most}};
  EXPECT_NEAR((reduce<std::complex<double>, double>(SXT_REDUCTION_NRM2, z, {}, 1)) / most, 0.6 * std::sqrt(2.0), 1e-12);
  // A large element beside one whose square underflows.
  EXPECT_EQ(reduce(SXT_REDUCTION_NRM2, std::vector<double>{1e-200, 1e100}, {}, 1), 1e100);
}

TEST(ReductionTree, SaysWhenScratchIsTooSmall) {
  double result = 0;
  const std::vector<double> x(3000, 1);
  const sxt_reduction_query query{{{sizeof query, SXT_KIND_REDUCTION}, 1, 0, SXT_F64}, 1024, SXT_REDUCTION_SUM, 0};
  sxt_reduction_args args{{sizeof args, SXT_KIND_REDUCTION}, 3000, SXT_REDUCTION_SUM, 0, x.data(), nullptr, &result};
  Ready ready(kernel(), &query.q, candidate_of(kernel(), &query.q, 1));
  EXPECT_EQ(ready.run(&args.h), SXT_E_STATE);
  EXPECT_EQ(Host::sentence, "16 bytes of scratch lent, 48 needed");
  args.operation = 10;
  args.n = 1;
  EXPECT_EQ(ready.run(&args.h), SXT_E_NOT_SUPPORTED);
}

}  // namespace
}  // namespace plugin_test
