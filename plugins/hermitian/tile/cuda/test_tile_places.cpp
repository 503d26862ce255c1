// SPDX-License-Identifier: BSD-3-Clause
// hermitian.tile.cuda's plans of shared memory, followed step by step: each block is in the place that the kernel
// reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tile_places.hpp"

namespace sextant::hermitian_tile {
namespace {

using Held = std::vector<int>;  // of each place: the block in it, or -1 while one is being fetched

void eliminate(int rows, const Places &places, Held &held) {
  for (int q = 0; q < rows; ++q) {
    for (int r = q; r < rows; ++r) held[places.place[Places::index(r, q)]] = Places::index(r, q);
    for (int r = q; r < rows; ++r)
      for (int p = 0; p <= q; ++p)
        ASSERT_EQ(held[places.place[Places::index(r, p)]], Places::index(r, p)) << rows << ": " << r << ", " << p;
  }
}

void go_back(int rows, const WayBack &way, Held &held) {
  std::vector<std::pair<int, int>> on_their_way;  // place and block, fetched in the step before
  const auto expect = [&](int r, int p) {
    ASSERT_EQ(held[way.place[Places::index(r, p)]], Places::index(r, p)) << rows << ": " << r << ", " << p;
  };
  for (int q = rows - 1; q >= 0; --q) {
    expect(q, q);
    std::vector<std::pair<int, int>> now;
    for (int i = q + 1 < rows ? way.fetched_until[q + 1] : 0; i < way.fetched_until[q]; ++i) {
      const int block = Places::index(way.fetched[i].row, way.fetched[i].column);
      now.emplace_back(way.place[block], block);
    }
    const auto arrive = [&](std::vector<std::pair<int, int>> &blocks) {
      for (const auto &[place, block] : blocks) held[place] = block;
      blocks.clear();
    };
    const auto leave = [&] {
      for (const auto &[place, block] : now) held[place] = -1;
    };
    const bool at_once = way.waits_at_once >> q & 1;
    if (at_once) leave(), arrive(on_their_way), arrive(now);
    for (int p = 0; p < q; ++p) expect(q, p);
    if (!at_once) leave(), arrive(on_their_way);
    if (way.waits >> q & 1) arrive(now);
    on_their_way = now;
  }
}

TEST(HermitianTilePlaces, EveryBlockStandsWhereItIsLookedFor) {
  for (int rows = 1; rows <= most_blocks_a_side; ++rows)
    for (int most = 0; most <= std::min(228, Places::index(rows, 0) + 1); ++most) {
      const Places places = places_for(rows, most);
      ASSERT_LE(places.count, std::max(most, (rows + 1) * (rows + 1) / 4));
      Held held(256, -1);
      eliminate(rows, places, held);
      go_back(rows, way_back_for(rows, most), held);
      if (HasFatalFailure()) return;
    }
}

TEST(HermitianTilePlaces, WithPlacesForAllBlocksNothingIsFetched) {
  for (int rows = 1; rows <= 20; ++rows) EXPECT_EQ(way_back_for(rows, Places::index(rows, 0)).fetched_until[0], 0);
}

TEST(HermitianTilePlaces, SystemsOfOrderZeroHaveNone) {
  EXPECT_EQ(places_for(0).count, 0);
  EXPECT_EQ(way_back_for(0, 0).waits, 0u);
}

}  // namespace
}  // namespace sextant::hermitian_tile
