// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.cholesky/1: matrices of many looks in every phase, sets of values, Schur complements, pivots that fail or
// are changed, values that are not finite.
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>

#include "cholesky_cases.hpp"
#include "cholesky_reference.hpp"

namespace sextant_cholesky {
namespace {

constexpr std::uint64_t types = 4;
constexpr std::int32_t F = SXT_CHOLESKY_FACTOR, S = SXT_CHOLESKY_SOLVE, FW = SXT_CHOLESKY_FORWARD,
                       DI = SXT_CHOLESKY_DIAGONAL, BW = SXT_CHOLESKY_BACKWARD, I = SXT_CHOLESKY_INVERSE,
                       P = SXT_CHOLESKY_PIVOTS;
constexpr std::int32_t L = SXT_FACTORS_LLH, D = SXT_FACTORS_LDLH;

// look, n, phase, factors, right-hand sides, sets, amalgamation, columns of a Schur complement, flaw, policy, half
// precision
const Shape shapes[] = {
    {Look::random, 0, F},
    {Look::random, 0, S},
    {Look::random, 1, F},
    {Look::random, 1, S, D},
    {Look::random, 1, I},
    {Look::random, 40, F},
    {Look::random, 70, F, D, 1, 1, 8},
    {Look::random, 90, F, L, 1, 3, 16},
    {Look::random, 60, F, L, 1, 1, 4, 0, Flaw::none, 0, true},
    {Look::grid, 144, F, L, 1, 1, 8},
    {Look::grid, 100, F, D, 1, 2, 0},
    {Look::arrow, 50, F},
    {Look::dense, 65, F},
    {Look::dense, 40, F, D},
    {Look::diagonal, 30, F, D},
    {Look::chain, 64, F, L, 1, 1, 4},
    {Look::blocks, 47, F, L, 1, 2},
    {Look::random, 60, F, L, 1, 1, 8, 7},
    {Look::grid, 81, F, D, 1, 1, 0, 12},
    {Look::random, 60, F, L, 1, 3, 4, 0, Flaw::not_definite},
    {Look::grid, 121, F, L, 1, 1, 8, 0, Flaw::not_definite},
    {Look::blocks, 60, F, L, 1, 1, 0, 0, Flaw::not_definite},
    {Look::random, 70, F, L, 1, 2, 4, 0, Flaw::not_finite},
    {Look::random, 70, F, D, 1, 1, 4, 6, Flaw::not_finite},
    {Look::random, 50, F, L, 1, 2, 4, 0, Flaw::small_pivot, SXT_PIVOT_POLICY_PERTURB},
    {Look::random, 50, F, D, 1, 2, 4, 0, Flaw::small_pivot, SXT_PIVOT_POLICY_PERTURB},
    {Look::grid, 49, F, D, 1, 1, 4, 0, Flaw::small_pivot, SXT_PIVOT_POLICY_REPLACE},
    {Look::random, 50, F, D, 1, 1, 4, 0, Flaw::small_pivot},
    {Look::random, 70, S, L, 1, 1, 8},
    {Look::random, 70, S, D, 3, 2, 4},
    {Look::grid, 144, S, L, 40, 1, 8},
    {Look::grid, 121, S, D, 1, 1, 0},
    {Look::arrow, 40, S, L, 2},
    {Look::dense, 65, S, L, 5},
    {Look::diagonal, 30, S, D, 2},
    {Look::chain, 64, S, L, 1, 3, 4},
    {Look::blocks, 47, S, L, 1, 2},
    {Look::random, 60, S, L, 2, 1, 8, 7},
    {Look::random, 60, S, L, 0, 1, 8},
    {Look::random, 60, FW, L, 2, 1, 8},
    {Look::random, 60, DI, D, 2, 2, 8},
    {Look::random, 60, DI, L, 2, 1, 8},
    {Look::random, 60, BW, D, 3, 1, 8},
    {Look::grid, 64, FW, D, 1, 1, 4, 9},
    {Look::grid, 64, DI, D, 1, 1, 4, 9},
    {Look::grid, 64, BW, L, 1, 1, 4, 9},
    {Look::random, 60, I, L, 1, 1, 8},
    {Look::random, 60, I, D, 1, 2, 0},
    {Look::grid, 121, I, L, 1, 1, 8},
    {Look::dense, 40, I, D},
    {Look::diagonal, 20, I, L},
    {Look::chain, 30, I, L, 1, 1, 4},
    {Look::random, 60, P, L, 1, 2, 8},
    {Look::random, 60, P, D, 1, 1, 8, 5},
};
constexpr std::uint64_t n_shapes = std::size(shapes);

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    const Shape &shape = shapes[i % n_shapes];
    make(shape, static_cast<sxt_value_type>(1 + (i + i / n_shapes) % types), random, *c);
    c->description = "phase " + std::to_string(shape.phase) + ", look " + std::to_string(static_cast<int>(shape.look)) +
                     ", n " + std::to_string(shape.n) + ", " + std::to_string(c->structure->view().n_super) +
                     " supernodes, " + value_name(c->type);
    *out = {sizeof(sxt_case),
            c->description.c_str(),
            &c->query.m.q,
            &c->matrix.csr().s.h,
            &c->structure->view().h,
            &c->args.h,
            c.get()};
    c.release();
    return SXT_OK;
  });
}

