// SPDX-License-Identifier: BSD-3-Clause
#include "core/cholesky/factor.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/base/types.hpp"
#include "core/device/stage.hpp"

namespace sextant::cholesky {

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double largest_entry(const CsrArrays &csr) {
  return with_value_type(csr.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    double largest = 0;
    for (std::int64_t k = 0; k < csr.nnz; ++k)
      largest = std::max(largest, static_cast<double>(std::abs(csr.values.as<T>()[k])));
    return largest;
  });
}

// The first row with a value that is NaN or infinite; -1: there is none.
std::int64_t first_not_finite(const CsrArrays &csr) {
  return with_value_type(csr.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto row_of = [&](std::int64_t k) {
      return with_index_type(csr.offset_type, [&](auto offset) {
        const auto *const begin = csr.row_ptr.as<typename decltype(offset)::type>();
        return static_cast<std::int64_t>(std::upper_bound(begin, begin + csr.rows + 1, k) - begin) - 1;
      });
    };
    for (std::int64_t k = 0; k < csr.nnz; ++k)
      if (const T value = csr.values.as<T>()[k]; !std::isfinite(std::real(value)) || !std::isfinite(std::imag(value)))
        return row_of(k);
    return std::int64_t{-1};
  });
}

}  // namespace

DeviceBuffer buffer_for(Device &device, std::uint64_t bytes, const char *what) {
  try {
    return DeviceBuffer(device, bytes);
  } catch (const Error &error) {
    if (error.status() != SXT_E_MEMORY) throw;
    throw Error(SXT_E_MEMORY, text(what, " takes ", bytes, " bytes, which could not be allocated: ", error.what()));
  }
}

Factor::Factor(std::shared_ptr<Analysis> analysis) : analysis_(std::move(analysis)) {
  const Context &context = analysis_->context();
  Device &device = context.device();
  const sxt_symbolic &symbolic = analysis_->symbolic();
  const std::int64_t each = value_bytes(analysis_->value_type());
  analysis_->check_memory();
  factor_ = buffer_for(device, static_cast<std::uint64_t>(symbolic.values * each), "the factor");
  if (!device.on_host())
    values_ =
        buffer_for(device, static_cast<std::uint64_t>(analysis_->matrix().csr().nnz * each), "a copy of the values");
  session_ = analysis_->open_factor();
  if (analysis_->settings().pivot_policy != SXT_PIVOT_FAIL) {
    changed_columns_.resize(most_changed);
    outcome_.changed_rows.reserve(most_changed);
  }
  analysis_->reserve_for_values(symmetry_work_);
  analysis_->solver(1);
}

sxt_cholesky_args Factor::args(std::int32_t phase) const {
  sxt_cholesky_args out{};
  out.h = {sizeof out, SXT_KIND_CHOLESKY};
  out.phase = phase;
  out.factors = analysis_->settings().factorization;
  out.value_type = out.value_type_a = analysis_->value_type();
  out.n_sets = 1;
  out.factor = factor_.data();
  return out;
}

void Factor::take_values(const Matrix &matrix) {
  if (values_.data()) analysis_->context().device().copy(values_.data(), matrix.csr().values.data(), values_.bytes());
}

sxt_status Factor::factor(std::shared_ptr<Matrix> matrix, const volatile std::int32_t *cancel) {
  if (!matrix) matrix = analysis_->shared_matrix();
  if (matrix != matrix_) analysis_->check_same_pattern(*matrix);
  outcome_.factored = false;
  outcome_.failed_row = -1;
  outcome_.failed_pivot = 0;
  outcome_.changed = 0;
  outcome_.changed_rows.clear();
  facts_.reset();
  tried_.clear();
  try {
    analysis_->check_values(*matrix, symmetry_work_);
  } catch (const Error &problem) {
    if (problem.status() == SXT_E_NOT_FINITE) note_failure(first_not_finite(matrix->csr()), NAN);
    throw;
  }
  const Settings &settings = analysis_->settings();
  const Clock::time_point start = Clock::now();
  take_values(*matrix);
  std::int64_t failed = -1, changed = 0;
  double pivot = 0;
  std::vector<std::int64_t> &columns = changed_columns_;
  sxt_cholesky_args call = args(SXT_CHOLESKY_FACTOR);
  call.values = values_.data() ? values_.data() : matrix->csr().values.data();
  call.pivot_policy = settings.pivot_policy;
  call.pivot_tolerance = settings.pivot_tolerance;
  call.pivot_value = settings.pivot_value;
  if (settings.pivot_policy != SXT_PIVOT_FAIL && settings.pivot_value == 0) {
    const double largest = largest_entry(matrix->csr());  // a matrix of zeros has no size of its own
    call.pivot_value = epsilon(analysis_->value_type()) * (largest > 0 ? largest : 1);
  }
  call.pivots = columns.empty() ? nullptr : columns.data();
  call.pivots_capacity = static_cast<std::int64_t>(columns.size());
  call.failed_column = &failed;
  call.failed_pivot = &pivot;
  call.changed = &changed;
  const sxt_status status = session_->ask(&call.h, cancel);
  if (status != SXT_OK) return status;
  outcome_.seconds = since(start);
  judge(*matrix, failed, pivot);
  outcome_.changed = changed;
  const std::int32_t *perm = analysis_->symbolic().perm;
  const std::int64_t told = std::min<std::int64_t>(changed, static_cast<std::int64_t>(columns.size()));
  for (std::int64_t k = 0; k < told; ++k) outcome_.changed_rows.push_back(perm[columns[static_cast<std::size_t>(k)]]);
  if (matrix != matrix_) truth_.reset();  // it is of the matrix before
  matrix_ = std::move(matrix);
  version_ = matrix_->version();
  outcome_.factored = true;
  try {
    try_solver(1);
  } catch (...) {
    outcome_.factored = false;
    throw;
  }
  return SXT_OK;
}

