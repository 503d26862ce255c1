// SPDX-License-Identifier: BSD-3-Clause
// Sets of Hermitian systems on a GPU through every candidate of hermitian.panel.cuda: orders around its tiles of 64,
// all types and both triangles, right-hand sides beyond a tile, orders mixed, ill-conditioned matrices, flawed systems
// among good ones, offsets beyond 2^31, equal bits for any number of blocks a system.
#include <cmath>
#include <cstdint>
#include <vector>

#include "hermitian_kernels.hpp"

namespace gpu_test {
namespace {

class HermitianPanel : public HermitianKernels {
 protected:
  HermitianPanel() : HermitianKernels({"hermitian.panel.cuda"}, true) {}
  Random random{64, 1};
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

// In every tile.
TEST_F(HermitianPanel, FlawedSystemsDoNotDisturbOthers) {
  const std::int64_t n = 150;
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER})
    for (const std::int64_t minor : {1, 16, 17, 64, 65, 130, 150}) {
      HermitianSet set(device(), SXT_C128, n, 6, 1, triangle, true, false, random);
      check_flaws(set, 1, minor, 4, n - 1, minor - 1);
      if (HasFailure()) return;
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
