// SPDX-License-Identifier: BSD-3-Clause
// Sharing rows out and packing them: every row in one part, A x from the packed form alone, halos that hold the needed
// rows, and a model that refuses systems that cannot fit. All of it is host code, so it is compiled into the test: the
// plugin itself needs a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugins/pcg/persistent/cuda/model.cpp"
#include "plugins/pcg/persistent/cuda/pack.cpp"
#include "plugins/pcg/persistent/cuda/partition.cpp"

namespace {

using namespace persistent;

struct Csr {
  std::vector<std::int32_t> ptr{0};
  std::vector<std::int32_t> col;
  std::vector<double> values;
  Pattern pattern() const { return {static_cast<std::int32_t>(ptr.size() - 1), ptr.data(), col.data()}; }
};

Csr grid(int nx, int ny, int nz) {
  Csr a;
  const auto entry = [&](bool there, std::int64_t j, double value) {
    if (!there) return;
    a.col.push_back(static_cast<std::int32_t>(j));
    a.values.push_back(value);
  };
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        const std::int64_t i = (static_cast<std::int64_t>(z) * ny + y) * nx + x;
        entry(z > 0, i - nx * ny, -1 - 0.01 * static_cast<double>(i));
        entry(y > 0, i - nx, -2);
        entry(x > 0, i - 1, -3);
        entry(true, i, 20 + static_cast<double>(i % 5));
        entry(x + 1 < nx, i + 1, -4);
        entry(y + 1 < ny, i + nx, -5);
        entry(z + 1 < nz, i + nx * ny, -6);
        a.ptr.push_back(static_cast<std::int32_t>(a.col.size()));
      }
  return a;
}

// Rows of 1 to 60 entries, some without a diagonal.
Csr uneven(int n) {
  Csr a;
  for (int i = 0; i < n; ++i) {
    const int reach = i % 11 == 0 ? 30 : i % 3;
    for (int j = std::max(0, i - reach); j <= std::min(n - 1, i + reach); ++j) {
      if (j == i && i % 17 == 5) continue;
      a.col.push_back(j);
      a.values.push_back(1 + 0.001 * i + j);
    }
    a.ptr.push_back(static_cast<std::int32_t>(a.col.size()));
  }
  return a;
}

// Symmetric in its pattern, without order: entries far apart, and more in some rows than in others.
Csr tangled(int n) {
  std::vector<std::set<std::int32_t>> rows(static_cast<std::size_t>(n));
  std::uint32_t state = 12345;
  for (int i = 0; i < n; ++i) {
    rows[i].insert(i);
    for (int k = 0; k < 1 + i % 4; ++k) {
      state = state * 1664525u + 1013904223u;
      const auto j = static_cast<std::int32_t>((state >> 8) % static_cast<std::uint32_t>(n));
      rows[i].insert(j);
      rows[j].insert(i);
    }
  }
  Csr a;
  for (const auto &row : rows) {
    for (const std::int32_t j : row) {
      a.col.push_back(j);
      a.values.push_back(1 + 0.01 * j);
    }
    a.ptr.push_back(static_cast<std::int32_t>(a.col.size()));
  }
  return a;
}

