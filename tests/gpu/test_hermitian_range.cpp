// SPDX-License-Identifier: BSD-3-Clause
// Systems at the ends of the range of their type on a GPU, by every candidate of our kernels: info 0 means a small
// backward error; a system that failed keeps its right-hand side; other systems are not affected.
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "hermitian_batches.hpp"
#include "hermitian_kernels.hpp"

namespace gpu_test {
namespace {

void scale(std::vector<double> &values, double by) {
  for (double &v : values) v *= by;
}

class HermitianRangeGpu : public HermitianKernels {
 protected:
  HermitianRangeGpu()
      : HermitianKernels({"hermitian.tile.cuda", "hermitian.block.cuda", "hermitian.panel.cuda",
                          "hermitian.pivoted.cuda", "hermitian.pivoted_tile.cuda"},
                         false) {}
  Random random{8, 1};

  // Solves the set by every candidate and hands each answer to check(x, where).
  template <class F>
  void each_answer(HermitianSet &set, F check) {
    const std::vector<ChoicePtr> all = choices(set, SXT_HERMITIAN_FACTOR_SOLVE);
    ASSERT_FALSE(all.empty());
    for (const ChoicePtr &choice : all) {
      Array factor, x;
      run_on_new_values(set, choice, factor, x);
      check(x, name(choice, set));
      if (HasFailure()) return;
    }
  }
};

// By how much a member is scaled, and what is expected of it.
struct Size {
  double f64, f32;
  bool must_solve_definite, must_solve_indefinite;
};
constexpr Size sizes[] = {{1, 1, true, true},          {1e-311, 1e-41, false, false}, {1e-300, 1e-30, false, true},
                          {1e-150, 1e-19, true, true}, {1e150, 1e19, true, true},     {1e300, 1e34, false, true},
                          {1, 1, true, true}};
constexpr std::int64_t n_sizes = std::size(sizes);

void scale_members(HermitianSet &set) {
  const bool single = real_type(set.a.type()) == SXT_F32;
  for (std::int64_t s = 0; s < n_sizes; ++s) {
    const double by = single ? sizes[s].f32 : sizes[s].f64;
    for (std::int64_t i = s * set.n * set.lda; i < (s + 1) * set.n * set.lda; ++i) set.a.set(i, set.a.at(i) * by);
    for (std::int64_t i = s * set.lda; i < (s + 1) * set.lda; ++i) set.b.set(i, set.b.at(i) * by);
  }
}

void check_member(const HermitianSet &set, std::int64_t s, const Array &x, const std::string &where) {
  const std::int32_t info = set.info[s];
  const bool must = set.definite ? sizes[s].must_solve_definite : sizes[s].must_solve_indefinite;
  if (info == 0) {  // at the smallest size the input itself has lost digits
    EXPECT_LE(set.backward_error(s, x), s == 1 ? 1e5 : set.definite ? 4 : 40) << where;
    const bool has_inverses = set.definite || set.n == 2 || s != 1;
    EXPECT_TRUE(has_inverses) << where;
    return;
  }
  EXPECT_FALSE(must) << where << ": " << info;
  EXPECT_EQ(info, SXT_HERMITIAN_NOT_FINITE) << where;
  for (std::int64_t i = 0; i < set.n && !set.definite; ++i) EXPECT_EQ(x.at(s * set.lda + i), set.b.at(s * set.lda + i));
}

TEST_F(HermitianRangeGpu, EverySize) {
  int turn = 0;
  for (const std::int64_t n : {1, 2, 7, 40, 96, 150, 350})
    for (const sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128})
      for (const bool definite : {true, false}) {
        const sxt_triangle triangle = turn++ % 2 ? SXT_LOWER : SXT_UPPER;
        HermitianSet set(device(), type, n, n_sizes, 1, triangle, definite, false, random);
        scale_members(set);
        each_answer(set, [&](const Array &x, const std::string &where) {
          for (std::int64_t s = 0; s < n_sizes; ++s) check_member(set, s, x, where + ", size " + std::to_string(s));
        });
        if (HasFailure()) return;
      }
}

// A matrix by its columns, a right-hand side, and the solution; none where the system has to be refused.
struct Known {
  std::int64_t n;
  std::vector<double> a, b, x;
};
const Known known[] = {
    {1, {1e-310}, {1e-310}, {}},
    {2, {3e-310, 0, 0, 1}, {1, 1}, {}},
    {2, {1, 0, 0, 3e-310}, {1, 1}, {}},
    {2, {0, 1e-310, 1e-310, 0}, {2e-310, 3e-310}, {3, 2}},
    {2, {0, 1e308, 1e308, 0}, {1e308, 5e307}, {0.5, 1}},
    {2, {1e307, 1e308, 1e308, 1e307}, {1e308, 1e307}, {0, 1}},
    {2, {1e308, 1e308, 1e308, -1e308}, {1, -1}, {}},                             // the second pivot is -2e308
    {3, {0, 1e-60, 0, 1e-60, 0, 1e210, 0, 1e210, 1}, {0, 1e-60, 0}, {1, 0, 0}},  // a zero beside 1e210 is no pivot
};

TEST_F(HermitianRangeGpu, KnownIndefiniteSystems) {
  for (const Known &want : known)
    for (const sxt_value_type type : {SXT_F64, SXT_C128}) {
      HermitianSet set(device(), type, want.n, 1, 1, SXT_LOWER, false, false, random);
      for (std::int64_t j = 0; j < want.n; ++j)
        for (std::int64_t i = 0; i < want.n; ++i) set.a.set(j * set.lda + i, Wide(want.a[j * want.n + i]));
      for (std::int64_t i = 0; i < want.n; ++i) set.b.set(i, Wide(want.b[i]));
      each_answer(set, [&](const Array &x, const std::string &where) {
        const std::string which = where + ", system " + std::to_string(&want - known);
        EXPECT_EQ(set.info[0], want.x.empty() ? SXT_HERMITIAN_NOT_FINITE : 0) << which;
        for (std::int64_t i = 0; i < want.n; ++i)
          EXPECT_NEAR(std::abs(x.at(i) - Wide(want.x.empty() ? want.b[i] : want.x[i])), 0, 1e-12) << which;
      });
      if (HasFailure()) return;
    }
}

// Cholesky's method by panels cannot represent products of such numbers and reports it; L D L^H can.
TEST_F(HermitianGpu, DefiniteFirstGoesOnWhereNumbersLeaveTheRange) {
  for (const double size : {1e-200, 1e200, 1e-300, 1e300}) {
    Systems<double> systems(2, 150, 1, SXT_LOWER, 10, false, 11);
    scale(systems.a, size), scale(systems.b, size);
    for (std::vector<double> &full : systems.full) scale(full, size);
    systems.b_before = systems.b;
    OnDevice<double> there(device(), systems);
    sxt_hermitian_options options = systems.options();
    options.definiteness = SXT_TRY_DEFINITE;
    const Batch batch = make_batch(options);
    const sxt_hermitian_set set = there.set();
    ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
    EXPECT_EQ(there.info.get(), Numbers({0, 0})) << size;
    const std::vector<double> x = there.b.get();
    for (std::int64_t s = 0; s < 2; ++s) EXPECT_LE(systems.backward_error(s, x), 1e-13) << size;
  }
}

}  // namespace
}  // namespace gpu_test
