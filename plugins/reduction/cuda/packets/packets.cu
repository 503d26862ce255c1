// SPDX-License-Identifier: BSD-3-Clause
// reduction.packets.cuda: every block sends its partial result to block 0 as 16-byte packets that announce themselves
// (plugin_cuda_grid.hpp): no fence, no atomic and no second launch between the last load and the result.
// After bandwidth: n x size bytes, and about a microsecond less than a ticket costs at 2^17 .. 2^22 elements.
#include "sextant/plugin_cuda_grid.hpp"
#include "sextant/plugin_cuda_reduce_run.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

template <class Op, int flight>
__global__ void __launch_bounds__(512) reduce(std::int64_t n, const typename Op::Value *x, const typename Op::Value *y,
                                              ulonglong2 *packets, Word *last_epoch, typename Op::Out *out) {
  __shared__ typename Op::Acc shared[32];
  const Word epoch = next_epoch(last_epoch);
  const std::int64_t worker = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  auto acc = merge_block<Op>(accumulate<Op, flight>(n, x, y, worker, static_cast<std::int64_t>(gridDim.x) * blockDim.x),
                             shared);
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
    const dim3 grid(static_cast<unsigned>(work.blocks)), block(static_cast<unsigned>(work.threads));
    const double rounds =
        static_cast<double>(work.n) * sizeof(typename Op::Value) / (16.0 * work.blocks * work.threads);
    if (rounds > 8 && Op::vectors == 1)
      reduce<Op, 8><<<grid, block, 0, work.stream>>>(work.n, work.x, work.y, packets, epoch, work.out);
    else
      reduce<Op, 4><<<grid, block, 0, work.stream>>>(work.n, work.x, work.y, packets, epoch, work.out);
    return launched(exec, "reduction.packets.cuda");
  }
};

// Blocks are offered down to a quarter of a multiprocessor's worth: fewer packets against fewer loads in flight.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  const std::int64_t units = std::max(1, machine->units),
                     groups = q.n * static_cast<std::int64_t>(value_bytes(q.q.value_type)) / 16;
  CandidateList list(out, capacity, count);
  for (std::int64_t threads : {128, 256, 512})
    for (std::int64_t blocks : {units / 4, units / 2, units, 2 * units}) {
      if (blocks < 2 || blocks > resident_blocks(*machine, threads)) continue;
      const int flight = groups > 8 * blocks * threads && !reads_two(q.operation) ? 8 : 4;
      fill_reduction(list.add(), q, *machine, blocks, threads, flight, merge_by_packets).state_bytes =
          sizeof(ReductionState);
    }
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_plain_reduction<Kernel>("reduction.packets.cuda",
                                             "partial results sent to one block as self-announcing packets");
  k.min_level = 90;
  k.candidates = candidates;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = describe("reduction-cuda-packets", kernels);
  return *out = &plugin, SXT_OK;
}
