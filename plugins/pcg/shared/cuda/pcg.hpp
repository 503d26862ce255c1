// SPDX-License-Identifier: BSD-3-Clause
// The head of an engine of kind sxt.pcg/1 that runs blocks of iterations on a CUDA device and talks to core by
// plugins/pcg/shared/blocks.hpp: its table, its sessions, its run. Header-only, no part of the ABI.
//   Session  Session(const State &, const sxt_exec &), or with const sxt_filled * between them where it has parts; has
//            std::vector<double> residuals
//   Engine   Engine(const State &, Session &, sxt_pcg_args &, const sxt_exec &), as plugins/pcg/shared/blocks.hpp asks
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "plugins/pcg/shared/blocks.hpp"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::plugin::cuda {

// For prepare: whether the matrix comes in the storage that an engine reads.
inline sxt_status need_storage(const sxt_problem &problem, const char *kind, const char *engine, const sxt_exec *exec) {
  if (problem.a && is_kind(*problem.a, kind)) return SXT_OK;
  return error(exec, SXT_E_ARGUMENT, "the %s engine needs the matrix as %s", engine, kind);
}

template <class State, class Session>
sxt_status open_engine(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  return guarded(exec, [&] {
    const State &own = *static_cast<const State *>(state);
    if constexpr (std::is_constructible_v<Session, const State &, const sxt_filled *, const sxt_exec &>)
      return give(new Session(own, slots, *exec), session);
    else
      return give(new Session(own, *exec), session);
  });
}

template <class State, class Session, class Engine>
sxt_status run_engine(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  return guarded(exec, [&]() -> sxt_status {
    const State &state = *static_cast<const State *>(opaque);
    if (const sxt_status status = pcg::check_args(head, state.n, exec); status != SXT_OK) return status;
    // The kind's results are in its args.
    auto &args = *reinterpret_cast<sxt_pcg_args *>(const_cast<sxt_head *>(head));
    auto &session = *static_cast<Session *>(opened);
    Engine engine(state, session, args, *exec);
    pcg::Conversation conversation(args, *exec, engine, session.residuals);
    conversation.run();
    return SXT_OK;
  });
}

template <class State, class Session, class Engine>
sxt_kernel new_engine(const char *name, const char *description, const KernelCalls &calls) {
  sxt_kernel k = new_kernel(SXT_KIND_PCG, name, "cuda", description, run_engine<State, Session, Engine>);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  set_calls<State>(k, calls);
  k.open = open_engine<State, Session>;
  k.close = destroy<Session>;
  return k;
}

}  // namespace sextant::plugin::cuda
