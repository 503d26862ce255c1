// SPDX-License-Identifier: BSD-3-Clause
// A matrix brought into the form of layout.hpp on the host, whatever its values' type: places first, values by place.
#pragma once

#include <cstdint>
#include <vector>

#include "layout.hpp"
#include "partition.hpp"
#include "team.hpp"

namespace persistent {

// How many threads work on how many rows; a function of the largest part and the mean row alone.
struct Shape {
  std::int32_t threads, passes, group;
};
// passes == 0: no block of most_threads holds so many rows. least_threads: idle ones help in exchanges.
Shape shape_for(std::int64_t most_rows, double mean_entries, std::int32_t least_threads = warp_lanes);

struct Packed {
  Shape shape;
  std::vector<Part> parts;
  std::vector<std::int32_t> slices, row_of, packet_of, halo_row, halo_packet;
  Filled<std::uint32_t> columns;  // two a pair
  // Which entry of the source stands at each of the 2 places of each pair, and on the diagonal of each position; -1: 0.
  Filled<std::int32_t> entry_of, diagonal_entry;
  std::int32_t packets, most_pairs, most_rows, most_halo;
};

// The sizes of the packed form alone: shape, rows and pairs of the parts, slices, row_of, most_*. It can be judged
// whether they fit before the entries are packed.
Packed lay_out(const Pattern &a, const Partition &partition);
// Adds the rest, to what lay_out made for the same pattern. Places in a block's p must be 16-bit numbers. The result
// does not depend on the number of threads.
void pack_entries(const Pattern &a, Packed &packed, int threads = 1);

// Both. Entries of the source are counted as in `a`.
Packed pack(const Pattern &a, const Partition &partition, int threads = 1);

}  // namespace persistent
