// SPDX-License-Identifier: BSD-3-Clause
// Rows shared out over the blocks of a grid so that few entries reach into another block's rows. Host only.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace persistent {

// A square pattern: columns of row i at col[row_ptr[i]] .. col[row_ptr[i + 1]].
struct Pattern {
  std::int32_t n;
  const std::int32_t *row_ptr;
  const std::int32_t *col;
};

// The number of rows of other parts whose values each part needs; the sum over all parts, and the largest.
struct Halo {
  std::int64_t total = 0, most = 0;
};

// Part c has begin[c + 1] - begin[c] rows: those with part_of[row] == c.
struct Partition {
  std::vector<std::int32_t> begin, part_of;
  Halo halo;
  std::int32_t parts() const { return static_cast<std::int32_t>(begin.size()) - 1; }
};

// Parts of even size grown one after the other. A part takes next
//   numbering: the next row in the matrix's numbering; good where that is good.
//   distance: the row that it found first, so that parts are balls; best on grids.
//   enclosure: the row with the fewest neighbours without a part, less those within this one; best on meshes.
// In the last two a part begins at the oldest row that borders on rows with a part.
enum class Growth { numbering, distance, enclosure };
Partition grown_parts(const Pattern &a, std::int32_t parts, Growth growth);

// The one of the three with the smallest halo, for any number of threads. A way in which a part gets a halo of more
// than most_halo rows is given up there; where all are given up, the result has no rows (part_of is empty) and the
// least halo at which one was given up.
Partition best_parts(const Pattern &a, std::int32_t parts, int threads = 1,
                     std::int64_t most_halo = std::numeric_limits<std::int64_t>::max());

}  // namespace persistent
