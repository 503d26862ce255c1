// SPDX-License-Identifier: BSD-3-Clause
// A matrix brought into the form of layout.hpp on the host, for values of any type: places first, values by place.
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
// passes == 0: no block of most_threads holds this many rows. least_threads: idle ones help in exchanges.
Shape shape_for(std::int64_t most_rows, double mean_entries, std::int32_t least_threads = warp_lanes);

// Entries below which host threads would still be waking up when the work is done.
inline constexpr std::int64_t worth_threads = 100000;

struct Packed {
  Shape shape;
  std::vector<Part> parts;
  std::vector<std::int32_t> slices, row_of, packet_of, halo_row, halo_packet;
  Filled<std::uint32_t> columns;  // two a pair
  // Which entry of the source is at each of the 2 places of each pair, and on the diagonal of each position; -1: 0.
  Filled<std::int32_t> entry_of, diagonal_entry;
  std::int32_t packets, most_pairs, most_rows, most_halo;
};

// The sizes of the packed form alone: shape, rows and pairs of the parts, slices, row_of, most_*. They show whether the
// parts fit before the entries are packed.
Packed lay_out(const Pattern &a, const Partition &partition);
// Adds the rest to the result of lay_out for the same pattern. Places in a block's p must be 16-bit numbers. banks:
// values of p side by side in shared memory that lanes can read at once (banks_of), and entries are ordered by; 1: as
// the matrix has them. The result does not depend on the number of threads.
void pack_entries(const Pattern &a, std::int32_t banks, Packed &packed, int threads = 1);
// Shared memory gives 128 bytes at once.
constexpr std::int32_t banks_of(std::int64_t value_size) { return static_cast<std::int32_t>(128 / value_size); }

// Both. Entries of the source are counted as in `a`.
Packed pack(const Pattern &a, const Partition &partition, std::int32_t banks, int threads = 1);

}  // namespace persistent
