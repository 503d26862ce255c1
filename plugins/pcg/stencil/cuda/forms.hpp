// SPDX-License-Identifier: BSD-3-Clause
// Which upper diagonals make a stencil that the kernels know, and how its planes are shared out among blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "layout.hpp"

namespace stencil {

// A thread takes one column of a tile. Blocks of the forms with many diagonals need more registers a thread.
constexpr int most_threads(int across) { return across > 3 ? 512 : 1024; }
// New vectors of together this many bytes stay in the last cache until the next iteration reads them.
inline constexpr double kept_bytes = 60e6;

// A form of stencil: how many upper diagonals couple rows of one plane, and how many those of two.
struct Form {
  std::int32_t in_plane, across;
};

// Of a symmetric matrix with this many diagonals in all; {0, 0}: none that the kernels know.
inline Form form_of(double diagonals) {
  if (diagonals == 5) return {1, 1};   // a plane grid's neighbours along the axes; a plane is a line here
  if (diagonals == 9) return {1, 3};   // those across corners too
  if (diagonals == 7) return {2, 1};   // a grid's neighbours along three axes
  if (diagonals == 27) return {4, 9};  // those across edges and corners too
  return {0, 0};
}

// offsets: of the upper diagonals, ascending, without the main one. Fills offsets and stride, not the arrays.
// False: they are no stencil of planes.
bool cut_into_planes(const std::vector<std::int64_t> &offsets, std::int64_t rows, Stencil *out);

// Tiles of `width` columns and as many items as `blocks` can take at once, if there are so many planes. The sizes are
// those of a value of the vectors and of A.
Tiling share_out(const Stencil &stencil, const Form &form, std::int64_t width, std::int64_t blocks, std::int64_t stages,
                 std::int64_t value_size, std::int64_t stored_size);

// Bytes of shared memory of a block.
std::int64_t shared_bytes(const Tiling &tiling, std::int64_t value_size);

}  // namespace stencil