// A x as the kernel computes it: each block from its own rows and its halo.
std::vector<double> multiply(const Csr &a, const Packed &p, const std::vector<double> &x) {
  std::vector<double> y(x.size(), -1);
  const std::int32_t warps = p.shape.threads / warp_lanes, slices = p.shape.passes * warps;
  for (std::size_t c = 0; c < p.parts.size(); ++c) {
    const Part &part = p.parts[c];
    std::vector<double> local(static_cast<std::size_t>(p.most_rows + p.most_halo) + 1, 1e300);
    local.back() = 0;  // padding is multiplied by it
    for (std::int32_t i = 0; i < part.rows; ++i) local[i] = x[p.row_of[part.first_row + i]];
    for (std::int32_t j = 0; j < part.halo; ++j) local[p.most_rows + j] = x[p.row_of[p.halo_row[part.first_halo + j]]];
    const std::int32_t rows_a_slice = warp_lanes / p.shape.group;
    for (std::int32_t s = 0; s < slices; ++s)
      for (std::int32_t lane = 0; lane < warp_lanes; ++lane) {
        const std::int32_t row = s * rows_a_slice + lane / p.shape.group;
        const std::int32_t *const bounds = p.slices.data() + static_cast<std::int64_t>(c) * (slices + 1);
        double sum = 0;
        for (std::int32_t k = part.first_pair + bounds[s] + lane; k < part.first_pair + bounds[s + 1]; k += warp_lanes)
          for (int half = 0; half < 2; ++half) {
            const std::int32_t entry = p.entry_of[2 * k + half];
            sum += (entry < 0 ? 1 : a.values[entry]) * local[half ? p.columns[k] >> 16 : p.columns[k] & 0xffffu];
          }
        if (row >= part.rows) {
          EXPECT_EQ(sum, 0) << "entries beyond the last row";
          continue;
        }
        const std::int32_t position = part.first_row + row, diagonal = p.diagonal_entry[position];
        double &out = y[p.row_of[position]];
        if (lane % p.shape.group == 0) out = diagonal < 0 ? 0 : a.values[diagonal] * local[row];
        out += sum;
      }
  }
  return y;
}

std::vector<double> multiply(const Csr &a, const std::vector<double> &x) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) y[i] += a.values[k] * x[a.col[k]];
  return y;
}

// By definition, a set for each part.
Halo halo_of(const Pattern &a, const Partition &p) {
  std::vector<std::set<std::int32_t>> halos(static_cast<std::size_t>(p.parts()));
  for (std::int32_t i = 0; i < a.n; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (p.part_of[a.col[k]] != p.part_of[i]) halos[p.part_of[i]].insert(a.col[k]);
  Halo out;
  for (const auto &halo : halos) {
    out.total += static_cast<std::int64_t>(halo.size());
    out.most = std::max(out.most, static_cast<std::int64_t>(halo.size()));
  }
  return out;
}

// The plain form of the algorithm under test: queues of levels, everything looked up where it is needed.
std::vector<std::int32_t> grown_plainly(const Pattern &a, const std::vector<std::int32_t> &begin, Growth growth) {
  std::vector<std::int32_t> part(static_cast<std::size_t>(a.n), -1), met(part), anywhere;
  std::vector<int> level(part), free(part), within(part);
  for (std::int32_t i = 0; i < a.n; ++i) free[i] = a.row_ptr[i + 1] - a.row_ptr[i];
  for (std::int32_t c = 0; c + 1 < static_cast<std::int32_t>(begin.size()); ++c) {
    std::map<int, std::deque<std::int32_t>> around;
    const auto next = [&]() -> std::int32_t {
      for (auto &[at, rows] : around)
        while (!rows.empty()) {
          const std::int32_t row = rows.front();
          rows.pop_front();
          if (part[row] < 0 && level[row] == at) return row;
        }
      for (const std::int32_t row : anywhere)
        if (part[row] < 0) return row;
      return static_cast<std::int32_t>(std::find(part.begin(), part.end(), -1) - part.begin());
    };
    for (std::int32_t count = begin[c]; count < begin[c + 1]; ++count) {
      const std::int32_t row = next();
      part[row] = c;
      for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
        const std::int32_t j = a.col[k];
        --free[j];
        if (part[j] >= 0) continue;
        const bool new_here = std::exchange(met[j], c) != c;
        within[j] = new_here ? 1 : within[j] + 1;
        if (new_here) anywhere.push_back(j);
        if (growth == Growth::distance && !new_here) continue;
        level[j] = growth == Growth::distance ? 0 : std::clamp(64 + free[j] - within[j], 0, 127);
        around[level[j]].push_back(j);
      }
    }
  }
  return part;
}

