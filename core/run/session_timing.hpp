// SPDX-License-Identifier: BSD-3-Clause
// Seconds of one run of an opened kernel, measured as the device allows.
#pragma once

#include <span>

#include "core/model/timing.hpp"
#include "core/run/prepared.hpp"

namespace sextant {

inline constexpr int usual_replays = 15;  // samples of a captured run, at least

// args take turns, run by run; where runs are captured and there are several args, the last cache is swept before every
// replay, so that no run of it finds operands of its own there unless args repeat. predicted_s sizes the batches.
// On the host the clock counts. On a device that captures, K and 2K runs are replayed and the difference is what K runs
// take, so that neither the launch of the graph nor the clock counts; kernels that cannot be captured are enqueued in
// batches and waited for. Captured runs are sampled least_samples times at least, but one that lasts several budgets
// only once. Throws what the kernel fails with. The caller keeps args and session alive.
Timing time_session(Context &context, Session &session, std::span<sxt_head *const> args, double predicted_s,
                    double budget_s, int least_samples = usual_replays);

}  // namespace sextant
