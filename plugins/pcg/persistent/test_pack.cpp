// SPDX-License-Identifier: BSD-3-Clause
// Sharing rows out and packing them: every row in one part, A x from the packed form alone, halos that hold what is
// needed, and a model that refuses what cannot fit. All of it is host code, so it is compiled into the test: the plugin
// itself needs a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plugins/pcg/persistent/model.cpp"
#include "plugins/pcg/persistent/pack.cpp"
#include "plugins/pcg/persistent/partition.cpp"

namespace {

using namespace persistent;

struct Csr {
  std::vector<std::int64_t> ptr{0};
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
        a.ptr.push_back(static_cast<std::int64_t>(a.col.size()));
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
    a.ptr.push_back(static_cast<std::int64_t>(a.col.size()));
  }
  return a;
}

// A x as the kernel computes it: each block from its own rows and its halo.
std::vector<double> multiply(const Csr &a, const Packed &p, const std::vector<double> &x) {
  std::vector<double> y(x.size(), -1);
  const std::int32_t warps = p.shape.threads / warp_lanes, slices = p.shape.passes * warps;
  for (std::size_t c = 0; c < p.parts.size(); ++c) {
    const Part &part = p.parts[c];
    std::vector<double> local(static_cast<std::size_t>(p.most_rows + p.most_halo), 1e300);
    for (std::int32_t i = 0; i < part.rows; ++i) local[i] = x[p.row_of[part.first_row + i]];
    for (std::int32_t j = 0; j < part.halo; ++j) local[p.most_rows + j] = x[p.row_of[p.halo_row[part.first_halo + j]]];
    const std::int32_t rows_a_slice = warp_lanes / p.shape.group;
    for (std::int32_t s = 0; s < slices; ++s)
      for (std::int32_t lane = 0; lane < warp_lanes; ++lane) {
        const std::int32_t row = s * rows_a_slice + lane / p.shape.group;
        const std::int32_t *const bounds = p.slices.data() + static_cast<std::int64_t>(c) * (slices + 1);
        double sum = 0;
        for (std::int32_t k = part.first_pair + bounds[s] + lane; k < part.first_pair + bounds[s + 1]; k += warp_lanes)
          for (int half = 0; half < 2; ++half)
            if (const std::int32_t entry = p.entry_of[2 * k + half]; entry >= 0)
              sum += a.values[entry] * local[half ? p.columns[k] >> 16 : p.columns[k] & 0xffffu];
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
    for (std::int64_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) y[i] += a.values[k] * x[a.col[k]];
  return y;
}

TEST(PersistentPartition, EveryRowHasOnePartOfEvenSize) {
  for (const Csr &a : {grid(9, 8, 7), uneven(700), grid(1, 1, 1)})
    for (const std::int32_t parts : {1, 5, 32}) {
      if (parts > a.pattern().n) continue;
      for (const Partition &p :
           {contiguous_parts(a.pattern().n, parts), grown_parts(a.pattern(), parts, Growth::distance),
            grown_parts(a.pattern(), parts, Growth::enclosure)}) {
        std::vector<std::int32_t> rows = p.row_of;
        std::sort(rows.begin(), rows.end());
        ASSERT_EQ(rows.size(), static_cast<std::size_t>(a.pattern().n));
        for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], static_cast<std::int32_t>(i));
        for (std::int32_t c = 0; c < parts; ++c)
          EXPECT_LE(std::abs(p.begin[c + 1] - p.begin[c] - a.pattern().n / parts), 1);
      }
    }
}

// 16 x 16 x 16 in 8 parts of 512 rows: contiguous slabs border on 512 rows, cubes of 8 on 192.
TEST(PersistentPartition, GrownPartsHaveSmallHalos) {
  const Csr a = grid(16, 16, 16);
  const Halo slabs = halo_of(a.pattern(), contiguous_parts(4096, 8)),
             best = halo_of(a.pattern(), best_parts(a.pattern(), 8));
  EXPECT_EQ(slabs.most, 512);
  EXPECT_LT(best.total, 8 * 260);
}

TEST(PersistentPack, ThePackedFormAloneGivesAx) {
  for (const Csr &a : {grid(9, 8, 7), grid(13, 11, 10), uneven(900), uneven(40), grid(1, 1, 1), grid(5, 1, 1)}) {
    std::vector<double> x(static_cast<std::size_t>(a.pattern().n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 13) - 6;
    const std::vector<double> want = multiply(a, x);
    for (const std::int32_t parts : {1, 3, 16}) {
      if (parts > a.pattern().n) continue;
      const Packed p = pack(a.pattern(), best_parts(a.pattern(), parts));
      const std::vector<double> got = multiply(a, p, x);
      for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-9) << "row " << i << ", " << parts;
    }
  }
}

TEST(PersistentPack, PacketsReachWhoNeedsThem) {
  const Csr a = grid(10, 10, 10);
  const Packed p = pack(a.pattern(), best_parts(a.pattern(), 7));
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
  sxt_candidate list[8];
  std::uint64_t count = 0;
  const auto best = [&](std::int64_t n, std::int64_t nnz) {
    EXPECT_EQ(candidates(query(n, nnz), m, list, 8, &count), SXT_OK);
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
  const sxt_candidate tiny = choice(1728, 11232);
  EXPECT_EQ(tiny.launch[2], 1);
  EXPECT_LE(tiny.launch[0], most_cluster);
  EXPECT_EQ(choice(32768, 223232).launch[2], 0);
  EXPECT_LT(best(32768, 223232), best(262144, 1810432));
}

}  // namespace
