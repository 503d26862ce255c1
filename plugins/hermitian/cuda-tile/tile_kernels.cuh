// SPDX-License-Identifier: BSD-3-Clause
// The kernels of one value type: include, then SXT_TILE_KERNELS(type).
#pragma once

#include "hermitian_tile.hpp"
#include "tile.cuh"

namespace sextant::hermitian_tile {

// Calls f with the kernel of a shape.
template <class T, class F>
auto with_shape(std::int32_t shape, F &&f) {
  switch (shape) {
    case 0: return f(tile<T, shapes[0].warps, shapes[0].groups, shapes[0].resident(sizeof(T))>);
    case 1: return f(tile<T, shapes[1].warps, shapes[1].groups, shapes[1].resident(sizeof(T))>);
    case 2: return f(tile<T, shapes[2].warps, shapes[2].groups, shapes[2].resident(sizeof(T))>);
    default: return f(tile<T, shapes[3].warps, shapes[3].groups, shapes[3].resident(sizeof(T))>);
  }
}

template <class T>
sxt_status load_tile(const Launch &launch, const sxt_exec *exec) {
  const std::size_t bytes = std::size_t{launch.group_bytes} * static_cast<std::size_t>(shapes[launch.shape].groups);
  return with_shape<T>(launch.shape, [&](auto kernel) { return dense::load_with_shared(exec, kernel, bytes); });
}

template <class T>
void enqueue_tile(const Launch &launch, const dense::Set &set, std::int32_t phase, cudaStream_t stream) {
  const Shape &shape = shapes[launch.shape];
  const auto blocks = static_cast<unsigned>((set.batch + shape.groups - 1) / shape.groups);
  const auto threads = static_cast<unsigned>(shape.warps * 32 * shape.groups);
  with_shape<T>(launch.shape, [&](auto kernel) {
    kernel<<<blocks, threads, launch.group_bytes * shape.groups, stream>>>(set, phase, launch.buffers,
                                                                           launch.group_bytes, launch.places);
  });
}

#define SXT_TILE_KERNELS(...)                                                                              \
  template sxt_status load_tile<__VA_ARGS__>(const Launch &launch, const sxt_exec *exec);                  \
  template void enqueue_tile<__VA_ARGS__>(const Launch &launch, const dense::Set &set, std::int32_t phase, \
                                          cudaStream_t stream)

}  // namespace sextant::hermitian_tile
