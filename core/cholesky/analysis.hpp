// SPDX-License-Identifier: BSD-3-Clause
// What depends on the pattern of a matrix alone: the order of elimination, the structure of L, and the scheduler that
// will work on it, with what it is predicted to take.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/cholesky/ordering.hpp"
#include "core/cholesky/settings.hpp"
#include "core/cholesky/symbolic.hpp"
#include "core/choose/question.hpp"
#include "core/explain/explain.hpp"
#include "core/matrix/matrix.hpp"
#include "core/run/prepared.hpp"

namespace sextant::cholesky {

// A phase (SXT_CHOLESKY_*) for which a scheduler is chosen.
struct Asked {
  std::int32_t phase;
  std::int64_t n_rhs = 0, n_sets = 1;  // right-hand sides of a solve; sets of values in one call
  ChoicePtr maker = {};                // of the factors that are worked on; NULL: they are made
};

// Right-hand sides that sessions for solves are made for: few sizes, so that few sessions are kept.
std::int64_t columns_class(std::int64_t n_rhs);

// Bytes on the host and on the device that one session of a phase takes beside the factor.
std::pair<std::uint64_t, std::uint64_t> session_bytes(const Choice &choice, const sxt_symbolic &symbolic,
                                                      const sxt_machine &machine);

// Thread-safe.
class Analysis {
 public:
  static constexpr std::int64_t most_columns = 64;  // right-hand sides that one call of a scheduler takes

  // Throws as sxt_analysis_create says. saved: a file that save() wrote for this pattern; "": none.
  Analysis(std::shared_ptr<Matrix> matrix, Settings settings, const std::string &saved = "");
  void save(const std::string &path) const;  // throws SXT_E_FILE_WRITE

  Context &context() const noexcept { return matrix_->context(); }
  const Matrix &matrix() const noexcept { return *matrix_; }
  const std::shared_ptr<Matrix> &shared_matrix() const noexcept { return matrix_; }
  sxt_value_type value_type() const noexcept { return matrix_->value_type(); }  // of A and of solutions
  sxt_value_type factor_type() const noexcept { return factor_type_; }          // A's, or its single precision
  bool single() const noexcept { return factor_type_ != value_type(); }
  // The same structure for factors of A's own type: this analysis unless single(), else one that is made at the first
  // call and lives as long. Throws as a constructor does where no scheduler serves. [any-thread]
  const Analysis &in_working_precision() const;
  const Settings &settings() const noexcept { return settings_; }
  const sxt_symbolic &symbolic() const noexcept { return symbolic_->view(); }
  const std::string &method() const noexcept { return method_; }
  // What schedulers are asked about: a phase (SXT_CHOLESKY_*), and right-hand sides of solves.
  sxt_cholesky_query query(std::int32_t phase, std::int64_t n_rhs) const { return query_of({phase, n_rhs}, shape_); }
  std::uint64_t structure_bytes() const { return symbolic_->bytes(); }
  sxt_analysis_info info() const;
  Explanation explain() const;

  // Throws SXT_E_MEMORY where one factor takes more than the limit or the device's memory, with the bytes missing.
  void check_memory() const;
  // Throws SXT_E_MEMORY where `what` takes more than the limit or the device's memory.
  void check_memory(const char *what, std::uint64_t takes) const;
  // Throws where a matrix is no successor of the one analysed: another context, type, order or pattern.
  void check_same_pattern(Matrix &matrix) const;
  // Throws SXT_E_NOT_SYMMETRIC where values differ from their mirror images by more than roundings do, and what
  // check_hermitian() says of values that are not finite. work: kept between calls.
  void check_values(const Matrix &matrix, Buffer &work) const;
  void reserve_for_values(Buffer &work) const;  // what check_values() needs where values equal their mirror images
  // Whether values of a matrix are compared with their mirror images before they are factored.
  bool compares(const Matrix &matrix) const;

  // A session for one factorisation at a time.
  std::unique_ptr<Session> open_factor() const;
  // Solves with up to so many right-hand sides, by any number of threads; n_rhs <= most_columns.
  Runner &solver(std::int64_t n_rhs) const;
  Runner &inverter() const;
  double solve_seconds(std::int64_t n_rhs) const;  // predicted, any number of them
  double factor_seconds() const { return factor_choice_->run_s; }
  const registry::Kernel &factor_kernel() const { return *factor_choice_->kernel; }
  // Schedulers with which factorisations and solves would take longer together, and what they would take. own_only:
  // those of third parties are left out, too, but for one that was named or forced.
  LeftOut others(std::int64_t n_sets, bool own_only) const;
  // Throws as Selector::select. record: the choice goes into the context's plan.
  ChoicePtr choose(const Asked &asked, const LeftOut &left_out, bool record) const;
  // Where entry (row, col) stands among a factor's numbers, in the order of elimination; -1: L has no such entry.
  std::int64_t place_of(std::int64_t row, std::int64_t col) const;

 private:
  struct Working {};
  Analysis(const Analysis &single, Working);  // the same structure
  void choose_precision();
  double correction_seconds() const;
  sxt_cholesky_query query_of(const Asked &asked, const sxt_cholesky_query &shape) const;
  std::map<const registry::Kernel *, double> totals(const sxt_cholesky_query &shape, std::int64_t n_sets) const;
  double least_seconds(const sxt_cholesky_query &shape) const;
  void find_structure();
  void load_structure(const std::string &path);
  void find_scheduler();
  Runner &runner(std::int32_t phase, std::int64_t n_rhs) const;
  double group_seconds(std::int64_t n_rhs) const;

  std::shared_ptr<Matrix> matrix_;
  Settings settings_;
  sxt_value_type factor_type_;
  double residual_s_ = 0;  // predicted, of one right-hand side; only with factors in single precision
  std::shared_ptr<const Symbolic> symbolic_;
  sxt_cholesky_query shape_{};  // what a query says of the structure
  std::string method_;          // of the order
  std::vector<std::string> notes_;
  double seconds_ = 0;  // that the analysis took
  ChoicePtr factor_choice_, solve_choice_;
  std::unique_ptr<Prepared> prepared_;                                                        // for factorisations
  mutable std::mutex mutex_;                                                                  // of what follows
  mutable std::map<std::pair<std::int32_t, std::int64_t>, std::unique_ptr<Runner>> runners_;  // phase, columns
  mutable std::map<std::int64_t, double> seconds_of_;  // right-hand sides of a call
  mutable std::mutex working_mutex_;
  mutable std::unique_ptr<const Analysis> working_;
};

}  // namespace sextant::cholesky
