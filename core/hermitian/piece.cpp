// SPDX-License-Identifier: BSD-3-Clause
#include "core/hermitian/piece.hpp"

#include <algorithm>
#include <cstdint>

#include "core/base/types.hpp"

namespace sextant {
namespace {

// The leading dimension of the copy that a shortcut factors: even in full precision, so that columns of every type but
// f32 begin where bulk copies of 16 bytes may.
std::int64_t copy_ld(const HermitianNeeds &needs, const HermitianSettings &settings) {
  const std::int64_t n = std::max<std::int64_t>(1, settings.n_max);
  return needs.copy == SXT_SHORTCUT_BUTTERFLY ? n + n % 2 : n;
}

// Cuts aligned pieces off memory; without memory it only adds up.
class Cutter {
 public:
  explicit Cutter(char *memory) : memory_(memory) {}
  template <class T>
  T *cut(std::uint64_t count) {
    T *piece = memory_ ? reinterpret_cast<T *>(memory_ + used_) : nullptr;
    used_ += aligned_bytes(count * sizeof(T));
    return piece;
  }
  std::uint64_t used() const { return used_; }

 private:
  char *memory_;
  std::uint64_t used_ = 0;
};

sxt_hermitian_block dense(void *memory, std::int64_t n, std::int64_t cols) {
  sxt_hermitian_block block{};
  block.data = memory;
  block.ld = std::max<std::int64_t>(1, n);
  block.stride = block.ld * cols;
  return block;
}

struct Cut {
  char *matrix, *rhs, *residual, *vector, *copy, *copy_rhs;
  std::uint8_t *valid, *mask, *mask_solved, *all, *factored;
  std::int32_t *info, *pivots;
  double *norm, *shift, *error, *scale;
  std::uint64_t bytes;
};

Cut cut(const HermitianNeeds &needs, const HermitianSettings &settings, const HermitianArrays &arrays,
        std::int64_t systems, char *memory) {
  Cut out{};
  Cutter cutter(memory);
  const auto count = static_cast<std::uint64_t>(systems), n = static_cast<std::uint64_t>(settings.n_max);
  const auto value = static_cast<std::uint64_t>(value_bytes(settings.type)),
             rhs = static_cast<std::uint64_t>(arrays.n_rhs);
  if (!needs.steps) return out;
  out.valid = cutter.cut<std::uint8_t>(count);
  out.mask = cutter.cut<std::uint8_t>(count);
  out.mask_solved = cutter.cut<std::uint8_t>(count);
  if (needs.shortcuts) {
    out.all = cutter.cut<std::uint8_t>(count);
    out.factored = cutter.cut<std::uint8_t>(count);
  }
  out.info = cutter.cut<std::int32_t>(count);
  out.norm = cutter.cut<double>(count);
  out.shift = cutter.cut<double>(count);
  out.error = cutter.cut<double>(count);
  if (needs.scale) out.scale = cutter.cut<double>(count * n);
  if (needs.pivots) out.pivots = cutter.cut<std::int32_t>(count * std::max<std::uint64_t>(1, n));
  if (needs.rcond) out.vector = cutter.cut<char>(count * n * value);
  if (needs.rhs) out.rhs = cutter.cut<char>(count * n * rhs * value);
  if (needs.residual || needs.copy) out.residual = cutter.cut<char>(count * n * rhs * value);
  if (needs.matrix) out.matrix = cutter.cut<char>(count * n * n * value);
  if (needs.copy) {
    const std::uint64_t bytes = needs.copy == SXT_SHORTCUT_MIXED ? value / 2 : value;
    out.copy = cutter.cut<char>(count * static_cast<std::uint64_t>(copy_ld(needs, settings)) * n * bytes);
    out.copy_rhs = cutter.cut<char>(count * n * rhs * bytes);
  }
  out.bytes = cutter.used();
  return out;
}

}  // namespace

HermitianNeeds::HermitianNeeds(const HermitianSettings &settings, const HermitianKernels &kernels, std::int32_t phase,
                               const HermitianArrays &arrays) {
  const bool trying = settings.definiteness == SXT_TRY_DEFINITE;
  residual = solves(phase) && (arrays.residual || settings.refine_steps > 0);
  rcond = arrays.rcond != nullptr;
  const bool again = factors(phase) && (trying || settings.shifts.size() > 1);
  matrix = !arrays.copies_factor && factors(phase) && (again || residual);
  // Shortcuts leave no factor for condition numbers and inertias, nor for a further attempt; scaled right-hand sides
  // could not be given back.
  const bool whole = arrays.rcond || arrays.inertia || settings.shifts.size() > 1 || settings.equilibrate;
  if (phase == SXT_HERMITIAN_FACTOR_SOLVE && arrays.n_rhs > 0 && !whole) shortcuts = kernels.shortcuts();
  copy = shortcuts & (SXT_SHORTCUT_MIXED | SXT_SHORTCUT_BUTTERFLY);
  rhs = (residual || copy) && !arrays.copies_solution;
  scale = settings.equilibrate && !arrays.scale;
  pivots = settings.definiteness != SXT_DEFINITE && !arrays.pivots;
  const bool shifts = factors(phase) && (!settings.shifts.empty() || arrays.shift);
  const bool copies = (factors(phase) && arrays.copies_factor) || (solves(phase) && arrays.copies_solution);
  // A system whose right-hand side has no memory must not be factored by the first of two kernels.
  const bool apart =
      phase == SXT_HERMITIAN_FACTOR_SOLVE && !kernels.fused() && (settings.pointer_array || settings.leading_vary);
  // Pivots of an indefinite set are the kernel's own business, but they need a place.
  steps = apart || residual || rcond || shifts || settings.equilibrate || trying || copies || pivots ||
          arrays.active_out || arrays.inertia || arrays.shortcut || shortcuts;
}

std::uint64_t HermitianNeeds::bytes(const HermitianSettings &settings, const HermitianArrays &arrays,
                                    std::int64_t systems) const {
  return cut(*this, settings, arrays, systems, nullptr).bytes;
}

HermitianPiece::HermitianPiece(const HermitianSettings &settings, HermitianKernels &kernels, HermitianLane &lane,
                               bool on_host, const std::int32_t *orders, const HermitianNeeds &needs,
                               const HermitianArrays &arrays, std::int64_t systems, char *memory)
    : settings_(settings),
      kernels_(kernels),
      lane_(lane),
      on_host_(on_host),
      orders_(orders ? orders + arrays.first : nullptr),
      needs_(needs),
      arrays_(arrays),
      systems_(systems) {
  const Cut own = cut(needs, settings, arrays, systems, memory);
  original_ = arrays.copies_factor ? arrays.a
              : needs.matrix       ? dense(own.matrix, settings.n_max, settings.n_max)
                                   : sxt_hermitian_block{};
  rhs_ = arrays.copies_solution ? arrays.b : dense(own.rhs, settings.n_max, arrays.n_rhs);
  residual_ = dense(own.residual, settings.n_max, arrays.n_rhs);
  vector_ = dense(own.vector, settings.n_max, 1);
  copy_ = dense(own.copy, copy_ld(needs, settings), settings.n_max);
  copy_rhs_ = dense(own.copy_rhs, settings.n_max, arrays.n_rhs);
  valid_ = own.valid, mask_ = own.mask, mask_solved_ = own.mask_solved;
  all_ = own.all, factored_ = own.factored;
  info_ = own.info;
  norm_ = own.norm;
  shift_ = arrays.shift ? arrays.shift : own.shift;
  error_ = arrays.residual ? arrays.residual : own.error;
  if (needs.scale) {
    arrays_.scale = own.scale;
    arrays_.stride_scale = settings.n_max;
  }
  if (needs.pivots) {
    arrays_.pivots = own.pivots;
    arrays_.stride_pivots = std::max<std::int64_t>(1, settings.n_max);  // the first of a system is always looked at
  }
}

void HermitianPiece::run(std::int32_t phase) {
  // The shift is known where it was chosen, or told.
  shift_known_ = factors(phase) || arrays_.shift;
  if (!needs_.steps) return plain(phase);
  check(phase);
  const bool once = settings_.definiteness != SXT_TRY_DEFINITE && settings_.shifts.size() < 2;
  if (needs_.shortcuts) {
    shortcuts_first();
  } else if (phase == SXT_HERMITIAN_FACTOR_SOLVE && once && kernels_.fused()) {
    factor_and_solve();
  } else {
    if (factors(phase)) factor();
    if (solves(phase)) solve();
  }
  if (arrays_.shortcut && !needs_.shortcuts) {  // none was taken: the systems that are none of themselves
    select(SXT_HERMITIAN_DONE, valid_, arrays_.shortcut);
    select(SXT_HERMITIAN_OTHERS, arrays_.shortcut, arrays_.shortcut);
  }
  if (arrays_.active_out) select(SXT_HERMITIAN_DONE, arrays_.active, arrays_.active_out);
}

// ---- calls of kernels and steps

sxt_hermitian_step_args HermitianPiece::step(std::int32_t step) const {
  sxt_hermitian_step_args args{};
  args.h = {sizeof args, SXT_KIND_HERMITIAN_STEP};
  args.step = step;
  args.value_type = settings_.type;
  args.triangle = settings_.triangle;
  args.batch = systems_;
  args.n_max = settings_.n_max;
  args.n_rhs = arrays_.n_rhs;
  args.orders_device = orders_;
  args.active = valid_;
  args.info = arrays_.info;
  args.pivots = arrays_.pivots;
  args.stride_pivots = arrays_.stride_pivots;
  args.scale = arrays_.scale;
  args.stride_scale = arrays_.stride_scale;
  return args;
}

void HermitianPiece::apply(sxt_hermitian_step_args args) { lane_.run(kernels_.steps(), &args.h); }

sxt_hermitian_args HermitianPiece::kernel_args(std::int32_t phase, std::int32_t definiteness,
                                               const sxt_hermitian_block &rhs, std::int64_t n_rhs,
                                               const std::uint8_t *active, std::int32_t *info) const {
  sxt_hermitian_args args{};
  args.h = {sizeof args, SXT_KIND_HERMITIAN};
  args.phase = phase;
  args.definiteness = definiteness;
  args.value_type = settings_.type;
  args.triangle = settings_.triangle;
  args.batch = systems_;
  args.n_max = settings_.n_max;
  args.n_rhs = n_rhs;
  args.orders = settings_.orders.empty() ? nullptr : settings_.orders.data() + arrays_.first;
  args.orders_device = orders_;
  const sxt_hermitian_block &a = arrays_.factor;
  args.a = a.data, args.lda = a.ld, args.stride_a = a.stride, args.a_array = a.array, args.lda_each = a.ld_each;
  args.b = rhs.data, args.ldb = rhs.ld, args.stride_b = rhs.stride, args.b_array = rhs.array,
  args.ldb_each = rhs.ld_each;
  args.active = active;
  args.info = info;
  if (definiteness == SXT_INDEFINITE) {
    args.pivots = arrays_.pivots;
    args.stride_pivots = arrays_.stride_pivots;
  }
  return args;
}

void HermitianPiece::kernel(std::int32_t phase, std::int32_t definiteness, const sxt_hermitian_block &rhs,
                            std::int64_t n_rhs, const std::uint8_t *active, std::int32_t *info) {
  sxt_hermitian_args args = kernel_args(phase, definiteness, rhs, n_rhs, active, info);
  lane_.run(kernels_.phase(phase, definiteness), &args.h);
}

void HermitianPiece::copy(const sxt_hermitian_block &from, const sxt_hermitian_block &to, const std::uint8_t *active) {
  sxt_hermitian_step_args args = step(SXT_HERMITIAN_COPY);
  args.a = from;
  args.c = to;
  args.active = active;
  apply(args);
}

void HermitianPiece::copy_rhs(const sxt_hermitian_block &from, const sxt_hermitian_block &to) {
  sxt_hermitian_step_args args = step(SXT_HERMITIAN_COPY_RHS);
  args.b = from;
  args.c = to;
  apply(args);
}

void HermitianPiece::select(std::int32_t variant, const std::uint8_t *active, std::uint8_t *mask, std::int32_t *info) {
  sxt_hermitian_step_args args = step(SXT_HERMITIAN_SELECT);
  if (info) args.info = info;
  args.variant = variant;
  args.active = active;
  args.mask = mask;
  apply(args);
}

bool HermitianPiece::none(const std::uint8_t *mask) const {
  return on_host_ && std::none_of(mask, mask + systems_, [](std::uint8_t bit) { return bit != 0; });
}

// ---- what a call is made of

// The kernel alone, on the caller's arrays.
void HermitianPiece::plain(std::int32_t phase) {
  const std::int32_t definiteness = settings_.definiteness;
  const sxt_hermitian_block none{};
  if (phase != SXT_HERMITIAN_FACTOR_SOLVE || kernels_.fused())
    return kernel(phase, definiteness, solves(phase) ? arrays_.x : none, arrays_.n_rhs, arrays_.active, arrays_.info);
  kernel(SXT_HERMITIAN_FACTOR, definiteness, none, 0, arrays_.active, arrays_.info);
  kernel(SXT_HERMITIAN_SOLVE, definiteness, arrays_.x, arrays_.n_rhs, arrays_.active, arrays_.info);
}

// Which systems can be worked on at all: valid_. Steps and kernels that follow touch no other.
void HermitianPiece::check(std::int32_t phase) {
  sxt_hermitian_step_args args = step(SXT_HERMITIAN_CHECK);
  args.active = arrays_.active;
  args.mask = valid_;
  args.value = factors(phase) ? 0 : 1;
  args.a = arrays_.a;
  if (solves(phase)) args.b = arrays_.b;
  if (arrays_.copies_factor) args.c = arrays_.factor;
  apply(args);
  if (!solves(phase) || !arrays_.copies_solution) return;
  sxt_hermitian_step_args more = step(SXT_HERMITIAN_CHECK);  // where solutions go
  more.b = arrays_.x;
  more.mask = valid_;
  more.value = 1;
  more.active = valid_;
  apply(more);
}

void HermitianPiece::factor() {
  keep_matrix();
  attempt(first_shift(), main_definiteness(), valid_);
  for (std::size_t k = 1; k < settings_.shifts.size(); ++k)
    try_again(SXT_HERMITIAN_FAILED, settings_.shifts[k], main_definiteness());
  if (settings_.definiteness == SXT_TRY_DEFINITE) {
    apply(step(SXT_HERMITIAN_NO_PIVOTS));
    try_again(SXT_HERMITIAN_LEFT, first_shift(), SXT_INDEFINITE);
  }
  tell_of_factor();
}

// By the kernel that does both, where one attempt is all there is.
void HermitianPiece::factor_and_solve() {
  keep_matrix();
  keep_rhs();
  prepare(first_shift(), valid_);
  if (settings_.equilibrate) scale_rhs(arrays_.x, arrays_.n_rhs, valid_);
  kernel(SXT_HERMITIAN_FACTOR_SOLVE, settings_.definiteness, arrays_.x, arrays_.n_rhs, valid_, info_);
  merge(valid_);
  select(SXT_HERMITIAN_DONE, valid_, valid_);
  if (settings_.equilibrate) scale_rhs(arrays_.x, arrays_.n_rhs, valid_);
  tell_of_factor();
  if (needs_.residual) refine();
}

// The matrices to where they are factored, or to where they can be looked up again.
void HermitianPiece::keep_matrix() {
  if (original_.data || original_.array) copy(arrays_.a, arrays_.copies_factor ? arrays_.factor : original_, valid_);
}
void HermitianPiece::keep_rhs() {
  if (arrays_.copies_solution)
    copy_rhs(arrays_.b, arrays_.x);
  else if (needs_.rhs)
    copy_rhs(arrays_.b, rhs_);
}

void HermitianPiece::tell_of_factor() {
  if (arrays_.inertia) {
    select(SXT_HERMITIAN_DONE, valid_, mask_);
    sxt_hermitian_step_args args = step(SXT_HERMITIAN_INERTIA);
    args.active = mask_;
    args.a = arrays_.factor;
    args.inertia = arrays_.inertia;
    apply(args);
    if (settings_.definiteness != SXT_DEFINITE) {  // a singular block of D does not end the factorisation
      select(SXT_HERMITIAN_FAILED, arrays_.active, mask_);
      apply(args);
    }
  }
  if (needs_.rcond) estimate_condition();
}

// Shifts and scales what stands in the factor's place.
void HermitianPiece::prepare(double shift, const std::uint8_t *active) {
  sxt_hermitian_step_args args = step(SXT_HERMITIAN_SHIFT);
  args.a = arrays_.factor;
  args.active = active;
  args.value = shift;
  args.variant = settings_.shift_relative;
  args.numbers = shift_;
  apply(args);
  if (needs_.rcond) {
    args.step = SXT_HERMITIAN_NORM;
    args.numbers = norm_;
    apply(args);
  }
  if (settings_.equilibrate) {
    args.step = SXT_HERMITIAN_SCALE;
    apply(args);
  }
}

// Infos of the active systems as the kernel left them.
void HermitianPiece::merge(const std::uint8_t *active) {
  sxt_hermitian_step_args args = step(SXT_HERMITIAN_MERGE);
  args.active = active;
  args.info_in = info_;
  apply(args);
}

void HermitianPiece::attempt(double shift, std::int32_t definiteness, const std::uint8_t *active) {
  prepare(shift, active);
  kernel(SXT_HERMITIAN_FACTOR, definiteness, {}, 0, active, info_);
  merge(active);
}

// Another attempt for the systems that failed: all of them (SXT_HERMITIAN_LEFT), for numbers may have left the range of
// the first attempt alone, or those that are not positive.
void HermitianPiece::try_again(std::int32_t which, double shift, std::int32_t definiteness) {
  select(which, valid_, mask_);
  if (none(mask_)) return;
  copy(original_, arrays_.factor, mask_);
  attempt(shift, definiteness, mask_);
}

// 1 / (|A| |A^-1|): the inverse's norm by Hager's and Higham's estimate (ACM TOMS 14, 1988), whose stages are steps,
// with the inverse applied between them.
void HermitianPiece::estimate_condition() {
  select(SXT_HERMITIAN_DONE, valid_, mask_);
  for (std::int32_t stage = SXT_HERMITIAN_ESTIMATE_BEGIN; stage <= SXT_HERMITIAN_ESTIMATE_END; ++stage) {
    sxt_hermitian_step_args args = step(SXT_HERMITIAN_ESTIMATE);
    args.active = mask_;
    args.variant = stage;
    args.b = vector_;
    args.numbers = arrays_.rcond;
    apply(args);
    if (stage != SXT_HERMITIAN_ESTIMATE_END) solve_with_factor(vector_, 1, mask_);
  }
  sxt_hermitian_step_args args = step(SXT_HERMITIAN_RECIPROCAL);
  args.active = mask_;
  args.numbers = arrays_.rcond;
  args.numbers_in = norm_;
  apply(args);
}

void HermitianPiece::solve() {
  select(SXT_HERMITIAN_DONE, valid_, valid_);  // what failed is not looked at again
  keep_rhs();
  solve_with_factor(arrays_.x, arrays_.n_rhs, valid_);
  if (needs_.residual) refine();
}

void HermitianPiece::scale_rhs(const sxt_hermitian_block &rhs, std::int64_t n_rhs, const std::uint8_t *active) {
  sxt_hermitian_step_args args = step(SXT_HERMITIAN_SCALE_RHS);
  args.active = active;
  args.b = rhs;
  args.n_rhs = n_rhs;
  apply(args);
}

// rhs = S (S A S)^-1 S rhs with the factor of S A S.
void HermitianPiece::solve_with_factor(const sxt_hermitian_block &rhs, std::int64_t n_rhs, const std::uint8_t *active) {
  if (settings_.equilibrate) scale_rhs(rhs, n_rhs, active);
  if (settings_.definiteness == SXT_TRY_DEFINITE) {
    select(SXT_HERMITIAN_CHOLESKY, active, mask_solved_);
    kernel(SXT_HERMITIAN_SOLVE, SXT_DEFINITE, rhs, n_rhs, mask_solved_, arrays_.info);
    select(SXT_HERMITIAN_PIVOTED, active, mask_solved_);
    if (!none(mask_solved_)) kernel(SXT_HERMITIAN_SOLVE, SXT_INDEFINITE, rhs, n_rhs, mask_solved_, arrays_.info);
  } else {
    kernel(SXT_HERMITIAN_SOLVE, settings_.definiteness, rhs, n_rhs, active, arrays_.info);
  }
  if (settings_.equilibrate) scale_rhs(rhs, n_rhs, active);
}

// residual_ = b - (matrix + shift I) x, its backward errors to error_.
void HermitianPiece::take_residuals(const sxt_hermitian_block &matrix, const double *shift,
                                    const std::uint8_t *active) {
  copy_rhs(rhs_, residual_);
  sxt_hermitian_step_args args = step(SXT_HERMITIAN_RESIDUAL);
  args.active = active;
  args.a = matrix;
  args.b = arrays_.x;
  args.c = residual_;
  args.numbers = error_;
  args.numbers_in = shift;
  apply(args);
}

// x += A^-1 (b - A x) for the systems whose backward error is above the tolerance, as often as was asked for; the
// errors that are left stand in error_.
void HermitianPiece::refine() {
  for (int taken = 0;; ++taken) {
    take_residuals(original_, shift_known_ ? shift_ : nullptr, valid_);
    if (taken == settings_.refine_steps) return;
    sxt_hermitian_step_args args = step(SXT_HERMITIAN_SELECT);
    args.active = needs_.shortcuts ? factored_ : valid_;
    args.numbers = error_;
    args.variant = SXT_HERMITIAN_ABOVE;
    args.value = settings_.refine_tolerance;
    args.mask = mask_;
    apply(args);
    if (none(mask_)) return;
    solve_with_factor(residual_, arrays_.n_rhs, mask_);
    sxt_hermitian_step_args add = step(SXT_HERMITIAN_ADD);
    add.active = mask_;
    add.b = arrays_.x;
    add.c = residual_;
    apply(add);
  }
}

}  // namespace sextant
