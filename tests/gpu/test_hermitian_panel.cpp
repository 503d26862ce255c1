// SPDX-License-Identifier: BSD-3-Clause
// Sets of Hermitian systems on a GPU through every candidate of hermitian.panel.cuda: orders around its tiles of 64,
// all types and both triangles, right-hand sides beyond a tile, orders mixed, ill-conditioned matrices, flawed systems
// among good ones, offsets beyond 2^31, equal bits for any number of blocks a system.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "hermitian_set.hpp"

namespace gpu_test {
namespace {

class HermitianPanel : public Gpu {
 protected:
  Random random{64, 1};
  int runs_ = 0;

  std::vector<ChoicePtr> choices(HermitianSet &set, std::int32_t phase) {
    set.query.phase = phase;
    std::vector<ChoicePtr> mine;
    for (const ChoicePtr &choice :
         sextant::Selector(*context_->context, nullptr).every({sextant::Query(&set.query.q), "set"}))
      if (choice->kernel->name() == std::string_view("hermitian.panel.cuda")) mine.push_back(choice);
    return mine;
  }
  void run(HermitianSet &set, const ChoicePtr &choice, std::int32_t phase) {
    Prepared prepared(*context_->context, choice, nullptr, nullptr);
    set.args.phase = phase;
    prepared.open()->run(&set.args.h);
    ++runs_;
  }
  static std::string name(const ChoicePtr &choice, const HermitianSet &set) {
    return std::to_string(choice->candidate.launch[2]) + " blocks a system, " + value_name(set.a.type()) + ", order " +
           std::to_string(set.n) + (set.lower ? ", lower" : ", upper");
  }
  // |A - L L^H| / (n eps max |A|), largest element.
  static double factor_error(const HermitianSet &set, std::int64_t s, const Array &factor) {
    const std::int64_t n = set.orders[s];
    std::vector<Wide> l(static_cast<std::size_t>(n * n));
    double worst = 0, largest = 0;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = j; i < n; ++i) {
        const Wide held = factor.at((s * set.n + (set.lower ? j : i)) * set.lda + (set.lower ? i : j));
        l[i * n + j] = set.lower ? held : std::conj(held);
      }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        Wide rest = set.element(s, i, j);
        largest = std::max(largest, magnitude(rest));
        for (std::int64_t k = 0; k <= j; ++k) rest -= l[i * n + k] * std::conj(l[j * n + k]);
        worst = std::isfinite(magnitude(rest)) ? std::max(worst, magnitude(rest)) : 1e300;
      }
    return n > 0 ? worst / ((static_cast<double>(n) + 8) * epsilon(set.a.type()) * largest) : 0;
  }
  // Every candidate, factor and solve in one call and in two; all of them give the same bits.
  void check(HermitianSet &set, const std::vector<std::int64_t> &checked) {
    Array factor, x, first_factor, first_x;
    const std::vector<ChoicePtr> all = choices(set, SXT_HERMITIAN_FACTOR_SOLVE);
    ASSERT_FALSE(all.empty());
    for (const ChoicePtr &choice : all) {
      set.upload();
      run(set, choice, SXT_HERMITIAN_FACTOR_SOLVE);
      set.download(factor, x);
      EXPECT_EQ(std::count(set.info.begin(), set.info.end(), 0), set.batch) << name(choice, set);
      EXPECT_TRUE(set.rest_intact(factor)) << name(choice, set);
      if (choice == all.front()) {
        first_factor = factor, first_x = x;
        for (const std::int64_t s : checked) {
          EXPECT_LE(set.backward_error(s, x), 4) << name(choice, set) << ", system " << s;
          EXPECT_LE(factor_error(set, s, factor), 4) << name(choice, set) << ", system " << s;
        }
      }
      EXPECT_EQ(std::memcmp(x.data(), first_x.data(), x.bytes()), 0) << name(choice, set) << ": other bits";
      EXPECT_EQ(std::memcmp(factor.data(), first_factor.data(), factor.bytes()), 0)
          << name(choice, set) << ": other bits";
      if (HasFailure()) return;
    }
    for (const ChoicePtr &choice : choices(set, SXT_HERMITIAN_SOLVE)) {  // the last factor is still there
      set.device.copy(set.b_there.data(), set.b.data(), set.b.bytes());
      run(set, choice, SXT_HERMITIAN_SOLVE);
      set.download(factor, x);
      for (const std::int64_t s : checked)
        EXPECT_LE(set.backward_error(s, x), 4) << name(choice, set) << ", solve " << s;
      if (HasFailure()) return;
    }
  }
  void TearDown() override { std::printf("[ runs     ] hermitian.panel.cuda %5d\n", runs_); }
};

