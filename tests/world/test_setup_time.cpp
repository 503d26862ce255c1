// SPDX-License-Identifier: BSD-3-Clause
// Set-ups take a time by the entries, also where every member needs values of nearly every row of the others.
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <random>
#include <utility>
#include <vector>

#include "support.hpp"

namespace world_test {
namespace {

// A graph's Laplacian plus one, whose edges end in rows by a power law, wherever those lie.
Csr power_law(std::int32_t rows) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::int32_t> name(static_cast<std::size_t>(rows));
  for (std::int32_t i = 0; i < rows; ++i) name[static_cast<std::size_t>(i)] = i;
  std::shuffle(name.begin(), name.end(), random);
  std::vector<std::pair<std::int32_t, std::int32_t>> entries;
  for (std::int32_t i = 0; i < rows; ++i) {
    entries.emplace_back(i, i);
    for (int edge = 0; edge < 4; ++edge) {
      const double u = uniform(random);
      const auto j = std::min(rows - 1, static_cast<std::int32_t>(u * u * u * rows));
      if (i == j) continue;
      const std::int32_t one = name[static_cast<std::size_t>(i)], other = name[static_cast<std::size_t>(j)];
      entries.emplace_back(one, other), entries.emplace_back(other, one);
    }
  }
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  Csr a;
  a.rows = a.cols = rows;
  a.ptr.assign(1, 0);
  std::size_t k = 0;
  for (std::int32_t i = 0; i < rows; ++i) {
    const std::size_t begin = k;
    while (k < entries.size() && entries[k].first == i) ++k;
    for (std::size_t at = begin; at < k; ++at) {
      a.col.push_back(entries[at].second);
      a.values.push_back(entries[at].second == i ? static_cast<double>(k - begin) : -1);
    }
    a.ptr.push_back(static_cast<std::int32_t>(a.col.size()));
  }
  return a;
}

// Seconds of the processor, the least of three: other work on the machine changes little of it.
double set_up_seconds(const Csr &a, int ranks) {
  double least = 1e300;
  for (int again = 0; again < 3; ++again) {
    const std::clock_t begun = std::clock();
    const Comms comms = new_comms(ranks);
    on_ranks(ranks, [&](int r) {
      const sxt_comm comm = comm_of(comms, r);
      const Rank rank(&comm, ranks > 1 ? 1 : 2);
      const Matrix matrix = rows_matrix(rank, a, rows_of(shares(a.rows, ranks), r));
      const sxt_pcg_options options = by_host();
      const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
      EXPECT_TRUE(pcg);
    });
    least = std::min(least, static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
  }
  return least;
}

TEST(WorldSetUps, TakeATimeByTheEntries) {
  constexpr int growth = 4;
  const Csr small = power_law(10000), large = power_law(growth * 10000);
  for (const int ranks : {1, 2}) {
    const double few = set_up_seconds(small, ranks), many = set_up_seconds(large, ranks);
    RecordProperty("seconds_" + std::to_string(ranks), std::to_string(few) + ", " + std::to_string(many));
    EXPECT_LT(many, 2.5 * growth * few) << "with " << ranks << " ranks: more than the entries grew";
  }
}

}  // namespace
}  // namespace world_test
