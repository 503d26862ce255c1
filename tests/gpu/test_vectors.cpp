// SPDX-License-Identifier: BSD-3-Clause
// Vector operations on a GPU with invalid or unusual input: every operation and alignment around the borders of its
// groups, invalid lengths, host memory, operands that share a part, NaN, infinities and denormals.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "support.hpp"

namespace gpu_test {
namespace {

using testing::HasSubstr;

class Vectors : public Gpu {
 protected:
  // n values of `memory` from element `first` on.
  Vector part_of(const Vector &memory, std::int64_t first, std::int64_t n) {
    sxt_vector *made = nullptr;
    auto *data = static_cast<double *>(sxt_vector_data(memory.get())) + first;
    EXPECT_EQ(sxt_vector_wrap(context_.get(), n, SXT_F64, SXT_SPACE_DEVICE, data, &made), SXT_OK) << last();
    return {made, sxt_vector_destroy};
  }
  std::string last() const { return sxt_last_error(context_.get()); }
};

// Vectors that begin at any address, next to values that must not change: small integers, so bits are right or wrong.
TEST_F(Vectors, EveryAlignmentAndBorder) {
  constexpr std::int64_t room = 70000;
  for (const std::int64_t n : {0, 1, 2, 3, 31, 1023, 1024, 1025, 4099, 66001})
    for (const std::int64_t x_first : {0, 1})
      for (const std::int64_t y_first : {0, 1, 3}) {
        std::vector<double> x(room), y(room);
        for (std::int64_t i = 0; i < room; ++i) {
          x[static_cast<std::size_t>(i)] = static_cast<double>(i % 17 - 8);
          y[static_cast<std::size_t>(i)] = static_cast<double>(i % 11 - 5);
        }
        const Vector x_memory = make_vector(x), y_memory = make_vector(y);
        const Vector vx = part_of(x_memory, x_first, n), vy = part_of(y_memory, y_first, n);
        const double two = 2, three = 3;
        ASSERT_EQ(sxt_axpby(&two, vx.get(), &three, vy.get()), SXT_OK) << last();
        ASSERT_EQ(sxt_scale(&two, vy.get()), SXT_OK) << last();
        for (std::int64_t i = 0; i < n; ++i) {
          double &to = y[static_cast<std::size_t>(y_first + i)];
          to = 2 * (2 * x[static_cast<std::size_t>(x_first + i)] + 3 * to);
        }
        EXPECT_EQ(values_of(y_memory), y) << n << ", from " << x_first << " and " << y_first;
        EXPECT_EQ(values_of(x_memory), x);
      }
}

TEST_F(Vectors, InvalidLengths) {
  sxt_vector *none = nullptr;
  const Vector x = make_vector({1, 2, 3});
  EXPECT_EQ(sxt_vector_create(context_.get(), -1, SXT_F64, &none), SXT_E_ARGUMENT);
  EXPECT_THAT(last(), HasSubstr("negative"));
  EXPECT_EQ(sxt_vector_wrap(context_.get(), -3, SXT_F64, SXT_SPACE_DEVICE, sxt_vector_data(x.get()), &none),
            SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_vector_create(context_.get(), INT64_MAX / 4, SXT_F64, &none), SXT_E_OVERFLOW);
  EXPECT_EQ(sxt_vector_wrap(context_.get(), INT64_MAX, SXT_C128, SXT_SPACE_DEVICE, sxt_vector_data(x.get()), &none),
            SXT_E_OVERFLOW);
  EXPECT_EQ(none, nullptr);
  const Vector longer = make_vector({1, 2, 3, 4});
  const double one = 1;
  EXPECT_EQ(sxt_axpy(&one, x.get(), longer.get()), SXT_E_DIMENSION);
  EXPECT_THAT(last(), HasSubstr("x has 3 values, y 4"));
}

TEST_F(Vectors, MemoryOfTheHostIsRefused) {
  std::vector<double> here(100, 1);
  sxt_vector *none = nullptr;
  EXPECT_EQ(sxt_vector_wrap(context_.get(), 100, SXT_F64, SXT_SPACE_HOST, here.data(), &none), SXT_E_NOT_SUPPORTED);
  EXPECT_THAT(last(), HasSubstr("copy it to the device"));
  EXPECT_EQ(sxt_vector_wrap(context_.get(), 100, SXT_F64, SXT_SPACE_DEVICE, here.data(), &none), SXT_E_ARGUMENT);
  EXPECT_EQ(none, nullptr);
}

TEST_F(Vectors, OperandsAreTheSameOrApart) {
  const Vector memory = make_vector({1, 2, 3, 4});
  const Vector low = part_of(memory, 0, 3), same = part_of(memory, 0, 3), high = part_of(memory, 1, 3);
  const double two = 2;
  EXPECT_EQ(sxt_axpy(&two, low.get(), same.get()), SXT_OK) << last();
  EXPECT_EQ(values_of(memory), (std::vector<double>{3, 6, 9, 4}));
  EXPECT_EQ(sxt_axpy(&two, low.get(), high.get()), SXT_E_ARGUMENT);
  EXPECT_THAT(last(), HasSubstr("x and y overlap"));
  EXPECT_EQ(values_of(memory), (std::vector<double>{3, 6, 9, 4}));
  double dot = 0;
  EXPECT_EQ(sxt_dot(low.get(), high.get(), &dot), SXT_OK) << last();
  EXPECT_EQ(dot, 3 * 6 + 6 * 9 + 9 * 4);
}

// IEEE arithmetic, element by element: a factor of zero does not hide a NaN, and denormals are numbers.
TEST_F(Vectors, NumbersThatAreNoneAndDenormals) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const double least = std::numeric_limits<double>::denorm_min(), zero = 0, one = 1, half = 0.5;
  for (const std::size_t place : {0u, 7u, 1029u, 4998u}) {
    std::vector<double> values(5000, 1);
    values[place] = nan, values[place + 1] = inf;
    const Vector x = make_vector(values), y = make_vector(std::vector<double>(5000, 2));
    ASSERT_EQ(sxt_axpy(&zero, x.get(), y.get()), SXT_OK) << last();
    const std::vector<double> got = values_of(y);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_TRUE(i == place || i == place + 1 ? std::isnan(got[i]) : got[i] == 2) << place << ", " << i;
  }
  const Vector x = make_vector(std::vector<double>(3000, 3 * least)), y = make_vector(std::vector<double>(3000, least));
  ASSERT_EQ(sxt_axpy(&one, x.get(), y.get()), SXT_OK) << last();
  EXPECT_EQ(values_of(y), std::vector<double>(3000, 4 * least));
  ASSERT_EQ(sxt_scale(&half, y.get()), SXT_OK) << last();
  EXPECT_EQ(values_of(y), std::vector<double>(3000, 2 * least));
}

}  // namespace
}  // namespace gpu_test
