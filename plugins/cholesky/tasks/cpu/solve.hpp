// SPDX-License-Identifier: BSD-3-Clause
// Solves with a few right-hand sides at once, up and down the same tree. Going up, a unit adds what it takes off rows
// of others to numbers of its own behind the vector, which the parent collects in the order of its children; going down
// it only reads what stands above. Large fronts are cut in block columns and rows as for the factorisation.
//
// One or two right-hand sides stand in columns. More stand across, as the rows of X^H, so that what belongs to one row
// of L lies together and kernels work along the right-hand sides: L^-1 X is then X^H L^-H.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "dense_calls.hpp"
#include "graph.hpp"
#include "narrow.hpp"
#include "plan.hpp"

namespace sextant_cholesky_tasks {

// What one caller's solves work in.
struct SolveSpace {
  std::byte *x = nullptr;     // (n + Plan::kept_rows) numbers a column
  std::byte *rows = nullptr;  // Plan::stack_rows numbers a column and thread
  Key *keys = nullptr;        // units + row tiles
  Index *waiting = nullptr;   // of a unit: what must be done before
  Index *next = nullptr;      // of a row tile: the block it takes next; busy: it is in the queue or running
  std::uint8_t *busy = nullptr;
  Index *solved = nullptr;  // of a tiled unit: block columns; [1]: tiles that are not done
};

template <class T>
struct SolveCall {
  const T *l;
  T *b;
  std::int64_t ldb, columns;
  std::int32_t phase;
  bool unit;  // L D L^H
  sxt_value_type type;
  DenseParts parts;
};

template <class T>
class Solve {
 public:
  Solve(const Plan &plan, const SolveSpace &space, const SolveCall<T> &call, const sxt_exec &exec)
      : plan_(plan),
        space_(space),
        call_(call),
        exec_(exec),
        x_(reinterpret_cast<T *>(space.x)),
        across_(call.columns > 2),
        ld_(across_ ? call.columns : plan.s.n + plan.kept_rows) {
    exec_.threads = 1;
  }

  // On a team; false where it was cancelled, and b may then hold anything.
  bool run(int threads) {
    const std::int32_t phase = call_.phase;
    const bool whole = phase == SXT_CHOLESKY_SOLVE;
    if (!whole && phase != SXT_CHOLESKY_FORWARD)
      in_parts(threads, [&](std::int64_t begin, std::int64_t end) { take_columns(begin, end, false); });
    if (whole || phase == SXT_CHOLESKY_FORWARD) {
      up_ = true;
      if (!Graph<Solve>(*this, space_.keys, exec_.cancel).run(threads)) return false;
    }
    if (phase == SXT_CHOLESKY_DIAGONAL && call_.unit) divide_all(threads);
    if (whole || phase == SXT_CHOLESKY_BACKWARD) {
      up_ = false;
      return Graph<Solve>(*this, space_.keys, exec_.cancel).run(threads);
    }
    in_parts(threads, [&](std::int64_t begin, std::int64_t end) { put_columns(begin, end, false); });
    return true;
  }
  sxt_status status() const { return status_.load(std::memory_order_relaxed); }

  // ---- for Graph
  void start(Queue &queue);
  void run(Key key, int rank);
  bool finish(Key key, Queue &queue);

 private:
  static constexpr std::int64_t assembly = 0xfffff;  // the row of a tiled unit's first task

  Block<const T> front(std::int64_t p) const { return {call_.l + plan_.s.value_ptr[p], plan_.rows(p)}; }
  static Block<T> writable(Block<const T> b) { return {const_cast<T *>(b.data), b.ld}; }  // read only, by kernels
  // Rows k .. of a block of right-hand sides.
  Block<T> from_row(Block<T> b, std::int64_t k) const { return across_ ? b.at(0, k) : b.at(k, 0); }
  Block<T> own(std::int64_t p) const { return from_row({x_, ld_}, plan_.s.super_ptr[p]); }
  Block<T> gathered(std::int64_t p) const { return from_row({x_, ld_}, plan_.s.n + plan_.gathered_at(p)); }
  Block<T> temporary(int rank) const {
    const std::int64_t rows = plan_.stack_rows;
    return {reinterpret_cast<T *>(space_.rows) + rank * rows * call_.columns, across_ ? call_.columns : rows};
  }
  void clear(Block<T> b, std::int64_t rows) const {
    const std::int64_t lines = across_ ? rows : call_.columns, each = across_ ? call_.columns : rows;
    for (std::int64_t c = 0; c < lines; ++c)
      std::memset(static_cast<void *>(b.data + c * b.ld), 0, static_cast<std::size_t>(each) * sizeof(T));
  }
  // f(place in `to`, place in `from`) for row i of one block and row k of another, of each right-hand side.
  template <class F>
  void for_columns(Block<T> to, std::int64_t i, Block<T> from, std::int64_t k, F &&f) const {
    T *const a = from_row(to, i).data, *const b = from_row(from, k).data;
    const std::int64_t step_a = across_ ? 1 : to.ld, step_b = across_ ? 1 : from.ld;
    for (std::int64_t c = 0; c < call_.columns; ++c) f(a[c * step_a], b[c * step_b]);
  }

