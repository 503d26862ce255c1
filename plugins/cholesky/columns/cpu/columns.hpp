// SPDX-License-Identifier: BSD-3-Clause
// A left-looking factorisation on one thread, its solves, and the entries of the inverse. Where a supernode has a
// column or two, what it costs beside its arithmetic decides: here a pair of supernodes costs one step of a list, and
// nothing is assembled or copied.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sextant/sdk/cholesky.hpp"

namespace sextant_cholesky_columns {

using namespace sextant::plugin;
using sextant_cholesky::Failure;
using sextant_dense::Pivot;
using sextant_dense::PivotRule;
using Index = std::int32_t;

// One supernode: columns first .. first + width - 1, `height` rows, its own columns first.
struct Panel {
  Panel(const sxt_symbolic &s, std::int64_t p)
      : first(s.super_ptr[p]),
        width(s.super_ptr[p + 1] - first),
        height(s.row_ptr[p + 1] - s.row_ptr[p]),
        values(s.value_ptr[p]),
        rows(s.rows + s.row_ptr[p]) {}
  std::int64_t first, width, height, values;
  const Index *rows;
};

// Which supernode owns each column.
inline void find_owners(const sxt_symbolic &s, Index *owner) {
  for (std::int64_t p = 0; p < s.n_super; ++p)
    std::fill(owner + s.super_ptr[p], owner + s.super_ptr[p + 1], static_cast<Index>(p));
}

// Memory of a factorisation. A supernode stands in the list of the one that owns its next row.
struct Lists {
  Index *place;  // n: where a row of the supernode at hand lies in it
  Index *head;   // n_super: of those whose next row a supernode owns; -1: none
  Index *next;   // n_super
  Index *at;     // n_super: the next row, counted in its rows
};

// changed(j) is told columns whose pivots the rule changed, in their order. False where cancelled() was true; failure
// says how it ended otherwise. l: A's values, scattered.
template <class T>
class Factor {
 public:
  Factor(const sxt_symbolic &s, const Index *owner, const Lists &lists, const PivotRule &rule, T *l)
      : s_(s), owner_(owner), lists_(lists), rule_(rule), l_(l) {}

  template <class Changed, class Cancelled>
  bool run(Changed &&changed, Cancelled &&cancelled, Failure &failure) {
    std::fill(lists_.head, lists_.head + s_.n_super, -1);
    for (std::int64_t p = 0; p < s_.n_super; ++p) {
      if (cancelled()) return false;
      const Panel panel(s_, p);
      for (std::int64_t i = 0; i < panel.height; ++i) lists_.place[panel.rows[i]] = static_cast<Index>(i);
      update(p, panel);
      if (panel.first >= s_.n_factored) continue;  // of a Schur complement: only updated
      failure = eliminate(panel, changed);
      if (failure.column >= 0) return true;
      lists_.at[p] = static_cast<Index>(panel.width);
      put(p, panel);
    }
    return true;
  }

 private:
  using R = real_of<T>;

  void put(std::int64_t d, const Panel &panel) const {
    if (lists_.at[d] >= panel.height) return;
    const Index owner = owner_[panel.rows[lists_.at[d]]];
    lists_.next[d] = lists_.head[owner];
    lists_.head[owner] = static_cast<Index>(d);
  }

  // Takes off all that earlier supernodes contribute to this one.
  void update(std::int64_t p, const Panel &panel) const {
    for (Index d = lists_.head[p]; d >= 0;) {
      const Index after = lists_.next[d];
      const Panel from(s_, d);
      std::int64_t a = lists_.at[d];
      for (; a < from.height && from.rows[a] < panel.first + panel.width; ++a) take_off(from, a, panel);
      lists_.at[d] = static_cast<Index>(a);
      put(d, from);
      d = after;
    }
  }

  // Row a of `from` is a column of `panel`.
  void take_off(const Panel &from, std::int64_t a, const Panel &panel) const {
    T *const target = l_ + panel.values + (from.rows[a] - panel.first) * panel.height;
    for (std::int64_t t = 0; t < from.width; ++t) {
      const T *const column = l_ + from.values + t * from.height;
      const T factor = conjugate(column[a]) * (rule_.definite ? R(1) : std::real(column[t]));
      for (std::int64_t i = a; i < from.height; ++i) target[lists_.place[from.rows[i]]] -= product(column[i], factor);
    }
  }

