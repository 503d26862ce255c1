// SPDX-License-Identifier: BSD-3-Clause
// multidot.packets.cuda and multidot.single-pass.cuda: up to eight inner products conj(u) . v in one launch. A thread
// reads one group of 16 bytes of every operand before the next, so an array that occurs in several pairs comes from
// memory once and then from the first cache. Bound by bandwidth: n x size bytes a distinct array. The two differ in how
// blocks combine their sums (sdk/cuda/grid.hpp); bits are equal for equal input.
#include "multidot.cuh"
#include "sextant/sdk/describe.hpp"

namespace sextant::multidot_cuda {
namespace {

template <class V, int N, bool by_packets>
__global__ void __launch_bounds__(512)
    multidot(std::int64_t n, Pairs<V, N> pairs, bool aligned, void *partials, void *counter, V *result) {
  await_predecessor();
  release_successor();
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

template <bool by_packets>
struct WholeDevice {
  template <class V, int N>
  static sxt_status ready(const sxt_exec *exec) {
    return load(exec, multidot<V, N, by_packets>);
  }
  template <class V, int N>
  static sxt_status launch(const Call<V, N> &call, const sxt_exec *exec) {
    return launch_chained(exec, true, "multidot", multidot<V, N, by_packets>, static_cast<unsigned>(call.grid.blocks),
                          static_cast<unsigned>(call.grid.threads), 0, call.n, call.pairs, call.aligned, call.partials,
                          call.counter, call.result);
  }
  static std::vector<Grid> grids(const sxt_machine &machine) {
    const std::int64_t units = std::max(1, machine.units);
    std::vector<Grid> grids;
    for (std::int64_t threads : {256, 512})
      for (std::int64_t blocks : {std::max<std::int64_t>(1, units / 4), units, 2 * units, 4 * units})
        // Packets need all blocks on the device at once.
        if (!by_packets || blocks <= resident_blocks(machine, threads) / 2) grids.push_back({blocks, threads});
    return grids;
  }
  // One trip to memory and back for packets, more for a ticket.
  static double merging(const Grid &grid, int n_dots) {
    return (by_packets ? 800.0 : 1200.0) + static_cast<double>(grid.blocks) * n_dots;
  }
};

sxt_status packets_applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                              sxt_message *reason) {
  const sxt_status status = needs_own_code(*machine, reason);
  return status == SXT_OK ? count_applicable(query, features, machine, reason) : status;
}

const sxt_kernel packets = [] {
  sxt_kernel k =
      new_multidot<WholeDevice<true>>("multidot.packets.cuda", "one launch, sums sent to one block as packets");
  k.min_level = 90;
  k.applicable = packets_applicable;
  return k;
}();

const sxt_kernel single_pass =
    new_multidot<WholeDevice<false>>("multidot.single-pass.cuda", "one launch, sums added by the block that ends last");

}  // namespace
}  // namespace sextant::multidot_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::multidot_cuda;
  return sextant::plugin::offer<&packets, &single_pass, &one_block, &one_cluster, &by_tree>("multidot-cuda", out);
}
