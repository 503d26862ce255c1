// SPDX-License-Identifier: BSD-3-Clause
// Common parts of all CUDA kernels of kind sxt.multidot/1: the sums of one thread, sessions, and models of a run by
// rounds of loads and partial results. A way of bringing the sums of blocks together gives
//   struct Way {
//     template <class V, int N> static sxt_status ready(const sxt_exec *exec);  // loads the code, so that no run has
//     to template <class V, int N> static sxt_status launch(const Call<V, N> &call, const sxt_exec *exec); static
//     std::vector<Grid> grids(const sxt_machine &machine); static double merging(const Grid &grid, int n_dots); };  //
//     in partial results that one block reads
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sextant/plugin/kinds/multidot.h"
#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/cuda/generation.hpp"
#include "sextant/sdk/cuda/grid.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::multidot_cuda {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

template <class V, int N>
struct Sums {
  V sum[N];
};

// The merging of N sums at once, for merge_block and the grid.
template <class V, int N>
struct SumsOf {
  using Acc = Sums<V, N>;
  __device__ static Acc identity() { return {}; }
  __device__ static Acc merge(Acc a, Acc b) {
#pragma unroll
    for (int k = 0; k < N; ++k) a.sum[k] = plus(a.sum[k], b.sum[k]);
    return a;
  }
};

template <class V, int N>
struct Pairs {
  const V *u[N], *v[N];
};

// The terms of one thread: groups of 16 bytes, `workers` apart; the ragged end element by element.
template <class V, int N>
__device__ Sums<V, N> accumulate_pairs(std::int64_t n, const Pairs<V, N> &pairs, bool aligned, std::int64_t worker,
                                       std::int64_t workers) {
  constexpr int width = 16 / sizeof(V);
  struct alignas(16) Group {
    V v[width];
  };
  Sums<V, N> acc{};
  const std::int64_t groups = aligned ? n / width : 0;
  for (std::int64_t g = worker; g < groups; g += workers) {
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const Group a = reinterpret_cast<const Group *>(pairs.u[k])[g],
                  b = reinterpret_cast<const Group *>(pairs.v[k])[g];
#pragma unroll
      for (int e = 0; e < width; ++e) acc.sum[k] = plus(acc.sum[k], times(conjugated(a.v[e]), b.v[e]));
    }
  }
  for (std::int64_t i = groups * width + worker; i < n; i += workers)
#pragma unroll
    for (int k = 0; k < N; ++k) acc.sum[k] = plus(acc.sum[k], times(conjugated(pairs.u[k][i]), pairs.v[k][i]));
  return acc;
}

// ---- host side

struct Grid {
  std::int64_t blocks, threads;
};
struct State {
  sxt_value_type type;
  std::int32_t n_dots;
  Grid grid;
};
struct Session {
  Memory partials, counter;
};

// One launch.
template <class V, int N>
struct Call {
  std::int64_t n;
  Pairs<V, N> pairs;
  bool aligned;  // all operands to 16 bytes
  Grid grid;
  void *partials, *counter;
  V *result;
  cudaStream_t stream;
};

// Eight sums of 16 bytes, twice for packets.
inline constexpr std::uint64_t bytes_a_block = SXT_MULTIDOT_MAX * 16 * 2;
inline constexpr std::uint32_t most_grids = 8;  // that a kernel offers, each with its own model

template <int N, class F>
sxt_status with_count(std::int32_t count, F &&f) {
  if constexpr (N > SXT_MULTIDOT_MAX)
    return SXT_E_ARGUMENT;
  else
    return count == N ? f(std::integral_constant<int, N>{}) : with_count<N + 1>(count, f);
}

inline sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *,
                          const sxt_exec *exec, void **state) {
  return guard(exec, [&] {
    if (!candidate) return error(exec, SXT_E_ARGUMENT, "inner products on the device need a candidate with its grid");
    return give(new State{problem->query->value_type,
                          as<sxt_multidot_query>(problem->query).n_dots,
                          {candidate->launch[0], candidate->launch[1]}},
                state);
  });
}

inline sxt_status open_buffers(const void *opaque, const sxt_exec *exec, void **out) {
  return guard(exec, [&] {
    const auto blocks = static_cast<std::uint64_t>(static_cast<const State *>(opaque)->grid.blocks);
    auto session = std::make_unique<Session>();
    session->partials = Memory(exec, SXT_SPACE_DEVICE, blocks * bytes_a_block);
    session->counter = Memory(exec, SXT_SPACE_DEVICE, 64);
    sxt_status status =
        check(exec, cudaMemsetAsync(session->partials.data(), 0, blocks * bytes_a_block, stream_of(*exec)),
              "clear the partial sums");
    if (status == SXT_OK)
      status = check(exec, cudaMemsetAsync(session->counter.data(), 0, 64, stream_of(*exec)), "clear the counter");
    return status == SXT_OK ? give(session.release(), out) : status;
  });
}

