// SPDX-License-Identifier: BSD-3-Clause
// reduction.overload.cuda, the fifth of the step-by-step variants: by Brent's theorem n / log2 n threads are enough, so
// each first adds log2 n elements on its own ("thread overload"), a grid apart so that warps read whole lines. The tree
// is that of the fourth variant.
#include "plugins/reduction/shared/cuda/reduce_steps.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

// log2 n, at least 1.
inline int elements_each(std::int64_t n) {
  int each = 1;
  while (n >> (each + 1)) ++each;
  return each;
}

template <class Op, class From, int block>
__global__ void __launch_bounds__(block) reduce(Pass<Op, From> pass, int each) {
  using Acc = typename Op::Acc;
  __shared__ alignas(16) unsigned char room[block * sizeof(Acc)];
  Acc *shared = reinterpret_cast<Acc *>(room);
  const std::int64_t worker = static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x;
  const std::int64_t workers = static_cast<std::int64_t>(gridDim.x) * block;
  Acc sum_of_mine = Op::identity();
  for (int k = 0; k < each; ++k) sum_of_mine = Op::merge(sum_of_mine, pass.load(worker + k * workers));
  shared[threadIdx.x] = sum_of_mine;
  const Acc sum = merge_unrolled<Op, block>(shared);
  if (threadIdx.x == 0) pass.store(sum);
}

template <class Op, class From>
struct Step {
  static std::int64_t elements_per_block(std::int64_t n, std::int64_t threads) { return threads * elements_each(n); }
  static sxt_status load(const sxt_exec *exec) {
    return load_block_sizes(exec, [](auto block) { return reduce<Op, From, decltype(block)::value>; });
  }
  static void launch(const Pass<Op, From> &pass, unsigned blocks, unsigned threads, cudaStream_t stream) {
    const int each = elements_each(pass.n);
    with_block_size(threads, [&](auto block) {
      reduce<Op, From, block><<<blocks, decltype(block)::value, 0, stream>>>(pass, each);
    });
  }
};

template <class Op>
using Kernel = Steps<Step, Op>;

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return step_candidates(query, machine, out, capacity, count,
                         [](std::int64_t n, std::int64_t threads) { return threads * elements_each(n); });
}

const sxt_kernel kernel = [] {
  sxt_kernel k =
      new_step_reduction<Kernel>("reduction.overload.cuda", "each thread adds log2 n elements first (fifth variant)");
  k.candidates = candidates;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("reduction-cuda-overload", out);
}
