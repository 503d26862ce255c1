// SPDX-License-Identifier: BSD-3-Clause
// reduction.blocks.cpu and reduction.tree.cpu side by side: sizes around vectors, leaves and blocks, pointers that are
// no multiple of a vector, every instruction set this machine has; min and max; bits of the tree over instruction sets.
#include <cmath>
#include <cstdint>

#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::Random;

const sxt_kernel &blocks() { return find_kernel(load_own("reduction-blocks"), "reduction.blocks.cpu"); }
const sxt_kernel &tree() { return find_kernel(load_own("reduction-tree"), "reduction.tree.cpu"); }

template <class T>
constexpr sxt_value_type type_of = std::is_same_v<T, float> ? SXT_F32 : SXT_F64;

template <class T, class Result = T>
Result reduce(const sxt_kernel &kernel, std::int32_t operation, const T *x, const T *y, std::int64_t n, int threads,
              int level) {
  Result result{};
  const sxt_reduction_query query{{{sizeof query, SXT_KIND_REDUCTION}, 1, 0, type_of<T>}, n, operation, 0};
  sxt_reduction_args args{{sizeof args, SXT_KIND_REDUCTION}, n, operation, 0, x, y, &result};
  sxt_candidate candidate = candidate_of(kernel, &query.q, threads);
  candidate.launch[1] = level;
  Ready ready(kernel, &query.q, candidate);
  EXPECT_EQ(ready.run(&args.h), SXT_OK) << Host::sentence;
  return result;
}

const std::int64_t sizes[] = {0,  1,  2,  3,  7,   8,   9,    15,   16,   17,   31,   33,
                              63, 64, 65, 127, 129, 1023, 1024, 1025, 2047, 2049, 16385};

// Small integers: every order of adding gives the exact sum, so equality is tested.
template <class T>
void expect_exact_sums() {
  std::vector<T> x(16500), y(16500);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<T>(static_cast<int>(i * 7 % 13) - 6), y[i] = static_cast<T>(i % 5);
  for (std::int64_t n : sizes)
    for (std::int64_t offset : {0, 1, 3}) {
      T sum = 0, dot = 0, asum = 0, squares = 0, least = std::numeric_limits<T>::infinity(), most = -least;
      for (std::int64_t i = offset; i < offset + n; ++i) {
        sum += x[i], dot += x[i] * y[i], asum += std::abs(x[i]), squares += x[i] * x[i];
        least = std::min(least, x[i]), most = std::max(most, x[i]);
      }
      for (const sxt_kernel *kernel : {&blocks(), &tree()})
        for (int level : {1, 2, 3})
          for (int threads : {1, 3}) {
            const auto ask = [&](std::int32_t operation) {
              return reduce(*kernel, operation, x.data() + offset, y.data() + offset, n, threads, level);
            };
            SCOPED_TRACE(std::string(kernel->name) + ", level " + std::to_string(level));
            ASSERT_EQ(ask(SXT_REDUCTION_SUM), sum) << n;
            ASSERT_EQ(ask(SXT_REDUCTION_DOT), dot) << n;
            ASSERT_EQ(ask(SXT_REDUCTION_ASUM), asum) << n;
            ASSERT_EQ(ask(SXT_REDUCTION_NRM2), std::sqrt(squares)) << n;
            ASSERT_EQ(ask(SXT_REDUCTION_MIN), least) << n;
            ASSERT_EQ(ask(SXT_REDUCTION_MAX), most) << n;
          }
    }
}

TEST(Reductions, ExactAtEverySizeAlignmentAndInstructionSetInF32) { expect_exact_sums<float>(); }
TEST(Reductions, ExactAtEverySizeAlignmentAndInstructionSetInF64) { expect_exact_sums<double>(); }

