// SPDX-License-Identifier: BSD-3-Clause
// The host side of CUDA kernels that take the elements of a vector in their order
// (plugins/vector/shared/cuda/vector.hpp): loading their code, launching it, and the kernel's table. Include from .cu
// files. A kernel defines a type with
//   static constexpr Way loaded[];  one for each kernel there is
//   template <Reads reads, class T, class F> static sxt_status with_kernel(const Way &way, bool whole_groups, F &&f);
//     calls f(kernel, elements by which the threads of a grid shorten the vector)
//   static std::int64_t most_blocks(const VectorState &state);
#pragma once

#include <cstdint>

#include "plugins/vector/shared/cuda/vector.hpp"

namespace sextant::plugin::cuda::vectors {

// Loads the code for every operation on this type, so that no run has to.
template <class Kernels, class T>
sxt_status load_ways(const sxt_exec *exec) {
  const auto ready = [&](auto kernel, int) { return cuda::load(exec, kernel); };
  sxt_status status = SXT_OK;
  for (const std::int32_t operation :
       {SXT_VECTOR_FILL, SXT_VECTOR_COPY, SXT_VECTOR_SCALE, SXT_VECTOR_AXPY, SXT_VECTOR_REAL_MULTIPLY})
    with_reads(operation, [&](auto reads) {
      constexpr Reads which = decltype(reads)::value;
      for (const Way &way : Kernels::loaded)
        if (status == SXT_OK) status = Kernels::template with_kernel<which, T>(way, true, ready);
      if (status == SXT_OK) status = Kernels::template with_kernel<which, T>(Kernels::loaded[0], false, ready);
    });
  return status;
}

// Any operation but gather and scatter.
template <class Kernels, class T>
sxt_status launch_way(const VectorState &state, const sxt_vector_args &args, const sxt_exec *exec) {
  const Operands operands = operands_of(args);
  const Way &way = state.way;
  return with_reads(args.operation, [&](auto reads) {
    return Kernels::template with_kernel<decltype(reads)::value, T>(
        way, aligned(operands), [&](auto kernel, int elements) {
          const unsigned blocks =
              blocks_for(divide_up<std::int64_t>(args.n, elements), way.threads, Kernels::most_blocks(state));
          return launch_chained(exec, way.early, "a vector operation", kernel, blocks,
                                static_cast<unsigned>(way.threads), 0, args.operation, args.n,
                                scalar_of(args.alpha, number<T>(1)), scalar_of(args.beta, number<T>(1)), operands);
        });
  });
}

// Device code is compiled for each type in a separate file: `extern` in the others.
#define SXT_VECTOR_WAYS(linkage, Kernels, T)                                                           \
  linkage template sxt_status sextant::plugin::cuda::vectors::load_ways<Kernels, T>(const sxt_exec *); \
  linkage template sxt_status sextant::plugin::cuda::vectors::launch_way<Kernels, T>(                  \
      const sextant::plugin::cuda::vectors::VectorState &, const sxt_vector_args &, const sxt_exec *)

template <class Kernels>
sxt_status prepare_ways(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *,
                        const sxt_exec *exec, void **state) {
  return guard(exec, [&]() -> sxt_status {
    const sxt_value_type type = problem->query->value_type;
    const sxt_status loaded =
        with_number(type, [&](auto tag) { return load_ways<Kernels, typename decltype(tag)::type>(exec); });
    if (loaded != SXT_OK) return loaded;
    VectorState made = {type, 1, Kernels::loaded[0]};
    if (candidate && candidate->launch[0] > 0) made = state_of(type, *candidate);
    return give(new VectorState{made}, state);
  });
}

template <class Kernels>
sxt_status run_ways(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const VectorState *>(opaque);
  const auto &args = as<sxt_vector_args>(head);
  if (args.operation < SXT_VECTOR_COPY || args.operation > SXT_VECTOR_REAL_DIVIDE || indexed(args.operation))
    return error(exec, SXT_E_NOT_SUPPORTED, "vector operation %d takes no elements in their order", args.operation);
  if (args.n <= 0) return SXT_OK;
  return with_number(state.type,
                     [&](auto tag) { return launch_way<Kernels, typename decltype(tag)::type>(state, args, exec); });
}

// A kernel of this family; its folder sets candidates and other differences.
template <class Kernels>
sxt_kernel new_vector_kernel(const char *name, const char *description, std::uint32_t version) {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR, name, "cuda", description, run_ways<Kernels>);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.version = version;
  k.term_names = cuda_terms;
  k.applicable = applicable;
  k.launch_config = vector_launch_config;
  k.prepare = prepare_ways<Kernels>;
  k.release = destroy<VectorState>;
  return k;
}

}  // namespace sextant::plugin::cuda::vectors
