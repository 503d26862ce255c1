// SPDX-License-Identifier: BSD-3-Clause
#include "core/cholesky/graph.hpp"

#include <limits>

#include "core/base/types.hpp"
#include "core/cholesky/parallel.hpp"

namespace sextant::cholesky {

namespace {

constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();

template <class I, class O>
class Reader {
 public:
  Reader(const Pattern &pattern, int threads)
      : pattern_(pattern),
        n_(pattern.n),
        threads_(threads),
        row_ptr_(static_cast<const O *>(pattern.row_ptr)),
        col_(static_cast<const I *>(pattern.col)) {}

  Graph read() {
    check_entries();
    graph_.n = n_;
    graph_.row_ptr = Array<std::int64_t>(n_ + 1);
    pattern_.triangles == Triangles::both ? count_rows() : count_both_ways();
    graph_.row_ptr[0] = 0;
    for (std::int64_t i = 0; i < n_; ++i) graph_.row_ptr[i + 1] += graph_.row_ptr[i];
    graph_.col = Array<std::int32_t>(graph_.row_ptr[n_]);
    pattern_.triangles == Triangles::both ? copy_rows() : copy_both_ways();
    return std::move(graph_);
  }

 private:
  // f(column, entry) for the entries of a row.
  template <class F>
  void for_row(std::int64_t i, F &&f) const {
    for (O k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k) f(static_cast<std::int64_t>(col_[k]));
  }
  template <class F>
  void for_rows(F &&f) const {
    for_ranges(n_, threads_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) f(i);
    });
  }

  bool has(std::int64_t i, std::int64_t j) const {
    return std::binary_search(col_ + row_ptr_[i], col_ + row_ptr_[i + 1], static_cast<I>(j));
  }

  // Every entry in the matrix and in a triangle that is given; with both, a mirror image.
  void check_entries() const {
    const bool both = pattern_.triangles == Triangles::both;
    std::atomic<std::int64_t> outside{no_row}, misplaced{no_row}, single{no_row}, more_above{0};
    for_ranges(n_, threads_, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t above = 0;
      for (std::int64_t i = begin; i < end; ++i)
        for_row(i, [&](std::int64_t j) {
          above += (j > i) - (j < i);
          if (j < 0 || j >= n_)
            keep_least(outside, i);
          else if (both ? j < i && !has(j, i) : j != i && (j > i) != (pattern_.triangles == Triangles::upper))
            keep_least(both ? single : misplaced, i);
        });
      more_above.fetch_add(above, std::memory_order_relaxed);
    });
    require(outside == no_row, SXT_E_INDEX, "row ", outside.load(), " has a column outside 0 .. ", n_ - 1);
    require(misplaced == no_row, SXT_E_ARGUMENT, "row ", misplaced.load(), " has an entry ",
            pattern_.triangles == Triangles::upper ? "below" : "above",
            " the diagonal, in the triangle that is said not to be given");
    if (both && (single != no_row || more_above != 0)) tell_single();
  }

  [[noreturn]] void tell_single() const {
    for (std::int64_t i = 0; i < n_; ++i)
      for_row(i, [&](std::int64_t j) {
        require(has(j, i), SXT_E_NOT_SYMMETRIC, "entry (", i, ", ", j, ") has no mirror image (", j, ", ", i,
                ") (counting from 0): a Hermitian matrix has both, or one triangle is given");
      });
    fail(SXT_E_INTERNAL, "an entry without a mirror image was lost");
  }

  void count_rows() {
    for_rows([&](std::int64_t i) {
      std::int64_t count = 0;
      for_row(i, [&](std::int64_t j) { count += j != i; });
      graph_.row_ptr[i + 1] = count;
    });
  }
  void copy_rows() {
    for_rows([&](std::int64_t i) {
      std::int32_t *to = graph_.col.data() + graph_.row_ptr[i];
      for_row(i, [&](std::int64_t j) {
        if (j != i) *to++ = static_cast<std::int32_t>(j);
      });
    });
  }

  void count_both_ways() {
    std::fill(graph_.row_ptr.begin(), graph_.row_ptr.end(), 0);
    for_rows([&](std::int64_t i) {
      for_row(i, [&](std::int64_t j) {
        if (j == i) return;
        std::atomic_ref(graph_.row_ptr[i + 1]).fetch_add(1, std::memory_order_relaxed);
        std::atomic_ref(graph_.row_ptr[j + 1]).fetch_add(1, std::memory_order_relaxed);
      });
    });
  }
  // In any order first, so that threads need not wait for each other.
  void copy_both_ways() {
    Array<std::int64_t> next(n_);
    std::copy(graph_.row_ptr.begin(), graph_.row_ptr.end() - 1, next.begin());
    const auto put = [&](std::int64_t row, std::int64_t neighbour) {
      graph_.col[std::atomic_ref(next[row]).fetch_add(1, std::memory_order_relaxed)] =
          static_cast<std::int32_t>(neighbour);
    };
    for_rows([&](std::int64_t i) {
      for_row(i, [&](std::int64_t j) {
        if (j != i) put(i, j), put(j, i);
      });
    });
    for_rows([&](std::int64_t i) {
      std::int32_t *const col = graph_.col.data();
      std::int32_t *const begin = col + graph_.row_ptr[i], *const end = col + graph_.row_ptr[i + 1];
      if (!std::is_sorted(begin, end)) std::sort(begin, end);
    });
  }

  const Pattern &pattern_;
  const std::int64_t n_;
  const int threads_;
  const O *row_ptr_;
  const I *col_;
  Graph graph_;
};

}  // namespace

Graph make_graph(const Pattern &pattern, int threads) {
  require(pattern.n >= 0, SXT_E_ARGUMENT, "a pattern of ", pattern.n, " rows");
  require(pattern.n < std::numeric_limits<std::int32_t>::max(), SXT_E_NOT_SUPPORTED, "a pattern of ", pattern.n,
          " rows: sparse Cholesky takes up to 2^31 - 2");
  if (pattern.n == 0) return {0, Array<std::int64_t>(1, 0), {}};
  return with_index_type(pattern.index_type, [&](auto index) {
    return with_index_type(pattern.offset_type, [&](auto offset) {
      return Reader<typename decltype(index)::type, typename decltype(offset)::type>(pattern, threads).read();
    });
  });
}

}  // namespace sextant::cholesky
