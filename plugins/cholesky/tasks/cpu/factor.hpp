// SPDX-License-Identifier: BSD-3-Clause
// The factorisation, multifrontal: a front is a supernode's block in the factor and a square block of what it
// contributes to its parent. Children are added in their order, so that the bits are the same on any number of threads.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "dense_calls.hpp"
#include "graph.hpp"
#include "narrow.hpp"
#include "plan.hpp"

namespace sextant_cholesky_tasks {

// What one caller's factorisations work in.
struct FactorSpace {
  std::byte *kept = nullptr;      // Plan::kept_values numbers
  std::byte *stacks = nullptr;    // Plan::stack_values numbers a thread
  std::uint8_t *marks = nullptr;  // n a thread that has sets of its own: pivots that were changed
  Key *keys = nullptr;            // units + tiles
  Index *children_left = nullptr, *tiles_left = nullptr;  // of a unit
  std::uint16_t *stage = nullptr;                         // of a tile; the top bit: in the queue or running
  Index *columns_done = nullptr;                          // of a row tile
};

// One set of values: where they are and what becomes of them.
template <class T>
struct FactorCall {
  const void *values;
  bool half;  // values are of half the precision
  T *l;
  PivotRule rule;
  std::uint8_t *marks;
  sxt_value_type type;
  DenseParts parts;
};

template <class T>
struct HalfOf {
  using type = float;
};
template <>
struct HalfOf<std::complex<float>> {
  using type = std::complex<float>;
};
template <>
struct HalfOf<std::complex<double>> {
  using type = std::complex<float>;
};

template <class T>
class Factorisation {
 public:
  static constexpr std::int64_t none = INT64_MAX;

  Factorisation(const Plan &plan, const FactorSpace &space, const FactorCall<T> &call, const sxt_exec &exec)
      : plan_(plan), space_(space), call_(call), exec_(exec) {
    exec_.threads = 1;
  }

  // On a team; false where it was cancelled.
  bool run(int threads) {
    Graph<Factorisation> graph(*this, space_.keys, exec_.cancel);
    return graph.run(threads);
  }
  // All units on one thread, with the stack of `rank`; only where no unit waits for another's tiles.
  void run_alone(int rank) {
    for (std::size_t u = 0; u < plan_.units.size(); ++u) run_range(plan_.units[u], rank);
  }
  // The first column that failed, or `none`, and its pivot.
  std::int64_t failed_column() const { return failed_.load(std::memory_order_relaxed); }
  double failed_pivot() const {
    const std::int64_t j = failed_column(), p = super_of(j), c = j - plan_.s.super_ptr[p];
    return static_cast<double>(std::real(front(p).data[c * (plan_.rows(p) + 1)]));
  }
  bool saw_bad_value() const { return bad_value_.load(std::memory_order_relaxed); }
  sxt_status status() const { return status_.load(std::memory_order_relaxed); }

  // ---- for Graph
  void start(Queue &queue);
  void run(Key key, int rank);
  bool finish(Key key, Queue &queue);

 private:
  static constexpr std::uint16_t queued = 0x8000;

  std::int64_t super_of(std::int64_t column) const {
    return std::upper_bound(plan_.s.super_ptr, plan_.s.super_ptr + plan_.s.n_super + 1, column) - plan_.s.super_ptr - 1;
  }
  Block<T> front(std::int64_t p) const { return {call_.l + plan_.s.value_ptr[p], plan_.rows(p)}; }
  T *kept(std::int64_t p) const { return reinterpret_cast<T *>(space_.kept) + plan_.kept_at[p]; }
  Diagonal<T> weights(Block<T> diagonal_block) const {
    return call_.rule.definite ? Diagonal<T>{} : Diagonal<T>{diagonal_block.data, diagonal_block.ld + 1};
  }
  bool is_beyond_failure(std::int64_t column) const { return column > failed_.load(std::memory_order_relaxed); }
  void fail(std::int64_t column) {
    std::int64_t before = failed_.load(std::memory_order_relaxed);
    while (column < before && !failed_.compare_exchange_weak(before, column, std::memory_order_relaxed)) {
    }
  }
  void keep(sxt_status status) {
    if (status != SXT_OK) status_.store(status, std::memory_order_relaxed);
  }

  void run_range(const Unit &unit, int rank);
  void factor_front(std::int64_t p, T *block, Dense<T> &dense);
  void put_entries(std::int64_t p, T *to);
  void add_child(std::int64_t c, const T *from, std::int64_t p, T *block);
  T value_at(std::int64_t k, bool conjugated);

  // Tiled fronts.
  void push_if_ready(std::int64_t unit, const Tiling &t, std::int64_t i, std::int64_t j, Queue &queue);
  bool is_ready(const Tiling &t, std::int64_t i, std::int64_t j, std::uint16_t stage) const;
  std::uint16_t stages(const Tiling &t, std::int64_t j) const;
  void run_tile(std::int64_t p, const Tiling &t, std::int64_t i, std::int64_t j, std::uint16_t stage);
  void assemble_tile(std::int64_t p, const Tiling &t, std::int64_t i, std::int64_t j);
  void update_tile(std::int64_t p, const Tiling &t, std::int64_t i, std::int64_t j, std::int64_t first,
                   std::int64_t last, Dense<T> &dense);
  void close_tile(std::int64_t p, const Tiling &t, std::int64_t i, std::int64_t j, Dense<T> &dense);
  Block<T> tile(std::int64_t p, const Tiling &t, std::int64_t i, std::int64_t j) const;
  void activate(std::int64_t unit, Queue &queue);

