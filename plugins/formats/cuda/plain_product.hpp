// SPDX-License-Identifier: BSD-3-Clause
// Products of real matrices whose kernels are all alike on the host: a state is the storage, the type of the vectors
// and how blocks are launched; a session only loads code; right-hand sides are done one after the other. Include from
// .cu files. K, the kernel's traits, has the differences:
//   K::State                   derived from PlainState of its storage
//   K::name, K::what           of the kernel, and of a launch in a sentence
//   K::blocks(state)           of a launch; 0: nothing to do
//   K::arrays<M>(state)        what the kernel reads
//   K::with_kernel(state, f)   f(kernel, Tag<V>{}, Tag<M>{}); kernel(arrays, Product<V>)
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/spmv.hpp"

namespace sextant::plugin::cuda {

template <class Storage>
struct PlainState {
  using Read = Storage;
  const Storage *a = nullptr;
  sxt_value_type type = SXT_F64;  // of the vectors
  std::int64_t threads = 256;
  bool early = false;

  PlainState() = default;
  PlainState(const sxt_problem &problem, const sxt_candidate *candidate)
      : a(&as<Storage>(problem.a)), type(problem.query->value_type), early(candidate && candidate->launch[3]) {
    if (candidate && candidate->launch[1] > 0) threads = candidate->launch[1];
  }
};

template <class K>
sxt_status refresh_plain(void *state, const sxt_problem *problem, const sxt_exec *) {
  using Storage = typename K::State::Read;
  return static_cast<typename K::State *>(state)->a = &as<Storage>(problem->a), SXT_OK;
}

template <class K>
sxt_status open_plain(const void *state, const sxt_filled *, const sxt_exec *exec, void **session) {
  *session = nullptr;
  return K::with_kernel(*static_cast<const typename K::State *>(state),
                        [&](auto *kernel, auto, auto) { return load(exec, kernel); });
}

template <class K>
sxt_status run_plain(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const typename K::State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  if (args.op != SXT_NO_TRANSPOSE)
    return error(exec, SXT_E_NOT_SUPPORTED, "%s does not transpose; op is %d", K::name, args.op);
  const auto blocks = static_cast<unsigned>(K::blocks(state));
  if (blocks == 0) return SXT_OK;
  return K::with_kernel(state, [&](auto *kernel, auto v, auto m) {
    using V = typename decltype(v)::type;
    const auto arrays = K::template arrays<typename decltype(m)::type>(state);
    sxt_status status = SXT_OK;
    for (std::int32_t r = 0; r < args.n_rhs && status == SXT_OK; ++r)
      status = launch_chained(exec, state.early, K::what, kernel, blocks, static_cast<unsigned>(state.threads), 0,
                              arrays, columns_from(product_of<V>(args), r, 1));
    return status;
  });
}

// The table, but for storages, features, applicable, candidates and prepare.
template <class K>
sxt_kernel plain_kernel(const char *description) {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, K::name, "cuda", description, run_plain<K>);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.value_types = type_bit(SXT_F32) | type_bit(SXT_F64);
  k.term_names = spmv_terms;
  k.term_defaults = spmv_term_defaults;
  k.refresh = refresh_plain<K>;
  k.open = open_plain<K>;
  k.release = destroy<typename K::State>;
  return k;
}

}  // namespace sextant::plugin::cuda
