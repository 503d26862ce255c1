// SPDX-License-Identifier: BSD-3-Clause
// The kernel by the number of passes, for one pair of types; one .cu file a pair, since each takes seconds to compile.
#pragma once

#include "kernel.cuh"

namespace persistent {

template <class V, class M>
const void *kernel_of(std::int32_t passes) {
  switch (passes) {
    case 1: return reinterpret_cast<const void *>(iterate<V, M, 1, false>);
    case 2: return reinterpret_cast<const void *>(iterate<V, M, 2, false>);
    case 3: return reinterpret_cast<const void *>(iterate<V, M, 3, false>);
    default: return reinterpret_cast<const void *>(iterate<V, M, 4, false>);
  }
}
// For a grid of one cluster, which is for small systems: more passes are not needed.
template <class V, class M>
const void *cluster_kernel_of(std::int32_t passes) {
  return passes == 1 ? reinterpret_cast<const void *>(iterate<V, M, 1, true>)
                     : reinterpret_cast<const void *>(iterate<V, M, 2, true>);
}

const void *f64_kernel(std::int32_t passes, bool clustered);
const void *f64_over_f32_kernel(std::int32_t passes, bool clustered);
const void *f32_kernel(std::int32_t passes, bool clustered);

}  // namespace persistent
