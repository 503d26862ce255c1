// SPDX-License-Identifier: BSD-3-Clause
// Common parts of every CUDA kernel of kind sxt.reduction/1 beside its __global__ function: a session with memory for
// partial results, the choice of operation and type, results on either side, and models over blocks and threads. A
// kernel gives
//   template <class Op> struct Kernel {
//     static sxt_status load(const sxt_exec *exec);  // its code, so that no run has to
//     static sxt_status launch(const Work<Op> &work, const sxt_exec *exec); };
// Include from .cu files.
#pragma once

#include <cmath>
#include <memory>

#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/cuda/reduce.hpp"

namespace sextant::plugin::cuda {

// One launch. partials: packet_bytes a block; counters: 64 bytes that were zero when the session was opened and belong
// to this kernel alone; out: where the result goes, reachable from the device.
template <class Op>
struct Work {
  std::int64_t n;
  const typename Op::Value *x, *y;
  typename Op::Out *out;
  std::int64_t blocks, threads;
  int flight;      // loads of 16 bytes that a thread has on their way
  bool streaming;  // the last cache cannot keep the operands: they are evicted first
  void *partials;
  std::uint64_t partials_bytes;
  void *counters;
  cudaStream_t stream;
};

inline constexpr std::uint64_t largest_accumulator = 32, packet_bytes = 2 * largest_accumulator, counter_bytes = 64;

struct ReductionState {
  sxt_value_type type;
  std::int32_t operation;
  std::int64_t blocks, threads;
  int flight;
  bool streaming;
};

struct ReductionSession {
  Memory partials, counters;  // device
  Memory result;              // pinned: where a result for the host lands
};

inline sxt_status prepare_reduction(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *,
                                    const sxt_exec *exec, void **state) {
  return guard(exec, [&] {
    const auto &q = as<sxt_reduction_query>(problem->query);
    if (!candidate) return error(exec, SXT_E_ARGUMENT, "a reduction on the device needs a candidate with its grid");
    const std::int64_t *launch = candidate->launch;
    return give(new ReductionState{q.q.value_type, q.operation, launch[0], launch[1], static_cast<int>(launch[2]),
                                   launch[3] != 0},
                state);
  });
}

// Allocates and clears; the code is loaded by the caller.
inline sxt_status open_buffers(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **out) {
  return guard(exec, [&] {
    const auto &state = *static_cast<const ReductionState *>(opaque);
    auto session = std::make_unique<ReductionSession>();
    session->partials = Memory(exec, SXT_SPACE_DEVICE, static_cast<std::uint64_t>(state.blocks) * packet_bytes);
    session->counters = Memory(exec, SXT_SPACE_DEVICE, counter_bytes);
    session->result = Memory(exec, SXT_SPACE_PINNED, 64);
    cudaStream_t stream = stream_of(*exec);
    const std::uint64_t bytes = static_cast<std::uint64_t>(state.blocks) * packet_bytes;
    sxt_status status =
        check(exec, cudaMemsetAsync(session->partials.data(), 0, bytes, stream), "clear the partial sums");
    if (status == SXT_OK)
      status = check(exec, cudaMemsetAsync(session->counters.data(), 0, counter_bytes, stream), "clear the counters");
    return status == SXT_OK ? give(session.release(), out) : status;
  });
}

// Calls f(Tag<Op>{}) for a plain (working precision) reduction.
template <class T, class F>
sxt_status with_plain_operation(std::int32_t operation, F &&f) {
  using V = device_form<T>;
  using R = Real<V>;
  switch (operation) {
    case SXT_REDUCTION_SUM: return f(Tag<Sum<V, V>>{});
    case SXT_REDUCTION_DOT: return f(Tag<Dot<V, V, false>>{});
    case SXT_REDUCTION_DOTC:
      if constexpr (is_complex<T>)
        return f(Tag<Dot<V, V, true>>{});
      else
        return f(Tag<Dot<V, V, false>>{});
    case SXT_REDUCTION_NRM2:
      if constexpr (std::is_same_v<R, float>)
        return f(Tag<Norm2Single<V>>{});
      else
        return f(Tag<Norm2Double<V>>{});
    case SXT_REDUCTION_ASUM: return f(Tag<AbsSum<V, R>>{});
    case SXT_REDUCTION_AMAX: return f(Tag<Extremum<V, Extreme::magnitude>>{});
    case SXT_REDUCTION_IAMAX: return f(Tag<LargestIndex<V>>{});
    case SXT_REDUCTION_MIN:
      if constexpr (!is_complex<T>) return f(Tag<Extremum<V, Extreme::least>>{});
      break;
    case SXT_REDUCTION_MAX:
      if constexpr (!is_complex<T>) return f(Tag<Extremum<V, Extreme::most>>{});
      break;
    default: break;
  }
  return SXT_E_NOT_SUPPORTED;
}

// SXT_OK for operations of with_plain_operation, else the reason.
inline sxt_status plain_applicable(const sxt_query *query, const sxt_features *, const sxt_machine *,
                                   sxt_message *reason) {
  const auto &q = as<sxt_reduction_query>(query);
  const bool complex = q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128;
  if (q.operation < SXT_REDUCTION_SUM || q.operation > SXT_REDUCTION_MAX)
    return refuse(reason, "operation %d is not one of %d to %d", q.operation, SXT_REDUCTION_SUM, SXT_REDUCTION_MAX);
  if (complex && (q.operation == SXT_REDUCTION_MIN || q.operation == SXT_REDUCTION_MAX))
    return refuse(reason, "complex numbers have no order");
  const bool rounds = q.operation <= SXT_REDUCTION_ASUM;
  const bool wide_norm = q.operation == SXT_REDUCTION_NRM2 && (q.q.value_type == SXT_F32 || q.q.value_type == SXT_C64);
  if (q.accuracy == SXT_ACCURACY_DOUBLED && rounds && !wide_norm)
    return refuse(reason, "it sums in working precision, the query asks for twice that");
  return SXT_OK;
}

inline bool reads_two(std::int32_t operation) {
  return operation == SXT_REDUCTION_DOT || operation == SXT_REDUCTION_DOTC;
}

// Runs Kernel<Op>::launch for the operation that `choose` (with_plain_operation or another) finds. The call waits for a
// result on the host, which is impossible in a capture: such a call is refused there.
template <template <class> class Kernel, class Choose>
sxt_status run_reduction(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec,
                         Choose &&choose) {
  const auto &state = *static_cast<const ReductionState *>(opaque);
  auto &session = *static_cast<ReductionSession *>(opened);
  const auto &args = as<sxt_reduction_args>(head);
  if (!args.result_on_device && (exec->flags & SXT_EXEC_CAPTURING))
    return error(exec, SXT_E_STATE, "a captured reduction cannot deliver its result to the host");
  return with_value_type(state.type, [&](auto type) {
    return choose(type, args.operation, [&](auto tag) {
      using Op = typename decltype(tag)::type;
      using Value = typename Op::Value;
      using Out = typename Op::Out;
      static_assert(sizeof(typename Op::Acc) <= largest_accumulator && sizeof(Out) <= 64);
      Out *target = static_cast<Out *>(args.result_on_device ? args.result : session.result.data());
      const Work<Op> work = {args.n,
                             static_cast<const Value *>(args.x),
                             static_cast<const Value *>(args.y),
                             target,
                             state.blocks,
                             state.threads,
                             state.flight,
                             state.streaming,
                             session.partials.data(),
                             static_cast<std::uint64_t>(state.blocks) * packet_bytes,
                             session.counters.data(),
                             stream_of(*exec)};
      const sxt_status status = Kernel<Op>::launch(work, exec);
      if (status != SXT_OK || args.result_on_device) return status;
      const sxt_status arrived = check(exec, cudaStreamSynchronize(work.stream), "wait for a reduction");
      if (arrived == SXT_OK) *static_cast<Out *>(args.result) = *target;
      return arrived;
    });
  });
}

// A session for Kernel, with the code of the state's operation loaded.
template <template <class> class Kernel, class Choose>
sxt_status open_reduction(const void *opaque, const sxt_filled *slots, const sxt_exec *exec, void **session,
                          Choose &&choose) {
  const auto &state = *static_cast<const ReductionState *>(opaque);
  const sxt_status status = with_value_type(state.type, [&](auto type) {
    return choose(type, state.operation, [&](auto tag) { return Kernel<typename decltype(tag)::type>::load(exec); });
  });
  return status == SXT_OK ? open_buffers(opaque, slots, exec, session) : status;
}

template <template <class> class Kernel>
sxt_status open_plain_reduction(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  return open_reduction<Kernel>(state, slots, exec, session, [](auto type, std::int32_t operation, auto &&load) {
    return with_plain_operation<typename decltype(type)::type>(operation, load);
  });
}

template <template <class> class Kernel>
sxt_status run_plain_reduction(const void *state, void *session, const sxt_head *args, const sxt_exec *exec) {
  return run_reduction<Kernel>(state, session, args, exec, [](auto type, std::int32_t operation, auto &&launch) {
    return with_plain_operation<typename decltype(type)::type>(operation, launch);
  });
}

// ---- models. A run waits for a first load, for the partial results to be merged, at each further round of loads, and
// for the bytes. Each configuration has its own coefficients, fitted over n. Where the rounds of a thread are constant,
// its model is a line in n.
inline constexpr const char *reduction_terms[] = {"launches",       "latency.steps", "stream_bytes", "compute.elements",
                                                  "latency.rounds", "latency.part",  nullptr};
// Seconds a unit before calibration: a load from memory and back, an element on one multiprocessor, a further round of
// loads, the extra time of a full first round over one with a single load.
inline constexpr double reduction_defaults[] = {NAN, 9e-7, NAN, 4e-12, 1.1e-7, 0};

// Operations that cost alike are fitted together.
inline std::uint32_t reduction_class(std::int32_t operation) {
  switch (operation) {
    case SXT_REDUCTION_DOT:
    case SXT_REDUCTION_DOTC: return 1;
    case SXT_REDUCTION_NRM2: return 2;
    case SXT_REDUCTION_IAMAX: return 3;
    case SXT_REDUCTION_AMAX:
    case SXT_REDUCTION_MIN:
    case SXT_REDUCTION_MAX: return 4;
    default: return 0;
  }
}

// Rounds of loads of the thread that has most of them. After many rounds the threads are no longer synchronous, and
// partial rounds count, too.
inline double rounds_of_loads(double rounds) {
  constexpr double in_step = 16;
  return rounds < in_step ? std::max(1.0, std::ceil(rounds)) : rounds + 0.5;
}

// The share of a launch's time when it begins early, and the share of the first load's wait when it was prefetched.
inline constexpr double early_launch = 0.7, announced_wait = 0.65;

// The cost of combining the partial results, in sequential round trips to memory: through a cluster's shared memory; a
// packet sent and received; a partial result stored, a ticket drawn, all of them read; the last two without the ticket,
// as the second launch has its own latency.
inline constexpr double merge_by_cluster = 0.35, merge_by_packets = 1, merge_by_ticket = 1.7, merge_in_launch = 1;

// Model classes: operations of equal cost, times the position of the configuration in the kernel's list.
inline constexpr std::uint32_t operation_classes = 5;

// A configuration of a kernel: equal grids have equal positions in all lists.
struct Configuration {
  std::uint32_t place;
  std::int64_t blocks, threads;
  int flight;  // loads of 16 bytes that a thread has on their way
};

// A candidate for it; early: its launches begin while the operation before ends. launch: blocks, threads, flight, and 1
// where the operands are more than the last cache holds.
inline sxt_candidate &fill_reduction(sxt_candidate &candidate, const sxt_reduction_query &q, const sxt_machine &machine,
                                     const Configuration &c, double merging, double launches = 1, bool early = false) {
  constexpr double a_partial = 0.003;  // of the first load's wait: one block's result
  constexpr double sharing = 0.57;     // a few multiprocessors take more of the bandwidth than their share
  const double bytes =
      static_cast<double>(q.n) * static_cast<double>(value_bytes(q.q.value_type)) * (reads_two(q.operation) ? 2 : 1);
  const auto units = static_cast<double>(std::max(1, machine.units));
  const double busy = std::min(static_cast<double>(c.blocks), units);
  const double round_bytes =
      16.0 * static_cast<double>(c.blocks * c.threads) * c.flight * (reads_two(q.operation) ? 2 : 1);
  candidate.launch[0] = c.blocks;
  candidate.launch[1] = c.threads;
  candidate.launch[2] = c.flight;
  candidate.launch[3] = bytes > static_cast<double>(machine.cache_bytes);
  candidate.model_class = reduction_class(q.operation) + operation_classes * c.place;
  candidate.n_terms = 6;
  candidate.terms[0] = launches * (early ? early_launch : 1);
  candidate.terms[1] = (early ? announced_wait : 1) + merging + a_partial * static_cast<double>(c.blocks);
  candidate.terms[2] = bytes;
  // The sum of squares keeps a scale.
  candidate.terms[3] = (q.operation == SXT_REDUCTION_NRM2 ? 12.0 : 1.0) * static_cast<double>(q.n) / busy;
  candidate.terms[4] = rounds_of_loads(bytes / round_bytes);
  // Of a first round, in whole loads: how many a thread has in flight before it adds.
  candidate.terms[5] = std::min(1.0, std::max(1.0, std::ceil(bytes / round_bytes * c.flight)) / c.flight);
  candidate.working_set_bytes = bytes;
  candidate.units = units * std::pow(busy / units, sharing);
  candidate.state_bytes = sizeof(ReductionState);
  return candidate;
}

inline sxt_status reduction_launch_config(const sxt_query *, const sxt_candidate *candidate, const sxt_machine *,
                                          sxt_launch_config *out) {
  return plain_launch_config(*candidate, 40, out), SXT_OK;
}

using RunFunction = sxt_status(const void *, void *, const sxt_head *, const sxt_exec *);
using OpenFunction = sxt_status(const void *, const sxt_filled *, const sxt_exec *, void **);

// A kernel of this family; candidates and, where it offers less, applicable are set by its folder.
inline sxt_kernel new_reduction(const char *name, const char *description, OpenFunction *open, RunFunction *run) {
  sxt_kernel k = new_kernel(SXT_KIND_REDUCTION, name, "cuda", description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.version = 2;
  k.term_names = reduction_terms;
  k.term_defaults = reduction_defaults;
  k.applicable = plain_applicable;
  k.prepare = prepare_reduction;
  k.open = open;
  k.close = destroy<ReductionSession>;
  k.release = destroy<ReductionState>;
  k.launch_config = reduction_launch_config;
  return k;
}

template <template <class> class Kernel>
sxt_kernel new_plain_reduction(const char *name, const char *description) {
  return new_reduction(name, description, open_plain_reduction<Kernel>, run_plain_reduction<Kernel>);
}

}  // namespace sextant::plugin::cuda
