// SPDX-License-Identifier: BSD-3-Clause
// Reductions in passes, as the five step-by-step variants do them: a pass writes one partial result a block, and the
// next pass reduces those, until one block remains. A variant defines
//   template <class Op, class From> struct Step {
//     static std::int64_t elements_per_block(std::int64_t n, std::int64_t threads);
//     static sxt_status load(const sxt_exec *exec);
//     static void launch(const Pass<Op, From> &pass, unsigned blocks, unsigned threads, cudaStream_t stream); };
// The variants: Zuo and others, parallel reduction optimised in steps (2009). Include from .cu files.
#pragma once

#include "plugins/reduction/shared/cuda/reduce_run.hpp"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant::plugin::cuda {

// The input of a pass: the operands in the first one, partial results afterwards.
template <class Op>
struct Operands {
  const typename Op::Value *x, *y;
  __device__ typename Op::Acc operator[](std::int64_t i) const {
    return Op::element(x[i], Op::vectors == 2 ? y[i] : x[i], i);
  }
};
template <class Op>
struct PartialResults {
  const typename Op::Acc *partials;
  __device__ typename Op::Acc operator[](std::int64_t i) const { return partials[i]; }
};

template <class Op, class From>
struct Pass {
  std::int64_t n;
  From from;
  typename Op::Acc *partials;  // one a block
  typename Op::Out *out;       // of the last pass, which has one block
  __device__ typename Op::Acc load(std::int64_t i) const { return i < n ? from[i] : Op::identity(); }
  __device__ void store(typename Op::Acc acc) const {
    if (gridDim.x == 1)
      *out = Op::result(acc);
    else
      partials[blockIdx.x] = acc;
  }
};

// The tree of the fourth and fifth variant: block size known at compile time, every level unrolled, no barrier once one
// warp is left. The result is thread 0's.
template <class Op, int block>
__device__ typename Op::Acc merge_unrolled(typename Op::Acc *shared) {
  const int t = threadIdx.x;
  __syncthreads();
  if constexpr (block >= 1024) {
    if (t < 512) shared[t] = Op::merge(shared[t], shared[t + 512]);
    __syncthreads();
  }
  if constexpr (block >= 512) {
    if (t < 256) shared[t] = Op::merge(shared[t], shared[t + 256]);
    __syncthreads();
  }
  if constexpr (block >= 256) {
    if (t < 128) shared[t] = Op::merge(shared[t], shared[t + 128]);
    __syncthreads();
  }
  if constexpr (block >= 128) {
    if (t < 64) shared[t] = Op::merge(shared[t], shared[t + 64]);
    __syncthreads();
  }
  if (t < 32) {
#pragma unroll
    for (int half = 32; half > 0; half /= 2) {
      typename Op::Acc sum = shared[t];
      if (t < half) sum = Op::merge(sum, shared[t + half]);
      __syncwarp();  // all have read before one writes
      shared[t] = sum;
      __syncwarp();
    }
  }
  return t == 0 ? shared[0] : Op::identity();  // the other warps do not read this one's results
}

// Launches `kernel<block>` for the block sizes that are offered.
template <class F>
void with_block_size(unsigned threads, F &&f) {
  if (threads == 128)
    f(std::integral_constant<int, 128>{});
  else if (threads == 256)
    f(std::integral_constant<int, 256>{});
  else
    f(std::integral_constant<int, 512>{});
}

template <class F>
sxt_status load_block_sizes(const sxt_exec *exec, F &&kernel_of) {
  sxt_status status = load(exec, kernel_of(std::integral_constant<int, 128>{}));
  if (status == SXT_OK) status = load(exec, kernel_of(std::integral_constant<int, 256>{}));
  return status == SXT_OK ? load(exec, kernel_of(std::integral_constant<int, 512>{})) : status;
}

inline constexpr std::int64_t step_threads[] = {128, 256, 512};

// Partial results of the first and of the second pass; later ones alternate between the two.
inline std::uint64_t step_scratch_bytes(std::int64_t first_blocks) {
  return 2 * largest_accumulator * static_cast<std::uint64_t>(std::max<std::int64_t>(1, first_blocks));
}

template <template <class, class> class Step, class Op>
struct Steps {
  static sxt_status load(const sxt_exec *exec) {
    const sxt_status status = Step<Op, Operands<Op>>::load(exec);
    return status == SXT_OK ? Step<Op, PartialResults<Op>>::load(exec) : status;
  }
  static sxt_status launch(const Work<Op> &work, const sxt_exec *exec) {
    using Acc = typename Op::Acc;
    const auto blocks_of = [&](auto step, std::int64_t n) {
      return std::max<std::int64_t>(1, divide_up(n, decltype(step)::type::elements_per_block(n, work.threads)));
    };
    using First = Step<Op, Operands<Op>>;
    using Next = Step<Op, PartialResults<Op>>;
    std::int64_t blocks = blocks_of(Tag<First>{}, work.n);
    if (const sxt_status few = need_scratch(exec, step_scratch_bytes(blocks))) return few;
    Acc *to = static_cast<Acc *>(exec->scratch), *other = to + blocks;
    const auto threads = static_cast<unsigned>(work.threads);
    First::launch(Pass<Op, Operands<Op>>{work.n, {work.x, work.y}, to, work.out}, static_cast<unsigned>(blocks),
                  threads, work.stream);
    while (blocks > 1) {
      const std::int64_t left = blocks;
      blocks = blocks_of(Tag<Next>{}, left);
      Next::launch(Pass<Op, PartialResults<Op>>{left, {to}, other, work.out}, static_cast<unsigned>(blocks), threads,
                   work.stream);
      std::swap(to, other);
    }
    return launched(exec, "a pass of a reduction");
  }
};