constexpr Growth all_ways[] = {Growth::numbering, Growth::distance, Growth::enclosure};

TEST(PersistentPartition, EveryRowHasOnePartOfEvenSize) {
  for (const Csr &a : {grid(9, 8, 7), uneven(700), grid(1, 1, 1)})
    for (const std::int32_t parts : {1, 5, 32}) {
      if (parts > a.pattern().n) continue;
      for (const Growth growth : all_ways) {
        const Partition p = grown_parts(a.pattern(), parts, growth);
        ASSERT_EQ(p.part_of.size(), static_cast<std::size_t>(a.pattern().n));
        std::vector<std::int32_t> rows(static_cast<std::size_t>(parts));
        for (const std::int32_t c : p.part_of) ++rows.at(static_cast<std::size_t>(c));
        for (std::int32_t c = 0; c < parts; ++c) {
          EXPECT_EQ(rows[c], p.begin[c + 1] - p.begin[c]);
          EXPECT_LE(std::abs(rows[c] - a.pattern().n / parts), 1);
        }
        const Halo halo = halo_of(a.pattern(), p);
        EXPECT_EQ(p.halo.total, halo.total);
        EXPECT_EQ(p.halo.most, halo.most);
      }
    }
}

TEST(PersistentPartition, GrowsAsThePlainFormDoes) {
  for (const Csr &a : {grid(12, 9, 10), grid(40, 30, 1), uneven(900), tangled(500)})
    for (const std::int32_t parts : {1, 4, 23})
      for (const Growth growth : {Growth::distance, Growth::enclosure}) {
        const Partition p = grown_parts(a.pattern(), parts, growth);
        EXPECT_EQ(p.part_of, grown_plainly(a.pattern(), p.begin, growth)) << parts << " parts";
      }
}

// 16 x 16 x 16 in 8 parts of 512 rows: contiguous slabs border on 512 rows, cubes of 8 on 192.
TEST(PersistentPartition, GrownPartsHaveSmallHalos) {
  const Csr a = grid(16, 16, 16);
  EXPECT_EQ(grown_parts(a.pattern(), 8, Growth::numbering).halo.most, 512);
  EXPECT_LT(best_parts(a.pattern(), 8).halo.total, 8 * 260);
}

TEST(PersistentPartition, TheSmallestHaloIsTakenForAnyNumberOfThreads) {
  for (const Csr &a : {grid(12, 9, 10), grid(200, 1, 1), uneven(900), tangled(500)}) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Growth growth : all_ways) least = std::min(least, grown_parts(a.pattern(), 7, growth).halo.total);
    const Partition alone = best_parts(a.pattern(), 7, 1);
    EXPECT_EQ(alone.halo.total, least);
    for (const int threads : {2, 3, 8}) EXPECT_EQ(best_parts(a.pattern(), 7, threads).part_of, alone.part_of);
  }
}

// A way whose parts see more than the limit is given up; with no way left there are no parts, and the number tells the
// reason.
TEST(PersistentPartition, AHaloBeyondTheLimitIsGivenUp) {
  const Csr a = grid(16, 16, 16);
  const Partition best = best_parts(a.pattern(), 8);
  EXPECT_EQ(best_parts(a.pattern(), 8, 1, best.halo.most).part_of, best.part_of);
  for (const int threads : {1, 3}) {
    const Partition none = best_parts(a.pattern(), 8, threads, 100);
    EXPECT_TRUE(none.part_of.empty());
    EXPECT_GT(none.halo.most, 100);
    EXPECT_LT(none.halo.most, 513);
  }
}

