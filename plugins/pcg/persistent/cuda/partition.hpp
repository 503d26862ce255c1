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

// Rows of other parts that each part must know the values of; the sum over all parts, and the most that one has.
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
//   numbering: the row that the matrix numbers next; good where the numbering is.
//   distance: the row that it met first, so that parts are balls; best on grids.
//   enclosure: the row with the fewest neighbours without a part, less those within this one; best on meshes.
// Of the last two each begins at the oldest row that borders on what has a part already.
enum class Growth { numbering, distance, enclosure };
Partition grown_parts(const Pattern &a, std::int32_t parts, Growth growth);

// The one of the three with the smallest halo, whatever the number of threads. A way in which a part gets a halo of
// more than most_halo rows is given up there; where all are, the result has no rows (part_of is empty) and the least
// halo at which one was given up.
Partition best_parts(const Pattern &a, std::int32_t parts, int threads = 1,
                     std::int64_t most_halo = std::numeric_limits<std::int64_t>::max());

}  // namespace persistent
