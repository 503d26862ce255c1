// SPDX-License-Identifier: BSD-3-Clause
// Greedy graph growing with buckets: time proportional to the entries. Halos are counted on the way.
#include "partition.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <type_traits>
#include <utility>

#include "team.hpp"

namespace persistent {
namespace {

// Rows in the order in which they came.
class Queue {
 public:
  void add(std::int32_t row) {
    *room(1) = row;
    ++end_;
  }
  // Room for `most` further rows; the caller states how many were written.
  std::int32_t *room(std::size_t most) {
    if (end_ + most > rows_.size()) rows_.resize(std::max<std::size_t>(256, 2 * (end_ + most)));
    return rows_.data() + end_;
  }
  void written_to(const std::int32_t *end) { end_ = static_cast<std::size_t>(end - rows_.data()); }
  bool empty() const { return first_ == end_; }
  std::int32_t take() { return rows_[first_++]; }
  void clear() { first_ = end_ = 0; }

 private:
  std::vector<std::int32_t> rows_;
  std::size_t first_ = 0, end_ = 0;
};

// Rows waiting to be taken, by level: the lowest level first, and in it the row that waits longest. A row that changes
// its level is added again; the entry it leaves behind is passed over.
class Frontier {
 public:
  static constexpr int levels = 128;
  void add(std::int32_t row, int level) {
    buckets_[level].add(row);
    lowest_ = std::min(lowest_, level);
  }
  // waits(row, level): whether the row still waits at this level. -1: no row waits.
  template <class Waits>
  std::int32_t next(Waits &&waits) {
    for (; lowest_ < levels; ++lowest_) {
      Queue &bucket = buckets_[lowest_];
      while (!bucket.empty())
        if (const std::int32_t row = bucket.take(); waits(row, lowest_)) return row;
      bucket.clear();
    }
    return -1;
  }
  void clear() {
    for (; lowest_ < levels; ++lowest_) buckets_[lowest_].clear();
  }

 private:
  std::array<Queue, levels> buckets_;
  int lowest_ = levels;
};

std::vector<std::int32_t> even_split(std::int32_t n, std::int32_t parts) {
  std::vector<std::int32_t> begin(parts + 1);
  for (std::int32_t c = 0; c <= parts; ++c) begin[c] = static_cast<std::int32_t>(std::int64_t{n} * c / parts);
  return begin;
}

// When a way of growing is given up: a part's halo does not fit, or all halos together exceed those of another way.
struct Bound {
  std::int64_t most_halo;
  std::atomic<std::int64_t> least_total;
};

template <Growth growth>
class Grower {
 public:
  Grower(const Pattern &a, Bound &bound) : a_(a), bound_(bound), rows_(static_cast<std::size_t>(a.n)) {
    if constexpr (growth == Growth::enclosure)
      for (std::int32_t i = 0; i < a.n; ++i) rows_[i].free = a.row_ptr[i + 1] - a.row_ptr[i];
  }

  // False: given up; out.halo has the count until then.
  bool grow(Partition &out) {
    out.part_of.resize(static_cast<std::size_t>(a_.n));
    for (std::int32_t c = 0; c < out.parts(); ++c) {
      around_.clear();
      halo_ = 0;
      for (std::int32_t count = out.begin[c + 1] - out.begin[c]; count > 0; --count) {
        const std::int32_t row = next();
        out.part_of[row] = c;
        take(row, c);
      }
      out.halo.total += halo_;
      out.halo.most = std::max(out.halo.most, halo_);
      if (halo_ > bound_.most_halo || out.halo.total > bound_.least_total.load(std::memory_order_relaxed)) return false;
    }
    std::int64_t least = bound_.least_total;
    while (out.halo.total < least && !bound_.least_total.compare_exchange_weak(least, out.halo.total)) continue;
    return true;
  }

 private:
  static constexpr std::int32_t middle = Frontier::levels / 2;
  // seen: twice the last part that found the row, plus one when a part has taken it.
  struct Seen {
    std::int32_t seen = -2;
    bool taken() const { return seen & 1; }
  };
  // Also its neighbours without a part, and those within the part that found it last.
  struct Enclosed : Seen {
    std::int32_t free, within;
    int level() const { return std::clamp(middle + free - within, 0, Frontier::levels - 1); }
  };
  using Row = std::conditional_t<growth == Growth::enclosure, Enclosed, Seen>;

