// SPDX-License-Identifier: BSD-3-Clause
// One factor of a matrix on an analysed pattern: its memory, the values it was made of, and what can be asked of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/cholesky/analysis.hpp"
#include "core/cholesky/single_values.hpp"
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
// exponents: powers of two that each pivot is to be multiplied with, NULL for none.
FactorFacts facts_of(const sxt_symbolic &symbolic, const double *pivots, const int *exponents = nullptr);
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

// Memory of one factor, the values it is made of, and the session that makes it.
struct FactorPart {
  const Analysis *analysis = nullptr;
  DeviceBuffer factor, values;  // values: on devices with memory of their own
  std::unique_ptr<Session> session;
  std::unique_ptr<FactorFacts> facts;
};

// What a factorisation told, as kernels count.
struct Factored {
  sxt_status status = SXT_OK;
  std::int64_t failed = -1, changed = 0;
  double pivot = 0;
  bool good() const { return status == SXT_OK && failed < 0; }
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
  // Of the numbers of the factor that is there.
  sxt_value_type factor_type() const { return part().analysis->factor_type(); }
  // Single precision did not serve.
  bool repeated() const noexcept { return repeated_.load(std::memory_order_acquire); }
  const FactorFacts &facts() const;
  double rcond() const;
  void schur(void *out, std::int64_t ld) const;
  // rows, cols: from 0.
  void inverse(std::int64_t count, const std::int64_t *rows, const std::int64_t *cols, std::int64_t base,
               void *values) const;

 private:
  void check_factored() const;
  void check_values() const;  // that A still has those the factor was made of
  // In the working precision, where the factor in single precision does not serve.
  FactorPart &part() const { return repeated() ? working_ : own_; }
  bool in_single() const { return single_ && !repeated(); }
  FactorPart make_part(const Analysis &analysis) const;
  FactorPart &working_part() const;
  void check_columns(const FactorPart &part, const Factored &told) const;
  Factored make(FactorPart &part, const Matrix &matrix, const void *values, const volatile std::int32_t *cancel) const;
  Factored make_in_single(const Matrix &matrix, const volatile std::int32_t *cancel, bool &serves);
  Factored make_best(const Matrix &matrix, const volatile std::int32_t *cancel);
  sxt_status repeat(const volatile std::int32_t *cancel) const;
  void note_failure(std::int64_t row, double pivot);
  void judge(const Matrix &matrix, const Factored &factored) const;
  sxt_cholesky_args args(const FactorPart &part, std::int32_t phase) const;
  sxt_status solve_columns(const FactorPart &part, const SolveCall &call, std::int64_t first, std::int64_t count,
                           DeviceBuffer &kept) const;
  sxt_status solve_plainly(const SolveCall &call) const;
  struct Refined;
  std::shared_ptr<Refined> take_work(std::int64_t columns, bool single) const;
  void keep_work(std::shared_ptr<Refined> work) const;
  sxt_status solve_refined(const SolveCall &call, sxt_cholesky_solve_report &report) const;
  sxt_status refine(const SolveCall &call, std::int64_t first, std::size_t count, Refined &work,
                    sxt_cholesky_solve_report &report) const;
  sxt_status begin(const SolveCall &call, std::int64_t first, std::size_t count, Refined &work) const;
  void give(const SolveCall &call, std::int64_t first, std::size_t count, const Refined &work,
            sxt_cholesky_solve_report &report) const;
  sxt_status correct(const SolveCall &call, Refined &work) const;
  static int size_of(const Refined &work, std::size_t k);
  void narrow_residuals(Refined &work, bool by_scale) const;
  sxt_status solve_corrections(const SolveCall &call, Refined &work) const;
  sxt_status solve_in_place(const FactorPart &part, const SolveCall &call, const DeviceBuffer &columns,
                            std::size_t count) const;
  bool wants(const SolveCall &call, const Refined &work, const sxt_residual_norms &norms, std::int32_t step) const;
  bool lacks(const SolveCall &call, const sxt_residual_norms &norms, double part) const;
  std::int64_t columns_at_once(std::int64_t n_rhs, bool single) const;
  void add(const void *correction, void *x) const;
  void convert(std::int32_t operation, const void *x, void *y, double alpha, double beta) const;
  sxt_residual_norms residual_of(Refined &work, std::size_t j) const;
  void try_solver(std::int64_t n_rhs) const;
  double inverse_norm(int size) const;
  Runner &truth() const;

  std::shared_ptr<Analysis> analysis_;
  std::shared_ptr<Matrix> matrix_;        // whose values it is made of
  std::uint64_t version_ = 0;             // of these
  mutable FactorPart own_;                // of the precision that was chosen
  std::unique_ptr<SingleValues> single_;  // what own_ is made of, where that is the single one
  DeviceBuffer scale_;                    // of these, on devices with memory of their own
  mutable std::mutex repeat_mutex_;       // of working_, until it is said to be there
  mutable FactorPart working_;            // memory is taken when it is needed
  mutable std::atomic<bool> repeated_{false};
  FactorOutcome outcome_;
  mutable std::vector<std::int64_t> changed_columns_;  // room for what a factorisation with a pivot policy tells
  Buffer symmetry_work_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::unique_ptr<Runner> truth_, converters_[2];
  mutable std::shared_ptr<Refined> idle_;      // what the last refined solve worked in, where it is little
  mutable std::vector<const Runner *> tried_;  // a third party's, that solved a system of ours with this factor
};

}  // namespace sextant::cholesky