  template <class Changed>
  Failure eliminate(const Panel &panel, Changed &changed) const {
    T *const block = l_ + panel.values;
    for (std::int64_t t = 0; t < panel.width; ++t) {
      T *const column = block + t * panel.height;
      R pivot = std::real(column[t]);
      const Pivot verdict = sextant_dense::judge(rule_, pivot);
      if (verdict == Pivot::failed) return {panel.first + t, static_cast<double>(pivot)};
      if (verdict == Pivot::changed) changed(panel.first + t);
      const R diagonal = rule_.definite ? std::sqrt(pivot) : pivot, weight = rule_.definite ? R(1) : pivot;
      column[t] = diagonal;
      for (std::int64_t i = t + 1; i < panel.height; ++i) column[i] /= diagonal;
      for (std::int64_t u = t + 1; u < panel.width; ++u) {
        const T factor = conjugate(column[u]) * weight;
        T *const other = block + u * panel.height;
        for (std::int64_t i = u; i < panel.height; ++i) other[i] -= product(column[i], factor);
      }
    }
    return {};
  }

  const sxt_symbolic &s_;
  const Index *owner_;
  const Lists &lists_;
  const PivotRule &rule_;
  T *l_;
};

// Right-hand sides that are solved for at once stand across: number c of row k at x[k * K + c].

// x(rows below the panel) -= the panel's columns t .. t + G - 1 times x there.
template <class T, int K, int G>
void take_off_below(const Panel &panel, const T *l, std::int64_t t, T *x) {
  const T *const column = l + panel.values + t * panel.height;
  T own[G * K];
  std::copy_n(x + (panel.first + t) * K, G * K, own);
  for (std::int64_t i = panel.width; i < panel.height; ++i) {
    T *const other = x + std::int64_t{panel.rows[i]} * K;
    for (int c = 0; c < K; ++c) {
      T sum = product(column[i], own[c]);
      for (int g = 1; g < G; ++g) sum += product(column[g * panel.height + i], own[g * K + c]);
      other[c] -= sum;
    }
  }
}

// x(columns t .. t + G - 1) -= the panel's conjugate transpose there times x below.
template <class T, int K, int G>
void gather_below(const Panel &panel, const T *l, std::int64_t t, T *x) {
  const T *const column = l + panel.values + t * panel.height;
  T sums[G * K] = {};
  for (std::int64_t i = panel.width; i < panel.height; ++i) {
    const T *const other = x + std::int64_t{panel.rows[i]} * K;
    for (int g = 0; g < G; ++g)
      for (int c = 0; c < K; ++c) sums[g * K + c] += product(conjugate(column[g * panel.height + i]), other[c]);
  }
  for (int k = 0; k < G * K; ++k) x[(panel.first + t) * K + k] -= sums[k];
}

// Four columns at a time share the passes over x, of one right-hand side; sums of more do not fit registers.
template <int K, class Four, class One>
void in_fours(std::int64_t width, Four &&four, One &&one) {
  std::int64_t t = 0;
  if constexpr (K == 1)
    for (; t + 4 <= width; t += 4) four(t);
  for (; t < width; ++t) one(t);
}

// What a column's number is multiplied by where its diagonal entry divides. A square root has a reciprocal in the range
// of its type; and it is there before the number that waits for the columns before: a chain of divisions would decide.
template <class T>
real_of<T> reciprocal(const T &diagonal, bool unit) {
  return unit ? real_of<T>(1) : real_of<T>(1) / std::real(diagonal);
}

// A supernode of one column: the usual one where there is hardly any fill.
template <class T, int K>
void forward_column(const Panel &panel, const T *l, bool unit, T *x) {
  const T *const column = l + panel.values;
  const real_of<T> scale = reciprocal(column[0], unit);
  T own[K];
  for (int c = 0; c < K; ++c) x[panel.first * K + c] = own[c] = x[panel.first * K + c] * scale;
  for (std::int64_t i = 1; i < panel.height; ++i) {
    T *const other = x + std::int64_t{panel.rows[i]} * K;
    for (int c = 0; c < K; ++c) other[c] -= product(column[i], own[c]);
  }
}

template <class T, int K>
void backward_column(const Panel &panel, const T *l, bool unit, T *x) {
  const T *const column = l + panel.values;
  const real_of<T> scale = reciprocal(column[0], unit);
  T own[K];
  std::copy_n(x + panel.first * K, K, own);
  for (std::int64_t i = 1; i < panel.height; ++i) {
    const T *const other = x + std::int64_t{panel.rows[i]} * K;
    const T entry = conjugate(column[i]);
    for (int c = 0; c < K; ++c) own[c] -= product(entry, other[c]);
  }
  for (int c = 0; c < K; ++c) x[panel.first * K + c] = own[c] * scale;
}

template <class T, int K>
void forward(const sxt_symbolic &s, const T *l, bool unit, T *x) {
  for (std::int64_t p = 0; p < s.n_super; ++p) {
    const Panel panel(s, p);
    if (panel.first >= s.n_factored) break;
    if (panel.width == 1) {
      forward_column<T, K>(panel, l, unit, x);
      continue;
    }
    T *const own = x + panel.first * K;
    for (std::int64_t t = 0; t < panel.width; ++t) {
      const T *const column = l + panel.values + t * panel.height;
      const real_of<T> scale = reciprocal(column[t], unit);
      for (int c = 0; c < K; ++c) own[t * K + c] *= scale;
      for (std::int64_t i = t + 1; i < panel.width; ++i)
        for (int c = 0; c < K; ++c) own[i * K + c] -= product(column[i], own[t * K + c]);
    }
    in_fours<K>(
        panel.width, [&](std::int64_t t) { take_off_below<T, K, 4>(panel, l, t, x); },
        [&](std::int64_t t) { take_off_below<T, K, 1>(panel, l, t, x); });
  }
}

template <class T, int K>
void backward(const sxt_symbolic &s, const T *l, bool unit, T *x) {
  for (std::int64_t p = s.n_super; p-- > 0;) {
    const Panel panel(s, p);
    if (panel.first >= s.n_factored) continue;
    if (panel.width == 1) {
      backward_column<T, K>(panel, l, unit, x);
      continue;
    }
    in_fours<K>(
        panel.width, [&](std::int64_t t) { gather_below<T, K, 4>(panel, l, t, x); },
        [&](std::int64_t t) { gather_below<T, K, 1>(panel, l, t, x); });
    T *const own = x + panel.first * K;
    for (std::int64_t t = panel.width; t-- > 0;) {
      const T *const column = l + panel.values + t * panel.height;
      const real_of<T> scale = reciprocal(column[t], unit);
      for (int c = 0; c < K; ++c) {
        T sum = own[t * K + c];
        for (std::int64_t i = t + 1; i < panel.width; ++i) sum -= product(conjugate(column[i]), own[i * K + c]);
        own[t * K + c] = sum * scale;
      }
    }
  }
}

template <class T, int K>
void divide_by_pivots(const sxt_symbolic &s, const T *l, T *x) {
  for (std::int64_t p = 0; p < s.n_super; ++p) {
    const Panel panel(s, p);
    for (std::int64_t t = 0; t < panel.width && panel.first + t < s.n_factored; ++t)
      for (int c = 0; c < K; ++c) x[(panel.first + t) * K + c] /= std::real(l[panel.values + t * (panel.height + 1)]);
  }
}

// Z = A^-1 where L has entries, from the last column back: with L scaled to a unit diagonal, Z L = L^-H D^-1
// (K. Takahashi, J. Fagan, M.-S. Chen, 1973; A. M. Erisman and W. F. Tinney, 1975). The entries of Z that a column
// needs stand in columns of supernodes whose rows hold all of that column's: one walk each finds them. sums: max_rows
// numbers.
template <class T>
class Inverse {
 public:
  Inverse(const sxt_symbolic &s, const Index *owner, const T *l, bool unit, T *z, T *sums)
      : s_(s), owner_(owner), l_(l), z_(z), sums_(sums), unit_(unit) {}