// Calls f(Tag<V>, N as a constant).
template <class F>
sxt_status with_types(sxt_value_type type, std::int32_t n_dots, F &&f) {
  return with_value_type(type, [&](auto tag) {
    return with_count<1>(n_dots,
                         [&](auto count) { return f(Tag<device_form<typename decltype(tag)::type>>{}, count); });
  });
}

template <class Way>
sxt_status open_session(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **out) {
  const auto &state = *static_cast<const State *>(opaque);
  const sxt_status status = with_types(state.type, std::max(1, state.n_dots), [&](auto type, auto count) {
    return Way::template ready<typename decltype(type)::type, decltype(count)::value>(exec);
  });
  return status == SXT_OK ? open_buffers(opaque, exec, out) : status;
}

template <class Way>
sxt_status run(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &session = *static_cast<Session *>(opened);
  const auto &args = as<sxt_multidot_args>(head);
  if (args.n_dots == 0) return SXT_OK;
  return with_types(state.type, args.n_dots, [&](auto type, auto count) {
    using V = typename decltype(type)::type;
    constexpr int N = decltype(count)::value;
    Call<V, N> call = {args.n,
                       {},
                       true,
                       state.grid,
                       session.partials.data(),
                       session.counter.data(),
                       static_cast<V *>(args.result),
                       stream_of(*exec)};
    std::uintptr_t bits = 0;
    for (int k = 0; k < N; ++k) {
      call.pairs.u[k] = static_cast<const V *>(args.u[k]);
      call.pairs.v[k] = static_cast<const V *>(args.v[k]);
      bits |= reinterpret_cast<std::uintptr_t>(args.u[k]) | reinterpret_cast<std::uintptr_t>(args.v[k]);
    }
    call.aligned = bits % 16 == 0;
    return Way::launch(call, exec);
  });
}

inline sxt_status count_applicable(const sxt_query *query, const sxt_features *, const sxt_machine *,
                                   sxt_message *reason) {
  const std::int32_t n_dots = as<sxt_multidot_query>(query).n_dots;
  if (n_dots >= 0 && n_dots <= SXT_MULTIDOT_MAX) return SXT_OK;
  return refuse(reason, "%d pairs; at most %d are taken", n_dots, SXT_MULTIDOT_MAX);
}

// ---- models. A run waits for rounds of loads and for the partial results to be read.
inline constexpr const char *terms[] = {"launches",     "latency.steps", "latency.partials",
                                        "stream_bytes", "flops",         nullptr};
inline constexpr double defaults[] = {NAN, 7e-7, 1e-9, NAN, NAN};
inline constexpr double early_launch = 0.7;  // of an ordinary one

template <class Way>
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_multidot_query>(query);
  const double size = static_cast<double>(value_bytes(q.q.value_type)), n = static_cast<double>(q.n);
  const std::int64_t units = std::max(1, machine->units);
  CandidateList list(out, capacity, count);
  std::uint32_t place = 0;
  for (const Grid &grid : Way::grids(*machine)) {
    sxt_candidate &candidate = list.add();
    candidate.launch[0] = grid.blocks;
    candidate.launch[1] = grid.threads;
    candidate.model_class = static_cast<std::uint32_t>(q.n_dots) * most_grids + place++;
    candidate.n_terms = 5;
    candidate.terms[0] = may_start_early(*machine) ? early_launch : 1;
    candidate.terms[1] = std::max(1.0, n * size / (16.0 * static_cast<double>(grid.blocks * grid.threads)));
    candidate.terms[2] = Way::merging(grid, q.n_dots);
    candidate.terms[3] = candidate.working_set_bytes = n * size * q.distinct;
    candidate.terms[4] = n * q.n_dots * (q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128 ? 8 : 2);
    candidate.units = static_cast<double>(std::min(grid.blocks, units));
    candidate.state_bytes = sizeof(State);
  }
  return SXT_OK;
}

inline sxt_status launch_config(const sxt_query *, const sxt_candidate *candidate, const sxt_machine *,
                                sxt_launch_config *out) {
  return plain_launch_config(*candidate, 64, out), SXT_OK;
}

template <class Way>
sxt_kernel new_multidot(const char *name, const char *description) {
  sxt_kernel k = new_kernel(SXT_KIND_MULTIDOT, name, "cuda", description, run<Way>);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.version = 4;
  k.term_names = terms;
  k.term_defaults = defaults;
  set_calls<State>(k, {count_applicable, candidates<Way>, prepare});
  k.open = open_session<Way>;
  k.close = destroy<Session>;
  k.launch_config = launch_config;
  return k;
}

// Kernels of the other files.
extern const sxt_kernel one_block, one_cluster, by_tree;

}  // namespace sextant::multidot_cuda
