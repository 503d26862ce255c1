// SPDX-License-Identifier: BSD-3-Clause
// Rows shared out over the blocks of a grid so that few entries reach into another block's rows. Host only.
#pragma once

#include <cstdint>
#include <vector>

namespace persistent {

// A square pattern: columns of row i at col[row_ptr[i]] .. col[row_ptr[i + 1]].
struct Pattern {
  std::int32_t n;
  const std::int64_t *row_ptr;
  const std::int32_t *col;
};

// Part c holds rows row_of[begin[c]] .. row_of[begin[c + 1]]; their places are positions of the new order.
struct Partition {
  std::vector<std::int32_t> begin, row_of;
  std::int32_t parts() const { return static_cast<std::int32_t>(begin.size()) - 1; }
};

// Neighbouring rows together, as the matrix numbers them: free, and good where the numbering is.
Partition contiguous_parts(std::int32_t n, std::int32_t parts);

// Parts grown one after the other, each from the oldest row that borders on what has a part already. A part takes next
//   distance: the row that it met first, so that parts are balls; best on grids.
//   enclosure: the row with the fewest neighbours without a part, less those within this one; best on meshes.
enum class Growth { distance, enclosure };
Partition grown_parts(const Pattern &a, std::int32_t parts, Growth growth);

// Rows of other parts that each part must know the values of; the sum over all parts, and the most that one has.
struct Halo {
  std::int64_t total, most;
};
Halo halo_of(const Pattern &a, const Partition &partition);

// The one of the three with the smallest halo.
Partition best_parts(const Pattern &a, std::int32_t parts);

}  // namespace persistent
