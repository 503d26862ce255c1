// SPDX-License-Identifier: BSD-3-Clause
#include "core/cholesky/factor.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/base/types.hpp"
#include "core/device/capturing.hpp"
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
  own_ = make_part(*analysis_);
  if (analysis_->single()) {
    Device &device = analysis_->context().device();
    single_ = std::make_unique<SingleValues>(analysis_->matrix().csr(), analysis_->context().allocator());
    if (!device.on_host())
      scale_ = buffer_for(device, 8 * static_cast<std::uint64_t>(analysis_->symbolic().n), "the scale of the values");
  }
  if (analysis_->settings().pivot_policy != SXT_PIVOT_FAIL) {
    changed_columns_.resize(most_changed);
    outcome_.changed_rows.reserve(most_changed);
  }
  analysis_->reserve_for_values(symmetry_work_);
}

FactorPart Factor::make_part(const Analysis &analysis) const {
  Device &device = analysis.context().device();
  const std::int64_t each = value_bytes(analysis.factor_type());
  analysis.check_memory();
  FactorPart part;
  part.analysis = &analysis;
  part.factor = buffer_for(device, static_cast<std::uint64_t>(analysis.symbolic().values * each), "the factor");
  if (!device.on_host())
    part.values =
        buffer_for(device, static_cast<std::uint64_t>(analysis.matrix().csr().nnz * each), "a copy of the values");
  part.session = analysis.open_factor();
  analysis.solver(1);
  return part;
}

sxt_cholesky_args Factor::args(const FactorPart &part, std::int32_t phase) const {
  sxt_cholesky_args out{};
  out.h = {sizeof out, SXT_KIND_CHOLESKY};
  out.phase = phase;
  out.factors = analysis_->settings().factorization;
  out.value_type = out.value_type_a = part.analysis->factor_type();
  out.n_sets = 1;
  out.factor = part.factor.data();
  return out;
}

// What a scheduler tells is an index next: a third party's may be any.
void Factor::check_columns(const FactorPart &part, const Factored &told) const {
  const std::int64_t n = part.analysis->symbolic().n;
  const auto room = static_cast<std::int64_t>(changed_columns_.size());
  const auto end = changed_columns_.begin() + std::clamp<std::int64_t>(told.changed, 0, room);
  const bool inside = std::all_of(changed_columns_.begin(), end, [n](std::int64_t k) { return k >= 0 && k < n; });
  require(inside && told.failed < n && told.changed >= 0, SXT_E_PLUGIN, part.analysis->factor_kernel().name(),
          " names a column that the matrix does not have");
}

// Factors a matrix by its values on the host, of the part's type.
Factored Factor::make(FactorPart &part, const Matrix &matrix, const void *values,
                      const volatile std::int32_t *cancel) const {
  Factored out;
  part.facts.reset();
  if (part.values.data()) analysis_->context().device().copy(part.values.data(), values, part.values.bytes());
  const Settings &settings = analysis_->settings();
  sxt_cholesky_args call = args(part, SXT_CHOLESKY_FACTOR);
  call.values = part.values.data() ? part.values.data() : values;
  call.pivot_policy = settings.pivot_policy;
  call.pivot_tolerance = settings.pivot_tolerance;
  call.pivot_value = settings.pivot_value;
  if (settings.pivot_policy != SXT_PIVOT_FAIL && settings.pivot_value == 0) {
    const double largest = largest_entry(matrix.csr());  // a matrix of zeros has no size of its own
    call.pivot_value = epsilon(analysis_->value_type()) * (largest > 0 ? largest : 1);
  }
  call.pivots = changed_columns_.empty() ? nullptr : changed_columns_.data();
  call.pivots_capacity = static_cast<std::int64_t>(changed_columns_.size());
  call.failed_column = &out.failed;
  call.failed_pivot = &out.pivot;
  call.changed = &out.changed;
  out.status = part.session->ask(&call.h, cancel);
  if (out.status == SXT_OK) check_columns(part, out);
  return out;
}

