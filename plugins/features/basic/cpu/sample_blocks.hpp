// SPDX-License-Identifier: BSD-3-Clause
// How full strips would be and where the diagonals lie, from groups of consecutive rows spread over the matrix.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "footprint.hpp"
#include "plugins/formats/strips.hpp"
#include "sextant/sdk/cpu/csr.hpp"

namespace sextant::features_basic {

inline constexpr std::int64_t group = 24;          // rows; slices of 8 divide it
inline constexpr std::int64_t longest_row = 4096;  // entries of a row that are looked at

// About 1 % of the entries, and two thousand at least; of small matrices an eighth, and a thousand at least.
inline std::int64_t sampled_entries(std::int64_t nnz) {
  return std::min(nnz, std::max(nnz / 100, std::clamp<std::int64_t>(nnz / 8, 1024, 2048)));
}

// Groups of rows that hold about this many entries.
inline std::int64_t sampled_groups(const sxt_csr &a) {
  const std::int64_t groups = (a.s.rows + group - 1) / group;
  if (a.s.nnz == 0) return 0;
  const double share = static_cast<double>(sampled_entries(a.s.nnz)) / static_cast<double>(a.s.nnz);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(share * static_cast<double>(groups)));
}

// Which groups of `size` consecutive rows are sampled: this many, evenly spread. Where most rows are empty, entries are
// spread evenly instead and lead to the groups that hold them: a matrix of few entries then takes no pass over its
// rows.
template <class Offset>
class SampledGroups {
 public:
  SampledGroups(const sxt_csr &a, const Offset *row_ptr, std::int64_t size, std::int64_t looked)
      : row_ptr_(row_ptr),
        rows_(a.s.rows),
        nnz_(a.s.nnz),
        size_(size),
        all_((a.s.rows + size - 1) / size),
        by_entries_(a.s.rows / 4 > a.s.nnz),
        count_(by_entries_ ? std::min(looked, sampled_entries(a.s.nnz)) : looked) {}
  std::int64_t count() const { return count_; }
  // Sample i: a group's number; -1: the same as the sample before.
  std::int64_t group(std::int64_t i) const {
    if (!by_entries_) return all_ * i / count_;
    const std::int64_t own = of_entry(nnz_ * i / count_);
    return i > 0 && of_entry(nnz_ * (i - 1) / count_) == own ? -1 : own;
  }
  plugin::Range rows_of(std::int64_t number) const { return {number * size_, std::min(rows_, number * size_ + size_)}; }

 private:
  std::int64_t of_entry(std::int64_t k) const {
    return (std::upper_bound(row_ptr_, row_ptr_ + rows_ + 1, static_cast<Offset>(k)) - row_ptr_ - 1) / size_;
  }

  const Offset *row_ptr_;
  std::int64_t rows_, nnz_, size_, all_;
  bool by_entries_;
  std::int64_t count_;
};

// Strips and columns of gathered entries that slices of eight rows would store, as many as the sampled ones suggest.
template <class Offset, class Column>
void strips(const sxt_csr &a, const Offset *row_ptr, const Column *col, int threads, double *out) {
  const SampledGroups<Offset> groups(a, row_ptr, group, sampled_groups(a));
  std::atomic<std::int64_t> kept{0}, gathered{0}, entries{0};
  plugin::for_each_part(threads, threads, [&](int part) {
    const plugin::Range own = plugin::part_of(groups.count(), threads, part);
    for (std::int64_t sample = own.begin; sample < own.end; ++sample) {
      const std::int64_t number = groups.group(sample);
      if (number < 0) continue;
      const plugin::Range rows = groups.rows_of(number);
      entries.fetch_add(row_ptr[rows.end] - row_ptr[rows.begin], std::memory_order_relaxed);
      for (std::int64_t i = rows.begin; i < rows.end; i += plugin::strip_lanes) {
        const plugin::SlicePlan plan = plugin::plan_slice(row_ptr, col, i, std::min(rows.end, i + plugin::strip_lanes));
        kept.fetch_add(plan.strips, std::memory_order_relaxed);
        gathered.fetch_add(plan.gathered, std::memory_order_relaxed);
      }
    }
  });
  const double seen = static_cast<double>(entries.load());
  const double scale = seen > 0 ? static_cast<double>(a.s.nnz) / seen : 0;
  out[0] = scale * static_cast<double>(kept.load());
  out[1] = scale * static_cast<double>(gathered.load());
}

// Bandwidth and diagonals of the sampled rows. Ends of further rows are cheap to read and make the bandwidth more
// precise.
template <class Offset, class Column>
void band(const sxt_csr &a, const Offset *row_ptr, const Column *col, SmallSet &set, double *out) {
  std::int64_t bandwidth = 0, diagonals = 0;
  const auto look = [&](std::int64_t i) {
    if (row_ptr[i] == row_ptr[i + 1]) return;
    const std::int64_t left = col[row_ptr[i]], right = col[row_ptr[i + 1] - 1];
    bandwidth = std::max({bandwidth, i - left, right - i});
  };
  const std::int64_t step = a.s.rows / 4096 + 1;
  for (std::int64_t i = 0; i < a.s.rows; i += step) look(i);
  set.clear(SmallSet::slots / 2, static_cast<std::uint64_t>(a.s.rows + a.s.cols));
  const SampledGroups<Offset> groups(a, row_ptr, group, sampled_groups(a));
  const auto most = static_cast<std::int64_t>(SmallSet::slots / 2);
  for (std::int64_t sample = 0; sample < groups.count() && diagonals < most; ++sample) {
    const std::int64_t number = groups.group(sample);
    if (number < 0) continue;
    const plugin::Range rows = groups.rows_of(number);
    for (std::int64_t i = rows.begin; i < rows.end && diagonals < most; ++i) {
      look(i);
      for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1] && diagonals < most; ++k)
        diagonals += set.insert(static_cast<std::uint64_t>(col[k] - i + a.s.rows));
    }
  }
  out[0] = static_cast<double>(bandwidth);
  out[1] = static_cast<double>(diagonals);
}

}  // namespace sextant::features_basic