// Sums and inner products of every type, for which the variants were published.
template <class T, class F>
sxt_status with_step_operation(std::int32_t operation, F &&f) {
  using V = device_form<T>;
  if (operation == SXT_REDUCTION_SUM) return f(Tag<Sum<V, V>>{});
  if (operation == SXT_REDUCTION_DOT) return f(Tag<Dot<V, V, false>>{});
  return SXT_E_NOT_SUPPORTED;
}

inline sxt_status step_applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                                  sxt_message *reason) {
  const auto &q = as<sxt_reduction_query>(query);
  if (q.operation != SXT_REDUCTION_SUM && q.operation != SXT_REDUCTION_DOT)
    return refuse(reason, "the step-by-step variants offer sum and dot");
  return plain_applicable(query, features, machine, reason);
}

// Candidates over block sizes; per_block: elements a block takes in the first pass.
template <class PerBlock>
sxt_status step_candidates(const sxt_query *query, const sxt_machine *machine, sxt_candidate *out,
                           std::uint64_t capacity, std::uint64_t *count, PerBlock &&per_block) {
  const auto &q = as<sxt_reduction_query>(query);
  CandidateList list(out, capacity, count);
  std::uint32_t place = 0;
  for (std::int64_t threads : step_threads) {
    const std::int64_t first = std::max<std::int64_t>(1, divide_up(q.n, per_block(q.n, threads)));
    double launches = 1;
    for (std::int64_t blocks = first; blocks > 1; ++launches)
      blocks = std::max<std::int64_t>(1, divide_up(blocks, per_block(blocks, threads)));
    sxt_candidate &candidate =
        fill_reduction(list.add(), q, *machine, {place++, first, threads, 1}, merge_in_launch, launches);
    // Waves of blocks, one after another, instead of rounds of one grid.
    const double whole = static_cast<double>(q.n) / static_cast<double>(per_block(q.n, threads));
    candidate.terms[1] = std::max(1.0, whole / static_cast<double>(resident_blocks(*machine, threads))) + launches - 1;
    // A thread takes its elements one after the other.
    candidate.terms[4] = static_cast<double>(per_block(q.n, threads)) / static_cast<double>(threads);
    candidate.terms[5] = 0;
    candidate.scratch_bytes = step_scratch_bytes(first);
  }
  return SXT_OK;
}

template <template <class> class Kernel>
sxt_status open_steps(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  return open_reduction<Kernel>(state, slots, exec, session, [](auto type, std::int32_t operation, auto &&load) {
    return with_step_operation<typename decltype(type)::type>(operation, load);
  });
}

template <template <class> class Kernel>
sxt_status run_steps(const void *state, void *session, const sxt_head *args, const sxt_exec *exec) {
  return run_reduction<Kernel>(state, session, args, exec, [](auto type, std::int32_t operation, auto &&launch) {
    return with_step_operation<typename decltype(type)::type>(operation, launch);
  });
}

template <template <class> class Kernel>
sxt_kernel new_step_reduction(const char *name, const char *description) {
  sxt_kernel k = new_reduction(name, description, open_steps<Kernel>, run_steps<Kernel>);
  k.applicable = step_applicable;
  return k;
}

// The first three variants: a thread loads one element into shared memory; they differ in the tree over it:
//   struct Tree { template <class Op> static __device__ void merge(typename Op::Acc *shared); };
// which leaves the block's result in shared[0].
template <class Tree, class Op, class From>
__global__ void __launch_bounds__(512) reduce_by_tree(Pass<Op, From> pass) {
  extern __shared__ double2 room[];
  auto *shared = reinterpret_cast<typename Op::Acc *>(room);
  shared[threadIdx.x] = pass.load(static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  __syncthreads();
  Tree::template merge<Op>(shared);
  if (threadIdx.x == 0) pass.store(shared[0]);
}

template <class Tree>
struct TreeSteps {
  template <class Op, class From>
  struct Step {
    static std::int64_t elements_per_block(std::int64_t, std::int64_t threads) { return threads; }
    static sxt_status load(const sxt_exec *exec) { return cuda::load(exec, reduce_by_tree<Tree, Op, From>); }
    static void launch(const Pass<Op, From> &pass, unsigned blocks, unsigned threads, cudaStream_t stream) {
      reduce_by_tree<Tree, Op, From><<<blocks, threads, threads * sizeof(typename Op::Acc), stream>>>(pass);
    }
  };
  template <class Op>
  using Kernel = Steps<Step, Op>;

  static sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine,
                               const sxt_filled *, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
    return step_candidates(query, machine, out, capacity, count,
                           [](std::int64_t, std::int64_t threads) { return threads; });
  }
  static sxt_kernel kernel(const char *name, const char *description) {
    sxt_kernel k = new_step_reduction<Kernel>(name, description);
    k.candidates = candidates;
    return k;
  }
};

}  // namespace sextant::plugin::cuda
