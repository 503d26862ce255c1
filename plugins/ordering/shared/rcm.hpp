// SPDX-License-Identifier: BSD-3-Clause
// Reverse Cuthill-McKee on one thread: each component is searched breadth first from a row at its rim (George and Liu
// 1979), rows of a level in the order of their first neighbours in the level before and, among those, of their degrees
// (Cuthill and McKee 1969); the order of all is reversed (George 1971). The search has a queue and a byte a row. It is
// bound by loads of row pointers and columns of rows far apart, which are prefetched some rows ahead.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/sdk/ordering.hpp"

namespace sextant::plugin::rcm {

// A queue of numbers of type Q with room for one more than there are rows.
template <class Q>
struct Work {
  static std::uint64_t bytes(std::int64_t n) {
    return 2 * static_cast<std::uint64_t>(n + 1) * sizeof(Q) + static_cast<std::uint64_t>(n);
  }
  Work(void *memory, std::int64_t n)
      : first(static_cast<Q *>(memory)), later(first + n + 1), mark(reinterpret_cast<std::uint8_t *>(later + n + 1)) {}
  Q *first, *later;    // rows in the order of a component's first search, and of the latest other one
  std::uint8_t *mark;  // the last search of the component that visited the row
};

struct Levels {
  std::int64_t rows = 0, levels = 0, width = 0;
  std::int64_t last = 0;  // where the last level begins
};

template <class I, class O, class Q>
class Rcm {
 public:
  Rcm(const ordering::Pattern<I, O> &a, const Work<Q> &work) : a_(a), work_(work) {
    std::fill(work.mark, work.mark + a.n, std::uint8_t{0});
  }

  // Rows that are ordered already, whole components; run continues after them.
  void take(const Q *order, std::int64_t count, I *perm) {
    for (std::int64_t k = 0; k < count; ++k) {
      work_.mark[order[k]] = finished;
      perm[a_.n - 1 - k] = static_cast<I>(order[k]);
    }
  }

  // False: a level is wider than args.most_width. done: how many rows were taken.
  bool run(sxt_ordering_args &args, I *perm, std::int64_t done = 0) {
    for (std::int64_t row = 0; row < a_.n; ++row) {
      if (work_.mark[row] == finished) continue;
      const Q *order = nullptr;
      const Levels found = component(static_cast<Q>(row), args.most_width, &order);
      if (args.most_width > 0 && found.width > args.most_width) return false;
      for (std::int64_t k = 0; k < found.rows; ++k) {
        work_.mark[order[k]] = finished;
        perm[a_.n - 1 - done - k] = static_cast<I>(order[k]);
      }
      done += found.rows;
      args.width = std::max(args.width, found.width);
      args.levels += found.levels;
    }
    return true;
  }

 private:
  static constexpr std::uint8_t finished = 255;
  // Searches from rows that are ever farther out: more than these rarely find more levels.
  static constexpr int most_searches = 4;
  // A first search, from an arbitrary row, has levels at most about twice as wide as one from the rim.
  static constexpr std::int64_t from_anywhere = 2;

  // All rows that can be reached from a row; *order: that row and those after it.
  Levels component(Q row, std::int64_t most_width, const Q **order) {
    const Levels first = search<false>(row, 1, work_.first);
    *order = work_.first;
    if (first.rows == 1 || (most_width > 0 && first.width > from_anywhere * most_width)) return first;
    Levels before = first;
    const Q *queue = work_.first;
    for (int number = 2;; ++number) {
      const Levels found = search<true>(rim(queue, before), static_cast<std::uint8_t>(number), work_.later);
      // Mirrored entries are missing: the pattern is not symmetric, and only the first search visited all rows of this
      // component.
      if (found.rows != first.rows) {
        *order = work_.first;
        return first;
      }
      *order = queue = work_.later;
      if (found.levels <= before.levels || number == most_searches) return found;
      before = found;
    }
  }

  // The row of least degree in the last level; of those the first visited.
  Q rim(const Q *queue, const Levels &levels) const {
    return *std::min_element(queue + levels.last, queue + levels.rows,
                             [&](Q a, Q b) { return a_.degree(static_cast<I>(a)) < a_.degree(static_cast<I>(b)); });
  }

  // Breadth first; sorted: the new rows of one row are ordered by degree.
  template <bool sorted>
  Levels search(Q start, std::uint8_t number, Q *queue) {
    constexpr std::int64_t far = 12, near = 6;  // rows ahead: its pointers, its columns
    std::uint8_t *const mark = work_.mark;
    Levels out{1, 1, 1, 0};
    std::int64_t end = 1, tail = 1;  // of the level, of the queue
    queue[0] = start;
    mark[start] = number;
    for (std::int64_t head = 0; head < tail; ++head) {
      if (head == end) {
        out.last = end;
        out.width = std::max(out.width, tail - end);
        ++out.levels;
        end = tail;
      }
      if (head + far < tail) __builtin_prefetch(a_.row_ptr + queue[head + far]);
      if (head + near < tail) __builtin_prefetch(a_.col + a_.row_ptr[queue[head + near]]);
      const Q row = queue[head];
      const std::int64_t begin = tail;
      for (O k = a_.row_ptr[row]; k < a_.row_ptr[row + 1]; ++k) {
        const I next = a_.col[k];  // always stored, and kept where it is new: no branch to predict
        queue[tail] = static_cast<Q>(next);
        tail += mark[next] < number;
        mark[next] = std::max(mark[next], number);
      }
      if constexpr (sorted)
        if (tail - begin > 1) sort_by_degree(queue + begin, queue + tail);
    }
    out.rows = tail;
    return out;
  }

  // Columns ascend, so rows of one degree do afterwards.
  void sort_by_degree(Q *begin, Q *end) const {
    constexpr std::int64_t few = 32;
    const std::int64_t count = end - begin;
    const auto degree = [&](Q row) { return a_.degree(static_cast<I>(row)); };
    if (count > few) {
      std::sort(begin, end, [&](Q a, Q b) {
        const std::int64_t of_a = degree(a), of_b = degree(b);
        return of_a < of_b || (of_a == of_b && a < b);
      });
      return;
    }
    std::int64_t key[few];
    for (std::int64_t i = 0; i < count; ++i) {
      const Q row = begin[i];
      const std::int64_t own = degree(row);
      std::int64_t at = i;
      for (; at > 0 && key[at - 1] > own; --at) key[at] = key[at - 1], begin[at] = begin[at - 1];
      key[at] = own, begin[at] = row;
    }
  }

  ordering::Pattern<I, O> a_;
  Work<Q> work_;
};

}  // namespace sextant::plugin::rcm