TEST_F(HermitianPanel, OrdersAroundTilesOf64) {
  int turn = 0;
  for (const std::int64_t n : {1, 15, 16, 17, 48, 63, 64, 65, 80, 127, 128, 129, 200})
    for (const sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128}) {
      ++turn;
      HermitianSet set(device(), type, n, 5, 1 + turn % 3, turn % 2 ? SXT_LOWER : SXT_UPPER, true, turn % 5 == 3,
                       random);
      check(set, {0, 4});
      if (HasFailure()) return;
    }
}

// Enough tiles for every number of blocks a system, and a last tile that is not full.
TEST_F(HermitianPanel, ManyTilesAndAllNumbersOfBlocks) {
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER})
    for (const sxt_value_type type : {SXT_F64, SXT_C64, SXT_C128}) {
      HermitianSet set(device(), type, 530, 3, 2, triangle, true, false, random);
      EXPECT_EQ(choices(set, SXT_HERMITIAN_FACTOR).size(), 4u);
      check(set, {2});
      if (HasFailure()) return;
    }
}

// Right-hand sides are additional rows: within the last tile, filling it, in tiles of their own.
TEST_F(HermitianPanel, ManyRightHandSides) {
  for (const std::int64_t n_rhs : {16, 32, 33, 70, 130})
    for (const sxt_value_type type : {SXT_F32, SXT_C128}) {
      HermitianSet set(device(), type, 100, 3, n_rhs, n_rhs % 2 ? SXT_LOWER : SXT_UPPER, true, n_rhs == 70, random);
      check(set, {1, 2});
      if (HasFailure()) return;
    }
}

// A single one is a vector, whether or not its row would fit into the last tile of rows.
TEST_F(HermitianPanel, OneRightHandSide) {
  int turn = 0;
  for (const std::int64_t n : {5, 48, 49, 64, 70, 113, 128, 190, 250})
    for (const sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128}) {
      const sxt_triangle triangle = ++turn % 2 ? SXT_LOWER : SXT_UPPER;
      HermitianSet set(device(), type, n, 4, 1, triangle, true, turn % 7 == 3, random);
      check(set, {0, 3});
      if (HasFailure()) return;
    }
}

TEST_F(HermitianPanel, SeventyThousandSystems) {
  HermitianSet set(device(), SXT_C64, 5, 70000, 1, SXT_UPPER, true, true, random);
  check(set, {1, 3, 34999, 65535, 65536, 69998});
}

// Gaussian correlations of neighbours a fifth of a width apart, turned by a phase, and a little noise on the diagonal:
// condition numbers from 1e3 to 1e14. The residual that rounding leaves does not grow with them.
TEST_F(HermitianPanel, IllConditioned) {
  for (const double noise : {1e-2, 1e-6, 1e-10, 1e-13})
    for (const sxt_value_type type : {SXT_C128, SXT_F64, SXT_C64}) {
      if (real_type(type) == SXT_F32 && noise < 1e-3) continue;
      HermitianSet set(device(), type, 150, 2, 1, SXT_LOWER, true, false, random);
      for (std::int64_t s = 0; s < 2; ++s)
        for (std::int64_t j = 0; j < 150; ++j)
          for (std::int64_t i = 0; i < 150; ++i) {
            const double apart = 0.2 * static_cast<double>(i - j),
                         phase = complex_type(type) ? 0.7 * static_cast<double>(i - j) : 0;
            set.a.set((s * 150 + j) * set.lda + i, std::polar(std::exp(-apart * apart), phase) + (i == j ? noise : 0));
          }
      check(set, {0, 1});
      if (HasFailure()) return;
    }
}

