// SPDX-License-Identifier: BSD-3-Clause
// Some systems of a set worked on at once: the order of kernels and steps that factors and solves them.
#pragma once

#include <cstdint>

#include "core/hermitian/kernels.hpp"
#include "core/hermitian/lane.hpp"
#include "core/hermitian/settings.hpp"

namespace sextant {

// Arrays that are cut off one piece of memory begin at multiples of this.
constexpr std::uint64_t aligned_bytes(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

// Which arrays of its own a call needs beside the caller's, and where they lie in a lane's memory.
struct HermitianNeeds {
  bool steps = false;     // anything beside the kernel itself
  bool matrix = false;    // a copy of the matrices
  bool rhs = false;       // a copy of the right-hand sides
  bool residual = false;  // their residuals, and the numbers of backward errors
  bool rcond = false, scale = false, pivots = false;
  std::int32_t copy = 0;       // a copy of both that a shortcut factors: SXT_SHORTCUT_MIXED, in half the precision, or
                               // _BUTTERFLY
  std::int32_t shortcuts = 0;  // that this call takes: SXT_SHORTCUT_*

  HermitianNeeds(const HermitianSettings &settings, const HermitianKernels &kernels, std::int32_t phase,
                 const HermitianArrays &arrays);
  std::uint64_t bytes(const HermitianSettings &settings, const HermitianArrays &arrays, std::int64_t systems) const;
};

class HermitianPiece {
 public:
  // `orders`: of all systems of the set, in device space; NULL when they are uniform. memory: as needs.bytes says.
  HermitianPiece(const HermitianSettings &settings, HermitianKernels &kernels, HermitianLane &lane, bool on_host,
                 const std::int32_t *orders, const HermitianNeeds &needs, const HermitianArrays &arrays,
                 std::int64_t systems, char *memory);
  void run(std::int32_t phase);

 private:
  sxt_hermitian_step_args step(std::int32_t step) const;
  void apply(sxt_hermitian_step_args args);
  sxt_hermitian_args kernel_args(std::int32_t phase, std::int32_t definiteness, const sxt_hermitian_block &rhs,
                                 std::int64_t n_rhs, const std::uint8_t *active, std::int32_t *info) const;
  void kernel(std::int32_t phase, std::int32_t definiteness, const sxt_hermitian_block &rhs, std::int64_t n_rhs,
              const std::uint8_t *active, std::int32_t *info);
  void copy(const sxt_hermitian_block &from, const sxt_hermitian_block &to, const std::uint8_t *active);
  void copy_rhs(const sxt_hermitian_block &from, const sxt_hermitian_block &to);
  void select(std::int32_t variant, const std::uint8_t *active, std::uint8_t *mask, std::int32_t *info = nullptr);
  bool none(const std::uint8_t *mask) const;  // surely; a device is not asked

  void plain(std::int32_t phase);
  void check(std::int32_t phase);
  void factor();
  void factor_and_solve();
  void shortcuts_first();
  void solve_toeplitz();
  void solve_by_copy();
  void start_mixed();
  void start_butterfly();
  void leave_out_cancelled();
  void correct_by_copy();
  void kernel_on_copy(std::int32_t phase, const std::uint8_t *active);
  void copy_takes_rhs(const sxt_hermitian_block &from, const std::uint8_t *active);
  void copy_gives_solution(std::int32_t variant, const std::uint8_t *active);
  void take_residuals(const sxt_hermitian_block &matrix, const double *shift, const std::uint8_t *active);
  void factor_rest();
  double first_shift() const { return settings_.shifts.empty() ? 0 : settings_.shifts[0]; }
  std::int32_t main_definiteness() const {
    return settings_.definiteness == SXT_INDEFINITE ? SXT_INDEFINITE : SXT_DEFINITE;
  }
  void keep_matrix();
  void keep_rhs();
  void tell_of_factor();
  void prepare(double shift, const std::uint8_t *active);
  void merge(const std::uint8_t *active);
  void scale_rhs(const sxt_hermitian_block &rhs, std::int64_t n_rhs, const std::uint8_t *active);
  void attempt(double shift, std::int32_t definiteness, const std::uint8_t *active);
  void try_again(std::int32_t which, double shift, std::int32_t definiteness);
  void estimate_condition();
  void solve();
  void solve_with_factor(const sxt_hermitian_block &rhs, std::int64_t n_rhs, const std::uint8_t *active);
  void refine();

  const HermitianSettings &settings_;
  HermitianKernels &kernels_;
  HermitianLane &lane_;
  bool on_host_;
  const std::int32_t *orders_;
  HermitianNeeds needs_;
  HermitianArrays arrays_;
  std::int64_t systems_;

  sxt_hermitian_block original_{}, rhs_{}, residual_{}, vector_{};
  sxt_hermitian_block copy_{}, copy_rhs_{};  // what a shortcut factors, and solves with
  std::uint8_t *valid_ = nullptr, *mask_ = nullptr, *mask_solved_ = nullptr;
  std::uint8_t *all_ = nullptr, *factored_ = nullptr;  // with shortcuts: valid_ before them, and what has a factor
  std::int32_t *info_ = nullptr;
  bool shift_known_ = false;
  double *norm_ = nullptr, *shift_ = nullptr, *error_ = nullptr;
};

}  // namespace sextant
