// SPDX-License-Identifier: BSD-3-Clause
// A solve uses pivots as indices into the right-hand sides: pivots that no factorisation leaves are refused before
// anything is written, and those of every factorisation are accepted.
#include <gmock/gmock.h>

#include <climits>
#include <complex>
#include <cstdint>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

using testing::HasSubstr;
using Systems = std::unique_ptr<sxt_hermitian, Destroy<sxt_hermitian, sxt_hermitian_destroy>>;

// Sets of indefinite systems of random numbers, with room around b.
struct Set {
  static constexpr std::int64_t batch = 3, beside = 40;
  std::int64_t n;
  sxt_triangle triangle;
  std::vector<double> a, b;
  std::vector<std::int32_t> info, pivots;
  std::vector<std::uint8_t> active;
  sxt_hermitian_set arrays;

  Set(std::int64_t order, sxt_triangle which) : n(order), triangle(which) {
    std::mt19937 random(static_cast<unsigned>(7 * order + which));
    a.resize(static_cast<std::size_t>(batch * n * n));
    for (double &value : a) value = static_cast<double>(random() % 2001) / 1000 - 1;
    b.assign(static_cast<std::size_t>(batch * n + 2 * beside), 1);
    info.assign(batch, 0), active.assign(batch, 1);
    pivots.assign(static_cast<std::size_t>(batch * n), 0);
    sxt_hermitian_set_init(&arrays, sizeof arrays);
    arrays.a = a.data(), arrays.b = b.data() + beside;
    arrays.info = info.data(), arrays.pivots = pivots.data(), arrays.active = active.data();
  }
  Systems systems(const Context &context, sxt_definiteness definiteness = SXT_INDEFINITE) const {
    sxt_hermitian_options options;
    sxt_hermitian_options_init(&options, sizeof options);
    options.batch = batch, options.n = n;
    options.triangle = triangle;
    options.definiteness = definiteness;
    return make<Systems>([&](auto **out) { return sxt_hermitian_create(context.get(), &options, out); });
  }
};

class HermitianPivotsTest : public testing::TestWithParam<sxt_triangle> {};

TEST_P(HermitianPivotsTest, WrongOnesAreRefusedBeforeAnythingIsWritten) {
  const Context context = cpu(2);
  for (const std::int64_t n : {1, 2, 3, 8, 33}) {
    Set set(n, GetParam());
    const Systems systems = set.systems(context);
    ASSERT_EQ(sxt_hermitian_factor(systems.get(), &set.arrays), SXT_OK) << last_error(context);
    const std::vector<std::int32_t> right = set.pivots;
    const std::vector<double> before = set.b;
    const auto last = static_cast<std::int32_t>(n);
    for (const std::int32_t wrong : {0, last + 1, -last - 1, 100000000, INT_MAX, INT_MIN}) {
      for (std::int64_t place = 0; place < n; ++place) {
        set.pivots = right;
        set.pivots[static_cast<std::size_t>(2 * n + place)] = wrong;
        ASSERT_EQ(sxt_hermitian_solve(systems.get(), &set.arrays), SXT_E_ARGUMENT)
            << n << ": " << wrong << " at " << place;
        EXPECT_THAT(last_error(context), HasSubstr("pivots of system 2"));
        ASSERT_EQ(set.b, before);
      }
    }
    // Half of a pair is invalid.
    set.pivots = right;
    set.pivots[GetParam() == SXT_LOWER ? static_cast<std::size_t>(n - 1) : 0] = GetParam() == SXT_LOWER ? -last : -1;
    if (n == 1) {
      EXPECT_EQ(sxt_hermitian_solve(systems.get(), &set.arrays), SXT_E_ARGUMENT);
    }
    // An inactive system is not checked.
    set.pivots = right;
    set.pivots[0] = 100000000, set.active[0] = 0;
    set.pivots[static_cast<std::size_t>(n)] = 0, set.info[1] = 1;
    EXPECT_EQ(sxt_hermitian_solve(systems.get(), &set.arrays), SXT_OK) << last_error(context);
    for (std::int64_t i = 0; i < Set::beside; ++i) {
      EXPECT_EQ(set.b[static_cast<std::size_t>(i)], 1);
      EXPECT_EQ(set.b[set.b.size() - 1 - static_cast<std::size_t>(i)], 1);
    }
  }
}

TEST_P(HermitianPivotsTest, OnesThatAFactorisationLeftAreTaken) {
  const Context context = cpu(2);
  for (const sxt_definiteness definiteness : {SXT_INDEFINITE, SXT_TRY_DEFINITE})
    for (std::int64_t n = 1; n <= 40; ++n) {
      Set set(n, GetParam());
      if (definiteness == SXT_TRY_DEFINITE)  // the first system is definite: its pivots are 0
        for (std::int64_t i = 0; i < n; ++i)
          set.a[static_cast<std::size_t>(i * (n + 1))] = 4.0 * static_cast<double>(n);
      const Systems systems = set.systems(context, definiteness);
      ASSERT_EQ(sxt_hermitian_factor(systems.get(), &set.arrays), SXT_OK) << last_error(context);
      EXPECT_EQ(sxt_hermitian_solve(systems.get(), &set.arrays), SXT_OK) << n << last_error(context);
    }
}

INSTANTIATE_TEST_SUITE_P(Triangles, HermitianPivotsTest, testing::Values(SXT_LOWER, SXT_UPPER),
                         [](const auto &info) { return info.param == SXT_LOWER ? "lower" : "upper"; });

}  // namespace
}  // namespace api_test
