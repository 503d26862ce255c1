// SPDX-License-Identifier: BSD-3-Clause
// Row code of products with DIA and symmetric DIA, for ISA_SOURCES. A block of rows takes its diagonals in groups: a
// group is one loop that reads and writes y once. Where a diagonal begins or ends inside the block it is added
// separately. A symmetric matrix reads v[i] for the upper entry and v[i - offset] for the lower one; the latter was
// streamed `offset` rows ago and comes from cache, so memory is read once and no thread writes another's rows.
#pragma once

#include "plugins/formats/dia.hpp"
#include "sextant/sdk/cpu/isa_values.hpp"

namespace sextant::plugin::SXT_ISA {

// A diagonal's part in a block: y[i] += v[i] x[i], i counted from the block's first row.
template <class V, class M>
struct DiaTerm {
  const M *v;
  const V *x;
};

// y[i] = beta y[i] + alpha sum_t v_t[i] x_t[i]; without `reading`, y is not read.
template <int N, bool reading, bool conjugated, class V, class M>
void dia_group(int64_t count, V *__restrict y, V beta, V alpha, const DiaTerm<V, M> *terms) {
  DiaTerm<V, M> t[N];
  for (int k = 0; k < N; ++k) t[k] = terms[k];
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    V sum{};
#pragma GCC unroll 8
    for (int k = 0; k < N; ++k) sum = multiply_add<conjugated>(sum, t[k].v[i], t[k].x[i]);
    if constexpr (reading)
      y[i] = multiply_add<false>(times(beta, y[i]), alpha, sum);
    else
      y[i] = times(alpha, sum);
  }
}

// Rows begin .. end-1 of one block of y while its diagonals come in. Which of them cover the block decides the order in
// which a row is summed, so the block matters even where only some of its rows are computed.
template <class V, class M>
class DiaBlock {
 public:
  static constexpr int widest = is_pair<V> ? 4 : 8;

  DiaBlock(const DiaProduct &p, int64_t begin, int64_t end)
      : p_(p),
        begin_(begin),
        count_(end - begin),
        before_(begin % dia_block),
        after_((end + dia_block - 1) / dia_block * dia_block - end),
        y_(static_cast<V *>(p.y) + begin),
        alpha_(from_parts<V>(p.alpha)),
        beta_(from_parts<V>(p.beta)) {}

  void compute() {
    if (p_.unit_diagonal) add_unit();
    if (p_.mirrored) way<true>(true), flush(p_.conjugate_mirrored);
    if (p_.stored) way<false>(true), flush(p_.conjugate_stored);
    if (fresh_) clear();
    // Diagonals that cover the block in part come last, when y holds numbers.
    if (partial_ && p_.mirrored) way<true>(false);
    if (partial_ && p_.stored) way<false>(false);
  }

 private:
  // All diagonals that enter this way and cover the whole block, or those that do not.
  template <bool mirrored>
  void way(bool covering) {
    const bool conjugated = mirrored ? p_.conjugate_mirrored : p_.conjugate_stored;
    // Rows of the result that a diagonal reaches: i + shift must be an element of x.
    const int64_t inputs = mirrored ? p_.rows : p_.cols;
    for (int64_t k = 0; k < p_.diagonals; ++k) {
      // Mirrored ones go backwards, so that columns ascend.
      const int64_t d = mirrored ? p_.diagonals - 1 - k : k;
      const int64_t offset = p_.offsets[d], shift = mirrored ? -offset : offset;
      if (mirrored && p_.stored && offset == 0) continue;  // symmetric: the main diagonal enters once
      int64_t lo = shift < 0 ? -shift - begin_ : -before_, hi = inputs - shift - begin_;
      const bool whole = lo <= -before_ && hi >= block_end();
      if (lo < 0) lo = 0;
      if (hi > count_) hi = count_;
      if (lo >= hi) continue;
      if (!whole) partial_ = true;
      if (whole != covering) continue;
      const M *v = static_cast<const M *>(p_.values) + d * p_.ld + begin_ + (mirrored ? shift : 0);
      const DiaTerm<V, M> term{v + lo, static_cast<const V *>(p_.x) + begin_ + shift + lo};
      if (covering) {
        terms_[n_++] = term;
        if (n_ == widest) flush(conjugated);
      } else {
        add<1, true>(&term, conjugated, y_ + lo, hi - lo, one());
      }
    }
  }

  // Of the block, counted from begin_; the last block ends with y.
  int64_t block_end() const {
    return count_ + after_ < p_.results - begin_ ? count_ + after_ : p_.results - begin_;
  }

  static V one() {
    const double parts[2] = {1, 0};
    return from_parts<V>(parts);
  }

  template <int N, bool reading>
  void add(const DiaTerm<V, M> *terms, bool conjugated, V *y, int64_t count, V beta) {
    if constexpr (is_pair<V>)
      if (conjugated) return dia_group<N, reading, true>(count, y, beta, alpha_, terms);
    dia_group<N, reading, false>(count, y, beta, alpha_, terms);
  }

  template <int N>
  void flush_as(bool conjugated) {
    if (n_ != N) {
      if constexpr (N > 1) flush_as<N - 1>(conjugated);
      return;
    }
    if (fresh_ && is_zero(beta_))
      add<N, false>(terms_, conjugated, y_, count_, V{});
    else
      add<N, true>(terms_, conjugated, y_, count_, fresh_ ? beta_ : one());
    fresh_ = false;
  }
  void flush(bool conjugated) {
    if (n_ > 0) flush_as<widest>(conjugated);
    n_ = 0;
  }

  // y = beta y + alpha x: a diagonal of ones.
  void add_unit() {
    const V *x = static_cast<const V *>(p_.x) + begin_;
    const V alpha = alpha_, beta = beta_;
    V *__restrict y = y_;
    if (is_zero(beta))
#pragma omp simd
      for (int64_t i = 0; i < count_; ++i) y[i] = times(alpha, x[i]);
    else
#pragma omp simd
      for (int64_t i = 0; i < count_; ++i) y[i] = multiply_add<false>(times(beta, y[i]), alpha, x[i]);
    fresh_ = false;
  }
  void clear() {
    if (is_zero(beta_))
      for (int64_t i = 0; i < count_; ++i) y_[i] = V{};
    else
      for (int64_t i = 0; i < count_; ++i) y_[i] = times(beta_, y_[i]);
    fresh_ = false;
  }

  const DiaProduct &p_;
  const int64_t begin_, count_;
  const int64_t before_, after_;  // rows of the block that are not computed
  V *const y_;
  const V alpha_, beta_;
  bool fresh_ = true;     // y does not yet hold beta y
  bool partial_ = false;  // some diagonal covers the block in part
  int n_ = 0;
  DiaTerm<V, M> terms_[widest];
};

// y for rows begin .. end-1, of any blocks.
template <class V, class M>
void dia_rows(const DiaProduct &p, int64_t begin, int64_t end) {
  while (begin < end) {
    const int64_t next = (begin / dia_block + 1) * dia_block, stop = next < end ? next : end;
    DiaBlock<V, M>(p, begin, stop).compute();
    begin = stop;
  }
}

}  // namespace sextant::plugin::SXT_ISA
