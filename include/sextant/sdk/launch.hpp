// SPDX-License-Identifier: BSD-3-Clause
// A function that chooses among launch configurations (sextant/sdk/launch_choice.hpp) as a kernel.
#pragma once

#include <cstdint>

#include "sextant/plugin/kinds/launch.h"
#include "sextant/sdk/kernel.hpp"
#include "sextant/sdk/launch_choice.hpp"

namespace sextant::plugin::launch {

// Runs choose(args) -> index or -1, after checking the args.
template <std::int64_t (*choose)(const sxt_launch_args &)>
sxt_status run_policy(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  auto &args = const_cast<sxt_launch_args &>(as<sxt_launch_args>(head));
  if (args.count < 0 || (args.count > 0 && !args.configs))
    return error(exec, SXT_E_ARGUMENT, "%lld configurations, but no array of them", (long long)args.count);
  args.chosen = choose(args);
  return SXT_OK;
}

// A policy makes a few comparisons on the host; its own time never decides.
inline sxt_status free_candidate(const sxt_query *, const sxt_features *, const sxt_machine *, const sxt_filled *,
                                 sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  CandidateList list(out, capacity, count);
  list.add().run_s = 1e-7;
  return SXT_OK;
}

template <std::int64_t (*choose)(const sxt_launch_args &)>
sxt_kernel policy(const char *name, const char *description) {
  sxt_kernel kernel = new_kernel(SXT_KIND_LAUNCH, name, "cpu", description, run_policy<choose>);
  kernel.flags = SXT_KERNEL_DETERMINISTIC;
  kernel.candidates = free_candidate;
  return kernel;
}

}  // namespace sextant::plugin::launch
