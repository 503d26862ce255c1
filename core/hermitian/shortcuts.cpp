// SPDX-License-Identifier: BSD-3-Clause
// Systems that need no whole factorisation: Toeplitz ones, and those that refinement solves with the factor of a copy,
// in single precision or mixed by butterflies. What a shortcut leaves is factored as usual.
#include <cstdint>

#include "core/base/types.hpp"
#include "core/hermitian/piece.hpp"

namespace sextant {
namespace {

// In half the precision each correction gains what its epsilon times the condition number leaves of eight digits, with
// butterflies what the growth of elements leaves of all, so that one is the rule; systems that need more corrections
// than these are better factored.
constexpr int mixed_corrections = 5, butterfly_corrections = 3;
// Of the backward error at which a refined answer is as good as one by the factor.
constexpr double refined_epsilons = 8;

// The epsilons of what a pivot is the difference of, below which it may be the rounding of zero. Pivots of singular
// matrices were at most 22 for orders 20 and 40, and 6 from 100 to 400, where in single precision 5 of 100 regular
// systems have one below 16 (a program of its own, 60 matrices each).
double cancelled_epsilons(sxt_value_type type, std::int64_t n_max) {
  const bool single = type == SXT_F32 || type == SXT_C64;
  return single && n_max > 64 ? 12 : 32;
}

}  // namespace

// A system that a shortcut solves leaves valid_; the rest is factored, and then valid_ is all that is solved.
void HermitianPiece::shortcuts_first() {
  keep_matrix();
  keep_rhs();
  prepare(first_shift(), valid_);
  select(SXT_HERMITIAN_DONE, valid_, all_);
  if (needs_.shortcuts & SXT_SHORTCUT_TOEPLITZ) solve_toeplitz();
  if (needs_.copy && !none(valid_)) solve_by_copy();
  if (arrays_.shortcut) {  // those of all_ that are not among the rest
    select(SXT_HERMITIAN_DONE, valid_, arrays_.shortcut);
    select(SXT_HERMITIAN_OTHERS, all_, arrays_.shortcut);
  }
  if (!none(valid_)) factor_rest();
  select(SXT_HERMITIAN_DONE, valid_, factored_);
  select(SXT_HERMITIAN_DONE, all_, valid_);
  if (needs_.residual) refine();
}

// The attempt keeps infos of its own: where it solved a system, the caller's info is 0 already.
void HermitianPiece::solve_toeplitz() {
  sxt_hermitian_args args =
      kernel_args(SXT_HERMITIAN_FACTOR_SOLVE, settings_.definiteness, arrays_.x, arrays_.n_rhs, valid_, info_);
  args.h.kind = SXT_KIND_HERMITIAN_TOEPLITZ;
  lane_.run(kernels_.toeplitz(), &args.h);
  select(SXT_HERMITIAN_LEFT, valid_, valid_, info_);
}

void HermitianPiece::kernel_on_copy(std::int32_t phase, const std::uint8_t *active) {
  const CopyShortcut &shortcut = kernels_.copy_shortcut();
  const sxt_hermitian_block rhs = solves(phase) ? copy_rhs_ : sxt_hermitian_block{};
  sxt_hermitian_args args = kernel_args(phase, shortcut.definiteness, rhs, arrays_.n_rhs, active, info_);
  args.value_type = shortcut.type;
  if (needs_.copy == SXT_SHORTCUT_BUTTERFLY) args.triangle = SXT_LOWER;
  args.a = copy_.data, args.lda = copy_.ld, args.stride_a = copy_.stride;
  args.a_array = nullptr, args.lda_each = nullptr;
  lane_.run(kernels_.on_copy(phase), &args.h);
}

void HermitianPiece::copy_takes_rhs(const sxt_hermitian_block &from, const std::uint8_t *active) {
  const bool mixed = needs_.copy == SXT_SHORTCUT_MIXED;
  sxt_hermitian_step_args args = step(mixed ? SXT_HERMITIAN_NARROW_RHS : SXT_HERMITIAN_MIX_RHS);
  args.active = active;
  args.b = from;
  args.c = copy_rhs_;
  apply(args);
}

void HermitianPiece::copy_gives_solution(std::int32_t variant, const std::uint8_t *active) {
  const bool mixed = needs_.copy == SXT_SHORTCUT_MIXED;
  sxt_hermitian_step_args args = step(mixed ? SXT_HERMITIAN_WIDEN_RHS : SXT_HERMITIAN_UNMIX_RHS);
  args.variant = variant;
  args.active = active;
  args.b = arrays_.x;
  args.c = copy_rhs_;
  apply(args);
}

// x by the factor of a copy, then corrections from residuals in full precision. The matrix stays as it is, and so the
// systems that do not come within the tolerance get their right-hand sides back.
void HermitianPiece::solve_by_copy() {
  sxt_hermitian_step_args args = step(needs_.copy == SXT_SHORTCUT_MIXED ? SXT_HERMITIAN_NARROW : SXT_HERMITIAN_MIX);
  args.a = arrays_.factor;
  args.c = copy_;
  apply(args);
  needs_.copy == SXT_SHORTCUT_MIXED ? start_mixed() : start_butterfly();
  copy_gives_solution(1, mask_);
  correct_by_copy();
  select(SXT_HERMITIAN_OTHERS, mask_, mask_solved_);   // solved
  select(SXT_HERMITIAN_OTHERS, valid_, mask_solved_);  // the rest
  select(SXT_HERMITIAN_DONE, mask_solved_, valid_);
  copy_rhs(rhs_, arrays_.x);
}

// First solutions of the copy, and mask_: the systems that it has a factor of.
void HermitianPiece::start_mixed() {
  kernel_on_copy(SXT_HERMITIAN_FACTOR, valid_);
  select(SXT_HERMITIAN_DONE, valid_, mask_, info_);
  copy_takes_rhs(arrays_.x, mask_);
  kernel_on_copy(SXT_HERMITIAN_SOLVE, mask_);
}

void HermitianPiece::start_butterfly() {
  copy_takes_rhs(arrays_.x, valid_);
  kernel_on_copy(SXT_HERMITIAN_FACTOR_SOLVE, valid_);
  select(SXT_HERMITIAN_DONE, valid_, mask_, info_);
  leave_out_cancelled();
}

// A singular matrix has a pivot that is zero, of which mixing leaves the rounding: its solution is as good as any other
// by its residual, and pivoting alone finds the zero.
void HermitianPiece::leave_out_cancelled() {
  sxt_hermitian_step_args args = step(SXT_HERMITIAN_CANCELLED);
  args.triangle = SXT_LOWER;
  args.active = mask_;
  args.a = copy_;
  args.numbers = error_;
  apply(args);
  args = step(SXT_HERMITIAN_SELECT);
  args.active = mask_;
  args.variant = SXT_HERMITIAN_ABOVE;
  args.numbers = error_;
  args.value = 1 / (cancelled_epsilons(settings_.type, settings_.n_max) * epsilon(settings_.type));
  args.mask = mask_solved_;
  apply(args);
  select(SXT_HERMITIAN_OTHERS, mask_, mask_solved_);
  select(SXT_HERMITIAN_DONE, mask_solved_, mask_, info_);
}

// Leaves in mask_solved_ the systems of mask_ that are not good enough.
void HermitianPiece::correct_by_copy() {
  const int corrections = needs_.copy == SXT_SHORTCUT_BUTTERFLY ? butterfly_corrections : mixed_corrections;
  for (int taken = 0;; ++taken) {  // errors of those that are good enough stay as they are
    take_residuals(arrays_.factor, nullptr, taken == 0 ? mask_ : mask_solved_);
    sxt_hermitian_step_args args = step(SXT_HERMITIAN_SELECT);
    args.active = mask_;
    args.variant = SXT_HERMITIAN_ABOVE;
    args.numbers = error_;
    args.value = refined_epsilons * epsilon(settings_.type);
    args.mask = mask_solved_;
    apply(args);
    if (taken == corrections || none(mask_solved_)) return;
    copy_takes_rhs(residual_, mask_solved_);
    kernel_on_copy(SXT_HERMITIAN_SOLVE, mask_solved_);
    copy_gives_solution(0, mask_solved_);
  }
}

// The matrices are shifted already, and where they are factored.
void HermitianPiece::factor_rest() {
  if (settings_.definiteness != SXT_TRY_DEFINITE && kernels_.fused()) {
    kernel(SXT_HERMITIAN_FACTOR_SOLVE, settings_.definiteness, arrays_.x, arrays_.n_rhs, valid_, info_);
    return merge(valid_);
  }
  kernel(SXT_HERMITIAN_FACTOR, main_definiteness(), {}, 0, valid_, info_);
  merge(valid_);
  if (settings_.definiteness == SXT_TRY_DEFINITE) {
    apply(step(SXT_HERMITIAN_NO_PIVOTS));
    try_again(SXT_HERMITIAN_LEFT, first_shift(), SXT_INDEFINITE);
  }
  select(SXT_HERMITIAN_DONE, valid_, valid_);
  solve_with_factor(arrays_.x, arrays_.n_rhs, valid_);
}

}  // namespace sextant
