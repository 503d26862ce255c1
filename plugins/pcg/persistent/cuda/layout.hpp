// SPDX-License-Identifier: BSD-3-Clause
// The interface of host and device: the packed matrix for the blocks of the grid, and the input and output of one
// launch. Plain data; included from C++ and from CUDA.
//
// Block c owns the rows at positions part[c].first_row .. + rows. A row is worked on by `group` lanes of one warp. The
// rows of one warp in one pass form a slice: pair j of its lane l lies at slice_begin + 32 j + l, two entries of the
// matrix and their two 16-bit columns; slices are padded with zeros. A column is a place in the block's shared array of
// p: own rows first, then the halo, then a zero that belongs to the padding. The diagonal is kept apart.
#pragma once

#include <cstdint>

#include "plugins/pcg/shared/ended.hpp"

namespace persistent {

namespace pcg = sextant::plugin::pcg;

inline constexpr int warp_lanes = 32;
inline constexpr int most_threads = 512;
inline constexpr int packet_threads = 288;  // four warps gather sums, four the halo, one sends
inline constexpr int most_passes = 4;
inline constexpr int most_warps = most_threads / warp_lanes;
inline constexpr int sums = 4;        // p'q, r'q, q'q, r'r
inline constexpr int sum_copies = 4;  // of each sum: blocks that read the same copy wait for each other
inline constexpr int most_cluster = 16, cluster_passes = 2;  // of a grid that is one cluster

struct Part {
  std::int32_t first_row, rows;    // positions
  std::int32_t first_halo, halo;   // in Matrix::halo_row and Matrix::halo_packet
  std::int32_t first_pair, pairs;  // in Matrix::values and Matrix::columns
};

template <class M>
struct alignas(2 * sizeof(M)) Pair {
  M first, second;
};

// Whether all entries beside the diagonal are one number, as on a grid with constant coefficients: blocks with several
// rows a thread then read columns alone.
struct Uniform {
  double value;
  std::int32_t holds, reserved;
};

struct Matrix {
  const Part *part;
  const Uniform *uniform;         // on the device
  const void *values;             // pairs of the stored type
  const std::uint32_t *columns;   // two a pair: the first in the low half
  const void *diagonal;           // of each position, in the stored type
  const std::int32_t *slices;     // (passes x warps + 1) a part: where slices begin, counted in pairs from first_pair
  const std::int32_t *row_of;     // the caller's row at each position
  const std::int32_t *packet_of;  // where each position publishes its q; -1: no other part needs it
  const std::int32_t *halo_row;   // positions of the halo's rows
  const std::int32_t *halo_packet;
  std::int32_t parts, packets;
  std::int32_t threads, warps, group;             // of each block; lanes a row
  std::int32_t most_pairs, most_rows, most_halo;  // of one part: they lay out shared memory
};

// In place of a pcg::Ended: another block did not answer in time, so the device is in trouble.
inline constexpr pcg::Ended lost = pcg::Ended::first_own;

struct Report {      // pinned
  pcg::Ended ended;  // why the launch ended
  std::int32_t reserved;
  std::int64_t iterate;  // the one that r, p and x belong to
  std::uint64_t epoch;   // of the last exchange
};

enum Start : std::int32_t {
  start_zero,      // x = 0, r = b, p = r
  start_residual,  // only r = b - A x, stored; no iteration
  start_restart,   // p = r
  start_resume     // r and p from the stored ones
};

struct Run {
  std::int32_t start;
  std::int32_t test_first;  // whether the first iterate is tested against the tolerance
  std::int64_t first, last;
  double tolerance_squared;
  double replaced_from;  // the residual before r was replaced; negative: it was not
  std::uint64_t epoch;   // of the last exchange so far
  const void *b;
  void *x;
};

struct Work {
  void *r, *p;                // by position, between launches
  void *halo_packets;         // 2 x packets, 16 bytes each, zero before the first launch
  void *sum_packets;          // 2 x copies x parts x sums
  double *squared_residuals;  // pinned: of iterates first .. iterate of this launch
  Report *report;
};

// Bytes of shared memory of a block: A's values and columns, p with its halo, r and q of the halo, packet numbers; in a
// cluster also what the others read, twice q of its own rows.
inline std::uint64_t shared_bytes(std::int64_t value_size, std::int64_t stored_size, std::int64_t pairs,
                                  std::int64_t rows, std::int64_t halo, bool clustered) {
  const std::int64_t read = clustered ? 2 * rows * value_size + 8 : 0;
  return static_cast<std::uint64_t>(pairs * (2 * stored_size + 4) + (rows + 3 * halo + 1) * value_size + halo * 4 +
                                    read);
}

}  // namespace persistent