  std::int32_t next() {
    if constexpr (growth != Growth::numbering) {
      const std::int32_t near = next_around();
      if (near >= 0) return near;
      const std::int32_t anywhere = oldest(anywhere_);
      if (anywhere >= 0) return anywhere;
    }
    while (rows_[first_].taken()) ++first_;  // a component that nothing has touched
    return first_;
  }
  std::int32_t next_around() {
    if constexpr (growth == Growth::enclosure)
      return around_.next(
          [&](std::int32_t row, int level) { return !rows_[row].taken() && rows_[row].level() == level; });
    else
      return oldest(around_);
  }
  // Of those that wait; -1: none.
  std::int32_t oldest(Queue &queue) {
    while (!queue.empty())
      if (const std::int32_t row = queue.take(); !rows_[row].taken()) return row;
    return -1;
  }
  // The row joins part c: each of its neighbours has one more there. Conditions are used as numbers where a branch
  // could not be predicted.
  void take(std::int32_t row, std::int32_t c) {
    std::int64_t halo = halo_ - (rows_[row].seen >> 1 == c);
    rows_[row].seen = 2 * c + 1;
    const std::int32_t *const end = a_.col + a_.row_ptr[row + 1];
    const auto most = static_cast<std::size_t>(end - (a_.col + a_.row_ptr[row]));
    [[maybe_unused]] std::int32_t *near = nullptr, *far = nullptr;
    if constexpr (growth == Growth::distance) near = around_.room(most + 1);
    if constexpr (growth != Growth::numbering) far = anywhere_.room(most + 1);
    for (const std::int32_t *col = a_.col + a_.row_ptr[row]; col != end; ++col) {
      const std::int32_t j = *col;
      Row &met = rows_[j];
      const std::int32_t seen = met.seen;
      const bool new_here = seen >> 1 != c, waits = !(seen & 1);
      met.seen = 2 * c | (seen & 1);
      halo += new_here;  // until it is taken
      if constexpr (growth == Growth::numbering) continue;
      if constexpr (growth == Growth::distance) {
        *near = j;
        near += new_here && waits;
      }
      *far = j;
      far += seen == -2;
      if constexpr (growth == Growth::distance) {
        __builtin_prefetch(a_.col + a_.row_ptr[j]);
      } else if constexpr (growth == Growth::enclosure) {
        if (!waits) continue;
        if (new_here) __builtin_prefetch(a_.col + a_.row_ptr[j]);
        --met.free;
        met.within = new_here ? 1 : met.within + 1;
        around_.add(j, met.level());
      }
    }
    if constexpr (growth == Growth::distance) around_.written_to(near);
    if constexpr (growth != Growth::numbering) anywhere_.written_to(far);
    halo_ = halo;
  }

  const Pattern &a_;
  Bound &bound_;
  std::vector<Row> rows_;
  std::conditional_t<growth == Growth::enclosure, Frontier, Queue> around_;  // the part in growth
  Queue anywhere_;                                                           // around all parts
  std::int32_t first_ = 0;                                                   // every row before it has a part
  std::int64_t halo_ = 0;                                                    // of the part in growth
};

bool grow(const Pattern &a, Growth growth, Bound &bound, Partition &out) {
  switch (growth) {
    case Growth::numbering: return Grower<Growth::numbering>(a, bound).grow(out);
    case Growth::distance: return Grower<Growth::distance>(a, bound).grow(out);
    default: return Grower<Growth::enclosure>(a, bound).grow(out);
  }
}

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

}  // namespace

Partition grown_parts(const Pattern &a, std::int32_t parts, Growth growth) {
  Partition out{even_split(a.n, parts), {}, {}};
  Bound bound{no_limit, no_limit};
  grow(a, growth, bound, out);
  return out;
}

Partition best_parts(const Pattern &a, std::int32_t parts, int threads, std::int64_t most_halo) {
  // A good early result lets the others be given up sooner; of equal ones the last here is taken.
  constexpr std::array ways{Growth::enclosure, Growth::distance, Growth::numbering};
  constexpr std::array order{1, 0, 2};
  std::array<Partition, ways.size()> grown;
  std::array<bool, ways.size()> whole{};
  Bound bound{most_halo, no_limit};
  each_in_team(static_cast<std::int32_t>(ways.size()), threads, [&](std::int32_t turn) {
    const int i = order[turn];
    grown[i].begin = even_split(a.n, parts);
    whole[i] = grow(a, ways[i], bound, grown[i]);
  });
  Partition *best = nullptr;
  for (std::size_t i = 0; i < ways.size(); ++i)
    if (whole[i] && (!best || grown[i].halo.total <= best->halo.total)) best = &grown[i];
  if (!best) {
    best = std::min_element(grown.begin(), grown.end(),
                            [](const Partition &p, const Partition &q) { return p.halo.most < q.halo.most; });
    best->part_of.clear();
  }
  return std::move(*best);
}

}  // namespace persistent
