// SPDX-License-Identifier: BSD-3-Clause
// Factors of many matrices of one pattern: their memory, and one scheduler that works on all sets of a call at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/cholesky/analysis.hpp"
#include "core/cholesky/sets_values.hpp"
#include "core/explain/explain.hpp"
#include "sextant/cholesky_sets.h"

namespace sextant::cholesky {

// How a caller follows and ends a call.
struct Watch {
  const volatile std::int32_t *cancel = nullptr;
  std::int32_t (*progress)(void *user, std::int64_t done, std::int64_t count) = nullptr;
  void *user = nullptr;
};

struct SetsFactorCall {
  std::int64_t first = 0, count = 0;
  const void *values = nullptr;
  std::int64_t stride = 0;
  Watch watch;
};

struct SetsSolveCall {
  std::int64_t first = 0, count = 0, n_rhs = 1;
  const void *b = nullptr;
  std::int64_t ldb = 0, stride_b = 0;
  void *x = nullptr;
  std::int64_t ldx = 0, stride_x = 0;
  Watch watch;
};

// How the last factorisation of each set ended.
struct SetsOutcome {
  std::vector<sxt_status> status;        // SXT_E_STATE: there was none
  std::vector<std::int64_t> failed_row;  // the caller's, from 0; -1
  std::vector<double> failed_pivot;
  std::vector<std::int64_t> changed;
};

// What the factor of a set says of itself.
struct SetFacts {
  double log_determinant, least_pivot, largest_pivot;  // NaN without a factor
  std::int32_t sign;
  std::int64_t positive, negative, zero;
};

// factor() [exclusive]; all else any number of threads beside each other.
class Sets {
 public:
  // Takes the memory of `count` factors. Throws as sxt_cholesky_sets_create says.
  Sets(std::shared_ptr<Analysis> analysis, std::int64_t count);

  Analysis &analysis() const noexcept { return *analysis_; }
  std::int64_t count() const noexcept { return count_; }
  std::int64_t n_values() const noexcept { return structure_.n_values(); }  // of a set
  // SXT_NOT_CONVERGED: it was cancelled. Throws the status of the first set that failed.
  sxt_status factor(const SetsFactorCall &call);
  sxt_status solve(const SetsSolveCall &call) const;
  const SetsOutcome &outcome() const noexcept { return outcome_; }
  const std::vector<SetFacts> &facts() const;  // of all sets
  sxt_cholesky_sets_info info() const;
  Explanation explain() const;

 private:
  void choose();
  void take_memory();
  std::uint64_t bytes(std::uint64_t *host) const;
  bool has_factor(std::int64_t set) const { return outcome_.status[static_cast<std::size_t>(set)] == SXT_OK; }
  // Where the run of sets from `set` on ends that have, or have not, a factor.
  std::int64_t run_end(std::int64_t set, std::int64_t end) const;
  void *factor_of(std::int64_t set) const;
  sxt_cholesky_args args(std::int32_t phase, std::int64_t set, std::int64_t count) const;
  Runner &solver(std::int64_t n_rhs) const;
  void compare(const SetsFactorCall &call);
  sxt_status factor_slice(const SetsFactorCall &call, std::int64_t first, std::int64_t count, bool staged);
  void judge(std::int64_t first, std::int64_t count);
  void tell_failures(const SetsFactorCall &call) const;
  sxt_status solve_slice(const SetsSolveCall &call, std::int64_t first, std::int64_t count, DeviceBuffer *kept) const;
  sxt_status solve_run(const SetsSolveCall &call, std::int64_t set, std::int64_t end, char *x, std::int64_t ld,
                       std::int64_t stride) const;

  std::shared_ptr<Analysis> analysis_;
  const std::int64_t count_;
  SetStructure structure_;
  SetComparison comparison_;
  LeftOut strangers_;  // schedulers of third parties, where none was named
  ChoicePtr factor_choice_, solve_choice_;
  std::unique_ptr<Prepared> prepared_;  // for factorisations
  std::unique_ptr<Session> session_;    // of them
  DeviceBuffer factors_, values_;       // values_: room for some sets, on devices with memory of their own
  SetsOutcome outcome_;
  std::vector<std::int64_t> failed_column_;
  std::string first_sentence_;  // of the first set in the last call that is not symmetric
  std::int64_t first_unequal_ = -1;
  double seconds_ = 0;                                               // of the last factorisation
  mutable std::mutex mutex_;                                         // of what follows
  mutable std::map<std::int64_t, std::unique_ptr<Runner>> solvers_;  // by columns
  mutable std::vector<SetFacts> facts_;
};

}  // namespace sextant::cholesky
