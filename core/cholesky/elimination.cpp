// SPDX-License-Identifier: BSD-3-Clause
// Liu's elimination tree (ACM TOMS 12, 1986) and the column counts of Gilbert, Ng and Peyton (SIAM J. Matrix Anal.
// Appl. 15, 1994): row i of L is a subtree of the elimination tree with root i, whose leaves are among the entries of
// A's row i. A column's entries are counted as differences: one more at a leaf, one less where two ways meet, summed
// upwards. With the common ancestors of consecutive leaves found directly, rows need not be taken in order.
#include "core/cholesky/elimination.hpp"

#include <numeric>
#include <vector>

#include "core/base/error.hpp"
#include "core/cholesky/ancestors.hpp"
#include "core/cholesky/parallel.hpp"

namespace sextant::cholesky {

namespace {

using Index = std::int32_t;

class Eliminator {
 public:
  Eliminator(const Graph &graph, std::span<const Index> order, std::int64_t n_schur, int threads)
      : graph_(graph), n_(graph.n), factored_(graph.n - n_schur), threads_(threads) {
    out_.n = n_;
    out_.n_schur = n_schur;
    take_order(order);
  }

  Elimination run() {
    gather_earlier();
    find_tree();
    postorder(nullptr);
    count();
    postorder(counts_.data());
    finish();
    return std::move(out_);
  }

 private:
  void take_order(std::span<const Index> order) {
    require(static_cast<std::int64_t>(order.size()) == n_, SXT_E_ARGUMENT, "an order of ", order.size(),
            " columns for a matrix of ", n_);
    inverse_ = Array<Index>(n_, -1);
    order_ = order.data();
    for (Index k = 0; k < n_; ++k) {
      const Index column = order_[k];
      require(column >= 0 && column < n_, SXT_E_ARGUMENT, "the order names column ", column, " at place ", k,
              "; there are columns 0 .. ", n_ - 1);
      require(inverse_[column] < 0, SXT_E_ARGUMENT, "the order names column ", column, " at places ", inverse_[column],
              " and ", k);
      inverse_[column] = k;
    }
  }

  // Neighbours that are eliminated earlier, of each column in the order; those of a Schur complement among themselves
  // do not matter.
  void gather_earlier() {
    start_ = Array<std::int64_t>(n_ + 1);
    end_ = Array<std::int64_t>(n_);
    start_[0] = 0;
    for (std::int64_t k = 0; k < n_; ++k)
      start_[k + 1] = start_[k] + (graph_.row_ptr[order_[k] + 1] - graph_.row_ptr[order_[k]]);
    earlier_ = Array<Index>(start_[n_]);
    for_ranges(n_, threads_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t row = order_[k], limit = std::min(k, factored_);
        std::int64_t to = start_[k];
        for (std::int64_t e = graph_.row_ptr[row]; e < graph_.row_ptr[row + 1]; ++e)
          if (const Index other = inverse_[graph_.col[e]]; other < limit) earlier_[to++] = other;
        end_[k] = to;
      }
    });
  }

  // All that a Schur complement touches is below its first column, and its columns stand in a row.
  void find_tree() {
    parent_ = Array<Index>(n_, -1);
    Array<Index> ancestor(n_, -1);
    for (std::int64_t k = 0; k < n_; ++k) {
      const auto target = static_cast<Index>(std::min(k, factored_));
      for (std::int64_t e = start_[k]; e < end_[k]; ++e) {
        Index at = earlier_[e];
        for (Index next; (next = ancestor[at]) != target; at = next) {
          ancestor[at] = target;
          if (next >= 0) continue;
          parent_[at] = target;
          break;
        }
      }
    }
    for (std::int64_t k = factored_; k + 1 < n_; ++k) parent_[k] = static_cast<Index>(k + 1);
  }

