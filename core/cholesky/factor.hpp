// SPDX-License-Identifier: BSD-3-Clause
// One factor of a matrix on an analysed pattern: its memory, the values it was made of, and what can be asked of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/cholesky/analysis.hpp"
#include "sextant/plugin/kinds/residual.h"

namespace sextant::cholesky {

// What a factor says of itself; computed once for each.
struct FactorFacts {
  double log_determinant = 0;
  std::int32_t sign = 1;
  std::int64_t positive = 0, negative = 0, zero = 0;
  double least_pivot = 0, largest_pivot = 0;
  std::vector<double> pivots;  // by the caller's rows; 0 for those of a Schur complement
};

// What pivots in the order of elimination say; without the pivots themselves.
FactorFacts facts_of(const sxt_symbolic &symbolic, const double *pivots);
// Of an array of numbers of a real type, in device space.
std::vector<double> numbers_at(Device &device, const void *there, std::int64_t n, bool single);
// Takes memory in device space, or says which bytes there are not. Throws SXT_E_MEMORY.
DeviceBuffer buffer_for(Device &device, std::uint64_t bytes, const char *what);

// How the last factorisation ended.
struct FactorOutcome {
  bool factored = false;
  std::int64_t failed_row = -1;  // the caller's, from 0
  double failed_pivot = 0;
  std::int64_t changed = 0;
  std::vector<std::int64_t> changed_rows;  // the caller's, from 0; the first most_changed of them
  double seconds = 0;
};

struct SolveCall {
  std::int64_t n_rhs = 1, ldb = 0, ldx = 0;
  const void *b = nullptr;
  void *x = nullptr;
  sxt_cholesky_step step = SXT_STEP_ALL;
  std::int32_t refine_steps = 0;
  double refine_tolerance = 0;
  const volatile std::int32_t *cancel = nullptr;
};

// factor() [exclusive]; all else any number of threads beside each other.
class Factor {
 public:
  static constexpr std::int64_t most_changed = 1024;  // rows that are kept by name

  // Takes the memory. Throws SXT_E_MEMORY with the bytes it takes.
  explicit Factor(std::shared_ptr<Analysis> analysis);

  Analysis &analysis() const noexcept { return *analysis_; }
  // matrix NULL: the analysis's own. Throws as sxt_cholesky_factor says; SXT_NOT_CONVERGED: it was cancelled.
  sxt_status factor(std::shared_ptr<Matrix> matrix, const volatile std::int32_t *cancel);
  sxt_status solve(const SolveCall &call, sxt_cholesky_solve_report &report) const;

  const FactorOutcome &outcome() const noexcept { return outcome_; }
  const FactorFacts &facts() const;
  double rcond() const;
  void schur(void *out, std::int64_t ld) const;
  // rows, cols: from 0.
  void inverse(std::int64_t count, const std::int64_t *rows, const std::int64_t *cols, std::int64_t base,
               void *values) const;

 private:
  void check_factored() const;
  void check_values() const;  // that A still has those the factor was made of
  void take_values(const Matrix &matrix);
  void note_failure(std::int64_t row, double pivot);
  void judge(const Matrix &matrix, std::int64_t failed, double pivot);
  sxt_cholesky_args args(std::int32_t phase) const;
  sxt_status solve_columns(const SolveCall &call, std::int64_t first, std::int64_t count, DeviceBuffer &kept) const;
  sxt_status solve_plainly(const SolveCall &call) const;
  struct Refined;
  sxt_status solve_refined(const SolveCall &call, sxt_cholesky_solve_report &report) const;
  sxt_status refine(const SolveCall &call, std::int64_t first, std::size_t count, Refined &work,
                    sxt_cholesky_solve_report &report) const;
  sxt_status correct(const SolveCall &call, Refined &work) const;
  sxt_status solve_in_place(const SolveCall &call, const DeviceBuffer &columns, std::size_t count) const;
  bool wants(const SolveCall &call, const sxt_residual_norms &norms) const;
  void add(const void *correction, void *x) const;
  sxt_residual_norms residual_of(Refined &work, std::size_t j) const;
  void try_solver(std::int64_t n_rhs) const;
  double inverse_norm(int size) const;
  Runner &truth() const;

  std::shared_ptr<Analysis> analysis_;
  std::shared_ptr<Matrix> matrix_;    // whose values it is made of
  std::uint64_t version_ = 0;         // of these
  DeviceBuffer factor_, values_;      // values_: on devices with memory of their own
  std::unique_ptr<Session> session_;  // of the factorisation
  FactorOutcome outcome_;
  std::vector<std::int64_t> changed_columns_;  // room for what a factorisation tells
  Buffer symmetry_work_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::unique_ptr<FactorFacts> facts_;
  mutable std::unique_ptr<Runner> truth_;
  mutable std::vector<const Runner *> tried_;  // a third party's, that solved a system of ours with this factor
};

}  // namespace sextant::cholesky