TEST(PersistentPack, ThePackedFormAloneGivesAx) {
  for (const Csr &a :
       {grid(9, 8, 7), grid(13, 11, 10), uneven(900), uneven(40), grid(1, 1, 1), grid(5, 1, 1), tangled(400)}) {
    std::vector<double> x(static_cast<std::size_t>(a.pattern().n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 13) - 6;
    const std::vector<double> want = multiply(a, x);
    for (const auto &[parts, banks] : {std::pair{1, 16}, {3, 16}, {16, 16}, {1, 32}, {16, 32}}) {
      if (parts > a.pattern().n) continue;
      const Packed p = pack(a.pattern(), best_parts(a.pattern(), parts), banks, 2);
      const std::vector<double> got = multiply(a, p, x);
      for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-9) << "row " << i << ", " << parts;
    }
  }
}

// Each entry is in one place, off the diagonal or on it, and every other place is marked empty.
TEST(PersistentPack, EveryPlaceIsWritten) {
  for (const Csr &a : {grid(9, 8, 7), uneven(900), tangled(400)})
    for (const std::int32_t parts : {1, 16}) {
      const Packed p = pack(a.pattern(), best_parts(a.pattern(), parts), 16);
      std::vector<int> places(a.col.size());
      for (const auto *list : {&p.entry_of, &p.diagonal_entry})
        for (std::size_t k = 0; k < list->size(); ++k)
          if (const std::int32_t entry = (*list)[k]; entry != -1) ++places.at(static_cast<std::size_t>(entry));
      for (std::size_t entry = 0; entry < places.size(); ++entry) ASSERT_EQ(places[entry], 1) << "entry " << entry;
    }
}

// How often shared memory is read for all gathers: in each turn, for as many lanes as there are banks, once for every
// place of the bank with the most places.
std::int64_t reads(const Packed &p, std::int32_t banks) {
  const std::int32_t slices = p.shape.passes * (p.shape.threads / warp_lanes);
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < p.parts.size(); ++c)
    for (std::int32_t s = 0; s < slices; ++s) {
      const std::int32_t *const begin = p.slices.data() + c * (slices + 1) + s;
      for (std::int32_t at = begin[0]; at < begin[1]; at += banks)
        for (const int shift : {0, 16}) {
          std::map<std::int32_t, std::set<std::int32_t>> places;
          for (std::int32_t lane = 0; lane < banks; ++lane) {
            const auto place =
                static_cast<std::int32_t>(p.columns[p.parts[c].first_pair + at + lane] >> shift & 0xffff);
            if (place < p.most_rows + p.most_halo) places[place % banks].insert(place);
          }
          std::size_t most = 1;
          for (const auto &[bank, own] : places) most = std::max(most, own.size());
          sum += static_cast<std::int64_t>(most);
        }
    }
  return sum;
}

TEST(PersistentPack, TurnsHaveFewerBankConflicts) {
  for (const Csr &a : {grid(24, 20, 22), tangled(3000), uneven(4000)})
    for (const std::int32_t parts : {6, 20})
      for (const std::int32_t banks : {banks_of(8), banks_of(4)}) {
        const Partition partition = best_parts(a.pattern(), parts);
        const std::int64_t numbered = reads(pack(a.pattern(), partition, 1), banks),
                           in_turns = reads(pack(a.pattern(), partition, banks), banks);
        EXPECT_LT(in_turns, 0.85 * static_cast<double>(numbered)) << parts << " parts, " << banks << " banks";
      }
}

// Sixteen rows of two entries each, all first ones in one bank and all second ones in another: half of the rows begin
// with the other one. Then no order is better: each turn has eight places of each bank.
TEST(PersistentPack, TurnsShareABankEvenly) {
  Turns turns(16, 2000);
  turns.begin(2);
  for (std::int32_t lane = 0; lane < 16; ++lane) {
    const Turns::Item row[] = {{16 * lane, 2 * lane, lane}, {16 * lane + 1, 2 * lane + 1, lane}};
    turns.add_row(lane, 1, row, 2);
  }
  turns.exchange(1);
  for (const std::int32_t turn : {0, 1}) {
    int first = 0;
    for (std::int32_t lane = 0; lane < 16; ++lane) first += turns.item(turn, lane).place % 16 == 0;
    EXPECT_EQ(first, 8) << turn;
  }
}