// The bound of entries that are sums of as many terms as there are rows; diagonals dominate.
double bound_of(const Case &c, double largest) {
  return 8 * (static_cast<double>(c.shape.n) + 8) * epsilon(c.type) * (largest > 1 ? largest : 1);
}

// Entries of L or of the inverse, on and below the diagonals.
void compare_blocks(const Case &c, const Array &got, const Array &want, std::int64_t base, Verdict &verdict) {
  const sxt_symbolic &s = c.structure->view();
  const auto each = [&](auto &&f) {
    for (std::int64_t p = 0; p < s.n_super; ++p) {
      const std::int64_t rows = s.row_ptr[p + 1] - s.row_ptr[p];
      for (std::int64_t j = 0; j < s.super_ptr[p + 1] - s.super_ptr[p]; ++j)
        for (std::int64_t i = j; i < rows; ++i) f(base + s.value_ptr[p] + i + j * rows);
    }
  };
  double largest = 0;
  each([&](std::int64_t k) { largest = std::max(largest, magnitude(want.at(k))); });
  const double bound = bound_of(c, largest);
  each([&](std::int64_t k) { verdict.check("factor", k, got.at(k), want.at(k), bound); });
}

void compare_factors(const Case &got, const Case &want, Verdict &verdict) {
  if (got.failed_column != want.failed_column) return verdict.fail("another column failed");
  for (std::int64_t set = 0; set < want.shape.n_sets; ++set) {
    if (want.failed_column[set] >= 0) {
      verdict.check("pivot", set, got.failed_pivot[set], want.failed_pivot[set], bound_of(want, 1));
      continue;
    }
    if (got.changed[set] != want.changed[set]) return verdict.fail("another number of pivots was changed");
    for (std::int64_t k = 0; k < std::min<std::int64_t>(2, want.changed[set]); ++k)
      if (got.pivots[2 * set + k] != want.pivots[2 * set + k]) return verdict.fail("other pivots were changed");
    compare_blocks(want, got.factor, want.factor, set * want.args.stride_factor, verdict);
  }
}

void compare_vectors(const Case &got, const Case &want, Verdict &verdict) {
  double largest = 0;
  for (std::int64_t k = 0; k < want.b.size(); ++k) largest = std::max(largest, magnitude(want.b.at(k)));
  const bool pivots = want.shape.phase == SXT_CHOLESKY_PIVOTS;
  const std::int64_t columns = pivots ? 1 : want.shape.n_rhs, ld = pivots ? want.shape.n : want.args.ldb;
  for (std::int64_t k = 0; k < want.b.size(); ++k) {
    const std::int64_t place = k % want.args.stride_b, row = place % (ld > 0 ? ld : 1);
    const bool inside = place < columns * ld && row < want.shape.n;
    verdict.check("b", k, got.b.at(k), want.b.at(k), inside ? bound_of(want, largest) : 0);
  }
}

sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<Case *>(got_case->owner), &want = *static_cast<Case *>(want_case->owner);
    Verdict verdict(error, message);
    if (want.shape.phase == SXT_CHOLESKY_FACTOR)
      compare_factors(got, want, verdict);
    else if (want.shape.phase == SXT_CHOLESKY_INVERSE)
      for (std::int64_t set = 0; set < want.shape.n_sets; ++set)
        compare_blocks(want, got.inverse, want.inverse, set * want.args.stride_inverse, verdict);
    else
      compare_vectors(got, want, verdict);
    if (!got.factor.guard_intact() || !got.b.guard_intact() || !got.inverse.guard_intact())
      verdict.fail("it wrote outside its arrays");
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return move_owner<Case>(moved, exec, to_device, [](Case &c, Move &move) {
    move.array(c.values).array(c.factor).array(c.b).array(c.inverse);
    move.point(c.args.values).point(c.args.factor).point(c.args.b).point(c.args.inverse);
  });
}

}  // namespace

const sxt_kind kind = kind_of_cases<Case>(SXT_KIND_CHOLESKY, "schedulers of a sparse Cholesky factorisation",
                                          {&reference, n_shapes *types, make_case, compare, move_case});

}  // namespace sextant_cholesky
