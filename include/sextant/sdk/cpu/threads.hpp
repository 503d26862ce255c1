// SPDX-License-Identifier: BSD-3-Clause
// Helpers for kernels on the CPU: teams of the host's threads of the size the caller allows, candidates over thread
// counts, and the terms their models share. A host without the team service gives teams of one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "sextant/plugin/team.h"
#include "sextant/sdk/kernel.hpp"

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

// The source of this plugin's threads (team.h). The entry function gets it from the host, as does a call that asks for
// a team's size.
struct HostTeam {
  static inline std::atomic<const sxt_host *> host{nullptr};
  static inline std::atomic<const sxt_team_service *> service{nullptr};
};

inline void take_team(const sxt_host *host) {
  if (HostTeam::service.load(std::memory_order_relaxed) || !host || !host->get_service) return;
  const auto *service = static_cast<const sxt_team_service *>(host->get_service(host, SXT_SERVICE_TEAM));
  if (!service || service->struct_size < SXT_END_OF(sxt_team_service, meet)) return;
  HostTeam::host.store(host, std::memory_order_relaxed);
  HostTeam::service.store(service, std::memory_order_release);
}

// Threads a run may use: what the candidate chose, unless the caller lends fewer.
inline int team_size(std::int64_t launch_threads, const sxt_exec &exec) {
  take_team(exec.host);
  return static_cast<int>(std::max<std::int64_t>(1, std::min<std::int64_t>(launch_threads, exec.threads)));
}

// Calls f(part) for part = 0 .. parts-1, spread over a team; f must not throw. One part or one thread wakes no other.
// It is not specified which thread does a part or how many of the team start: data of a part is indexed by its number.
template <class F>
void for_each_part(int parts, int team, F &&f) {
  const sxt_team_service *service = team > 1 && parts > 1 ? HostTeam::service.load(std::memory_order_acquire) : nullptr;
  if (!service) {
    for (int part = 0; part < parts; ++part) f(part);
    return;
  }
  using Work = std::remove_reference_t<F>;
  service->run(
      HostTeam::host.load(std::memory_order_relaxed), parts, team,
      [](void *work, std::int32_t part) { (*static_cast<Work *>(work))(part); },
      const_cast<void *>(static_cast<const void *>(&f)));
}

// Calls f(rank, size) once in each of at most `threads` threads at the same time, so that they may wait for each other:
// size is how many started. f must not throw.
template <class F>
void in_team(int threads, F &&f) {
  const sxt_team_service *service = threads > 1 ? HostTeam::service.load(std::memory_order_acquire) : nullptr;
  if (!service) return f(0, 1);
  using Work = std::remove_reference_t<F>;
  service->meet(
      HostTeam::host.load(std::memory_order_relaxed), threads,
      [](void *work, std::int32_t rank, std::int32_t size) { (*static_cast<Work *>(work))(rank, size); },
      const_cast<void *>(static_cast<const void *>(&f)));
}

// Calls f(threads) for 1, 2, 4, ... and the machine's own number of units.
template <class F>
void for_thread_counts(const sxt_machine &machine, F &&f) {
  for (int threads = 1; threads < machine.units; threads *= 2) f(threads);
  f(std::max(1, machine.units));
}

// The terms of every CPU kernel here; core knows their coefficients.
inline constexpr const char *cpu_terms[] = {"launches", "barriers", "stream_bytes", "gathers", "flops", nullptr};
// The same, and further steps of a kernel: passes of a loop, lanes folded.
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

// The state of kernels that keep only their team.
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
