// SPDX-License-Identifier: BSD-3-Clause
// Helpers for kernels on the CPU: OpenMP teams of the size the caller allows, candidates over thread counts, and the
// terms their models share. Works without OpenMP, as a team of one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/plugin.hpp"

namespace sextant::plugin {

// A contiguous part of 0 .. n-1.
struct Range {
  std::int64_t begin, end;
};

// Part `part` of n items cut evenly, borders at multiples of the grain (so that threads share no cache line).
inline Range part_of(std::int64_t n, int parts, int part, std::int64_t grain = 1) {
  const std::int64_t grains = (n + grain - 1) / grain, each = grains / parts, more = grains % parts;
  const auto border = [&](std::int64_t p) { return std::min(n, (p * each + std::min(p, more)) * grain); };
  return {border(part), border(part + 1)};
}

// Threads a run may use: what the candidate chose, unless the caller lends fewer.
inline int team_size(std::int64_t launch_threads, const sxt_exec &exec) {
  return static_cast<int>(std::max<std::int64_t>(1, std::min<std::int64_t>(launch_threads, exec.threads)));
}

// Calls f(part) for part = 0 .. parts-1, spread over a team. f must not throw. One part or one thread forks nothing.
template <class F>
void for_each_part(int parts, int team, F &&f) {
  if (team <= 1 || parts <= 1) {
    for (int part = 0; part < parts; ++part) f(part);
    return;
  }
#ifdef _OPENMP  // CUDA files that only read models come without it
#pragma omp parallel for schedule(static, 1) num_threads(std::min(team, parts))
#endif
  for (int part = 0; part < parts; ++part) f(part);
}

// Calls f(threads) for 1, 2, 4, ... and the machine's own number of units.
template <class F>
void for_thread_counts(const sxt_machine &machine, F &&f) {
  for (int threads = 1; threads < machine.units; threads *= 2) f(threads);
  f(std::max(1, machine.units));
}

// The terms of every CPU kernel here; core knows their coefficients.
inline constexpr const char *cpu_terms[] = {"launches", "barriers", "stream_bytes", "gathers", "flops", nullptr};
// The same and what else a kernel spends: passes of a loop, lanes folded.
inline constexpr const char *cpu_step_terms[] = {"launches", "barriers", "stream_bytes", "gathers",
                                                 "flops",    "steps",    nullptr};

struct CpuCost {
  double stream_bytes = 0, gathers = 0, flops = 0;
  double working_set = 0;  // bytes the next run touches again
  double imbalance = 1;    // busiest thread / mean thread
};

// One candidate on `threads` threads: one call, and one fork and join when there is a team.
inline sxt_candidate &fill(sxt_candidate &candidate, int threads, const CpuCost &cost) {
  candidate.launch[0] = threads;
  candidate.model_class = threads > 1;  // alone and in a team are fitted apart
  candidate.n_terms = 5;
  candidate.terms[0] = 1;
  candidate.terms[1] = threads > 1;
  candidate.terms[2] = cost.stream_bytes * cost.imbalance;
  candidate.terms[3] = cost.gathers * cost.imbalance;
  candidate.terms[4] = cost.flops * cost.imbalance;
  candidate.working_set_bytes = cost.working_set;
  candidate.units = threads;
  return candidate;
}

// Floating-point operations of one multiply-add in this type.
inline double multiply_add_flops(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128 ? 8 : 2; }

// How many times slower than the machine's peak a loop runs that does one multiply-add a cycle without SIMD: the
// peak counts full vectors, two of them a cycle.
inline double scalar_slowdown(const sxt_machine &machine, sxt_value_type type) {
  const double lanes = machine.level >= 3 ? 16 : machine.level == 2 ? 8 : 2;
  return type == SXT_F32 || type == SXT_C64 ? 2 * lanes : lanes;
}

// The state of kernels that keep nothing but their team.
struct Team {
  std::int64_t threads;
};

inline sxt_status prepare_team(const sxt_problem *, const sxt_candidate *candidate, const sxt_filled *,
                               const sxt_exec *exec, void **state) {
  return guard(exec, [&] { return give(new Team{candidate ? candidate->launch[0] : exec->threads}, state); });
}

inline int team_size(const void *state, const sxt_exec &exec) {
  return team_size(static_cast<const Team *>(state)->threads, exec);
}

// The scratch a run needs, or SXT_E_STATE when the caller lent less.
inline sxt_status need_scratch(const sxt_exec *exec, std::uint64_t bytes) {
  if (bytes <= exec->scratch_bytes && (exec->scratch || !bytes)) return SXT_OK;
  return error(exec, SXT_E_STATE, "%llu bytes of scratch lent, %llu needed", (unsigned long long)exec->scratch_bytes,
               (unsigned long long)bytes);
}

}  // namespace sextant::plugin
