// SPDX-License-Identifier: BSD-3-Clause
// reduction.warp-shuffle.cuda: partial results by shuffles in a first launch, one block that adds them in a second.
// The usual hand-written form today, and the baseline for tickets and packets, which save one launch.
#include "plugins/reduction/shared/cuda/gather.hpp"
#include "plugins/reduction/shared/cuda/reduce_run.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

constexpr int flight = 4, last_threads = 512;

template <class Op>
__global__ void __launch_bounds__(512)
    reduce(std::int64_t n, const typename Op::Value *x, const typename Op::Value *y, typename Op::Acc *partials) {
  announce<Op, flight>(n, x, y);
  await_predecessor();
  release_successor();
  __shared__ typename Op::Acc shared[32];
  const std::int64_t worker = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto acc = merge_block<Op>(
      accumulate<Op, flight>(n, x, y, worker, static_cast<std::int64_t>(gridDim.x) * blockDim.x), shared);
  if (threadIdx.x == 0) partials[blockIdx.x] = acc;
}

template <class Op>
__global__ void __launch_bounds__(512) finish(unsigned count, const typename Op::Acc *partials, typename Op::Out *out) {
  await_predecessor();
  release_successor();
  __shared__ typename Op::Acc shared[32];
  auto acc = Op::identity();
  for (unsigned from = threadIdx.x; from < count; from += blockDim.x) acc = Op::merge(acc, partials[from]);
  acc = merge_block<Op>(acc, shared);
  if (threadIdx.x == 0) *out = Op::result(acc);
}

template <class Op>
struct Kernel {
  static sxt_status load(const sxt_exec *exec) {
    const sxt_status status = cuda::load(exec, reduce<Op>);
    return status == SXT_OK ? cuda::load(exec, finish<Op>) : status;
  }
  static sxt_status launch(const Work<Op> &work, const sxt_exec *exec) {
    auto *partials = static_cast<typename Op::Acc *>(work.partials);
    const auto blocks = static_cast<unsigned>(work.blocks);
    const sxt_status status = launch_chained(exec, true, "reduction.warp-shuffle.cuda", reduce<Op>, blocks,
                                             static_cast<unsigned>(work.threads), 0, work.n, work.x, work.y, partials);
    if (status != SXT_OK) return status;
    return launch_chained(exec, true, "reduction.warp-shuffle.cuda", finish<Op>, 1, last_threads, 0, blocks, partials,
                          work.out);
  }
};

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  const std::int64_t units = std::max(1, machine->units);
  CandidateList list(out, capacity, count);
  const Configuration grids[] = {
      {0, units, 256, flight}, {1, 2 * units, 256, flight}, {2, 2 * units, 512, flight}, {3, 4 * units, 512, flight}};
  for (const Configuration &grid : grids)
    fill_reduction(list.add(), q, *machine, grid, merge_in_launch, 2, may_start_early(*machine));
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_plain_reduction<Kernel>("reduction.warp-shuffle.cuda",
                                             "warp shuffles, partial results added by a second launch");
  k.version = 3;
  k.candidates = candidates;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("reduction-cuda-warp-shuffle", out);
}
