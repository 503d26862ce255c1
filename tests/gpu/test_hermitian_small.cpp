// SPDX-License-Identifier: BSD-3-Clause
// Sets of Hermitian systems on a GPU through every candidate of the kernels for small orders, of the published one and
// of the pivoted one: orders around blocks of 16, all types and both triangles, many right-hand sides, 70,000 systems,
// flawed systems among good ones, equal bits, captured calls. Solutions are judged by their backward error.
#include <cstdint>

#include "hermitian_kernels.hpp"

namespace gpu_test {
namespace {

class HermitianSmall : public HermitianKernels {
 protected:
  HermitianSmall()
      : HermitianKernels(
            {"hermitian.tile.cuda", "hermitian.block.cuda", "hermitian.pivoted.cuda", "hermitian.pivoted_tile.cuda"},
            false) {}
  Random random{6, 1};
};

TEST_F(HermitianSmall, OrdersAroundBlocksOf16) {
  int turn = 0;
  for (const std::int64_t n : {1, 2, 15, 16, 17, 31, 33, 64, 65, 100, 128, 129})
    for (const sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128})
      for (const bool definite : {true, false}) {
        const sxt_triangle triangle = turn++ % 2 ? SXT_LOWER : SXT_UPPER;
        HermitianSet set(device(), type, n, 9, 1 + turn % 3, triangle, definite, turn % 4 == 3, random);
        check(set, {0, 3, 8});
        if (HasFailure()) return;
      }
}

// Later panels with fewer columns than the first ones, blocks that begin with different columns, and panels in scratch.
TEST_F(HermitianSmall, IndefiniteOrdersOfManyPanels) {
  int turn = 0;
  for (const std::int64_t n : {190, 350, 700})
    for (const sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128}) {
      const sxt_triangle triangle = turn++ % 2 ? SXT_LOWER : SXT_UPPER;
      HermitianSet set(device(), type, n, 6, 1 + turn % 2, triangle, false, turn % 3 == 2, random);
      check(set, {0, 1, 4, 5});
      if (HasFailure()) return;
    }
}

TEST_F(HermitianSmall, ManyRightHandSides) {
  for (const bool definite : {true, false})
    for (const sxt_value_type type : {SXT_F32, SXT_C128}) {
      HermitianSet set(device(), type, 40, 5, 37, SXT_LOWER, definite, true, random);
      check(set, {1, 2, 4});
      if (HasFailure()) return;
    }
}

TEST_F(HermitianSmall, EntriesFarFromOne) {
  for (const bool definite : {true, false})
    for (const bool below : {false, true})
      for (const sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128}) {
        HermitianSet set(device(), type, 70, 2, 1, below ? SXT_LOWER : SXT_UPPER, definite, false, random);
        set.scale(set.far_from_one(below));
        check(set, {0, 1});
        if (HasFailure()) return;
      }
}

TEST_F(HermitianSmall, SeventyThousandSystems) {
  for (const bool definite : {true, false}) {
    HermitianSet set(device(), SXT_C64, 3, 70000, 1, SXT_UPPER, definite, false, random);
    check(set, {0, 1, 34999, 65535, 65536, 69999});
  }
}

TEST_F(HermitianSmall, FlawedSystemsDoNotDisturbOthers) {
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER}) {
    HermitianSet set(device(), SXT_C128, 50, 8, 1, triangle, true, false, random);
    check_flaws(set, 2, 21, 5, 30, 10);
  }
}

// A zero block of D is reported by its column as LAPACK counts it, at whichever end elimination begins.
TEST_F(HermitianSmall, TheSingularColumnIsCountedFromTheFirst) {
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER}) {
    HermitianSet set(device(), SXT_C128, 40, 3, 1, triangle, false, false, random);
    for (std::int64_t column = 0; column < 40; ++column)
      for (std::int64_t row = 0; row < 40; ++row)
        set.a.set((40 + column) * 41 + row, Wide(row == column && row != 6 ? 1 + row % 3 : 0));
    const Array flawed = set.a;
    for (const ChoicePtr &choice : choices(set, SXT_HERMITIAN_FACTOR)) {
      Array factor, x;
      set.a = flawed;
      run_on_new_values(set, choice, factor, x, SXT_HERMITIAN_FACTOR);
      EXPECT_THAT(set.info, testing::ElementsAre(0, 7, 0)) << name(choice, set);
    }
  }
}

}  // namespace
}  // namespace gpu_test
