// SPDX-License-Identifier: BSD-3-Clause
// Where the entries of A stand in a factor. Column b of L is found in the caller's row perm[b], as conjugates; what one
// triangle keeps elsewhere goes to the column of its own.
#include <limits>
#include <vector>

#include "core/base/types.hpp"
#include "core/cholesky/parallel.hpp"
#include "core/cholesky/structure.hpp"

namespace sextant::cholesky {

namespace {

using Index = std::int32_t;
constexpr std::int64_t no_lost_row = std::numeric_limits<std::int64_t>::max();

struct Counts {
  std::int64_t straight = 0, conjugated = 0;
};

template <class I, class O>
class Finder {
 public:
  Finder(const Pattern &pattern, const Supernodes &s, int threads)
      : one_triangle_(pattern.triangles != Triangles::both),
        s_(s),
        threads_(threads),
        row_ptr_(static_cast<const O *>(pattern.row_ptr)),
        col_(static_cast<const I *>(pattern.col)) {}

  // The order of entries is that of columns, whatever the ranges that threads take.
  Entries run() {
    constexpr std::int64_t most_ranges = 512;
    if (one_triangle_) find_supernodes();
    ranges_ = std::clamp<std::int64_t>(s_.n_super, 1, threads_ > 1 ? most_ranges : 1);
    std::vector<Counts> counts(static_cast<std::size_t>(ranges_));
    for_tasks(ranges_, threads_, [&](std::int64_t r, int) { counts[static_cast<std::size_t>(r)] = count(r); });
    Counts all;
    for (Counts &each : counts) {
      const Counts own = each;
      each = all;
      all.straight += own.straight, all.conjugated += own.conjugated;
    }
    out_.straight = all.straight;
    out_.from = Array<std::int64_t>(all.straight + all.conjugated);
    out_.to = Array<std::int64_t>(all.straight + all.conjugated);
    std::vector<std::vector<Index>> places(static_cast<std::size_t>(std::max(1, threads_)));
    for (auto &each : places) each.assign(static_cast<std::size_t>(s_.n), 0);
    for_tasks(ranges_, threads_, [&](std::int64_t r, int worker) {
      place(r, counts[static_cast<std::size_t>(r)], places[static_cast<std::size_t>(worker)].data());
    });
    require(lost_ == no_lost_row, SXT_E_PLAN, "row ", lost_.load(),
            " of the matrix has an entry where the structure has none: it is of another pattern");
    return std::move(out_);
  }

 private:
  std::int64_t range(std::int64_t r) const { return s_.n_super * r / ranges_; }

  void find_supernodes() {
    super_of_ = Array<Index>(s_.n);
    for_ranges(s_.n_super, threads_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t s = begin; s < end; ++s)
        std::fill(super_of_.begin() + s_.super_ptr[s], super_of_.begin() + s_.super_ptr[s + 1], static_cast<Index>(s));
    });
  }

  // f(entry, when the other column is eliminated) for the caller's row that is eliminated b-th.
  template <class F>
  void for_row(std::int64_t b, F &&f) const {
    const std::int64_t row = s_.perm[b];
    for (O k = row_ptr_[row]; k < row_ptr_[row + 1]; ++k)
      f(static_cast<std::int64_t>(k), s_.inverse[static_cast<std::int64_t>(col_[k])]);
  }

  Counts count(std::int64_t r) const {
    Counts found;
    for (std::int64_t b = s_.super_ptr[range(r)]; b < s_.super_ptr[range(r + 1)]; ++b)
      for_row(b, [&](std::int64_t, std::int64_t a) {
        found.conjugated += a > b;
        found.straight += a == b || (one_triangle_ && a < b);
      });
    return found;
  }

  void place(std::int64_t r, Counts at, Index *places) {
    const auto put = [&](std::int64_t &next, std::int64_t from, std::int64_t to) {
      out_.from[next] = from, out_.to[next] = to;
      ++next;
    };
    at.conjugated += out_.straight;
    for (std::int64_t s = range(r); s < range(r + 1); ++s) {
      const Index *const rows = s_.rows + s_.row_ptr[s];
      const std::int64_t count = s_.row_ptr[s + 1] - s_.row_ptr[s];
      for (std::int64_t k = 0; k < count; ++k) places[rows[k]] = static_cast<Index>(k);
      for (std::int64_t b = s_.super_ptr[s]; b < s_.super_ptr[s + 1]; ++b) {
        const std::int64_t column = s_.value_ptr[s] + (b - s_.super_ptr[s]) * count;
        for_row(b, [&](std::int64_t k, std::int64_t a) {
          if (a < b) {
            if (one_triangle_) put(at.straight, k, place_of(b, a));
            return;
          }
          const Index row = places[a];
          if (row >= count || rows[row] != a) keep_least(lost_, s_.perm[b]);
          put(a == b ? at.straight : at.conjugated, k, column + row);
        });
      }
    }
  }

  std::int64_t place_of(std::int64_t row, std::int64_t column) {
    const std::int64_t s = super_of_[column];
    const Index *const begin = s_.rows + s_.row_ptr[s], *const end = s_.rows + s_.row_ptr[s + 1];
    const Index *const found = std::lower_bound(begin, end, static_cast<Index>(row));
    if (found == end || *found != row) keep_least(lost_, s_.perm[row]);
    return s_.value_ptr[s] + (column - s_.super_ptr[s]) * (end - begin) + (found - begin);
  }

  const bool one_triangle_;
  const Supernodes &s_;
  const int threads_;
  const O *row_ptr_;
  const I *col_;
  std::int64_t ranges_ = 1;
  Array<Index> super_of_;
  Entries out_;
  std::atomic<std::int64_t> lost_{no_lost_row};
};

}  // namespace

Entries find_entries(const Pattern &pattern, const Supernodes &supernodes, int threads) {
  if (supernodes.n == 0) return {Array<std::int64_t>(0), Array<std::int64_t>(0), 0};
  return with_index_type(pattern.index_type, [&](auto index) {
    return with_index_type(pattern.offset_type, [&](auto offset) {
      return Finder<typename decltype(index)::type, typename decltype(offset)::type>(pattern, supernodes, threads)
          .run();
    });
  });
}

}  // namespace sextant::cholesky
