// SPDX-License-Identifier: BSD-3-Clause
// vector_group.stream.cuda and vector_group_dots.single-pass.cuda: the updates of one PCG iteration as one launch, with
// or without inner products of the updated vectors. Bound by bandwidth: each vector of the group is read once and each
// written one written once; the inner products cost no further byte. Bits are equal for equal input.
#include <memory>

#include "groups.cuh"
#include "sextant/plugin/kinds/vector_group_dots.h"
#include "sextant/plugin/order.h"
#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/cuda/grid.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::vector_group_cuda {
namespace {

using namespace sextant::plugin;

constexpr int most_dots = SXT_VECTOR_GROUP_DOTS_MAX;

template <class V>
struct Dots {
  struct Acc {
    V sum[most_dots];
  };
  __device__ static Acc identity() { return {}; }
  __device__ static Acc merge(Acc a, Acc b) {
#pragma unroll
    for (int k = 0; k < most_dots; ++k) a.sum[k] = plus(a.sum[k], b.sum[k]);
    return a;
  }
};

struct DotPairs {
  std::int32_t count, a[most_dots], b[most_dots];
};

// v[k] by comparisons: an index that is not known when compiling would move the array out of registers.
template <int count, class V>
__device__ V pick(const V (&v)[count], int k) {
  V value = v[0];
#pragma unroll
  for (int i = 1; i < count; ++i)
    if (i == k) value = v[i];
  return value;
}

template <class Group, class V>
__global__ void __launch_bounds__(512)
    update(std::int64_t n, Vectors<V, Group::vectors> vectors, bool aligned, Scalar<V> alpha, Scalar<V> beta) {
  await_predecessor();
  release_successor();
  const std::int64_t worker = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  update_all<Group>(n, vectors, aligned, alpha(), beta(), worker, static_cast<std::int64_t>(gridDim.x) * blockDim.x,
                    [](const V(&)[Group::vectors]) {});
}

template <class Group, class V>
__global__ void __launch_bounds__(512)
    update_dots(std::int64_t n, Vectors<V, Group::vectors> vectors, bool aligned, Scalar<V> alpha, Scalar<V> beta,
                DotPairs pairs, void *partials, unsigned *counter, V *result) {
  await_predecessor();
  release_successor();
  using Op = Dots<V>;
  using Acc = typename Op::Acc;
  __shared__ alignas(16) unsigned char room[32 * sizeof(Acc)];
  Acc *shared = reinterpret_cast<Acc *>(room), acc{};
  const std::int64_t worker = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  update_all<Group>(n, vectors, aligned, alpha(), beta(), worker, static_cast<std::int64_t>(gridDim.x) * blockDim.x,
                    [&](const V(&v)[Group::vectors]) {
#pragma unroll
                      for (int k = 0; k < most_dots; ++k)
                        if (k < pairs.count)
                          acc.sum[k] = plus(acc.sum[k], times(conjugated(pick(v, pairs.a[k])), pick(v, pairs.b[k])));
                    });
  acc = merge_block<Op>(acc, shared);
  if (merge_grid_by_ticket<Op>(acc, shared, static_cast<Acc *>(partials), counter))
    for (int k = 0; k < pairs.count; ++k) result[k] = acc.sum[k];
}

// ---- host side

struct State {
  sxt_value_type type;
  std::int32_t group;
  std::int64_t blocks, threads;
};
struct Session {
  Memory partials, counter;
};

constexpr std::uint64_t bytes_a_block = most_dots * 16;

template <class Group, class V>
Vectors<V, Group::vectors> vectors_of(const sxt_vector_group_args &args, bool *aligned) {
  Vectors<V, Group::vectors> vectors;
  std::uintptr_t bits = 0;
  for (int k = 0; k < Group::vectors; ++k) {
    vectors.at[k] = static_cast<V *>(args.vectors[k]);
    bits |= reinterpret_cast<std::uintptr_t>(args.vectors[k]);
  }
  *aligned = bits % 16 == 0;
  return vectors;
}

// Calls f(Tag<Group>{}, Tag<V>{}).
template <class F>
sxt_status with_types(sxt_value_type type, std::int32_t group, F &&f) {
  return with_value_type(type, [&](auto tag) {
    using V = device_form<typename decltype(tag)::type>;
    return with_group<V>(group, [&](auto each) { return f(each, Tag<V>{}); });
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_vector_group_args>(head);
  if (args.n <= 0) return SXT_OK;
  return with_types(state.type, args.group, [&](auto group, auto type) {
    using V = typename decltype(type)::type;
    using G = typename decltype(group)::type;
    bool aligned;
    const auto vectors = vectors_of<G, V>(args, &aligned);
    return launch_chained(exec, true, "a vector group", update<G, V>, static_cast<unsigned>(state.blocks),
                          static_cast<unsigned>(state.threads), 0, args.n, vectors, aligned,
                          scalar_of(args.scalars[0], number<V>(1)), scalar_of(args.scalars[1], number<V>(1)));
  });
}

sxt_status run_dots(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &session = *static_cast<Session *>(opened);
  const auto &args = as<sxt_vector_group_dots_args>(head);
  DotPairs pairs = {args.n_dots, {}, {}};
  std::copy_n(args.a, most_dots, pairs.a);
  std::copy_n(args.b, most_dots, pairs.b);
  return with_types(state.type, args.g.group, [&](auto group, auto type) {
    using V = typename decltype(type)::type;
    using G = typename decltype(group)::type;
    bool aligned;
    const auto vectors = vectors_of<G, V>(args.g, &aligned);
    return launch_chained(exec, true, "a vector group with inner products", update_dots<G, V>,
                          static_cast<unsigned>(state.blocks), static_cast<unsigned>(state.threads), 0, args.g.n,
                          vectors, aligned, scalar_of(args.g.scalars[0], number<V>(1)),
                          scalar_of(args.g.scalars[1], number<V>(1)), pairs, session.partials.data(),
                          session.counter.as<unsigned>(), static_cast<V *>(args.dots));
  });
}

sxt_status make_state(sxt_value_type type, std::int32_t group, const sxt_candidate *candidate, const sxt_exec *exec,
                      void **out) {
  if (!candidate) return error(exec, SXT_E_ARGUMENT, "a vector group on the device needs a candidate with its grid");
  return give(new State{type, group, candidate->launch[0], candidate->launch[1]}, out);
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&]() -> sxt_status {
    const auto &q = as<sxt_vector_group_query>(problem->query);
    const sxt_status status = with_types(q.q.value_type, q.group, [&](auto group, auto type) {
      return load(exec, update<typename decltype(group)::type, typename decltype(type)::type>);
    });
    return status == SXT_OK ? make_state(q.q.value_type, q.group, candidate, exec, out) : status;
  });
}

sxt_status prepare_dots(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *,
                        const sxt_exec *exec, void **out) {
  return guard(exec, [&]() -> sxt_status {
    const auto &q = as<sxt_vector_group_dots_query>(problem->query);
    const sxt_status status = with_types(q.q.value_type, q.group, [&](auto group, auto type) {
      return load(exec, update_dots<typename decltype(group)::type, typename decltype(type)::type>);
    });
    return status == SXT_OK ? make_state(q.q.value_type, q.group, candidate, exec, out) : status;
  });
}

sxt_status open_dots(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **out) {
  return guard(exec, [&] {
    auto session = std::make_unique<Session>();
    session->partials = Memory(exec, SXT_SPACE_DEVICE,
                               static_cast<std::uint64_t>(static_cast<const State *>(opaque)->blocks) * bytes_a_block);
    session->counter = Memory(exec, SXT_SPACE_DEVICE, 64);
    const sxt_status status =
        check(exec, cudaMemsetAsync(session->counter.data(), 0, 64, stream_of(*exec)), "clear the counter");
    return status == SXT_OK ? give(session.release(), out) : status;
  });
}

constexpr std::uint32_t grids = 6;  // that are offered, each with its own model

// Vectors that a group reads plus those that it writes.
double passes(std::int32_t group) {
  return group == SXT_GROUP_CHRONOPOULOS_GEAR ? 10 : group == SXT_GROUP_PREDICT_RECOMPUTE ? 7 : 6;
}

sxt_status list_grids(const sxt_query &query, std::int64_t n, std::int32_t group, std::int32_t n_dots,
                      const sxt_machine &machine, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const double size = static_cast<double>(value_bytes(query.value_type)), elements = static_cast<double>(n);
  CudaCost cost;
  cost.stream_bytes = cost.working_set = elements * size * passes(group);
  cost.flops = elements * (4.0 + 2 * n_dots) * (query.value_type == SXT_C64 || query.value_type == SXT_C128 ? 4 : 1);
  CandidateList list(out, capacity, count);
  // Many streams disturb each other: a part of the blocks that the device could hold is fastest, and comes first.
  std::uint32_t place = 0;
  for (std::int64_t part : {4, 2, 1})
    for (std::int64_t threads : {256, 512}) {
      const std::int64_t width = 16 / static_cast<std::int64_t>(size), most = resident_blocks(machine, threads) / part;
      const std::int64_t blocks = blocks_for(divide_up<std::int64_t>(n, width), threads, most);
      sxt_candidate &candidate = fill(list.add(), machine, blocks, threads, width, cost);
      candidate.model_class = static_cast<std::uint32_t>(group * 8 + n_dots) * grids + place++;
      candidate.state_bytes = sizeof(State);
    }
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_group_query>(query);
  return list_grids(q.q, q.n, q.group, 0, *machine, out, capacity, count);
}

sxt_status candidates_dots(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                           sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_group_dots_query>(query);
  return list_grids(q.q, q.n, q.group, q.n_dots, *machine, out, capacity, count);
}

sxt_status check_group(std::int32_t group, sxt_message *reason) {
  if (group >= SXT_GROUP_CLASSICAL_XR && group <= SXT_GROUP_PREDICT_RECOMPUTE) return SXT_OK;
  return refuse(reason, "group %d is not one of %d to %d", group, SXT_GROUP_CLASSICAL_XR, SXT_GROUP_PREDICT_RECOMPUTE);
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return check_group(as<sxt_vector_group_query>(query).group, reason);
}

sxt_status applicable_dots(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_group_dots_query>(query);
  if (const sxt_status status = check_group(q.group, reason); status != SXT_OK) return status;
  if (q.n_dots >= 0 && q.n_dots <= most_dots) return SXT_OK;
  return refuse(reason, "%d inner products; at most %d are taken", q.n_dots, most_dots);
}

sxt_status launch_config(const sxt_query *, const sxt_candidate *candidate, const sxt_machine *,
                         sxt_launch_config *out) {
  return plain_launch_config(*candidate, 64, out), SXT_OK;
}

const sxt_kernel groups = [] {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR_GROUP, "vector_group.stream.cuda", "cuda",
                            "one pass over every vector of the group", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE | SXT_KERNEL_ONE_ORDER;
  k.version = 2;
  k.term_names = cuda_terms;
  set_calls<State>(k, {applicable, candidates, prepare});
  k.launch_config = launch_config;
  return k;
}();

const sxt_kernel groups_dots = [] {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR_GROUP_DOTS, "vector_group_dots.single-pass.cuda", "cuda",
                            "one pass, inner products added by the block that ends last", run_dots);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.version = 2;
  k.term_names = cuda_terms;
  set_calls<State>(k, {applicable_dots, candidates_dots, prepare_dots});
  k.open = open_dots;
  k.close = destroy<Session>;
  k.launch_config = launch_config;
  return k;
}();

}  // namespace
}  // namespace sextant::vector_group_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::vector_group_cuda;
  return sextant::plugin::offer<&groups, &groups_dots>("vector-group-cuda", out);
}
