// SPDX-License-Identifier: BSD-3-Clause
// vector.persistent.cuda: every element-wise operation by a persistent grid of a multiple of the multiprocessors: a
// thread takes groups of 16 bytes a whole grid apart. Its launch begins while the operation before it ends
// (sdk/cuda/chain.hpp). All blocks start once and run at the same time, so that lengths of a few waves of blocks have
// no partial last wave.
#include <cstdint>
#include <iterator>

#include "sextant/sdk/describe.hpp"
#include "vector_persistent.cuh"

SXT_VECTOR_WAYS(extern, sextant::vector_persistent::Strides, float);
SXT_VECTOR_WAYS(extern, sextant::vector_persistent::Strides, double);
SXT_VECTOR_WAYS(extern, sextant::vector_persistent::Strides, sextant::plugin::cuda::Complex<float>);
SXT_VECTOR_WAYS(extern, sextant::vector_persistent::Strides, sextant::plugin::cuda::Complex<double>);

namespace sextant::vector_persistent {
namespace {

using namespace sextant::plugin;

// Blocks a multiprocessor, and how they take the vector.
struct Grid {
  std::int64_t blocks;
  Way way;
};
constexpr Grid grids[] = {{8, {256, 2, true, Passing::unkept}},
                          {4, {512, 2, true, Passing::unkept}},
                          {1, {1024, 2, true, Passing::unkept}},
                          {2, {512, 1, true, Passing::usual}}};
constexpr auto grid_count = static_cast<std::uint32_t>(std::size(grids));

sxt_status in_order(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                    sxt_message *reason) {
  if (indexed(as<sxt_vector_query>(query).operation))
    return refuse(reason, "it takes elements in their order, not by indices");
  return applicable(query, features, machine, reason);
}

// Before a calibration, as measured on one machine with 132 multiprocessors: a launch that begins early costs less, and
// tiles, a block each, are somewhat faster.
constexpr double early_launch = 0.7, lost_in_cache = 1.05, lost_in_memory = 1.08;

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_query>(query);
  cuda::CudaCost cost = cost_of(q, *machine);
  if (cuda::may_start_early(*machine)) cost.launches = early_launch;
  cost.stream_bytes *= cost.working_set > static_cast<double>(machine->cache_bytes) ? lost_in_memory : lost_in_cache;
  CandidateList list(out, capacity, count);
  std::uint32_t model_class = grid_count * traffic_class(q.operation);
  for (const Grid &grid : grids) {
    const std::int64_t width = group_bytes / static_cast<std::int64_t>(value_bytes(q.q.value_type));
    const std::int64_t blocks = cuda::blocks_for(cuda::divide_up<std::int64_t>(q.n, width), grid.way.threads,
                                                 grid.blocks * std::max(1, machine->units));
    sxt_candidate &candidate = fill_way(list.add(), *machine, blocks, grid.way, width, cost);
    candidate.model_class = model_class++;
    candidate.state_bytes = sizeof(VectorState);
  }
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_vector_kernel<Strides>("vector.persistent.cuda",
                                            "a persistent grid, begun while the operation before it ends", 2);
  k.applicable = in_order;
  k.candidates = candidates;
  return k;
}();

}  // namespace
}  // namespace sextant::vector_persistent

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::vector_persistent::kernel>("vector-persistent-cuda", out);
}
