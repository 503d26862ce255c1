// SPDX-License-Identifier: BSD-3-Clause
// vector.stream.cuda: every operation as one pass over tiles, a block for each, in which a thread takes groups of 16
// bytes, one or several in flight, a block's width apart. Elements of different indices are never combined: operands
// may be the same array, and bits depend only on the element.
#include <iterator>

#include "sextant/plugin/order.h"
#include "sextant/sdk/describe.hpp"
#include "vector_stream.cuh"

SXT_VECTOR_WAYS(extern, sextant::vector_cuda::Tiles, float);
SXT_VECTOR_WAYS(extern, sextant::vector_cuda::Tiles, double);
SXT_VECTOR_WAYS(extern, sextant::vector_cuda::Tiles, sextant::plugin::cuda::Complex<float>);
SXT_VECTOR_WAYS(extern, sextant::vector_cuda::Tiles, sextant::plugin::cuda::Complex<double>);

namespace sextant::vector_cuda {
namespace {

using namespace sextant::plugin;

template <class T, class Index>
__global__ void move_indexed(bool gather, std::int64_t n, const T *x, T *y, const Index *index) {
  cuda::await_predecessor();
  cuda::release_successor();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (gather)
      y[i] = x[index[i]];
    else
      y[index[i]] = x[i];  // the kind promises distinct indices
  }
}

// ---- host side

// The share of an ordinary launch's time that an early one takes, before a calibration.
constexpr double early_launch = 0.7;

template <class T>
sxt_status launch_indexed(const VectorState &state, const sxt_vector_args &args, const sxt_exec *exec) {
  const unsigned blocks = cuda::blocks_for(args.n, state.way.threads, most_blocks);
  const auto threads = static_cast<unsigned>(state.way.threads);
  const bool gather = args.operation == SXT_VECTOR_GATHER;
  const auto *x = static_cast<const T *>(args.x);
  auto *y = static_cast<T *>(args.y);
  if (args.index_type == SXT_I32)
    return cuda::launch_chained(exec, state.way.early, "a vector operation", move_indexed<T, std::int32_t>, blocks,
                                threads, 0, gather, args.n, x, y, static_cast<const std::int32_t *>(args.index));
  return cuda::launch_chained(exec, state.way.early, "a vector operation", move_indexed<T, std::int64_t>, blocks,
                              threads, 0, gather, args.n, x, y, static_cast<const std::int64_t *>(args.index));
}

// The first serves most lengths best, as measured on one machine with 132 multiprocessors. Without the release of the
// successor in each of them, smaller blocks would be as fast.
constexpr Way ways[] = {{256, 1, true, Passing::usual},
                        {256, 1, true, Passing::streamed},
                        {128, 2, true, Passing::unkept},
                        {512, 2, true, Passing::unkept},
                        {128, 4, true, Passing::unkept}};
constexpr auto way_count = static_cast<std::uint32_t>(std::size(ways));

// The time of a way over that of the best one, for the choice before a calibration. With one group a thread, long fills
// need too many blocks.
double lost(const Way &way, std::int32_t operation, double bytes) {
  constexpr double long_fill = 4e6;
  if (operation == SXT_VECTOR_FILL && bytes > long_fill) return way.threads == 512 ? 1 : way.flight == 4 ? 1.02 : 1.35;
  return way.flight > 1 ? 1.06 : way.passing == Passing::usual ? 1 : 1.02;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_query>(query);
  cuda::CudaCost cost = cost_of(q, *machine);
  const double bytes = cost.stream_bytes;
  const std::int64_t width = group_bytes / static_cast<std::int64_t>(value_bytes(q.q.value_type));
  CandidateList list(out, capacity, count);
  std::uint32_t model_class = way_count * traffic_class(q.operation);
  for (const Way &way : ways) {
    const std::int64_t elements = indexed(q.operation) ? 1 : width * way.flight;
    const std::int64_t blocks =
        cuda::blocks_for(cuda::divide_up<std::int64_t>(q.n, elements), way.threads, most_blocks);
    cost.launches = way.early && cuda::may_start_early(*machine) ? early_launch : 1;
    cost.stream_bytes = bytes * lost(way, q.operation, bytes);
    sxt_candidate &candidate = fill_way(list.add(), *machine, blocks, way, width, cost);
    candidate.model_class = model_class++;
    candidate.state_bytes = sizeof(VectorState);
  }
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *filled,
                   const sxt_exec *exec, void **state) {
  const sxt_status loaded = cuda::with_number(problem->query->value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const sxt_status status = cuda::load(exec, move_indexed<T, std::int32_t>);
    return status == SXT_OK ? cuda::load(exec, move_indexed<T, std::int64_t>) : status;
  });
  return loaded == SXT_OK ? prepare_ways<Tiles>(problem, candidate, filled, exec, state) : loaded;
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const VectorState *>(opaque);
  const auto &args = as<sxt_vector_args>(head);
  if (!indexed(args.operation)) return run_ways<Tiles>(opaque, session, head, exec);
  if (args.n <= 0) return SXT_OK;
  return cuda::with_number(state.type,
                           [&](auto tag) { return launch_indexed<typename decltype(tag)::type>(state, args, exec); });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_vector_kernel<Tiles>("vector.stream.cuda", "one pass, groups of 16 bytes, a block a tile", 4);
  k.flags |= SXT_KERNEL_ONE_ORDER;
  k.run = run;
  k.prepare = prepare;
  k.candidates = candidates;
  return k;
}();

}  // namespace
}  // namespace sextant::vector_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::vector_cuda::kernel>("vector-cuda", out);
}