TEST(Reductions, BitsOfTheTreeDoNotDependOnTheInstructionSet) {
  Random random(8, 1);
  std::vector<double> x(5000), y(5000);
  for (double &value : x) value = random.symmetric();
  for (double &value : y) value = random.symmetric();
  for (std::int64_t n : {1, 31, 100, 1024, 1030, 5000})
    for (std::int32_t operation = SXT_REDUCTION_SUM; operation <= SXT_REDUCTION_ASUM; ++operation)
      for (int level : {2, 3})
        EXPECT_EQ(reduce(tree(), operation, x.data(), y.data(), n, 2, level),
                  reduce(tree(), operation, x.data(), y.data(), n, 1, 1))
            << operation << ", n = " << n;
}

// With a NaN anywhere the result is NaN, also beside infinities; a zero is +0; an empty vector gives the neutral
// element.
TEST(Reductions, SmallestAndLargestFollowTheKind) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const sxt_kernel *kernel : {&blocks(), &tree()})
    for (int level : {1, 2, 3})
      for (std::int64_t n : {1, 5, 64, 100, 3000})
        for (std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
          std::vector<double> x(n, -0.0);
          const auto ask = [&](std::int32_t o) { return reduce(*kernel, o, x.data(), x.data(), n, 2, level); };
          EXPECT_FALSE(std::signbit(ask(SXT_REDUCTION_MIN)));
          EXPECT_FALSE(std::signbit(ask(SXT_REDUCTION_MAX)));
          x[at] = -infinity;
          EXPECT_EQ(ask(SXT_REDUCTION_MIN), -infinity);
          EXPECT_EQ(ask(SXT_REDUCTION_MAX), n == 1 ? -infinity : 0);
          x[0] = infinity;
          x[at] = nan;
          EXPECT_TRUE(std::isnan(ask(SXT_REDUCTION_MIN)) && std::isnan(ask(SXT_REDUCTION_MAX))) << n << ", " << at;
          EXPECT_TRUE(std::isnan(ask(SXT_REDUCTION_AMAX)));
          const auto index =
              reduce<double, std::int64_t>(*kernel, SXT_REDUCTION_IAMAX, x.data(), x.data(), n, 2, level);
          EXPECT_EQ(index, at);
        }
}

TEST(Reductions, ComplexNumbersHaveNoOrder) {
  const sxt_reduction_query query{{{sizeof query, SXT_KIND_REDUCTION}, 1, 0, SXT_C64}, 10, SXT_REDUCTION_MIN, 0};
  EXPECT_EQ(refusal(blocks(), &query.q), "complex numbers have no smallest or largest");
  EXPECT_EQ(refusal(tree(), &query.q), "complex numbers have no smallest or largest");
}

TEST(Reductions, NormsAtTheEndsOfTheRange) {
  for (const sxt_kernel *kernel : {&blocks(), &tree()})
    for (double size : {0x1p-1074, 0x1p-1000, 0x1p-500, 0x1p510, 0x1p1020}) {
      const std::vector<double> x(4, size);  // norm: twice the size
      EXPECT_EQ(reduce(*kernel, SXT_REDUCTION_NRM2, x.data(), x.data(), 4, 1, 3), 2 * size) << kernel->name;
    }
}

// One class an operation, alone and in a team; lengths beyond 2^31 stay exact in the terms.
TEST(Reductions, ModelClassesAndHugeLengths) {
  const std::int64_t n = std::int64_t{1} << 40;
  const sxt_reduction_query query{{{sizeof query, SXT_KIND_REDUCTION}, 1, 0, SXT_F64}, n, SXT_REDUCTION_DOT, 0};
  for (const sxt_kernel *kernel : {&blocks(), &tree()}) {
    const auto list = ask_candidates(*kernel, &query.q, make_machine(2));
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].model_class, 4u);
    EXPECT_EQ(list[1].model_class, 5u);
    EXPECT_DOUBLE_EQ(list[0].terms[2], 16.0 * 0x1p40);
  }
}

}  // namespace
}  // namespace plugin_test
