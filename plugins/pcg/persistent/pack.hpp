// SPDX-License-Identifier: BSD-3-Clause
// A matrix brought into the form of layout.hpp on the host, whatever its values' type: places first, values by place.
#pragma once

#include <cstdint>
#include <vector>

#include "layout.hpp"
#include "partition.hpp"

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
  std::vector<std::uint32_t> columns;  // two a pair
  // Which entry of the source stands at each of the 2 places of each pair, and on the diagonal of each position; -1: 0.
  std::vector<std::int32_t> entry_of, diagonal_entry;
  std::int32_t packets, most_pairs, most_rows, most_halo;
};

// Packs for this partition. Entries of the source are counted as in `a`.
Packed pack(const Pattern &a, const Partition &partition);

}  // namespace persistent
