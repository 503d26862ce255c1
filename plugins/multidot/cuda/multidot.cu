// SPDX-License-Identifier: BSD-3-Clause
// multidot.packets.cuda and multidot.single-pass.cuda: up to eight inner products conj(u) . v in one launch. A thread
// reads one group of 16 bytes of every operand before the next, so an array that stands in several pairs comes from
// memory once and then from the first cache. After bandwidth: n x size bytes a distinct array. The two differ in how
// blocks bring their sums together (plugin_cuda_grid.hpp); bits are equal for equal input.
#include <memory>

#include "sextant/kinds/multidot.h"
#include "sextant/plugin_cuda.hpp"
#include "sextant/plugin_cuda_generation.hpp"
#include "sextant/plugin_cuda_grid.hpp"

namespace {

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

// What one thread adds: groups of 16 bytes, `workers` apart; the ragged end element by element.
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

template <class V, int N, bool by_packets>
__global__ void __launch_bounds__(512)
    multidot(std::int64_t n, Pairs<V, N> pairs, bool aligned, void *partials, void *counter, V *result) {
  using Op = SumsOf<V, N>;
  using Acc = typename Op::Acc;
  __shared__ alignas(16) unsigned char room[32 * sizeof(Acc)];
  Acc *shared = reinterpret_cast<Acc *>(room);
  Word epoch = 0;
  if constexpr (by_packets) epoch = next_epoch(static_cast<Word *>(counter));
  const std::int64_t worker = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  Acc acc = accumulate_pairs<V, N>(n, pairs, aligned, worker, static_cast<std::int64_t>(gridDim.x) * blockDim.x);
  acc = merge_block<Op>(acc, shared);
  bool mine;
  if constexpr (by_packets)
    mine = merge_grid_by_packets<Op>(acc, shared, static_cast<ulonglong2 *>(partials), static_cast<Word *>(counter),
                                     epoch);
  else
    mine = merge_grid_by_ticket<Op>(acc, shared, static_cast<Acc *>(partials), static_cast<unsigned *>(counter));
  if (mine)
    for (int k = 0; k < N; ++k) result[k] = acc.sum[k];
}

template <int N, class F>
sxt_status with_count(std::int32_t count, F &&f) {
  if constexpr (N > SXT_MULTIDOT_MAX)
    return SXT_E_ARGUMENT;
  else
    return count == N ? f(std::integral_constant<int, N>{}) : with_count<N + 1>(count, f);
}

struct State {
  sxt_value_type type;
  std::int32_t n_dots;
  std::int64_t blocks, threads;
};
struct Session {
  Memory partials, counter;
};

// Eight sums of 16 bytes, twice for packets.
constexpr std::uint64_t bytes_a_block = SXT_MULTIDOT_MAX * 16 * 2;

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    if (!candidate) return error(exec, SXT_E_ARGUMENT, "inner products on the device need a candidate with its grid");
    return give(new State{problem->query->value_type, as<sxt_multidot_query>(problem->query).n_dots,
                          candidate->launch[0], candidate->launch[1]},
                state);
  });
}

sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **out) {
  return guard(exec, [&] {
    const std::uint64_t bytes = static_cast<std::uint64_t>(static_cast<const State *>(opaque)->blocks) * bytes_a_block;
    auto session = std::make_unique<Session>();
    session->partials = Memory(exec, SXT_SPACE_DEVICE, bytes);
    session->counter = Memory(exec, SXT_SPACE_DEVICE, 64);
    sxt_status status =
        check(exec, cudaMemsetAsync(session->partials.data(), 0, bytes, stream_of(*exec)), "clear the partial sums");
    if (status == SXT_OK)
      status = check(exec, cudaMemsetAsync(session->counter.data(), 0, 64, stream_of(*exec)), "clear the counter");
    return status == SXT_OK ? give(session.release(), out) : status;
  });
}

template <bool by_packets>
sxt_status open_session(const void *opaque, const sxt_filled *slots, const sxt_exec *exec, void **out) {
  const auto &state = *static_cast<const State *>(opaque);
  const sxt_status status = with_value_type(state.type, [&](auto type) {
    return with_count<1>(std::max(1, state.n_dots), [&](auto count) {
      return load(exec, multidot<device_form<typename decltype(type)::type>, decltype(count)::value, by_packets>);
    });
  });
  return status == SXT_OK ? open(opaque, slots, exec, out) : status;
}