  // place_[v]: the number of v in a postorder of the tree. weights: the child of most weight comes last.
  void postorder(const Index *weights) {
    Array<Index> size(n_, 1), last(n_, -1), cursor(n_);
    for (Index v = 0; v < n_; ++v) {
      const Index p = parent_[v];
      if (p < 0) continue;
      size[p] += size[v];
      if (last[p] < 0 || !weights || weights[v] >= weights[last[p]]) last[p] = v;
    }
    place_ = Array<Index>(n_);
    auto free_end = static_cast<Index>(n_);
    for (auto v = static_cast<Index>(n_ - 1); v >= 0; --v) {  // cursor: what is free below v ends there
      const Index p = parent_[v];
      if (p < 0)
        place_[v] = free_end - 1, free_end -= size[v];
      else if (last[p] != v)
        place_[v] = cursor[p] - 1, cursor[p] -= size[v];
      cursor[v] = place_[v];
      if (const Index heaviest = last[v]; heaviest >= 0) place_[heaviest] = cursor[v] - 1, cursor[v] -= size[heaviest];
    }
  }

  // Tree and entries as the postorder numbers them, then the counts, in the numbers of the order.
  void count() {
    Array<Index> parent(n_), first(n_), delta(n_, 1), from(n_);
    for (Index v = 0; v < n_; ++v) {
      from[place_[v]] = v;
      parent[place_[v]] = parent_[v] < 0 ? -1 : place_[parent_[v]];
    }
    std::iota(first.begin(), first.end(), 0);
    for (Index v = 0; v < n_; ++v)
      if (const Index p = parent[v]; p >= 0) first[p] = std::min(first[p], first[v]);
    for (Index v = 0; v < n_; ++v)
      if (first[v] != v) delta[v] = 0;
    for (Index v = 0; v < n_; ++v)
      if (parent[v] >= 0) --delta[parent[v]];
    count_rows(Ancestors(parent, first), first, from, delta);
    for (Index v = 0; v < n_; ++v)
      if (parent[v] >= 0) delta[parent[v]] += delta[v];
    counts_ = Array<Index>(n_);
    for (Index v = 0; v < n_; ++v) counts_[from[v]] = delta[v];
    for (std::int64_t v = factored_; v < n_; ++v) counts_[v] = static_cast<Index>(n_ - v);
  }

  void count_rows(const Ancestors &ancestors, const Array<Index> &first, const Array<Index> &from,
                  Array<Index> &delta) {
    const auto add = [&](Index v, Index by) { std::atomic_ref(delta[v]).fetch_add(by, std::memory_order_relaxed); };
    for_ranges(n_, threads_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        Index *const row = earlier_.data() + start_[from[i]], *const row_end = earlier_.data() + end_[from[i]];
        for (Index *each = row; each < row_end; ++each) *each = place_[*each];
        std::sort(row, row_end);
        Index before = -1, leaf = -1;
        for (const Index *each = row; each < row_end; ++each) {
          const Index j = *each;
          if (first[j] > before) {  // nothing of the row below j
            add(j, 1);
            if (leaf >= 0) add(ancestors.common(leaf, j), -1);
            leaf = j;
          }
          before = j;
        }
      }
    });
  }

  void finish() {
    out_.perm = Array<Index>(n_), out_.parent = Array<Index>(n_), out_.counts = Array<Index>(n_);
    out_.inverse = std::move(inverse_);
    for (Index v = 0; v < n_; ++v) {
      const Index at = place_[v];
      out_.perm[at] = order_[v];
      out_.inverse[order_[v]] = at;
      out_.parent[at] = parent_[v] < 0 ? -1 : place_[parent_[v]];
      out_.counts[at] = counts_[v];
    }
    for (std::int64_t v = 0; v < n_; ++v) {
      const std::int64_t count = out_.counts[v];
      out_.nnz_l += count;
      if (v < factored_) out_.flops += static_cast<double>(count) * static_cast<double>(count);
    }
  }

  const Graph &graph_;
  const std::int64_t n_, factored_;
  const int threads_;
  const Index *order_ = nullptr;
  Array<Index> inverse_, earlier_, parent_, place_, counts_;
  Array<std::int64_t> start_, end_;
  Elimination out_;
};

}  // namespace

Elimination eliminate(const Graph &graph, std::span<const std::int32_t> order, std::int64_t n_schur, int threads) {
  require(n_schur >= 0 && n_schur <= graph.n, SXT_E_ARGUMENT, "a Schur complement of ", n_schur, " columns of ",
          graph.n);
  return Eliminator(graph, order, n_schur, threads).run();
}

}  // namespace sextant::cholesky
