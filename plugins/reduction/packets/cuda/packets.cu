// SPDX-License-Identifier: BSD-3-Clause
// reduction.packets.cuda: every block sends its partial result to block 0 as 16-byte packets with an epoch
// (sdk/cuda/grid.hpp): no fence, no atomic and no second launch between the last load and the result. Bound by
// bandwidth: n x size bytes, and about a microsecond less than a ticket costs at 2^17 .. 2^22 elements.
#include "plugins/reduction/shared/cuda/gather.hpp"
#include "plugins/reduction/shared/cuda/reduce_run.hpp"
#include "sextant/sdk/cuda/generation.hpp"
#include "sextant/sdk/cuda/grid.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

template <class Op, int flight>
__global__ void __launch_bounds__(512)
    reduce(std::int64_t n, const typename Op::Value *x, const typename Op::Value *y, bool streaming,
           ulonglong2 *packets, Word *last_epoch, typename Op::Out *out) {
  announce<Op, flight>(n, x, y);
  await_predecessor();
  release_successor();
  __shared__ typename Op::Acc shared[32];
  const Word epoch = next_epoch(last_epoch);
  const std::int64_t worker = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t workers = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  auto acc = merge_block<Op>(accumulate<Op, flight>(n, x, y, worker, workers, streaming), shared);
  if (merge_grid_by_packets<Op>(acc, shared, packets, last_epoch, epoch)) *out = Op::result(acc);
}

template <class Op>
struct Kernel {
  static sxt_status load(const sxt_exec *exec) {
    const sxt_status status = cuda::load(exec, reduce<Op, 4>);
    return status == SXT_OK ? cuda::load(exec, reduce<Op, 8>) : status;
  }
  static sxt_status launch(const Work<Op> &work, const sxt_exec *exec) {
    auto *packets = static_cast<ulonglong2 *>(work.partials);
    auto *epoch = static_cast<Word *>(work.counters);
    const auto kernel = work.flight == 8 ? reduce<Op, 8> : reduce<Op, 4>;
    return launch_chained(exec, true, "reduction.packets.cuda", kernel, static_cast<unsigned>(work.blocks),
                          static_cast<unsigned>(work.threads), 0, work.n, work.x, work.y, work.streaming, packets,
                          epoch, work.out);
  }
};

sxt_status applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                      sxt_message *reason) {
  if (const sxt_status status = needs_own_code(*machine, reason); status != SXT_OK) return status;
  return plain_applicable(query, features, machine, reason);
}

// From one block for two multiprocessors to two for each: fewer packets against fewer loads in flight. Other sizes
// gained nowhere more than a percent.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  const std::int64_t units = std::max(1, machine->units);
  CandidateList list(out, capacity, count);
  const Configuration grids[] = {{0, units / 2, 128, 4}, {1, units / 2, 256, 4}, {2, units, 256, 4},
                                 {3, units, 256, 8},     {4, units, 512, 8},     {5, 2 * units, 256, 4},
                                 {6, 2 * units, 256, 8}, {7, 2 * units, 512, 4}};
  for (const Configuration &grid : grids)
    if (grid.blocks >= 2 && grid.blocks <= resident_blocks(*machine, grid.threads))
      fill_reduction(list.add(), q, *machine, grid, merge_by_packets, 1, may_start_early(*machine));
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_plain_reduction<Kernel>("reduction.packets.cuda",
                                             "partial results sent to one block as packets with an epoch");
  k.version = 3;
  k.min_level = 90;
  k.applicable = applicable;
  k.candidates = candidates;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("reduction-cuda-packets", out);
}