template <class V, int N, bool by_packets>
sxt_status launch(const State &state, Session &session, const sxt_multidot_args &args, const sxt_exec *exec) {
  Pairs<V, N> pairs;
  std::uintptr_t bits = 0;
  for (int k = 0; k < N; ++k) {
    pairs.u[k] = static_cast<const V *>(args.u[k]);
    pairs.v[k] = static_cast<const V *>(args.v[k]);
    bits |= reinterpret_cast<std::uintptr_t>(args.u[k]) | reinterpret_cast<std::uintptr_t>(args.v[k]);
  }
  multidot<V, N, by_packets>
      <<<static_cast<unsigned>(state.blocks), static_cast<unsigned>(state.threads), 0, stream_of(*exec)>>>(
          args.n, pairs, bits % 16 == 0, session.partials.data(), session.counter.data(),
          static_cast<V *>(args.result));
  return launched(exec, "multidot");
}

template <bool by_packets>
sxt_status run(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_multidot_args>(head);
  if (args.n_dots == 0) return SXT_OK;
  return with_value_type(state.type, [&](auto type) {
    return with_count<1>(args.n_dots, [&](auto count) {
      using V = device_form<typename decltype(type)::type>;
      return launch<V, decltype(count)::value, by_packets>(state, *static_cast<Session *>(opened), args, exec);
    });
  });
}

template <bool by_packets>
sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine, sxt_message *reason) {
  const auto &q = as<sxt_multidot_query>(query);
  if (by_packets && !cuda::compiled_for(machine->level)) return cuda::needs_own_code(*machine, reason);
  if (q.n_dots >= 0 && q.n_dots <= SXT_MULTIDOT_MAX) return SXT_OK;
  return refuse(reason, "%d pairs; at most %d are taken", q.n_dots, SXT_MULTIDOT_MAX);
}

constexpr const char *terms[] = {"launches", "latency.steps", "latency.partials", "stream_bytes", "flops", nullptr};
constexpr double defaults[] = {NAN, 7e-7, 1e-9, NAN, NAN};

template <bool by_packets>
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_multidot_query>(query);
  const double size = static_cast<double>(value_bytes(q.q.value_type)), n = static_cast<double>(q.n);
  const std::int64_t units = std::max(1, machine->units);
  CandidateList list(out, capacity, count);
  for (std::int64_t threads : {256, 512})
    for (std::int64_t blocks : {units / 4, units, 2 * units, 4 * units}) {
      if (blocks < 1 || (by_packets && blocks > resident_blocks(*machine, threads) / 2)) continue;
      sxt_candidate &candidate = list.add();
      candidate.launch[0] = blocks;
      candidate.launch[1] = threads;
      candidate.model_class = static_cast<std::uint32_t>(q.n_dots);
      candidate.n_terms = 5;
      candidate.terms[0] = 1;
      candidate.terms[1] = std::max(1.0, n * size / (16.0 * static_cast<double>(blocks * threads)));
      candidate.terms[2] = static_cast<double>(blocks) * q.n_dots;
      candidate.terms[3] = candidate.working_set_bytes = n * size * q.distinct;
      candidate.terms[4] = n * q.n_dots * (q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128 ? 8 : 2);
      candidate.units = static_cast<double>(std::min(blocks, units));
      candidate.state_bytes = sizeof(State);
    }
  return SXT_OK;
}

sxt_status launch_config(const sxt_query *, const sxt_candidate *candidate, const sxt_machine *,
                         sxt_launch_config *out) {
  return plain_launch_config(*candidate, 64, out), SXT_OK;
}

template <bool by_packets>
sxt_kernel make_kernel(const char *name, const char *description) {
  sxt_kernel k = new_kernel(SXT_KIND_MULTIDOT, name, "cuda", description, run<by_packets>);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.min_level = by_packets ? 90 : 0;
  k.term_names = terms;
  k.term_defaults = defaults;
  k.applicable = applicable<by_packets>;
  k.candidates = candidates<by_packets>;
  k.prepare = prepare;
  k.open = open_session<by_packets>;
  k.close = destroy<Session>;
  k.release = destroy<State>;
  k.launch_config = launch_config;
  return k;
}

const sxt_kernel packets = make_kernel<true>("multidot.packets.cuda", "one launch, sums sent to one block as packets");
const sxt_kernel single_pass =
    make_kernel<false>("multidot.single-pass.cuda", "one launch, sums added by the block that ends last");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&packets, &single_pass};
  static const sxt_plugin plugin = describe("multidot-cuda", kernels);
  return *out = &plugin, SXT_OK;
}
