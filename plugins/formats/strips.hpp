// SPDX-License-Identifier: BSD-3-Clause
// How a slice of eight rows is cut into strips (parts of diagonals, read from x contiguously) and gathered entries: one
// rule for the strips storage and for the features.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "sextant/plugin/kinds/storage.h"
#include "sextant/sdk/cpu/spmv.hpp"

namespace sextant::plugin {

inline constexpr int strip_lanes = 8;

// Heads of eight sorted rows advance together, diagonal by diagonal: calls f(base, mask, at), where lane l of the rows
// [row, end_row) has an entry in column base + l at position at[l], if bit l of mask is set.
template <class Offset, class Column, class F>
void for_each_strip(const Offset *row_ptr, const Column *col, std::int64_t row, std::int64_t end_row, F &&f) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t at[strip_lanes], end[strip_lanes], key[strip_lanes];
  for (int l = 0; l < strip_lanes; ++l) {
    at[l] = row + l < end_row ? row_ptr[row + l] : 0;
    end[l] = row + l < end_row ? row_ptr[row + l + 1] : 0;
    key[l] = at[l] < end[l] ? col[at[l]] - l : none;
  }
  for (;;) {
    std::int64_t base = key[0];
    for (int l = 1; l < strip_lanes; ++l) base = std::min(base, key[l]);
    if (base == none) return;
    unsigned mask = 0;
    for (int l = 0; l < strip_lanes; ++l) mask |= static_cast<unsigned>(key[l] == base) << l;
    f(base, mask, at);
    for (unsigned rest = mask; rest; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      ++at[l];
      key[l] = at[l] < end[l] ? col[at[l]] - l : none;
    }
  }
}

// The content of a slice: its strips of `least` lanes or more, and the columns of gathered entries for all others.
struct SlicePlan {
  std::int64_t strips = 0, gathered = 0;
  int least = strip_lanes + 1;
};

inline constexpr std::uint64_t byte_ones = 0x0101010101010101u;
// 1 in byte l where bit l of the mask is set.
constexpr std::uint64_t lanes_to_bytes(unsigned mask) {
  const std::uint64_t low = (mask & 127) * std::uint64_t{0x0002040810204081} & byte_ones;
  return low | static_cast<std::uint64_t>(mask >> 7) << 56;
}

// A strip takes about this share of the time of eight gathered entries.
inline constexpr double strip_cost = 0.55;

template <class Offset, class Column>
SlicePlan plan_slice(const Offset *row_ptr, const Column *col, std::int64_t row, std::int64_t end_row) {
  std::int64_t strips_of[strip_lanes + 1] = {}, in_lane[strip_lanes + 1][strip_lanes] = {};
  // Entries by lane in a byte each, taken over before one is full.
  std::uint64_t bytes[strip_lanes + 1] = {};
  const auto take_over = [&](int lanes) {
    for (int l = 0; l < strip_lanes; ++l) in_lane[lanes][l] += static_cast<std::int64_t>(bytes[lanes] >> 8 * l & 255);
    bytes[lanes] = 0;
  };
  for_each_strip(row_ptr, col, row, end_row, [&](std::int64_t, unsigned mask, const std::int64_t *) {
    const std::uint64_t each = lanes_to_bytes(mask);
    const int lanes = static_cast<int>(each * byte_ones >> 56);
    bytes[lanes] += each;
    if (++strips_of[lanes] % 255 == 0) take_over(lanes);
  });
  for (int n = 1; n <= strip_lanes; ++n) take_over(n);
  SlicePlan best, plan;
  std::int64_t rest[strip_lanes] = {};
  for (int n = 1; n <= strip_lanes; ++n) plan.strips += strips_of[n];
  double least_cost = std::numeric_limits<double>::infinity();
  for (plan.least = 1; plan.least <= strip_lanes + 1; ++plan.least) {
    const double cost = strip_cost * static_cast<double>(plan.strips) + static_cast<double>(plan.gathered);
    if (cost < least_cost) best = plan, least_cost = cost;
    if (plan.least > strip_lanes) break;
    plan.strips -= strips_of[plan.least];  // gathered columns by the next threshold
    for (int l = 0; l < strip_lanes; ++l) rest[l] += in_lane[plan.least][l];
    plan.gathered = *std::max_element(rest, rest + strip_lanes);
  }
  return best;
}

// The slices of one of several parts of equal work. Storage and product use the same cuts, so that threads work on the
// memory that they touched first.
inline std::int64_t strips_border(const sxt_strips &a, int parts, int part) {
  const auto *strip_ptr = static_cast<const std::int64_t *>(a.strip_ptr);
  const auto *gather_ptr = static_cast<const std::int64_t *>(a.gather_ptr);
  // In eighths of a gathered column; starting a slice costs as much as two.
  return border_by_work(a.n_slices, parts, part,
                        [&](std::int64_t s) { return 5 * strip_ptr[s] + gather_ptr[s] + 16 * s; });
}
inline Range strips_part(const sxt_strips &a, int parts, int part) {
  return {strips_border(a, parts, part), strips_border(a, parts, part + 1)};
}

}  // namespace sextant::plugin