  template <class Cancelled>
  bool run(Cancelled &&cancelled) const {
    for (std::int64_t p = s_.n_super; p-- > 0;) {
      if (cancelled()) return false;
      const Panel panel(s_, p);
      for (std::int64_t t = panel.width; t-- > 0;) column(panel, t);
    }
    return true;
  }

 private:
  using R = real_of<T>;

  void column(const Panel &panel, std::int64_t t) const {
    const T *const own = l_ + panel.values + t * panel.height;
    T *const out = z_ + panel.values + t * panel.height;
    const R pivot = std::real(own[t]), scale = unit_ ? R(1) : pivot;
    std::fill(sums_ + t + 1, sums_ + panel.height, T(0));
    for (std::int64_t b = t + 1; b < panel.height; ++b) multiply(panel, b, own, scale);
    T diagonal = unit_ ? R(1) / pivot : R(1) / pivot / pivot;
    for (std::int64_t a = t + 1; a < panel.height; ++a) {
      out[a] = -sums_[a];
      diagonal -= conjugate(out[a]) * (own[a] / scale);
    }
    out[t] = std::real(diagonal);
  }

  // sums += Z(:, row b) l(b), and its mirror image.
  void multiply(const Panel &panel, std::int64_t b, const T *own, R scale) const {
    const Panel from(s_, owner_[panel.rows[b]]);
    const T *const z = z_ + from.values + (panel.rows[b] - from.first) * from.height;
    std::int64_t at = panel.rows[b] - from.first;
    const T weight = own[b] / scale;
    sums_[b] += z[at] * weight;
    for (std::int64_t a = b + 1; a < panel.height; ++a) {
      while (from.rows[at] < panel.rows[a]) ++at;
      sums_[a] += z[at] * weight;
      sums_[b] += conjugate(z[at]) * (own[a] / scale);
    }
  }

  const sxt_symbolic &s_;
  const Index *owner_;
  const T *l_;
  T *z_, *sums_;
  bool unit_;
};

}  // namespace sextant_cholesky_columns
