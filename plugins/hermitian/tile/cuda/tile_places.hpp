// SPDX-License-Identifier: BSD-3-Clause
// The places of a factor's 16 x 16 blocks in shared memory, during factorisation and back substitution. No device code:
// the host plans, kernels follow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sextant::hermitian_tile {

constexpr int side = 16, block_size = side * side;  // side: that of dense::Product
constexpr int most_blocks_a_side = 28;              // limit of shared memory for f32
constexpr int most_blocks = most_blocks_a_side * (most_blocks_a_side + 1) / 2;

// The place of block (r, p), r >= p, of the factor. A block is needed from the elimination of block column p to that of
// block column r; afterwards its place may be given to another one, so that a triangle of P block rows needs only about
// (P + 1)^2 / 4 places.
struct Places {
  std::uint8_t place[most_blocks];
  std::int32_t count;  // places in use at most
  static constexpr int index(int r, int p) { return r * (r + 1) / 2 + p; }
};

// The way back of a single right-hand side, L^H x = y, when the last column has been eliminated. Step q subtracts the
// contributions of the solved unknowns q from those above, by blocks (q, p). Blocks that lost their places are fetched
// again into those of blocks that are no longer needed.
struct WayBack {
  struct Fetch {
    std::uint8_t row, column;
  };
  std::uint8_t place[most_blocks];
  Fetch fetched[most_blocks];                       // in the order of their steps, which count down
  std::uint16_t fetched_until[most_blocks_a_side];  // those of step q end here, and those of step q - 1 begin
  std::uint32_t waits;                              // bit q: blocks that step q fetches are needed in step q - 1
  std::uint32_t waits_at_once;                      // bit q: some of it is needed in step q itself
};

// Block columns one after the other. Each block takes a place that was never used, as long as there are fewer than
// `most`, or that of a block which is needed no more, of the first row that has one: the back substitution uses it
// last. `holds`: the block that each place holds in the end, by its index.
inline Places places_for(int rows, int most = 0, std::vector<int> *holds = nullptr) {
  Places places{};
  std::vector<int> held;
  for (int q = 0; q < rows; ++q)
    for (int r = q; r < rows; ++r) {
      int next = -1;
      for (int i = 0; i < static_cast<int>(held.size()); ++i)
        if (held[i] < Places::index(q, 0) && (next < 0 || held[i] < held[next])) next = i;
      if (next < 0 || static_cast<int>(held.size()) < most) next = static_cast<int>(held.size()), held.push_back(0);
      held[next] = Places::index(r, q);
      places.place[held[next]] = static_cast<std::uint8_t>(next);
    }
  places.count = static_cast<std::int32_t>(held.size());
  if (holds) *holds = held;
  return places;
}

inline WayBack way_back_for(int rows, int most) {
  WayBack way{};
  if (rows == 0) return way;
  std::vector<int> holds;
  const Places places = places_for(rows, most, &holds);
  const auto stands = [&](int r, int p) { return holds[places.place[Places::index(r, p)]] == Places::index(r, p); };
  // The needed blocks, by the step before which they must be fetched: the diagonal block first, of the row above.
  struct Need {
    int row, column, step;
  };
  std::vector<Need> needs;
  std::vector<bool> taken(holds.size(), false);
  for (int step = rows - 1; step >= 0; --step)
    for (int i = -1; i < step; ++i) {
      const int r = i < 0 ? step - 1 : step, p = i < 0 ? step - 1 : step - 1 - i;
      if (r < 0) continue;
      if (stands(r, p)) {
        way.place[Places::index(r, p)] = places.place[Places::index(r, p)];
        taken[way.place[Places::index(r, p)]] = true;
      } else {
        needs.push_back({r, p, step});
      }
    }
  const int last = places.place[Places::index(rows - 1, rows - 1)];
  way.place[Places::index(rows - 1, rows - 1)] = static_cast<std::uint8_t>(last);
  taken[last] = true;
  std::size_t next = 0;
  for (int q = rows - 1; q >= 0; --q) {
    // Free by now: the diagonal block of this step, and the blocks that the step before subtracted.
    taken[way.place[Places::index(q, q)]] = false;
    for (int p = 0; q + 1 < rows && p <= q; ++p) taken[way.place[Places::index(q + 1, p)]] = false;
    for (std::size_t i = 0; i < taken.size() && next < needs.size(); ++i) {
      if (taken[i]) continue;
      const Need &need = needs[next];
      taken[i] = true;
      way.place[Places::index(need.row, need.column)] = static_cast<std::uint8_t>(i);
      way.fetched[next++] = {static_cast<std::uint8_t>(need.row), static_cast<std::uint8_t>(need.column)};
      if (need.step >= q) way.waits_at_once |= 1u << q;
      if (need.step == q - 1) way.waits |= 1u << q;
    }
    way.fetched_until[q] = static_cast<std::uint16_t>(next);
  }
  return way;
}

}  // namespace sextant::hermitian_tile