  // The four steps of a solve with a block of L.
  void forward_with(Dense<T> &dense, Block<T> l, Block<T> x, std::int64_t n) const {
    across_ ? dense.trsm(l, x, call_.columns, n, {}) : dense.forward(l, x, n, call_.columns);
  }
  void backward_with(Dense<T> &dense, Block<T> l, Block<T> x, std::int64_t n) const {
    across_ ? dense.right(l, x, call_.columns, n) : dense.backward(l, x, n, call_.columns);
  }
  // c -= l x for an m x k block; c -= l^H x for a k x m one.
  void subtract(Dense<T> &dense, Block<T> l, Block<T> x, Block<T> c, std::int64_t m, std::int64_t k) const {
    across_ ? dense.gemm(x, l, c, call_.columns, m, k, {}) : dense.product(l, x, c, m, call_.columns, k);
  }
  void subtract_adjoint(Dense<T> &dense, Block<T> l, Block<T> x, Block<T> c, std::int64_t m, std::int64_t k) const {
    across_ ? dense.product(x, l, c, call_.columns, m, k) : dense.product_h(l, x, c, m, call_.columns, k);
  }
  void keep(sxt_status status) {
    if (status != SXT_OK) status_.store(status, std::memory_order_relaxed);
  }
  bool is_tiled(std::int64_t unit) const { return plan_.units[unit].kind == Unit::Kind::tiled; }
  const Tiling &tiling(std::int64_t unit) const { return plan_.tilings[plan_.tiling_of[unit]]; }
  Index *solved(std::int64_t unit) const { return space_.solved + 2 * plan_.tiling_of[unit]; }

  void take_columns(std::int64_t begin, std::int64_t end, bool permuted);
  void put_columns(std::int64_t begin, std::int64_t end, bool permuted);
  template <class F>
  void in_parts(int threads, F &&f);
  void divide_columns(std::int64_t p);
  void divide_all(int threads);
  void collect(std::int64_t p);
  void gather(std::int64_t p, Block<T> to);
  void start_down(std::int64_t p);
  bool is_narrow(std::int64_t p) const { return !across_ && plan_.width(p) * plan_.rows(p) <= narrow_solve_values; }
  NarrowFront<T> narrow(std::int64_t p, std::int64_t c) const {
    return {front(p).data, plan_.width(p), plan_.rows(p), own(p).data + c * ld_, call_.unit};
  }
  void up_narrow(std::int64_t p);
  void down_narrow(std::int64_t p);
  void up(std::int64_t p, Dense<T> &dense, int rank);
  void down(std::int64_t p, Dense<T> &dense, int rank);
  void up_tile(std::int64_t unit, std::int64_t i, Dense<T> &dense);
  void down_tile(std::int64_t unit, std::int64_t j, Dense<T> &dense);
  void push_if_ready(std::int64_t unit, std::int64_t i, Queue &queue);
  Block<T> row_tile(std::int64_t p, const Tiling &t, std::int64_t i) const {
    return i < t.panel ? from_row(own(p), t.begin(i)) : from_row(gathered(p), t.begin(i) - t.width);
  }
  bool is_done(const Tiling &t, std::int64_t i) const;
  bool finish_tile(std::int64_t unit, std::int64_t i, Queue &queue);

