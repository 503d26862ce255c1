// SPDX-License-Identifier: BSD-3-Clause
// Common parts of this plugin's sources: the shapes a kernel is compiled for, and the kernels of one value type, each
// in its own source so that they compile in parallel.
#pragma once

#include <cstdint>

#include "sextant/sdk/cuda/dense.hpp"
#include "tile_blocks.cuh"

namespace sextant::hermitian_tile {

// Warps a system, systems a block, and blocks that the compiler leaves registers for on one multiprocessor: of c128,
// and of the other types.
struct Shape {
  std::int32_t warps, groups, resident_wide, resident_narrow;
  constexpr std::int32_t resident(std::uint64_t value_bytes) const {
    return value_bytes == 16 ? resident_wide : resident_narrow;
  }
};
inline constexpr Shape shapes[] = {{1, 4, 4, 4}, {2, 1, 8, 8}, {4, 1, 3, 4}, {8, 1, 1, 2}};
inline constexpr int n_shapes = 4;

struct Launch {
  std::int32_t shape, buffers;
  std::uint32_t group_bytes;  // shared memory of one system
  bool carries;               // factors and solves one right-hand side, by `way`
  Places places;
  WayBack way;
};

// Loads shape's code and lets it have its shared memory; enqueues a run. One specialisation a value type.
template <class T>
sxt_status load_tile(const Launch &launch, const sxt_exec *exec);
template <class T>
void enqueue_tile(const Launch &launch, const plugin::cuda::dense::Set &set, std::int32_t phase, cudaStream_t stream);

}  // namespace sextant::hermitian_tile
