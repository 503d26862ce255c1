// SPDX-License-Identifier: BSD-3-Clause
// The kernels of one value type: include, then SXT_TILE_KERNELS(type).
#pragma once

#include <type_traits>

#include "hermitian_tile.hpp"
#include "tile.cuh"

namespace sextant::hermitian_tile {

template <int value>
using Int = std::integral_constant<int, value>;

// Calls f(Int<warps>, Int<systems a block>, Int<blocks to leave registers for>) of a shape.
template <class T, class F>
auto with_shape(std::int32_t shape, F &&f) {
  const auto call = [&](auto s) {
    constexpr Shape chosen = shapes[s.value];
    return f(Int<chosen.warps>{}, Int<chosen.groups>{}, Int<chosen.resident(sizeof(T))>{});
  };
  switch (shape) {
    case 0: return call(Int<0>{});
    case 1: return call(Int<1>{});
    case 2: return call(Int<2>{});
    default: return call(Int<3>{});
  }
}

template <class T>
sxt_status load_tile(const Launch &launch, const sxt_exec *exec) {
  const std::size_t bytes = std::size_t{launch.group_bytes} * static_cast<std::size_t>(shapes[launch.shape].groups);
  return with_shape<T>(launch.shape, [&](auto warps, auto groups, auto resident) {
    constexpr int w = warps.value, g = groups.value, r = resident.value;
    const sxt_status loaded = dense::load_with_shared(exec, tile<T, w, g, r>, bytes);
    return loaded != SXT_OK || !launch.carries ? loaded
                                               : dense::load_with_shared(exec, tile_carrying<T, w, g, r>, bytes);
  });
}

template <class T>
void enqueue_tile(const Launch &launch, const dense::Set &set, std::int32_t phase, cudaStream_t stream) {
  const Shape &shape = shapes[launch.shape];
  const auto blocks = static_cast<unsigned>((set.batch + shape.groups - 1) / shape.groups);
  const auto threads = static_cast<unsigned>(shape.warps * 32 * shape.groups);
  const std::size_t bytes = std::size_t{launch.group_bytes} * static_cast<std::size_t>(shape.groups);
  with_shape<T>(launch.shape, [&](auto warps, auto groups, auto resident) {
    constexpr int w = warps.value, g = groups.value, r = resident.value;
    if (launch.carries && set.n_rhs == 1)
      tile_carrying<T, w, g, r><<<blocks, threads, bytes, stream>>>(set, launch.group_bytes, launch.places, launch.way);
    else
      tile<T, w, g, r>
          <<<blocks, threads, bytes, stream>>>(set, phase, launch.buffers, launch.group_bytes, launch.places);
  });
}

#define SXT_TILE_KERNELS(...)                                                                              \
  template sxt_status load_tile<__VA_ARGS__>(const Launch &launch, const sxt_exec *exec);                  \
  template void enqueue_tile<__VA_ARGS__>(const Launch &launch, const dense::Set &set, std::int32_t phase, \
                                          cudaStream_t stream)

}  // namespace sextant::hermitian_tile
