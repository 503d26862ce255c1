// SPDX-License-Identifier: BSD-3-Clause
// One element of every vector group: vectors are read into v in the order of the group's names, updated, and the
// written ones (a bit each) go back.
#pragma once

#include "sextant/plugin/kinds/vector_group.h"
#include "sextant/sdk/cuda/reduce.hpp"
#include "sextant/sdk/kernel.hpp"

namespace sextant::vector_group_cuda {

using namespace sextant::plugin::cuda;

// x r p q
template <class V>
struct ClassicalXr {
  static constexpr int id = SXT_GROUP_CLASSICAL_XR, vectors = 4, written = 0b0011;
  __device__ static void update(V (&v)[4], V alpha, V) {
    v[0] = plus(v[0], times(alpha, v[2]));
    v[1] = minus(v[1], times(alpha, v[3]));
  }
};

// x r p s u w
template <class V>
struct ChronopoulosGear {
  static constexpr int id = SXT_GROUP_CHRONOPOULOS_GEAR, vectors = 6, written = 0b001111;
  __device__ static void update(V (&v)[6], V alpha, V beta) {
    v[2] = plus(v[4], times(beta, v[2]));
    v[3] = plus(v[5], times(beta, v[3]));
    v[0] = plus(v[0], times(alpha, v[2]));
    v[1] = minus(v[1], times(alpha, v[3]));
  }
};

// x r p q
template <class V>
struct PredictRecompute {
  static constexpr int id = SXT_GROUP_PREDICT_RECOMPUTE, vectors = 4, written = 0b0111;
  __device__ static void update(V (&v)[4], V alpha, V beta) {
    v[1] = minus(v[1], times(alpha, v[3]));
    v[0] = plus(v[0], times(alpha, v[2]));
    v[2] = plus(v[1], times(beta, v[2]));
  }
};

template <class V, class F>
sxt_status with_group(std::int32_t group, F &&f) {
  switch (group) {
    case SXT_GROUP_CLASSICAL_XR: return f(sextant::plugin::Tag<ClassicalXr<V>>{});
    case SXT_GROUP_CHRONOPOULOS_GEAR: return f(sextant::plugin::Tag<ChronopoulosGear<V>>{});
    case SXT_GROUP_PREDICT_RECOMPUTE: return f(sextant::plugin::Tag<PredictRecompute<V>>{});
    default: return SXT_E_NOT_SUPPORTED;
  }
}

// The vectors of a call in device code.
template <class V, int count>
struct Vectors {
  V *at[count];
};

// Updates groups of 16 bytes, `workers` apart, and hands every new element to use(v). Elements of different indices are
// never combined, and all vectors are read before one is written.
template <class Group, class V, class Use>
__device__ void update_all(std::int64_t n, Vectors<V, Group::vectors> vectors, bool aligned, V alpha, V beta,
                           std::int64_t worker, std::int64_t workers, Use &&use) {
  constexpr int width = 16 / sizeof(V);
  struct alignas(16) Pack {
    V v[width];
  };
  const std::int64_t packs = aligned ? n / width : 0;
  for (std::int64_t g = worker; g < packs; g += workers) {
    Pack pack[Group::vectors];
#pragma unroll
    for (int k = 0; k < Group::vectors; ++k) pack[k] = reinterpret_cast<const Pack *>(vectors.at[k])[g];
#pragma unroll
    for (int e = 0; e < width; ++e) {
      V v[Group::vectors];
#pragma unroll
      for (int k = 0; k < Group::vectors; ++k) v[k] = pack[k].v[e];
      Group::update(v, alpha, beta);
      use(v);
#pragma unroll
      for (int k = 0; k < Group::vectors; ++k) pack[k].v[e] = v[k];
    }
#pragma unroll
    for (int k = 0; k < Group::vectors; ++k)
      if (Group::written >> k & 1) reinterpret_cast<Pack *>(vectors.at[k])[g] = pack[k];
  }
  for (std::int64_t i = packs * width + worker; i < n; i += workers) {
    V v[Group::vectors];
#pragma unroll
    for (int k = 0; k < Group::vectors; ++k) v[k] = vectors.at[k][i];
    Group::update(v, alpha, beta);
    use(v);
#pragma unroll
    for (int k = 0; k < Group::vectors; ++k)
      if (Group::written >> k & 1) vectors.at[k][i] = v[k];
  }
}

}  // namespace sextant::vector_group_cuda