void Factor::note_failure(std::int64_t row, double pivot) {
  outcome_.failed_row = row;
  outcome_.failed_pivot = pivot;
}

// Throws where the factorisation failed at a column.
void Factor::judge(const Matrix &matrix, std::int64_t failed, double pivot) {
  if (failed < 0) return;
  const std::int64_t row = analysis_->symbolic().perm[failed];
  note_failure(row, std::isfinite(pivot) ? pivot : NAN);
  if (!std::isfinite(pivot))
    fail(SXT_E_NOT_FINITE, "the pivot of row ", row, " (counting from 0) is not a number: numbers left the range of ",
         value_name(matrix.value_type()), " as the matrix was factored, or it holds a NaN or infinity");
  const bool cholesky = analysis_->settings().factorization == SXT_LLH;
  fail(SXT_E_NOT_POSITIVE_DEFINITE,
       cholesky ? "the matrix is not positive definite: " : "the matrix is singular or nearly so: ",
       "the pivot of row ", row, " (counting from 0) is ", pivot,
       cholesky ? "; a factorisation SXT_LDLH also takes quasi-definite matrices"
                : "; a pivot_policy other than SXT_PIVOT_FAIL goes on past such pivots");
}

void Factor::check_factored() const {
  require(outcome_.factored, SXT_E_STATE, "there is no factor: ",
          outcome_.failed_row >= 0 ? "the last factorisation failed" : "call sxt_cholesky_factor first");
}

void Factor::check_values() const {
  require(matrix_->version() == version_, SXT_E_STATE,
          "A's values changed since it was factored, and this needs them: factor it again");
}

sxt_status Factor::solve_columns(const SolveCall &call, std::int64_t first, std::int64_t count,
                                 DeviceBuffer &kept) const {
  Device &device = analysis_->context().device();
  const std::int64_t n = analysis_->symbolic().n, each = value_bytes(analysis_->value_type());
  const auto size = static_cast<std::uint64_t>(n * each);
  const auto at = [&](const void *array, std::int64_t ld, std::int64_t j) {
    return static_cast<char *>(const_cast<void *>(array)) + static_cast<std::uint64_t>((first + j) * ld * each);
  };
  const bool reached = in_place(device, call.x, static_cast<std::uint64_t>(each), "x");
  if (!reached && kept.bytes() < size * static_cast<std::uint64_t>(count))
    kept = buffer_for(device, size * static_cast<std::uint64_t>(count), "a copy of the right-hand sides");
  const auto column = [&](std::int64_t j) {
    return reached ? at(call.x, call.ldx, j) : kept.as<char>() + static_cast<std::uint64_t>(j) * size;
  };
  for (std::int64_t j = 0; j < count; ++j)
    if (column(j) != at(call.b, call.ldb, j)) device.copy(column(j), at(call.b, call.ldb, j), size);
  constexpr std::int32_t phases[] = {SXT_CHOLESKY_SOLVE, SXT_CHOLESKY_FORWARD, SXT_CHOLESKY_DIAGONAL,
                                     SXT_CHOLESKY_BACKWARD};
  sxt_cholesky_args solve = args(phases[call.step]);
  solve.b = column(0);
  solve.ldb = reached ? call.ldx : n;
  solve.n_rhs = count;
  const sxt_status status = analysis_->solver(count).ask(&solve.h, call.cancel);
  for (std::int64_t j = 0; j < count && !reached; ++j) device.copy(at(call.x, call.ldx, j), column(j), size);
  return status;
}

sxt_status Factor::solve(const SolveCall &call, sxt_cholesky_solve_report &report) const {
  check_factored();
  const Clock::time_point start = Clock::now();
  if (call.refine_steps > 0) check_values();
  if (analysis_->symbolic().n == 0 || call.n_rhs == 0) {
    if (call.refine_steps > 0) report.residual = report.residual_bound = 0;  // b = A x, as there is nothing in them
    return SXT_OK;
  }
  report.predicted_seconds = analysis_->solve_seconds(call.n_rhs);
  const sxt_status status = call.refine_steps > 0 ? solve_refined(call, report) : solve_plainly(call);
  report.solve_seconds = since(start);
  return status;
}

sxt_status Factor::solve_plainly(const SolveCall &call) const {
  DeviceBuffer kept;
  sxt_status status = SXT_OK;
  for (std::int64_t first = 0; first < call.n_rhs && status == SXT_OK; first += Analysis::most_columns) {
    const std::int64_t count = std::min(call.n_rhs - first, Analysis::most_columns);
    try_solver(count);
    status = solve_columns(call, first, count, kept);
  }
  return status;
}

}  // namespace sextant::cholesky