TEST_F(HermitianPanel, EntriesFarFromOne) {
  for (const bool below : {false, true})
    for (const sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128}) {
      HermitianSet set(device(), type, 150, 2, 1, below ? SXT_LOWER : SXT_UPPER, true, false, random);
      set.scale(set.far_from_one(below));
      check(set, {0, 1});
      if (HasFailure()) return;
    }
}

// A NaN and a pivot that is not positive, in every tile: their codes, and neighbours with the bits they have without
// them.
TEST_F(HermitianPanel, FlawedSystemsDoNotDisturbOthers) {
  const std::int64_t n = 150;
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER})
    for (const std::int64_t minor : {1, 16, 17, 64, 65, 130, 150}) {
      HermitianSet set(device(), SXT_C128, n, 6, 1, triangle, true, false, random);
      const Array sound = set.a;
      for (const ChoicePtr &choice : choices(set, SXT_HERMITIAN_FACTOR_SOLVE)) {
        Array want_factor, want, got_factor, got;
        set.a = sound;
        set.upload();
        run(set, choice, SXT_HERMITIAN_FACTOR_SOLVE);
        set.download(want_factor, want);
        set.a.set((1 * n + minor - 1) * set.lda + minor - 1, Wide(-1));
        const std::int64_t row = triangle == SXT_LOWER ? n - 1 : minor - 1,
                           column = triangle == SXT_LOWER ? minor - 1 : n - 1;
        set.a.set((4 * n + column) * set.lda + row, Wide(std::nan("")));
        set.upload();
        run(set, choice, SXT_HERMITIAN_FACTOR_SOLVE);
        set.download(got_factor, got);
        EXPECT_THAT(set.info, testing::ElementsAre(0, minor, 0, 0, SXT_HERMITIAN_NOT_FINITE, 0)) << name(choice, set);
        for (const std::int64_t s : {0, 2, 3, 5})
          for (std::int64_t i = 0; i < n; ++i)
            EXPECT_EQ(got.at(s * set.lda + i), want.at(s * set.lda + i)) << name(choice, set);
        if (HasFailure()) return;
      }
    }
}

// The second system lies 1.2e9 elements behind the first, the third 2.4e9.
TEST_F(HermitianPanel, OffsetsBeyond31Bits) {
  const std::int64_t n = 70, stride = 1200000000;
  HermitianSet set(device(), SXT_F32, n, 3, 1, SXT_LOWER, true, false, random);
  DeviceBuffer far(device(), static_cast<std::uint64_t>(2 * stride + n * set.lda) * 4);
  const auto each = [&](const auto &move) {
    for (std::int64_t s = 0; s < 3; ++s)
      move(static_cast<char *>(far.data()) + s * stride * 4,
           static_cast<char *>(set.a_there.data()) + s * n * set.lda * 4);
  };
  const std::size_t bytes = static_cast<std::size_t>(n * set.lda) * 4;
  for (const ChoicePtr &choice : choices(set, SXT_HERMITIAN_FACTOR_SOLVE)) {
    set.upload();
    each([&](char *there, char *here) { device().copy(there, here, bytes); });
    set.args.a = far.data(), set.args.stride_a = stride;
    run(set, choice, SXT_HERMITIAN_FACTOR_SOLVE);
    each([&](char *there, char *here) { device().copy(here, there, bytes); });
    Array factor, x;
    set.download(factor, x);
    for (std::int64_t s = 0; s < 3; ++s) {
      EXPECT_EQ(set.info[s], 0);
      EXPECT_LE(set.backward_error(s, x), 4) << name(choice, set) << ", system " << s;
    }
  }
}

}  // namespace
}  // namespace gpu_test
