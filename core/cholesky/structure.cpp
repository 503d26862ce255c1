// SPDX-License-Identifier: BSD-3-Clause
// The rows below a supernode are the neighbours of its columns and the rows below its children's (George and Liu 1981).
// Subtrees that are small enough are done by one thread each, what is above them by one.
#include "core/cholesky/structure.hpp"

#include <limits>
#include <vector>

#include "core/base/error.hpp"
#include "core/cholesky/parallel.hpp"

namespace sextant::cholesky {

namespace {

using Index = std::int32_t;

// What a thread works with.
struct Work {
  std::vector<Index> mark, tail;
};

class Rows {
 public:
  Rows(const Graph &graph, const Elimination &e, const Partition &p, const Array<std::int64_t> &row_ptr, int threads)
      : graph_(graph), e_(e), p_(p), row_ptr_(row_ptr), threads_(threads), rows_(row_ptr[p.n_super]) {}

  Array<Index> run() {
    link_children();
    const std::vector<std::int64_t> tops = cut();
    std::vector<Work> work(static_cast<std::size_t>(std::max(1, threads_)));
    for (Work &each : work) reserve(each);
    const auto subtrees = static_cast<std::int64_t>(tops.size());
    for_tasks(subtrees, threads_, [&](std::int64_t task, int worker) {
      const std::int64_t top = tops[static_cast<std::size_t>(task)];
      for (std::int64_t s = first_[top]; s <= top; ++s) fill(s, work[static_cast<std::size_t>(worker)]);
    });
    for (std::int64_t s = 0; s < p_.n_super; ++s)
      if (above_[s]) fill(s, work[0]);
    require(wrong_ == none, SXT_E_INTERNAL, "supernode ", wrong_.load(), " has other rows than were counted");
    return std::move(rows_);
  }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  void reserve(Work &work) const {
    std::int64_t most = 0;
    for (std::int64_t s = 0; s < p_.n_super; ++s) most = std::max<std::int64_t>(most, p_.rows[s]);
    work.mark.assign(static_cast<std::size_t>(p_.n), -1);
    work.tail.resize(static_cast<std::size_t>(most));
  }

  void link_children() {
    child_ = Array<Index>(p_.n_super, -1), sibling_ = Array<Index>(p_.n_super, -1);
    first_ = Array<Index>(p_.n_super);
    for (Index s = 0; s < p_.n_super; ++s) first_[s] = s;
    for (Index s = 0; s < p_.n_super; ++s)
      if (const Index up = p_.parent[s]; up >= 0) first_[up] = std::min(first_[up], first_[s]);
    // The child with the most rows is met first: the others add little to it.
    for (Index s = 0; s < p_.n_super; ++s)
      if (const Index up = p_.parent[s]; up >= 0) {
        Index *at = &child_[up];
        if (*at >= 0 && below(*at) >= below(s)) at = &sibling_[*at];
        sibling_[s] = *at, *at = s;
      }
  }
  std::int64_t below(std::int64_t s) const { return p_.rows[s] - (p_.super_ptr[s + 1] - p_.super_ptr[s]); }

  // Subtrees of no more than a part of all rows; above_: what is in none.
  std::vector<std::int64_t> cut() {
    constexpr std::int64_t parts_each = 8;
    const std::int64_t most = threads_ > 1 ? row_ptr_[p_.n_super] / (parts_each * threads_) : none;
    std::vector<std::int64_t> tops;
    above_ = Array<std::uint8_t>(p_.n_super, 0);
    const auto rows_of_subtree = [&](std::int64_t s) { return row_ptr_[s + 1] - row_ptr_[first_[s]]; };
    for (std::int64_t s = 0; s < p_.n_super; ++s) {
      const Index up = p_.parent[s];
      above_[s] = rows_of_subtree(s) > most;
      if (!above_[s] && (up < 0 || rows_of_subtree(up) > most)) tops.push_back(s);
    }
    std::stable_sort(tops.begin(), tops.end(),
                     [&](std::int64_t a, std::int64_t b) { return rows_of_subtree(a) > rows_of_subtree(b); });
    return tops;
  }

  void fill(std::int64_t s, Work &work) {
    const auto begin = static_cast<Index>(p_.super_ptr[s]), end = static_cast<Index>(p_.super_ptr[s + 1]);
    Index *const out = rows_.data() + row_ptr_[s], *const limit = rows_.data() + row_ptr_[s + 1];
    Index *to = out, *sorted_end = nullptr;
    bool full = false;
    for (Index k = begin; k < end; ++k) *to++ = k;
    Index *const lower = to;
    const auto meet = [&](Index row) {
      Index &mark = work.mark[static_cast<std::size_t>(row)];
      if (row < end || mark == s) return;
      mark = static_cast<Index>(s);
      full |= to == limit;
      if (!full) *to++ = row;
    };
    for (Index c = child_[s]; c >= 0; c = sibling_[c]) {
      const Index *const from = rows_.data() + row_ptr_[c + 1];
      for (const Index *row = from - below(c); row < from; ++row) meet(*row);
      if (!sorted_end) sorted_end = to;
    }
    if (!sorted_end) sorted_end = to;
    if (!is_schur(s))
      for (Index k = begin; k < end; ++k) meet_neighbours(k, meet);
    merge(lower, sorted_end, to, work.tail.data());
    if (full || to != limit) keep_least(wrong_, s);
  }

  bool is_schur(std::int64_t s) const { return p_.super_ptr[s] >= p_.n - p_.n_schur; }

  template <class F>
  void meet_neighbours(Index k, F &&meet) const {
    const std::int64_t column = e_.perm[k];
    for (std::int64_t at = graph_.row_ptr[column]; at < graph_.row_ptr[column + 1]; ++at)
      meet(e_.inverse[graph_.col[at]]);
  }

  // Sorts what follows the sorted part into it.
  static void merge(Index *begin, Index *middle, Index *end, Index *tail) {
    if (middle == end) return;
    std::copy(middle, end, tail);
    Index *last = tail + (end - middle);
    std::sort(tail, last);
    while (last > tail) *--end = middle > begin && middle[-1] > last[-1] ? *--middle : *--last;
  }

  const Graph &graph_;
  const Elimination &e_;
  const Partition &p_;
  const Array<std::int64_t> &row_ptr_;
  const int threads_;
  Array<Index> rows_, child_, sibling_, first_;
  Array<std::uint8_t> above_;
  std::atomic<std::int64_t> wrong_{none};
};

}  // namespace

Array<Index> find_rows(const Graph &graph, const Elimination &elimination, const Partition &partition,
                       const Array<std::int64_t> &row_ptr, int threads) {
  return Rows(graph, elimination, partition, row_ptr, threads).run();
}

}  // namespace sextant::cholesky
