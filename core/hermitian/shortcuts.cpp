// SPDX-License-Identifier: BSD-3-Clause
// Systems that need no whole factorisation: Toeplitz ones, and those that single precision and refinement solve. What a
// shortcut leaves is factored as usual.
#include <cstdint>

#include "core/base/types.hpp"
#include "core/hermitian/piece.hpp"

namespace sextant {
namespace {

// Each correction gains what epsilon of single precision times the condition number leaves of eight digits; systems
// that need more corrections are better factored.
constexpr int most_corrections = 5;
// Of the backward error at which a refined answer is as good as one by the factor.
constexpr double refined_epsilons = 8;
constexpr double epsilon = 0x1p-52;  // shortcuts in mixed precision are for double precision alone

}  // namespace

// Whoever a shortcut solves leaves valid_; the rest is factored, and then valid_ is all that is solved.
void HermitianPiece::shortcuts_first() {
  keep_matrix();
  keep_rhs();
  prepare(first_shift(), valid_);
  select(SXT_HERMITIAN_DONE, valid_, all_);
  if (needs_.shortcuts & SXT_SHORTCUT_TOEPLITZ) solve_toeplitz();
  if (needs_.mixed && !none(valid_)) solve_mixed();
  if (arrays_.shortcut) {  // those of all_ that are not among the rest
    select(SXT_HERMITIAN_DONE, valid_, arrays_.shortcut);
    select(SXT_HERMITIAN_OTHERS, all_, arrays_.shortcut);
  }
  if (!none(valid_)) factor_rest();
  select(SXT_HERMITIAN_DONE, valid_, factored_);
  select(SXT_HERMITIAN_DONE, all_, valid_);
  if (needs_.residual) refine();
}

// Infos of the attempt stay its own: for whom it solved, the caller's is 0 already.
void HermitianPiece::solve_toeplitz() {
  sxt_hermitian_args args =
      kernel_args(SXT_HERMITIAN_FACTOR_SOLVE, settings_.definiteness, arrays_.x, arrays_.n_rhs, valid_, info_);
  args.h.kind = SXT_KIND_HERMITIAN_TOEPLITZ;
  lane_.run(kernels_.toeplitz(), &args.h);
  select(SXT_HERMITIAN_LEFT, valid_, valid_, info_);
}

void HermitianPiece::low_kernel(std::int32_t phase, const std::uint8_t *active) {
  const sxt_hermitian_block rhs = phase == SXT_HERMITIAN_SOLVE ? low_rhs_ : sxt_hermitian_block{};
  sxt_hermitian_args args = kernel_args(phase, main_definiteness(), rhs, arrays_.n_rhs, active, info_);
  args.value_type = kernels_.low_type();
  args.a = low_.data, args.lda = low_.ld, args.stride_a = low_.stride;
  args.a_array = nullptr, args.lda_each = nullptr;
  lane_.run(kernels_.low(phase, main_definiteness()), &args.h);
}

void HermitianPiece::narrow_rhs(const sxt_hermitian_block &from, const std::uint8_t *active) {
  sxt_hermitian_step_args args = step(SXT_HERMITIAN_NARROW_RHS);
  args.active = active;
  args.b = from;
  args.c = low_rhs_;
  apply(args);
}

void HermitianPiece::widen_rhs(std::int32_t variant, const std::uint8_t *active) {
  sxt_hermitian_step_args args = step(SXT_HERMITIAN_WIDEN_RHS);
  args.variant = variant;
  args.active = active;
  args.b = arrays_.x;
  args.c = low_rhs_;
  apply(args);
}

// x by a factor in half the precision, then corrections from residuals in full precision. The matrix stays as it is,
// and so the systems that do not come within the tolerance get their right-hand sides back.
void HermitianPiece::solve_mixed() {
  sxt_hermitian_step_args narrow = step(SXT_HERMITIAN_NARROW);
  narrow.a = arrays_.factor;
  narrow.c = low_;
  apply(narrow);
  low_kernel(SXT_HERMITIAN_FACTOR, valid_);
  select(SXT_HERMITIAN_DONE, valid_, mask_, info_);
  narrow_rhs(arrays_.x, mask_);
  low_kernel(SXT_HERMITIAN_SOLVE, mask_);
  widen_rhs(1, mask_);
  for (int taken = 0;; ++taken) {  // errors of those that are good enough stay as they are
    take_residuals(arrays_.factor, nullptr, taken == 0 ? mask_ : mask_solved_);
    sxt_hermitian_step_args args = step(SXT_HERMITIAN_SELECT);
    args.active = mask_;
    args.variant = SXT_HERMITIAN_ABOVE;
    args.numbers = error_;
    args.value = refined_epsilons * epsilon;
    args.mask = mask_solved_;
    apply(args);
    if (taken == most_corrections || none(mask_solved_)) break;
    narrow_rhs(residual_, mask_solved_);
    low_kernel(SXT_HERMITIAN_SOLVE, mask_solved_);
    widen_rhs(0, mask_solved_);
  }
  select(SXT_HERMITIAN_OTHERS, mask_, mask_solved_);   // solved
  select(SXT_HERMITIAN_OTHERS, valid_, mask_solved_);  // the rest
  select(SXT_HERMITIAN_DONE, mask_solved_, valid_);
  copy_rhs(rhs_, arrays_.x);
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
    try_again(first_shift(), SXT_INDEFINITE);
  }
  select(SXT_HERMITIAN_DONE, valid_, valid_);
  solve_with_factor(arrays_.x, arrays_.n_rhs, valid_);
}

}  // namespace sextant