sxt_status Factor::factor(std::shared_ptr<Matrix> matrix, const volatile std::int32_t *cancel) {
  if (!matrix) matrix = analysis_->shared_matrix();
  if (matrix != matrix_) analysis_->check_same_pattern(*matrix);
  require_no_capture(analysis_->context().device(), "a factorisation is judged on the host; end the capture before it");
  outcome_.factored = false;
  outcome_.failed_row = -1;
  outcome_.failed_pivot = 0;
  outcome_.changed = 0;
  outcome_.changed_rows.clear();
  if (repeated()) own_ = {}, single_.reset(), scale_ = {};  // it stays in the working precision
  tried_.clear();
  try {
    analysis_->check_values(*matrix, symmetry_work_);
  } catch (const Error &problem) {
    if (problem.status() == SXT_E_NOT_FINITE) note_failure(first_not_finite(matrix->csr()), NAN);
    throw;
  }
  const Clock::time_point start = Clock::now();
  const Factored made = make_best(*matrix, cancel);
  if (made.status != SXT_OK) return made.status;
  outcome_.seconds = since(start);
  const std::int32_t *perm = analysis_->symbolic().perm;
  if (made.failed >= 0) note_failure(perm[made.failed], std::isfinite(made.pivot) ? made.pivot : NAN);
  judge(*matrix, made);
  outcome_.changed = made.changed;
  const std::int64_t told = std::min<std::int64_t>(made.changed, static_cast<std::int64_t>(changed_columns_.size()));
  for (std::int64_t k = 0; k < told; ++k)
    outcome_.changed_rows.push_back(perm[changed_columns_[static_cast<std::size_t>(k)]]);
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
void Factor::judge(const Matrix &matrix, const Factored &factored) const {
  if (factored.failed < 0) return;
  const double pivot = factored.pivot;
  const std::int64_t row = analysis_->symbolic().perm[factored.failed];
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

// Right-hand sides and solutions in the type of the part's factor.
sxt_status Factor::solve_columns(const FactorPart &part, const SolveCall &call, std::int64_t first, std::int64_t count,
                                 DeviceBuffer &kept) const {
  Device &device = analysis_->context().device();
  const std::int64_t n = analysis_->symbolic().n, each = value_bytes(part.analysis->factor_type());
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
  sxt_cholesky_args solve = args(part, phases[call.step]);
  solve.b = column(0);
  solve.ldb = reached ? call.ldx : n;
  solve.n_rhs = count;
  const sxt_status status = part.analysis->solver(count).ask(&solve.h, call.cancel);
  for (std::int64_t j = 0; j < count && !reached; ++j) device.copy(at(call.x, call.ldx, j), column(j), size);
  return status;
}

sxt_status Factor::solve(const SolveCall &call, sxt_cholesky_solve_report &report) const {
  check_factored();
  const Clock::time_point start = Clock::now();
  const bool single = in_single(), refines = single || call.refine_steps > 0;
  require(!single || call.step == SXT_STEP_ALL, SXT_E_NOT_SUPPORTED, "options->step is ", call.step,
          ", and the factor is of single precision, with which only whole solves are refined: analyse with "
          "SXT_PRECISION_WORKING for solves by steps");
  if (refines) {
    check_values();
    require_no_capture(analysis_->context().device(),
                       "a refined solve is judged on the host; end the capture before it");
  }
  if (analysis_->symbolic().n == 0 || call.n_rhs == 0) {
    if (refines) report.residual = report.residual_bound = 0;  // b = A x, as there is nothing in them
    return SXT_OK;
  }
  report.predicted_seconds = analysis_->solve_seconds(call.n_rhs);
  const sxt_status status = refines ? solve_refined(call, report) : solve_plainly(call);
  report.solve_seconds = since(start);
  return status;
}

sxt_status Factor::solve_plainly(const SolveCall &call) const {
  DeviceBuffer kept;
  sxt_status status = SXT_OK;
  for (std::int64_t first = 0; first < call.n_rhs && status == SXT_OK; first += Analysis::most_columns) {
    const std::int64_t count = std::min(call.n_rhs - first, Analysis::most_columns);
    try_solver(count);
    status = solve_columns(part(), call, first, count, kept);
  }
  return status;
}

}  // namespace sextant::cholesky