  const Plan &plan_;
  const FactorSpace &space_;
  const FactorCall<T> call_;
  sxt_exec exec_;
  std::int64_t units_left_ = 0;
  std::atomic<std::int64_t> failed_{none};
  std::atomic<bool> bad_value_{false};
  std::atomic<sxt_status> status_{SXT_OK};
};

// ---- one front on one thread

template <class T>
T Factorisation<T>::value_at(std::int64_t k, bool conjugated) {
  T value;
  if (call_.half)
    value = static_cast<T>(static_cast<const typename HalfOf<T>::type *>(call_.values)[k]);
  else
    value = static_cast<const T *>(call_.values)[k];
  if (!std::isfinite(std::real(value)) || !std::isfinite(std::imag(value)))
    bad_value_.store(true, std::memory_order_relaxed);
  return conjugated ? sextant::plugin::conjugate(value) : value;
}

template <class T>
void Factorisation<T>::put_entries(std::int64_t p, T *to) {
  plan_.for_entries(p,
                    [&](std::int64_t place, std::int64_t k, bool conjugated) { to[place] = value_at(k, conjugated); });
}

// One column of a child's block from row i on, in runs of neighbours.
template <class T>
inline void add_runs(const T *from, const Index *relative, const Index *run_end, std::int64_t i, std::int64_t end,
                     T *to) {
  while (i < end) {
    const std::int64_t stop = std::min<std::int64_t>(run_end[i], end);
    T *out = to + relative[i];
    for (; i < stop; ++i) *out++ += from[i];
  }
}

template <class T>
void Factorisation<T>::add_child(std::int64_t c, const T *from, std::int64_t p, T *block) {
  const std::int64_t size = plan_.below(c), width = plan_.width(p), ld = plan_.below(p);
  const Index *relative = plan_.relative(c), *run_end = plan_.run_end(c);
  const Block<T> own = front(p);
  for (std::int64_t j = 0; j < size; ++j, from += size) {
    const std::int64_t column = relative[j];
    T *const to = column < width ? own.data + column * own.ld : block + (column - width) * ld - width;
    add_runs(from, relative, run_end, j, size, to);
  }
}

template <class T>
void Factorisation<T>::factor_front(std::int64_t p, T *block, Dense<T> &dense) {
  const std::int64_t width = plan_.width(p), below = plan_.below(p), first = plan_.s.super_ptr[p];
  if (!plan_.factored(p)) return;
  const Block<T> own = front(p), under = own.at(width, 0);
  std::uint8_t *const marks = call_.marks ? call_.marks + first : nullptr;
  if (width == 1 && below <= narrow_factor_rows) {
    if (!factor_column(own.data, below, call_.rule, marks, block)) fail(first);
    return;
  }
  if (const std::int32_t info = dense.factor(own, width, call_.rule, marks)) return fail(first + info - 1);
  if (below == 0) return;
  dense.trsm(own, under, below, width, weights(own));
  dense.syrk(under, {block, below}, below, width, weights(own));
}

template <class T>
void Factorisation<T>::run_range(const Unit &unit, int rank) {
  Dense<T> dense(call_.parts, call_.type, !call_.rule.definite, exec_);
  T *const stack = reinterpret_cast<T *>(space_.stacks) + rank * plan_.stack_values;
  T *left = stack, *right = stack + plan_.stack_values;
  for (std::int64_t p = unit.first; p <= unit.last; ++p) {
    const std::int64_t below = plan_.below(p), size = below * below;
    const bool on_right = plan_.on_right[p] != 0;
    T *block;
    if (plan_.is_kept(p))
      block = kept(p);
    else if (on_right)
      block = right -= size;
    else
      block = left, left += size;
    const bool skip = is_beyond_failure(plan_.s.super_ptr[p]);
    if (!skip) {
      T *const own = front(p).data;
      std::memset(static_cast<void *>(own), 0, static_cast<std::size_t>(plan_.width(p) * plan_.rows(p)) * sizeof(T));
      put_entries(p, own);
      for (std::int64_t j = 0; j < below; ++j)
        std::memset(static_cast<void *>(block + j * (below + 1)), 0, static_cast<std::size_t>(below - j) * sizeof(T));
    }
    // The children's blocks are the last ones at the other end, the last child's at the tip.
    std::int64_t alive = 0;
    for (Index c = plan_.first_child[p]; c >= 0; c = plan_.next_child[c])
      if (!plan_.is_kept(c)) alive += plan_.below(c) * plan_.below(c);
    T *next = on_right ? left - alive : right + alive;
    for (Index c = plan_.first_child[p]; c >= 0; c = plan_.next_child[c]) {
      const std::int64_t count = plan_.below(c) * plan_.below(c);
      const T *from = nullptr;
      if (plan_.is_kept(c))
        from = kept(c);
      else
        from = on_right ? next : next - count, next += on_right ? count : -count;
      if (!skip) add_child(c, from, p, block);
    }
    (on_right ? left : right) += on_right ? -alive : alive;
    if (!skip) factor_front(p, block, dense);
  }
  keep(dense.status());
}

}  // namespace sextant_cholesky_tasks
