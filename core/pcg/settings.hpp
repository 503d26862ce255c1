// SPDX-License-Identifier: BSD-3-Clause
// What a caller asks of a set-up and of a solve, as values. Any thread may read them; nothing here changes one.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/sextant.h"

namespace sextant {

class Context;

// A true residual of up to so many times what rounding x alone may leave cannot be told from it.
inline constexpr double at_rounding_limit = 4;

// As sxt_pcg_options, with its strings resolved.
struct PcgSettings {
  std::string preconditioner, recurrence, engine, format;  // "" for automatic
  double rtol = -1, atol = 0;                              // rtol negative: default_rtol()
  sxt_norm norm = SXT_NORM_2;
  bool check_symmetry = true;
  double symmetry_tolerance = 0;  // 0: what rounding explains
  std::int64_t max_iterations = 0;
  double divergence_limit = 1e8;
  std::int64_t stagnation_window = 0;
  double time_limit = 0;
  double expected_solves = 1, expected_iterations = 0;
  std::int32_t probe = 0;            // iterations of the probe at most; 0: by its cost, negative: none
  std::int32_t reorder = 0;          // 0: where renumbering is predicted to pay, positive: always, negative: never
  const void *null_space = nullptr;  // the caller's; read by the constructor of PcgSolver alone
  std::int64_t null_space_size = 0;
};

// What a solve can reach in the type's precision on all but badly conditioned matrices, where no tolerance is asked
// for.
double default_rtol(sxt_value_type type);

// Throws SXT_E_ARGUMENT, SXT_E_UNKNOWN_NAME or SXT_E_TYPE, naming the member that cannot be. type: of the matrix.
void check_settings(const PcgSettings &settings, sxt_value_type type);
// What of the settings a caller named by hand, as one number: equal for equal names, 0 for none. Plans of solvers that
// were asked differently are kept apart by it.
std::uint64_t named_by_hand(const PcgSettings &settings);
// The parts of settings.format, "csr:f32": the kind of the storage, and the precision of its values; "": any. Throw
// SXT_E_UNKNOWN_NAME, SXT_E_TYPE.
std::string storage_wanted(const PcgSettings &settings, const Context &context);
std::string precision_wanted(const PcgSettings &settings, sxt_value_type type);
// SXT_RECURRENCE_*; 0: any. Throws SXT_E_UNKNOWN_NAME.
std::int32_t recurrence_wanted(const PcgSettings &settings);

// As sxt_solve_options, with the set-up's values filled in.
struct SolveSettings {
  bool use_initial_guess = false;
  double rtol, atol;
  std::int64_t max_iterations;
  double time_limit;
  std::int32_t (*progress)(void *user, std::int64_t iteration, double relative_residual) = nullptr;
  void *progress_user = nullptr;
  const volatile std::int32_t *cancel = nullptr;
  double *history = nullptr;
  std::int64_t history_capacity = 0;
  volatile std::int64_t *history_length = nullptr;
  sxt_pcg_report *live = nullptr;  // where every replay of a captured solve writes how it ended; else unused

  // How many residuals stand in the history, for a thread that reads it meanwhile: with the residuals before it.
  void publish_length(std::int64_t length) const noexcept {
    if (history_length) __atomic_store_n(history_length, length, __ATOMIC_RELEASE);
  }
};
// Of a set-up whose matrix has so many rows.
SolveSettings default_solve(const PcgSettings &settings, std::int64_t rows);

}  // namespace sextant
