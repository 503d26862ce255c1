// SPDX-License-Identifier: BSD-3-Clause
// Sets of Hermitian systems on a GPU through every candidate of the kernels for small orders, of the published one and
// of the pivoted one: orders around blocks of 16, all types and both triangles, many right-hand sides, 70,000 systems,
// flawed systems among good ones, equal bits, captured calls. Solutions are judged by their backward error.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/choose/selector.hpp"
#include "core/run/prepared.hpp"
#include "hermitian_set.hpp"
#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/sdk/cases.hpp"
#include "support.hpp"

namespace gpu_test {
namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cases;
using sextant::ChoicePtr;
using sextant::DeviceBuffer;
using sextant::Prepared;

class HermitianSmall : public Gpu {
 protected:
  Random random{6, 1};

  std::vector<ChoicePtr> choices(HermitianSet &set, std::int32_t phase) {
    set.query.phase = phase;
    std::vector<ChoicePtr> mine;
    for (const ChoicePtr &choice :
         sextant::Selector(*context_->context, nullptr).every({sextant::Query(&set.query.q), "set"})) {
      const std::string_view name = choice->kernel->name();
      if (name == "hermitian.tile.cuda" || name == "hermitian.block.cuda" || name == "hermitian.pivoted.cuda" ||
          name == "hermitian.pivoted_tile.cuda")
        mine.push_back(choice);
    }
    return mine;
  }
  void run(HermitianSet &set, const ChoicePtr &choice, std::int32_t phase) {
    Prepared prepared(*context_->context, choice, nullptr, nullptr);
    set.args.phase = phase;
    prepared.open()->run(&set.args.h);
    ++runs_[choice->kernel->name()];
  }
  static std::string name(const ChoicePtr &choice, const HermitianSet &set) {
    return std::string(choice->kernel->name()) + " launch " + std::to_string(choice->candidate.launch[0]) + " " +
           std::to_string(choice->candidate.launch[1]) + " " + std::to_string(choice->candidate.launch[2]) + ", " +
           value_name(set.a.type()) + ", order " + std::to_string(set.n) + (set.lower ? ", lower" : ", upper");
  }
  // Every candidate, in one call and in two; `checked`: systems whose solution is looked at.
  void check(HermitianSet &set, const std::vector<std::int64_t> &checked) {
    Array factor, x, again_factor, again_x;
    const std::vector<ChoicePtr> all = choices(set, SXT_HERMITIAN_FACTOR_SOLVE);
    ASSERT_FALSE(all.empty());
    for (const ChoicePtr &choice : all) {
      set.upload();
      run(set, choice, SXT_HERMITIAN_FACTOR_SOLVE);
      set.download(factor, x);
      EXPECT_EQ(std::count(set.info.begin(), set.info.end(), 0), set.batch) << name(choice, set);
      for (const std::int64_t s : checked)
        EXPECT_LE(set.backward_error(s, x), set.definite ? 4 : 40) << name(choice, set) << ", system " << s;
      EXPECT_TRUE(set.rest_intact(factor)) << name(choice, set);
      set.upload();
      run(set, choice, SXT_HERMITIAN_FACTOR_SOLVE);
      set.download(again_factor, again_x);
      EXPECT_EQ(std::memcmp(x.data(), again_x.data(), x.bytes()), 0) << name(choice, set) << ": other bits";
      EXPECT_EQ(std::memcmp(factor.data(), again_factor.data(), factor.bytes()), 0)
          << name(choice, set) << ": other bits";
      if (HasFailure()) return;
    }
    for (const ChoicePtr &choice : choices(set, SXT_HERMITIAN_SOLVE)) {  // the last factor is still there
      set.device.copy(set.b_there.data(), set.b.data(), set.b.bytes());
      run(set, choice, SXT_HERMITIAN_SOLVE);
      set.download(factor, x);
      for (const std::int64_t s : checked)
        EXPECT_LE(set.backward_error(s, x), set.definite ? 4 : 40) << name(choice, set) << ", system " << s;
      if (HasFailure()) return;
    }
  }
  void TearDown() override {
    for (const auto &[kernel, count] : runs_) std::printf("[ runs     ] %-36s %5d\n", kernel.c_str(), count);
  }
  std::map<std::string, int> runs_;
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

// A NaN and a negative pivot: their own codes, and neighbours with the bits they have without them.
TEST_F(HermitianSmall, FlawedSystemsDoNotDisturbOthers) {
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER}) {
    HermitianSet good(device(), SXT_C128, 50, 8, 1, triangle, true, false, random);
    const Array sound = good.a;
    for (const ChoicePtr &choice : choices(good, SXT_HERMITIAN_FACTOR_SOLVE)) {
      Array want_factor, want, got_factor, got;
      good.a = sound;
      good.upload();
      run(good, choice, SXT_HERMITIAN_FACTOR_SOLVE);
      good.download(want_factor, want);
      good.a.set((2 * 50 + 20) * 51 + 20, Wide(-1));
      const std::int64_t row = triangle == SXT_LOWER ? 30 : 10, column = triangle == SXT_LOWER ? 10 : 30;
      good.a.set((5 * 50 + column) * 51 + row, Wide(std::nan("")));
      good.upload();
      run(good, choice, SXT_HERMITIAN_FACTOR_SOLVE);
      good.download(got_factor, got);
      EXPECT_THAT(good.info, testing::ElementsAre(0, 0, 21, 0, 0, SXT_HERMITIAN_NOT_FINITE, 0, 0))
          << name(choice, good);
      for (const std::int64_t s : {0, 1, 3, 4, 6, 7})
        for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(got.at(s * 51 + i), want.at(s * 51 + i)) << name(choice, good);
      if (HasFailure()) return;
    }
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
      set.upload();
      run(set, choice, SXT_HERMITIAN_FACTOR);
      set.download(factor, x);
      EXPECT_THAT(set.info, testing::ElementsAre(0, 7, 0)) << name(choice, set);
    }
  }
}

}  // namespace
}  // namespace gpu_test
