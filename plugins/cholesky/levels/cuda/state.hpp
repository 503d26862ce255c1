// SPDX-License-Identifier: BSD-3-Clause
// What a scheduler holds: the plan and its lists on the device, shared by all who factor or solve on it; and what one
// caller works in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model.hpp"
#include "plan.hpp"
#include "plugins/cholesky/shared/tables.hpp"
#include "recorded.hpp"
#include "sextant/sdk/cholesky.hpp"
#include "sextant/sdk/cuda/memory.hpp"
#include "watch.hpp"

namespace sextant_cholesky_levels {

namespace cuda = sextant::plugin::cuda;
using cuda::DeviceArray;

struct State {
  std::optional<Plan> plan;
  sxt_value_type type = SXT_F64;
  std::int32_t phase = SXT_CHOLESKY_FACTOR, factors = SXT_FACTORS_LLH;
  Room room;
  int multiprocessors = 1;
  sextant_cholesky::Tables tables{};
  DeviceArray super_ptr, row_ptr, value_ptr, rows, super_of, fronts, place, children;
  DeviceArray entry_from, entry_to, small, jobs;           // the factorisation's
  DeviceArray perm, narrow, forward, backward, triangles;  // the solves'
};

// Bytes in device space; the same sums as the arrays are made of.
std::uint64_t state_bytes(const Plan &plan, bool solves);
std::uint64_t session_bytes(const Plan &plan, sxt_value_type type, bool solves, const Room &room);

// Copies the plan. Throws cuda::Failure.
void fill(State &state, const sxt_exec *exec);

inline constexpr std::uint64_t call_bytes = 128;  // room for what a call brings

struct FactorSession {
  Recorded recorded;
  DeviceArray updates[2], tickets, verdicts, marks, call;
  DeviceArray told;  // verdicts, pinned on the host
  Watch watch;
  bool cut_short = false;  // the last factorisation was: counters may stand anywhere
  std::vector<std::uint8_t> changed;
};

struct SolveSession {
  DeviceArray work;      // counters of tasks, and of each set y, z and the vectors of fronts (sweep.cuh)
  DeviceArray inverses;  // of each set's triangles
};

struct Session {
  std::optional<FactorSession> factor;
  std::optional<SolveSession> solve;
};

void fill(Session &session, const State &state, const sxt_exec *exec);

sxt_status load_factor(const sxt_exec *exec, sxt_value_type type, const Widths &widths);
sxt_status load_solve(const sxt_exec *exec, State &state);
// Records the launches of a factorisation, so that a call has one. Throws cuda::Failure.
void record_factor(const State &state, FactorSession &session);
sxt_status run_factor(const State &state, FactorSession &session, const sxt_cholesky_args &args, const sxt_exec *exec);
sxt_status run_solve(const State &state, const SolveSession &session, const sxt_cholesky_args &args,
                     const sxt_exec *exec);
sxt_status run_pivots(const State &state, const sxt_cholesky_args &args, const sxt_exec *exec);

}  // namespace sextant_cholesky_levels
