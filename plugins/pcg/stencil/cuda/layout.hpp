// SPDX-License-Identifier: BSD-3-Clause
// The interface of host and device: a symmetric matrix by its upper diagonals, cut into planes; how the planes are
// shared out; data on the device between iterations. Plain data; included from C++ and from CUDA.
//
// A plane is `stride` consecutive rows. An upper diagonal couples rows of one plane (in_plane, offset o > 0) or row i
// with row i + stride + o of the next one (across). A tile is `width` columns of a plane, an item is a tile through
// `chunk` planes. A block walks through the planes of its items, upwards or downwards.
#pragma once

#include <cstdint>

#include "plugins/pcg/shared/ended.hpp"

namespace stencil {

namespace pcg = sextant::plugin::pcg;

inline constexpr int most_in_plane = 4, most_across = 9, most_stages = 4;

// Planes of p that a block keeps in shared memory (kernel.cuh gives the reason).
constexpr int kept_planes(int across) { return across > 1 ? 3 : 2; }

struct Main {
  double value;
  std::int32_t constant, reserved;
};

struct Stencil {
  const void *main;  // the main diagonal; NULL: ones
  const Main *all;   // on the device: whether its values are all one number
  const void *in_plane[most_in_plane], *across[most_across];
  std::int32_t in_plane_offset[most_in_plane], across_offset[most_across];
  std::int32_t rows, stride;
};

struct Tiling {
  std::int32_t width, tiles, planes, chunk, items;
  std::int32_t halo;         // columns beside a tile whose p is needed
  std::int32_t ghost_halo;   // of the planes before and after an item
  std::int32_t stages;       // planes whose data are in flight or in use
  std::int32_t planes_kept;  // whose p a block holds
  std::int32_t keeps;        // whether the last cache can keep new vectors for the next iteration
  // Where arrays begin in a stage, in bytes: r, q and p one after the other, then diagonals; and the stage's size.
  std::int32_t vector_bytes, in_plane_at[most_in_plane], across_at[most_across], stage_bytes;
};

// r, p and q have two copies: an iteration reads one set and writes the other, so that blocks can read beyond their own
// rows.
struct Vectors {
  void *r[2], *p[2], *q[2];
};

// How a launch begins.
enum Begin : std::int32_t {
  begin_step,     // by the step to the next iterate
  begin_restart,  // with p = r: the present iterate is only evaluated
  begin_resume    // with the present p, r having been replaced
};

struct Control {       // device
  double alpha, beta;  // of the coming step
  void *x;
  std::int32_t begin;        // Begin of the coming launch
  std::int32_t from;         // the set of vectors that holds the present iterate
  pcg::Ended ended;          // why launches have stopped
  pcg::Ended pending;        // the same for the coming step, where an evaluation ended without fault
  std::int64_t k;            // the present iterate
  std::int64_t first, last;  // of the host's present request
  double tolerance_squared;
  double replaced_from;     // ||r|| before r was replaced, tested at `first`; negative: it was not
  std::int32_t test_first;  // whether iterate `first` is tested against the tolerance
  // Every second step leaves x to the next one, which recovers its direction as (p - r) / beta.
  std::int32_t leaves_x;  // the coming step does
  double deferred_alpha;  // the step before did, with this alpha; 0: it did not
  double deferred;        // deferred_alpha / beta
};

struct Report {  // pinned
  std::int64_t iterate;
  pcg::Ended ended;
  std::int32_t reserved;
};

// The host's request when a block begins.
struct Request {
  void *x;
  std::int64_t first, last;
  double tolerance_squared, replaced_from;
  std::int32_t test_first;
  std::int32_t begin;  // begin_step: the numbers of iterate `first` are valid
};

// The output of a launch.
struct Output {
  Control *control;
  Report *report;             // pinned
  double *squared_residuals;  // pinned; of iterate k at k % room
  std::int64_t room;
};

}  // namespace stencil
