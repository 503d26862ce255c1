// SPDX-License-Identifier: BSD-3-Clause
// hermitian_step.blocks.cuda: the steps around factoring and solving, one system a thread block. Each reads its
// triangle about once, so memory is the bound.
#include <cuda_runtime.h>

#include <cstdint>

#include "mix.cuh"
#include "residual.cuh"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;
namespace steps = sextant::plugin::hermitian_steps;

namespace {

constexpr int block_threads = 256, warp_threads = 32;

// The threads of a block. Sums are taken in one order, so that they have the same bits in every run.
struct Block {
  double *shared;  // one a warp
  __device__ std::int64_t lane() const { return threadIdx.x; }
  __device__ std::int64_t lanes() const { return blockDim.x; }
  __device__ void barrier() const { __syncthreads(); }
  template <class F>
  __device__ double joined(double value, F &&join) const {
    for (int by = warp_threads / 2; by > 0; by /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, by));
    if (threadIdx.x % warp_threads == 0) shared[threadIdx.x / warp_threads] = value;
    __syncthreads();
    value = shared[0];
    for (unsigned w = 1; w < blockDim.x / warp_threads; ++w) value = join(value, shared[w]);
    __syncthreads();  // the next sum uses the same places
    return value;
  }
  __device__ double sum(double value) const {
    return joined(value, [](double a, double b) { return a + b; });
  }
  __device__ double most(double value) const {
    return joined(value, [](double a, double b) { return fmax(a, b); });
  }
};

template <class T>
__global__ void __launch_bounds__(block_threads) step_of_systems(sxt_hermitian_step_args args) {
  __shared__ double shared[block_threads / warp_threads];
  Block block{shared};
  for (std::int64_t s = blockIdx.x; s < args.batch; s += gridDim.x) {
    steps::apply<T>(args, s, block);
    __syncthreads();
  }
}

// Butterflies of right-hand sides. Separate from the other steps, which their registers would slow down.
template <class T>
__global__ void __launch_bounds__(block_threads) butterfly_of_systems(sxt_hermitian_step_args args) {
  Block block{nullptr};  // lanes work apart from each other
  for (std::int64_t s = blockIdx.x; s < args.batch; s += gridDim.x) steps::apply_butterfly<T>(args, s, block);
}

template <class T>
__global__ void __launch_bounds__(steps::residual_threads_most, 2) residual_of_systems(sxt_hermitian_step_args args) {
  __shared__ double sums[steps::residual_warps_most];
  __shared__ steps::ResidualShared<T> shared;
  Block block{sums};
  for (std::int64_t s = blockIdx.x; s < args.batch; s += gridDim.x) {
    steps::apply_residual_by_tiles<T>(args, s, block, shared);
    __syncthreads();
  }
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_step_query>(query);
  cuda::CudaCost cost;
  cost.stream_bytes = cost.working_set = q.sum_n2 * static_cast<double>(value_bytes(q.q.value_type));
  CandidateList list(out, capacity, count);
  cuda::fill(list.add(), *machine, std::max<std::int64_t>(1, q.batch), block_threads, 1, cost);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **) {
  return with_value_type(problem->query->value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const sxt_status loaded = cuda::load(exec, step_of_systems<T>);
    if (loaded != SXT_OK) return loaded;
    const sxt_status also = cuda::load(exec, residual_of_systems<T>);
    if (also != SXT_OK) return also;
    for (const auto mix : {steps::mix_of_systems<T, true>, steps::mix_of_systems<T, false>})
      if (const sxt_status failed = cuda::load(exec, mix)) return failed;
    return cuda::load(exec, butterfly_of_systems<T>);
  });
}

template <class T>
sxt_status enqueue_mix(const sxt_hermitian_step_args &args, const sxt_exec *exec) {
  constexpr std::int64_t most_blocks = 1 << 30;
  const bool lower = args.triangle == SXT_LOWER;
  const std::int64_t blocks = std::min(args.batch * steps::mix_pairs(args.n_max), most_blocks);
  if (blocks == 0) return SXT_OK;
  auto *const kernel = lower ? steps::mix_of_systems<T, true> : steps::mix_of_systems<T, false>;
  kernel<<<static_cast<unsigned>(blocks), steps::mix_threads, steps::MixShared<T>::bytes(lower),
           cuda::stream_of(*exec)>>>(args);
  return cuda::launched(exec, "the butterfly of Hermitian systems");
}

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_hermitian_step_args>(head);
  if (args.batch == 0) return SXT_OK;
  constexpr std::int64_t most_blocks = 1 << 20;
  return with_value_type(args.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (args.step == SXT_HERMITIAN_MIX) return enqueue_mix<T>(args, exec);
    const auto blocks = static_cast<unsigned>(std::min(args.batch, most_blocks));
    const bool residual = args.step == SXT_HERMITIAN_RESIDUAL;
    const auto threads =
        static_cast<unsigned>(residual ? warp_threads * steps::residual_warps(args.n_max) : block_threads);
    auto *const kernel = residual                         ? residual_of_systems<T>
                         : steps::is_butterfly(args.step) ? butterfly_of_systems<T>
                                                          : step_of_systems<T>;
    kernel<<<blocks, threads, 0, cuda::stream_of(*exec)>>>(args);
    return cuda::launched(exec, "a step of Hermitian systems");
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN_STEP, "hermitian_step.blocks.cuda", "cuda",
                            "copies, shifts, scaling, residuals and masks of a set, one system a block", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.term_names = cuda::cuda_terms;
  k.candidates = candidates;
  k.prepare = prepare;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("hermitian-cuda-steps", out);
}