  const Plan &plan_;
  const SolveSpace &space_;
  const SolveCall<T> call_;
  sxt_exec exec_;
  T *x_;
  const bool across_;
  const std::int64_t ld_;
  std::int64_t units_left_ = 0;
  bool up_ = true;
  std::atomic<sxt_status> status_{SXT_OK};
};

// ---- between b and the vector

// Element k of the vector of right-hand side c, and what stands there for a number of b.
template <class T>
void Solve<T>::take_columns(std::int64_t begin, std::int64_t end, bool permuted) {
  for (std::int64_t k = begin; k < end; ++k) {
    const T *const from = call_.b + (permuted ? plan_.s.perm[k] : k);
    for (std::int64_t c = 0; c < call_.columns; ++c) {
      if (across_)
        x_[k * ld_ + c] = sextant::plugin::conjugate(from[c * call_.ldb]);
      else
        x_[k + c * ld_] = from[c * call_.ldb];
    }
  }
}
template <class T>
void Solve<T>::put_columns(std::int64_t begin, std::int64_t end, bool permuted) {
  for (std::int64_t k = begin; k < end; ++k) {
    T *const to = call_.b + (permuted ? plan_.s.perm[k] : k);
    for (std::int64_t c = 0; c < call_.columns; ++c) {
      if (across_)
        to[c * call_.ldb] = sextant::plugin::conjugate(x_[k * ld_ + c]);
      else
        to[c * call_.ldb] = x_[k + c * ld_];
    }
  }
}
template <class T>
template <class F>
void Solve<T>::in_parts(int threads, F &&f) {
  sextant::plugin::for_each_part(4 * threads, threads, [&](int part) {
    const sextant::plugin::Range rows = sextant::plugin::part_of(plan_.s.n, 4 * threads, part, 16);
    f(rows.begin, rows.end);
  });
}

template <class T>
void Solve<T>::divide_columns(std::int64_t p) {
  if (!plan_.factored(p)) return;
  const Block<const T> l = front(p);
  for (std::int64_t j = 0; j < plan_.width(p); ++j) {
    const auto pivot =
        std::real(l.data[j * (l.ld + 1)]);  // its reciprocal may leave the range where x / pivot does not
    for_columns(own(p), j, own(p), j, [&](T &x, const T &) { x /= pivot; });
  }
}
template <class T>
void Solve<T>::divide_all(int threads) {
  sextant::plugin::for_each_part(static_cast<int>(plan_.units.size()), threads, [&](int u) {
    for (std::int64_t p = plan_.units[u].first; p <= plan_.units[u].last; ++p) divide_columns(p);
  });
}

// ---- one supernode

// What the children of a front above the ranges have for it and for those above it.
template <class T>
void Solve<T>::collect(std::int64_t p) {
  const std::int64_t width = plan_.width(p);
  clear(gathered(p), plan_.below(p));
  const auto add = [](T &to, const T &from) { to += from; };
  for (Index child = plan_.first_child[p]; child >= 0; child = plan_.next_child[child]) {
    const Index *relative = plan_.relative(child);
    const Block<T> from = gathered(child);
    for (std::int64_t i = 0; i < plan_.below(child); ++i) {
      const bool inside = relative[i] < width;
      for_columns(inside ? own(p) : gathered(p), inside ? relative[i] : relative[i] - width, from, i, add);
    }
  }
}

template <class T>
void Solve<T>::gather(std::int64_t p, Block<T> to) {
  const Index *rows = plan_.below_rows(p);
  const std::int64_t below = plan_.below(p);
  for (std::int64_t c = 0; !across_ && c < call_.columns; ++c)
    for (std::int64_t i = 0; i < below; ++i) to.data[i + c * to.ld] = x_[rows[i] + c * ld_];
  for (std::int64_t i = 0; across_ && i < below; ++i)
    for_columns(to, i, {x_, ld_}, rows[i], [](T &x, const T &y) { x = y; });
}

// Of a tiled front.
template <class T>
void Solve<T>::start_down(std::int64_t p) {
  if (call_.unit && call_.phase == SXT_CHOLESKY_SOLVE) divide_columns(p);
  gather(p, gathered(p));
}

template <class T>
void Solve<T>::up(std::int64_t p, Dense<T> &dense, int rank) {
  if (!plan_.factored(p)) return;
  const std::int64_t width = plan_.width(p), below = plan_.below(p);
  if (is_narrow(p)) return up_narrow(p);
  const Block<T> l = writable(front(p));
  forward_with(dense, l, own(p), width);
  if (plan_.is_kept(p)) {
    subtract(dense, l.at(width, 0), own(p), gathered(p), below, width);
  } else if (below > 0) {
    const Block<T> sums = temporary(rank);
    clear(sums, below);
    subtract(dense, l.at(width, 0), own(p), sums, below, width);
    const Index *targets = plan_.targets(p);
    for (std::int64_t c = 0; !across_ && c < call_.columns; ++c)
      for (std::int64_t i = 0; i < below; ++i) x_[targets[i] + c * ld_] += sums.data[i + c * sums.ld];
    for (std::int64_t i = 0; across_ && i < below; ++i)
      for_columns({x_, ld_}, targets[i], sums, i, [](T &to, const T &from) { to += from; });
  }
  if (call_.unit && call_.phase == SXT_CHOLESKY_SOLVE) divide_columns(p);
}

template <class T>
void Solve<T>::up_narrow(std::int64_t p) {
  const Index *const targets = plan_.is_kept(p) ? nullptr : plan_.targets(p);
  for (std::int64_t c = 0; c < call_.columns; ++c) {
    T *const to = targets ? x_ + c * ld_ : gathered(p).data + c * ld_;
    narrow(p, c).up([&](std::int64_t i, T sum) { to[targets ? targets[i] : i] -= sum; });
  }
  if (call_.unit && call_.phase == SXT_CHOLESKY_SOLVE) divide_columns(p);
}

template <class T>
void Solve<T>::down_narrow(std::int64_t p) {
  const Index *const rows = plan_.below_rows(p);
  for (std::int64_t c = 0; c < call_.columns; ++c)
    narrow(p, c).down([x = x_ + c * ld_, rows](std::int64_t i) { return x[rows[i]]; });
}

template <class T>
void Solve<T>::down(std::int64_t p, Dense<T> &dense, int rank) {
  const std::int64_t width = plan_.width(p), below = plan_.below(p);
  if (plan_.factored(p) && is_narrow(p)) {
    down_narrow(p);
  } else if (plan_.factored(p)) {
    const Block<T> l = writable(front(p)), there = plan_.is_kept(p) ? gathered(p) : temporary(rank);
    gather(p, there);
    subtract_adjoint(dense, l.at(width, 0), there, own(p), width, below);
    backward_with(dense, l, own(p), width);
  }
  put_columns(plan_.s.super_ptr[p], plan_.s.super_ptr[p + 1], true);
}

// ---- the graph

template <class T>
void Solve<T>::start(Queue &queue) {
  units_left_ = static_cast<std::int64_t>(plan_.units.size());
  std::memset(space_.busy, 0, static_cast<std::size_t>(plan_.row_tiles));
  for (std::int64_t u = 0; u < units_left_; ++u) {
    space_.waiting[u] =
        up_ ? plan_.units[u].children : static_cast<Index>(plan_.parents_at[u + 1] - plan_.parents_at[u]);
    if (space_.waiting[u] == 0) queue.push(is_tiled(u) ? key_of(u, 0, assembly) : key_of(u));
  }
}

template <class T>
void Solve<T>::run(Key key, int rank) {
  const std::int64_t u = unit_in(key);
  const Unit &unit = plan_.units[u];
  Dense<T> dense(call_.parts, call_.type, call_.unit, exec_);
  const bool first_task = unit.kind != Unit::Kind::tiled || row_in(key) == assembly;
  if (up_ && first_task) {
    take_columns(plan_.s.super_ptr[unit.first], plan_.s.super_ptr[unit.last + 1], true);
    if (unit.kind != Unit::Kind::range)
      collect(unit.first);
    else
      for (std::int64_t p = unit.first; p <= unit.last; ++p)
        if (plan_.is_kept(p)) clear(gathered(p), plan_.below(p));
  }
  if (unit.kind == Unit::Kind::tiled) {
    if (row_in(key) != assembly)
      up_ ? up_tile(u, row_in(key), dense) : down_tile(u, row_in(key), dense);
    else if (!up_)
      start_down(unit.first);
  } else if (up_) {
    for (std::int64_t p = unit.first; p <= unit.last; ++p) up(p, dense, rank);
  } else {
    for (std::int64_t p = unit.last; p >= unit.first; --p) down(p, dense, rank);
  }
  keep(dense.status());
}

template <class T>
bool Solve<T>::finish(Key key, Queue &queue) {
  const std::int64_t u = unit_in(key);
  if (is_tiled(u) && !finish_tile(u, row_in(key), queue)) return true;
  const auto release = [&](std::int64_t v) {
    if (--space_.waiting[v] == 0) queue.push(is_tiled(v) ? key_of(v, 0, assembly) : key_of(v));
  };
  if (up_) {
    for (std::int64_t k = plan_.parents_at[u]; k < plan_.parents_at[u + 1]; ++k) release(plan_.parents[k]);
  } else {
    for (std::int64_t k = plan_.children_at[u]; k < plan_.children_at[u + 1]; ++k) release(plan_.children[k]);
  }
  return --units_left_ > 0;
}

// ---- large fronts: up, row tile i takes block columns in their order as they are solved, and is solved after the last
// one before it; down, block column j takes row tiles from the last one up.

template <class T>
bool Solve<T>::is_done(const Tiling &t, std::int64_t i) const {
  const Index next = space_.next[t.rows_at + i];
  return up_ ? next == (i < t.panel ? i + 1 : t.panel) : next < i;
}

template <class T>
void Solve<T>::push_if_ready(std::int64_t unit, std::int64_t i, Queue &queue) {
  const Tiling &t = tiling(unit);
  std::uint8_t &busy = space_.busy[t.rows_at + i];
  if (busy || is_done(t, i)) return;  // who works on it writes its next block without the lock
  const Index next = space_.next[t.rows_at + i];
  const std::int64_t known = up_ ? solved(unit)[0] : t.panel - solved(unit)[0];  // blocks below, or from there on
  const bool ready = next == i || (up_ ? next < known : next >= known);
  if (!ready) return;
  busy = 1;
  queue.push(key_of(unit, up_ ? i : t.panel - i, i));
}

// True when the unit is done.
template <class T>
bool Solve<T>::finish_tile(std::int64_t unit, std::int64_t i, Queue &queue) {
  const Tiling &t = tiling(unit);
  Index *const blocks = solved(unit);
  const std::int64_t tiles = up_ ? t.count : t.panel;
  if (i == assembly) {
    __atomic_store_n(&blocks[0], 0, __ATOMIC_RELEASE);
    blocks[1] = static_cast<Index>(tiles);
    for (std::int64_t k = 0; k < tiles; ++k) space_.next[t.rows_at + k] = up_ ? 0 : static_cast<Index>(t.count - 1);
    for (std::int64_t k = 0; k < tiles; ++k) push_if_ready(unit, k, queue);
    return false;
  }
  space_.busy[t.rows_at + i] = 0;
  if (!is_done(t, i)) return push_if_ready(unit, i, queue), false;
  if (i < t.panel) {
    __atomic_fetch_add(&blocks[0], 1, __ATOMIC_RELEASE);
    for (std::int64_t k = 0; k < tiles; ++k) push_if_ready(unit, k, queue);
  }
  return --blocks[1] == 0;
}

template <class T>
void Solve<T>::up_tile(std::int64_t unit, std::int64_t i, Dense<T> &dense) {
  const Tiling &t = tiling(unit);
  const std::int64_t p = plan_.units[unit].first;
  const Block<T> l = writable(front(p));
  const Block<T> to = row_tile(p, t, i);
  Index &next = space_.next[t.rows_at + i];
  const std::int64_t known =
      std::min<std::int64_t>(__atomic_load_n(&solved(unit)[0], __ATOMIC_ACQUIRE), std::min(i, t.panel));
  for (; next < known; ++next)
    subtract(dense, l.at(t.begin(i), t.begin(next)), row_tile(p, t, next), to, t.extent(i), t.extent(next));
  if (next != i || i >= t.panel) return;
  forward_with(dense, l.at(t.begin(i), t.begin(i)), to, t.extent(i));
  ++next;
}

template <class T>
void Solve<T>::down_tile(std::int64_t unit, std::int64_t j, Dense<T> &dense) {
  const Tiling &t = tiling(unit);
  const std::int64_t p = plan_.units[unit].first;
  const Block<T> l = writable(front(p)), to = row_tile(p, t, j);
  Index &next = space_.next[t.rows_at + j];
  const std::int64_t known =
      std::max<std::int64_t>(t.panel - __atomic_load_n(&solved(unit)[0], __ATOMIC_ACQUIRE), j + 1);
  for (; next >= known; --next)
    subtract_adjoint(dense, l.at(t.begin(next), t.begin(j)), row_tile(p, t, next), to, t.extent(j), t.extent(next));
  if (next != j) return;
  backward_with(dense, l.at(t.begin(j), t.begin(j)), to, t.extent(j));
  put_columns(plan_.s.super_ptr[p] + t.begin(j), plan_.s.super_ptr[p] + t.end(j), true);
  --next;
}

}  // namespace sextant_cholesky_tasks
