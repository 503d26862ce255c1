// SPDX-License-Identifier: BSD-3-Clause
// The launches, from C++. All but fit throw cuda::Failure when the launch is refused.
#pragma once

#include "state.hpp"

namespace stencil {

// Threads, shared memory and blocks of the state's kernel; SXT_E_NOT_SUPPORTED where a tile does not fit a block.
void fit(State &state, const Wish &wish, const sxt_exec &exec);
// Whether the main diagonal is constant, left on the device.
void look_at_main(const State &state, const sxt_exec &exec);
// Memory for the exchange of the blocks' sums.
std::uint64_t packets_bytes(const State &state);
// At most `count` walks in one launch: each the step, if the control requests it, and the evaluation of the new
// iterate.
void iterate(const State &state, const Session &session, std::int64_t count, const sxt_exec &exec);
void configure(const Session &session, const Request &request, const sxt_exec &exec);
// r = b - A x, in place of the present r.
void residual(const State &state, const Session &session, const void *b, const void *x, const sxt_exec &exec);

}  // namespace stencil
