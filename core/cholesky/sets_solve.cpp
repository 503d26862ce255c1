// SPDX-License-Identifier: BSD-3-Clause
// Solves with the factors of many sets, and what these say of themselves.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/types.hpp"
#include "core/cholesky/factor.hpp"
#include "core/cholesky/sets.hpp"
#include "core/cholesky/sets_slices.hpp"
#include "core/device/stage.hpp"

namespace sextant::cholesky {

namespace {

// Columns of several sets as they lie somewhere.
struct Layout {
  char *at;  // of the first set
  std::int64_t ld, stride;
  char *column(std::int64_t set, std::int64_t j, std::int64_t each) const {
    return at + (set * stride + j * ld) * each;
  }
  bool is_dense(std::int64_t n, std::int64_t n_rhs) const { return ld == n && stride == n * n_rhs; }
  bool operator==(const Layout &) const = default;
};

// All columns of some sets; in one piece where both sides have them so.
void copy_columns(Device &device, const Layout &to, const Layout &from, std::int64_t sets, std::int64_t n,
                  std::int64_t n_rhs, std::int64_t each) {
  if (to == from || sets == 0 || n_rhs == 0) return;
  const auto bytes = [&](std::int64_t values) { return static_cast<std::uint64_t>(values * each); };
  if (to.is_dense(n, n_rhs) && from.is_dense(n, n_rhs)) return device.copy(to.at, from.at, bytes(sets * n * n_rhs));
  for (std::int64_t k = 0; k < sets; ++k) {
    if (to.ld == n && from.ld == n) {
      device.copy(to.column(k, 0, each), from.column(k, 0, each), bytes(n * n_rhs));
      continue;
    }
    for (std::int64_t j = 0; j < n_rhs; ++j) device.copy(to.column(k, j, each), from.column(k, j, each), bytes(n));
  }
}

}  // namespace

sxt_status Sets::solve(const SetsSolveCall &call) const {
  const std::int64_t n = structure_.view().n, each = value_bytes(analysis_->value_type());
  if (call.count == 0) return SXT_OK;
  const auto status = outcome_.status.begin() + call.first;
  require(std::find(status, status + call.count, sxt_status{SXT_OK}) != status + call.count, SXT_E_STATE,
          "no set of the call has a factor: call sxt_cholesky_sets_factor first, or see its outcomes");
  if (n == 0 || call.n_rhs == 0) return SXT_OK;
  Device &device = analysis_->context().device();
  const bool reached = in_place(device, call.x, static_cast<std::uint64_t>(each), "x");
  const std::uint64_t set = static_cast<std::uint64_t>(n * each) * static_cast<std::uint64_t>(call.n_rhs);
  const std::int64_t most = reached ? call.count : sets_in(most_staged, set, call.count);
  DeviceBuffer kept;
  if (!reached)
    kept = buffer_for(device, set * static_cast<std::uint64_t>(most), "a copy of the right-hand sides of some sets");
  const double columns = static_cast<double>(call.n_rhs) / static_cast<double>(analysis_->settings().expected_rhs);
  const Slices slices(call.watch, call.first, call.count, most,
                      solve_choice_->run_s * columns / static_cast<double>(count_));
  return slices.run([&](std::int64_t first, std::int64_t count) {
    return solve_slice(call, first, count, reached ? nullptr : &kept);
  });
}

// kept NULL: x is solved for where it lies.
sxt_status Sets::solve_slice(const SetsSolveCall &call, std::int64_t first, std::int64_t count,
                             DeviceBuffer *kept) const {
  Device &device = analysis_->context().device();
  const std::int64_t n = structure_.view().n, each = value_bytes(analysis_->value_type()), skip = first - call.first;
  const Layout b{static_cast<char *>(const_cast<void *>(call.b)) + skip * call.stride_b * each, call.ldb,
                 call.stride_b};
  const Layout x{static_cast<char *>(call.x) + skip * call.stride_x * each, call.ldx, call.stride_x};
  const Layout here = kept ? Layout{kept->as<char>(), n, n * call.n_rhs} : x;
  copy_columns(device, here, b, count, n, call.n_rhs, each);
  for (std::int64_t set = first; set < first + count;) {
    const std::int64_t end = run_end(set, first + count);
    char *const at = here.column(set - first, 0, each);
    if (const sxt_status status = solve_run(call, set, end, at, here.ld, here.stride)) return status;
    set = end;
  }
  copy_columns(device, x, here, count, n, call.n_rhs, each);
  return SXT_OK;
}

// Sets set .. end - 1, which all have factors or none.
sxt_status Sets::solve_run(const SetsSolveCall &call, std::int64_t set, std::int64_t end, char *x, std::int64_t ld,
                           std::int64_t stride) const {
  const std::int64_t n = structure_.view().n, each = value_bytes(analysis_->value_type());
  if (!has_factor(set)) {
    const std::vector<char> nan(static_cast<std::size_t>(n * each), static_cast<char>(0xff));  // in every type
    const Layout to{x, ld, stride};
    for (std::int64_t k = 0; k < end - set; ++k)
      for (std::int64_t j = 0; j < call.n_rhs; ++j)
        analysis_->context().device().copy(to.column(k, j, each), nan.data(), nan.size());
    return SXT_OK;
  }
  for (std::int64_t first = 0; first < call.n_rhs; first += Analysis::most_columns) {
    const std::int64_t columns = std::min(call.n_rhs - first, Analysis::most_columns);
    sxt_cholesky_args out = args(SXT_CHOLESKY_SOLVE, set, end - set);
    out.b = x + first * ld * each;
    out.ldb = ld, out.n_rhs = columns, out.stride_b = stride;
    if (const sxt_status status = solver(columns).ask(&out.h, call.watch.cancel)) return status;
  }
  return SXT_OK;
}

// From the pivots of all sets, some sets at a time.
const std::vector<SetFacts> &Sets::facts() const {
  Runner &any = solver(1);
  const std::lock_guard lock(mutex_);
  if (!facts_.empty()) return facts_;
  Device &device = analysis_->context().device();
  const sxt_symbolic &symbolic = structure_.view();
  const sxt_value_type type = analysis_->value_type();
  const bool single = is_single(type);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<SetFacts> facts(static_cast<std::size_t>(count_), {nan, nan, nan, 0, 0, 0, 0});
  const std::uint64_t each = static_cast<std::uint64_t>(symbolic.n) * (single ? 4 : 8);
  const std::int64_t most = sets_in(most_staged, each, count_);
  DeviceBuffer there(device, each * static_cast<std::uint64_t>(most));
  for (std::int64_t set = 0; set < count_;) {
    const std::int64_t end = std::min(run_end(set, count_), set + most), sets = end - set;
    if (has_factor(set)) {
      sxt_cholesky_args out = args(SXT_CHOLESKY_PIVOTS, set, sets);
      out.b = there.data(), out.stride_b = symbolic.n;
      if (symbolic.n > 0) any.run(&out.h);
      const std::vector<double> pivots = numbers_at(device, there.data(), sets * symbolic.n, single);
      for (std::int64_t k = 0; k < sets; ++k) {
        const FactorFacts its = facts_of(symbolic, pivots.data() + k * symbolic.n);
        facts[static_cast<std::size_t>(set + k)] = {its.log_determinant, its.least_pivot, its.largest_pivot, its.sign,
                                                    its.positive,        its.negative,    its.zero};
      }
    }
    set = end;
  }
  facts_ = std::move(facts);
  return facts_;
}

}  // namespace sextant::cholesky
