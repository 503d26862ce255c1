// SPDX-License-Identifier: BSD-3-Clause
// Greedy graph growing with buckets: time proportional to the entries.
#include "partition.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace persistent {
namespace {

// Rows waiting to be taken, by level: the lowest level first, and in it the row that waits longest. A row that changes
// its level is added again; the entry it leaves behind is passed over.
class Frontier {
 public:
  explicit Frontier(std::int32_t n) : level_(n) {}
  void add(std::int32_t row, int level) {
    level = std::clamp(level, 0, levels - 1);
    level_[row] = static_cast<unsigned char>(level);
    buckets_[level].rows.push_back(row);
    lowest_ = std::min(lowest_, level);
  }
  // part[row] >= 0: the row is taken. -1: nobody waits.
  std::int32_t next(const std::vector<std::int32_t> &part) {
    for (; lowest_ < levels; ++lowest_) {
      Bucket &bucket = buckets_[lowest_];
      while (bucket.first < bucket.rows.size()) {
        const std::int32_t row = bucket.rows[bucket.first++];
        if (part[row] < 0 && level_[row] == lowest_) return row;
      }
      bucket.clear();
    }
    return -1;
  }
  void clear() {
    for (; lowest_ < levels; ++lowest_) buckets_[lowest_].clear();
  }

 private:
  static constexpr int levels = 128;
  struct Bucket {
    std::vector<std::int32_t> rows;
    std::size_t first = 0;
    void clear() {
      rows.clear();
      first = 0;
    }
  };
  std::vector<unsigned char> level_;
  std::array<Bucket, levels> buckets_;
  int lowest_ = levels;
};

std::vector<std::int32_t> even_split(std::int32_t n, std::int32_t parts) {
  std::vector<std::int32_t> begin(parts + 1);
  for (std::int32_t c = 0; c <= parts; ++c) begin[c] = static_cast<std::int32_t>(std::int64_t{n} * c / parts);
  return begin;
}

std::vector<std::int32_t> part_of_rows(const Partition &partition) {
  std::vector<std::int32_t> part(partition.row_of.size());
  for (std::int32_t c = 0; c < partition.parts(); ++c)
    for (std::int32_t k = partition.begin[c]; k < partition.begin[c + 1]; ++k) part[partition.row_of[k]] = c;
  return part;
}

}  // namespace

Partition contiguous_parts(std::int32_t n, std::int32_t parts) {
  Partition out{even_split(n, parts), std::vector<std::int32_t>(n)};
  for (std::int32_t i = 0; i < n; ++i) out.row_of[i] = i;
  return out;
}

Partition grown_parts(const Pattern &a, std::int32_t parts, Growth growth) {
  Partition out{even_split(a.n, parts), {}};
  out.row_of.reserve(a.n);
  constexpr std::int32_t untaken = -1, middle = 64;
  std::vector<std::int32_t> part(a.n, untaken), free(a.n), within(a.n), met(a.n, untaken);
  for (std::int32_t i = 0; i < a.n; ++i) free[i] = static_cast<std::int32_t>(a.row_ptr[i + 1] - a.row_ptr[i]);
  Frontier around(a.n), anywhere(a.n);  // around the part in growth; around all parts
  std::int32_t first = 0;               // every row before it has a part

  const auto next_row = [&] {
    std::int32_t row = around.next(part);
    if (row < 0) row = anywhere.next(part);
    if (row >= 0) return row;
    while (part[first] >= 0) ++first;  // a component that nothing has touched
    return first;
  };
  // Row j has one more neighbour in part c.
  const auto meet = [&](std::int32_t j, std::int32_t c) {
    --free[j];
    if (part[j] >= 0) return;
    const bool new_here = std::exchange(met[j], c) != c;
    if (new_here) within[j] = 0;
    ++within[j];
    if (growth == Growth::enclosure)
      around.add(j, middle + free[j] - within[j]);
    else if (new_here)
      around.add(j, 0);
    if (new_here) anywhere.add(j, 0);
  };

  for (std::int32_t c = 0; c < parts; ++c) {
    around.clear();
    while (static_cast<std::int32_t>(out.row_of.size()) < out.begin[c + 1]) {
      const std::int32_t row = next_row();
      part[row] = c;
      out.row_of.push_back(row);
      for (std::int64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) meet(a.col[k], c);
    }
  }
  return out;
}

Halo halo_of(const Pattern &a, const Partition &partition) {
  const std::vector<std::int32_t> part = part_of_rows(partition);
  std::vector<std::int32_t> seen(a.n, -1);
  Halo halo{0, 0};
  for (std::int32_t c = 0; c < partition.parts(); ++c) {
    std::int64_t rows = 0;
    for (std::int32_t s = partition.begin[c]; s < partition.begin[c + 1]; ++s)
      for (std::int64_t k = a.row_ptr[partition.row_of[s]]; k < a.row_ptr[partition.row_of[s] + 1]; ++k) {
        const std::int32_t j = a.col[k];
        if (part[j] == c || seen[j] == c) continue;
        seen[j] = c;
        ++rows;
      }
    halo.total += rows;
    halo.most = std::max(halo.most, rows);
  }
  return halo;
}

Partition best_parts(const Pattern &a, std::int32_t parts) {
  Partition best = contiguous_parts(a.n, parts);
  std::int64_t least = halo_of(a, best).total;
  for (const Growth growth : {Growth::distance, Growth::enclosure}) {
    Partition grown = grown_parts(a, parts, growth);
    const std::int64_t total = halo_of(a, grown).total;
    if (total >= least) continue;
    least = total;
    best = std::move(grown);
  }
  return best;
}

}  // namespace persistent
