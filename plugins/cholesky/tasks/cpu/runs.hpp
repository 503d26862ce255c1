// SPDX-License-Identifier: BSD-3-Clause
// The phases of one call on a session, by value type.
#pragma once

#include "session.hpp"
#include "sextant/sdk/cholesky.hpp"

namespace sextant_cholesky_tasks {

// Arguments have been checked. SXT_NOT_CONVERGED where the call was cancelled.
sxt_status run_factor(const Session &session, const sxt_cholesky_args &args, const sxt_exec &exec, int threads);
sxt_status run_solve(const Session &session, const sxt_cholesky_args &args, const sxt_exec &exec, int threads);
sxt_status run_inverse(const Session &session, const sxt_cholesky_args &args, const sxt_exec &exec, int threads);

// The first status of several threads that is no success.
class Worst {
 public:
  void keep(sxt_status status) {
    if (status != SXT_OK) status_.store(status, std::memory_order_relaxed);
  }
  sxt_status get() const { return status_.load(std::memory_order_relaxed); }

 private:
  std::atomic<sxt_status> status_{SXT_OK};
};

// Calls f(item, rank) for items 0 .. count-1, taken as threads become free.
template <class F>
void for_each_item(std::int64_t count, int threads, F &&f) {
  std::atomic<std::int64_t> next{0};
  sextant::plugin::in_team(count > 1 ? threads : 1, [&](int rank, int) {
    for (std::int64_t item; (item = next.fetch_add(1, std::memory_order_relaxed)) < count;) f(item, rank);
  });
}

}  // namespace sextant_cholesky_tasks