// A place that several lanes read is read once: rows with equal columns take them in equal turns.
TEST(PersistentPack, TurnsReadASharedPlaceOnce) {
  Turns turns(16, 2000);
  turns.begin(4);
  for (std::int32_t lane = 0; lane < 16; ++lane) {
    Turns::Item row[4];
    for (std::int32_t k = 0; k < 4; ++k) row[(k + lane) % 4] = {48 * k, 4 * lane + k, lane};
    turns.add_row(lane, 1, row, 4);
  }
  turns.exchange(1);
  for (std::int32_t turn = 0; turn < 4; ++turn)
    for (std::int32_t lane = 1; lane < 16; ++lane)
      EXPECT_EQ(turns.item(turn, lane).place, turns.item(turn, 0).place) << turn;
}

TEST(PersistentPack, SizesAreKnownBeforeTheEntriesArePacked) {
  for (const Csr &a : {grid(13, 11, 10), uneven(900), tangled(500)}) {
    const Partition parts = best_parts(a.pattern(), 9);
    const Packed sizes = lay_out(a.pattern(), parts), whole = pack(a.pattern(), parts, 16);
    EXPECT_EQ(sizes.columns.size(), 0u);
    std::int32_t pairs = 0, halo = 0;
    for (const Part &part : whole.parts) {
      pairs = std::max(pairs, part.pairs);
      halo = std::max(halo, part.halo);
    }
    EXPECT_EQ(sizes.most_pairs, pairs);
    EXPECT_EQ(sizes.most_halo, halo);
  }
}

TEST(PersistentPack, EqualForAnyNumberOfThreads) {
  const auto equal = [](const auto &a, const auto &b) {
    return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
  };
  for (const Csr &a : {grid(13, 11, 10), uneven(900), tangled(500)}) {
    const Partition parts = best_parts(a.pattern(), 9);
    const Packed one = pack(a.pattern(), parts, 16, 1);
    for (const int threads : {2, 5, 40}) {
      const Packed many = pack(a.pattern(), parts, 16, threads);
      EXPECT_TRUE(equal(many.columns, one.columns) && equal(many.entry_of, one.entry_of));
      EXPECT_TRUE(equal(many.diagonal_entry, one.diagonal_entry) && equal(many.halo_row, one.halo_row));
      EXPECT_TRUE(equal(many.packet_of, one.packet_of) && equal(many.halo_packet, one.halo_packet));
    }
  }
}

TEST(PersistentPack, PacketsReachTheBlocksThatNeedThem) {
  const Csr a = grid(10, 10, 10);
  const Packed p = pack(a.pattern(), best_parts(a.pattern(), 7), 16);
  std::vector<int> published(static_cast<std::size_t>(p.packets));
  for (const std::int32_t packet : p.packet_of)
    if (packet >= 0) ++published[packet];
  for (const int times : published) EXPECT_EQ(times, 1);
  for (std::size_t j = 0; j < p.halo_row.size(); ++j) EXPECT_EQ(p.halo_packet[j], p.packet_of[p.halo_row[j]]);
}

TEST(PersistentPack, ShapesHoldTheRows) {
  for (const std::int64_t rows : {1, 7, 31, 32, 33, 250, 511, 512, 513, 1185, 2048})
    for (const double mean : {0.0, 5.0, 14.0, 60.0}) {
      const Shape shape = shape_for(rows, mean);
      ASSERT_GT(shape.passes, 0);
      EXPECT_GE(std::int64_t{shape.threads} * shape.passes / shape.group, rows);
      EXPECT_LE(shape.threads, most_threads);
      EXPECT_EQ(shape.threads % warp_lanes, 0);
    }
  EXPECT_EQ(shape_for(2049, 5).passes, 0);
  EXPECT_EQ(shape_for(4, 5, packet_threads).threads, packet_threads);  // idle threads help in exchanges
  EXPECT_EQ(shape_for(512, 5, packet_threads).threads, 512);
}

