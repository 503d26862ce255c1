// SPDX-License-Identifier: BSD-3-Clause
// Common parts of this plugin's sources: the sizes of a tile, and the launch of one value type, each type in its own
// source so that they compile in parallel.
#pragma once

#include <cstdint>

#include "sextant/sdk/cuda/dense.hpp"

namespace sextant::hermitian_panel {

// A block of four warps takes tiles of 64 rows by 64 columns; a warp owns 16 of the rows and factors blocks of 16.
inline constexpr int tile = 64, inner = 16, warps = 4, threads = 32 * warps;

// Blocks the compiler leaves registers for on one multiprocessor; shared memory allows as many. More blocks with fewer
// registers are slower, because of spills to memory.
template <class T>
inline constexpr int blocks_per_unit = sizeof(T) == 4 ? 3 : 2;

template <class T>
std::int64_t shared_bytes();

// Whether panels are brought by bulk copies where they are aligned to 16 bytes: columns lie in one piece in the lower
// triangle, and right-hand sides that are carried as rows do not.
inline bool lies_in_columns(bool upper, std::int32_t phase, std::int64_t n_rhs) {
  return !upper && (phase & SXT_HERMITIAN_FACTOR) && (phase == SXT_HERMITIAN_FACTOR || n_rhs <= 1);
}

// Loads the code and lets it have its shared memory; enqueues a run by `peers` blocks a system (a cluster, from 2 on),
// systems in the order of `turn` (NULL: as they come), with_signs: of L S L^H. One specialisation a value type.
template <class T>
sxt_status load_panel(const sxt_exec *exec);
template <class T>
sxt_status enqueue_panel(const plugin::cuda::dense::Set &set, const std::int32_t *turn, std::int32_t phase,
                         bool with_signs, int peers, const sxt_exec *exec);

}  // namespace sextant::hermitian_panel