sxt_machine machine() {
  sxt_machine m{};
  m.struct_size = sizeof m;
  m.units = 132;
  m.level = 90;
  m.shared_per_block = 232448;
  m.stream_rate = 4e12;
  m.launch_s = 3e-6;
  return m;
}
sxt_pcg_query query(std::int64_t n, std::int64_t nnz) {
  sxt_pcg_query q{};
  q.m.q.value_type = q.m.matrix_type = SXT_F64;
  q.m.rows = q.m.cols = n;
  q.m.nnz = nnz;
  q.iterations = 100;
  return q;
}

TEST(PersistentModel, RefusesWhatDoesNotFitAndSaysTheNumbers) {
  char text[256] = "";
  sxt_message reason{text, sizeof text};
  const sxt_machine m = machine();
  EXPECT_EQ(applicable(query(262144, 1810432), m, &reason), SXT_OK) << text;
  EXPECT_EQ(applicable(query(500000, 3500000), m, &reason), SXT_NOT_APPLICABLE);
  EXPECT_NE(std::string(text).find("500000 rows on 132"), std::string::npos) << text;
  EXPECT_EQ(applicable(query(100000, 5000000), m, &reason), SXT_NOT_APPLICABLE);
  EXPECT_NE(std::string(text).find("bytes of shared memory"), std::string::npos) << text;
  sxt_pcg_query other = query(1000, 5000);
  other.recurrence = SXT_RECURRENCE_CLASSICAL;
  EXPECT_EQ(applicable(other, m, &reason), SXT_NOT_APPLICABLE);
  other = query(1000, 5000);
  other.preconditioned = 1;
  EXPECT_EQ(applicable(other, m, &reason), SXT_NOT_APPLICABLE);
}

TEST(PersistentModel, OffersBlocksAndPredictsMoreForMore) {
  const sxt_machine m = machine();
  sxt_candidate list[16];
  std::uint64_t count = 0;
  const auto best = [&](std::int64_t n, std::int64_t nnz) {
    EXPECT_EQ(candidates(query(n, nnz), nullptr, m, list, std::size(list), &count), SXT_OK);
    EXPECT_GT(count, 0u) << n;
    double least = 1e300;
    for (std::uint64_t i = 0; i < count; ++i) {
      EXPECT_GT(list[i].run_s, 0);
      EXPECT_LE(list[i].launch[0], std::max<std::int64_t>(1, n));
      least = std::min(least, list[i].run_s);
    }
    return least;
  };
  EXPECT_GT(best(1, 1), 0);
  EXPECT_GT(best(100, 500), 0);
  // Tiny systems go to a cluster, whose blocks reach each other's memory; larger ones do not fit or are slower there.
  const auto choice = [&](std::int64_t n, std::int64_t nnz) {
    best(n, nnz);
    return *std::min_element(list, list + count,
                             [](const sxt_candidate &a, const sxt_candidate &b) { return a.run_s < b.run_s; });
  };
  // Turns cost a set-up more and save in each iteration.
  best(262144, 1810432);
  const auto is = [](bool in_turns) {
    return [in_turns](const sxt_candidate &c) { return c.launch[0] == 132 && (c.launch[3] != 0) == in_turns; };
  };
  const auto *const numbered = std::find_if(list, list + count, is(false)), *const in_turns = std::find_if(
                                                                                list, list + count, is(true));
  ASSERT_TRUE(numbered != list + count && in_turns != list + count);
  EXPECT_LT(in_turns->run_s, numbered->run_s);
  EXPECT_GT(in_turns->setup_s, numbered->setup_s);

  const sxt_candidate tiny = choice(1728, 11232);
  EXPECT_EQ(tiny.launch[2], 1);
  EXPECT_LE(tiny.launch[0], most_cluster);
  EXPECT_EQ(choice(32768, 223232).launch[2], 0);
  EXPECT_LT(best(32768, 223232), best(262144, 1810432));
}

}  // namespace
