// SPDX-License-Identifier: BSD-3-Clause
// Cholesky's factorisation and solves of as many systems at once as a vector has lanes, compiled once an instruction
// set. The triangles are interleaved: vector (i, j) holds entry (i, j) of L of every system of the group, so that all
// arithmetic is on whole vectors and no system waits for another. Rows are grouped in blocks of four: block b holds
// columns 0 .. 4 b + 3, the four rows of a column side by side, real and imaginary vectors after one another.
#include "interleaved_table.hpp"

#include "sextant/sdk/cpu/vectors.hpp"

namespace sextant_hermitian_interleaved::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;

#define SXT_WRITTEN_OUT __attribute__((always_inline))

// Columns of a tile that are updated at once: as many accumulators as the registers hold.
#if defined(SXT_ISA_avx512)
template <int C>
constexpr int columns_at_once = C == 1 ? 4 : 2;
#else
template <int C>
constexpr int columns_at_once = C == 1 ? 2 : 1;
#endif

inline Vector<double> root(Vector<double> v) {
#if defined(SXT_ISA_avx512)
  return (Vector<double>)_mm512_maskz_sqrt_pd(0xff, (__m512d)v);
#elif defined(SXT_ISA_avx2)
  return (Vector<double>)_mm256_sqrt_pd((__m256d)v);
#else
  for (int l = 0; l < width<double>; ++l) v[l] = __builtin_sqrt(v[l]);
  return v;
#endif
}
inline Vector<float> root(Vector<float> v) {
#if defined(SXT_ISA_avx512)
  return (Vector<float>)_mm512_maskz_sqrt_ps(0xffff, (__m512)v);
#elif defined(SXT_ISA_avx2)
  return (Vector<float>)_mm256_sqrt_ps((__m256)v);
#else
  for (int l = 0; l < width<float>; ++l) v[l] = __builtin_sqrtf(v[l]);
  return v;
#endif
}

// The group's packed numbers.
template <class R, int C>
struct Packed {
  using V = Vector<R>;
  V *triangle, *inverse, *x;
  explicit Packed(const Group &g)
      : triangle(static_cast<V *>(g.scratch)),
        inverse(triangle + triangle_vectors(g.n, C)),
        x(inverse + (g.n + rows - 1) / rows * rows) {}
  V *block(int64_t b) const { return triangle + rows * rows / 2 * b * (b + 1) * C; }
  V *at(int64_t i, int64_t j) const { return block(i / rows) + (j * rows + i % rows) * C; }
};

// ---- between the systems' columns and the lanes

// Step D of a transposition: halves of rows r and r + D change places, in every pair of blocks of D lanes.
template <int D, class V, int... I>
SXT_WRITTEN_OUT inline void exchange_halves(V &a, V &b, Pack<I...>) {
  constexpr int W = lanes_of<V>;
  const V low = __builtin_shufflevector(a, b, ((I & D) ? W + I - D : I)...);
  const V high = __builtin_shufflevector(a, b, ((I & D) ? W + I : I + D)...);
  a = low;
  b = high;
}
template <int D, class V>
SXT_WRITTEN_OUT inline void transpose_steps(V *v) {
  if constexpr (D > 0) {
    written_out<lanes_of<V>>([&](int r) SXT_WRITTEN_OUT {
      if (!(r & D)) exchange_halves<D>(v[r], v[r | D], Lanes_of<V>{});
    });
    transpose_steps<D / 2>(v);
  }
}

// Calls put(q, vector of real q of every lane) for q = 0 .. reals-1; lane l's reals begin at from[l].
template <class R, class F>
SXT_WRITTEN_OUT inline void gather_lanes(const R *const *from, int64_t reals, F &&put) {
  using V = Vector<R>;
  constexpr int W = width<R>;
  int64_t q = 0;
  for (; q + W <= reals; q += W) {
    V v[W];
    written_out<W>([&](int l) SXT_WRITTEN_OUT { v[l] = load<V>(from[l] + q); });
    transpose_steps<W / 2>(v);
    written_out<W>([&](int k) SXT_WRITTEN_OUT { put(q + k, v[k]); });
  }
  for (; q < reals; ++q) {
    V v{};
    for (int l = 0; l < W; ++l) v[l] = from[l][q];
    put(q, v);
  }
}

// The way back, to the lanes that are written.
template <class R, class F>
SXT_WRITTEN_OUT inline void scatter_lanes(R *const *to, const bool *write, int64_t reals, F &&get) {
  using V = Vector<R>;
  constexpr int W = width<R>;
  int64_t q = 0;
  for (; q + W <= reals; q += W) {
    V v[W];
    written_out<W>([&](int k) SXT_WRITTEN_OUT { v[k] = get(q + k); });
    transpose_steps<W / 2>(v);
    written_out<W>([&](int l) SXT_WRITTEN_OUT {
      if (write[l]) store(to[l] + q, v[l]);
    });
  }
  for (; q < reals; ++q) {
    const V v = get(q);
    for (int l = 0; l < W; ++l)
      if (write[l]) to[l][q] = v[l];
  }
}

// Calls f(begin of the run of memory in each lane, its reals, place) for every column of the triangle: column j from
// its diagonal on (lower), or column i up to its diagonal, which is the conjugate of row i of L (upper). place(q) is
// where real q goes.
template <class R, int C, class F>
SXT_WRITTEN_OUT inline void each_run(const Group &g, const Packed<R, C> &p, F &&f) {
  constexpr int W = width<R>;
  R *run[W];
  for (int64_t j = 0; j < g.n; ++j) {
    const int64_t first = g.upper ? 0 : j, length = g.upper ? j + 1 : g.n - j;
    for (int l = 0; l < W; ++l) run[l] = static_cast<R *>(g.a[l]) + C * (first + j * g.lda[l]);
    if (g.upper)
      f(run, C * length, [&](int64_t q) SXT_WRITTEN_OUT { return p.at(j, q / C) + q % C; });
    else
      f(run, C * length, [&](int64_t q) SXT_WRITTEN_OUT { return p.at(j + q / C, j) + q % C; });
  }
}

template <class R, int C>
void pack(const Group &g, const Packed<R, C> &p) {
  using V = Vector<R>;
  const V sign = spread<V>(C == 2 && g.upper ? R(-1) : R(1));
  each_run(g, p, [&](R *const *run, int64_t reals, auto &&place) SXT_WRITTEN_OUT {
    gather_lanes<R>(run, reals, [&](int64_t q, V v) SXT_WRITTEN_OUT { *place(q) = C == 2 && q % C ? sign * v : v; });
  });
  const int64_t padded = (g.n + rows - 1) / rows * rows;
  for (int64_t i = g.n; i < padded; ++i)  // rows of the unit matrix fill the last block
    for (int64_t k = 0; k < padded; ++k)
      for (int c = 0; c < C; ++c) p.at(i, k)[c] = spread<V>(R(i == k && c == 0));
}

template <class R, int C>
void unpack(const Group &g, const Packed<R, C> &p) {
  using V = Vector<R>;
  const V sign = spread<V>(C == 2 && g.upper ? R(-1) : R(1));
  each_run(g, p, [&](R *const *run, int64_t reals, auto &&place) SXT_WRITTEN_OUT {
    scatter_lanes<R>(run, g.write, reals,
                     [&](int64_t q) SXT_WRITTEN_OUT { return C == 2 && q % C ? sign * *place(q) : *place(q); });
  });
}

// ---- factorisation

// tile(r, q) = A(r, q) - sum over k of L(r, k) conj(L(q, k)), rows r of block b and q of block c, columns before c.
template <class R, int C>
SXT_WRITTEN_OUT inline void update_tile(const Packed<R, C> &p, int64_t b, int64_t c, Vector<R> (*tile)[rows][C]) {
  using V = Vector<R>;
  constexpr int Q = columns_at_once<C>;
  const V *const left = p.block(b), *const right = p.block(c);
  for (int64_t q0 = 0; q0 < rows; q0 += Q) {
    V sum[rows][Q][C];
    written_out<rows * Q * C>([&](int k) SXT_WRITTEN_OUT {
      const int r = k / (Q * C), q = k / C % Q, part = k % C;
      sum[r][q][part] = left[((rows * c + q0 + q) * rows + r) * C + part];
    });
    for (int64_t k = 0; k < rows * c; ++k) {
      const V *const lb = left + k * rows * C, *const lc = right + (k * rows + q0) * C;
      written_out<Q>([&](int q) SXT_WRITTEN_OUT {
        written_out<rows>([&](int r) SXT_WRITTEN_OUT {
          sum[r][q][0] -= lb[r * C] * lc[q * C];
          if constexpr (C == 2) {
            sum[r][q][0] -= lb[r * C + 1] * lc[q * C + 1];
            sum[r][q][1] -= lb[r * C + 1] * lc[q * C];
            sum[r][q][1] += lb[r * C] * lc[q * C + 1];
          }
        });
      });
    }
    written_out<rows * Q * C>([&](int k) SXT_WRITTEN_OUT {
      const int r = k / (Q * C), q = k / C % Q, part = k % C;
      tile[r][q0 + q][part] = sum[r][q][part];
    });
  }
}

// v -= a conj(b).
template <int C, class V>
SXT_WRITTEN_OUT inline void subtract_conjugate(V *v, const V *a, const V *b) {
  v[0] -= a[0] * b[0];
  if constexpr (C == 2) {
    v[0] -= a[1] * b[1];
    v[1] -= a[1] * b[0];
    v[1] += a[0] * b[1];
  }
}

// Entry (r, q) of a tile of L from the tile of A, once the entries before it are known: L is in `done`.
template <class R, int C>
SXT_WRITTEN_OUT inline void finish_entry(const Packed<R, C> &p, int64_t c, Vector<R> (*tile)[rows][C], int r, int q) {
  for (int k = 0; k < q; ++k) subtract_conjugate<C>(tile[r][q], tile[r][k], p.at(rows * c + q, rows * c + k));
  for (int part = 0; part < C; ++part) tile[r][q][part] *= p.inverse[rows * c + q];
}

template <class R>
using Bits = decltype(Vector<R>{} < Vector<R>{});

// The pivot of column j in every lane: a lane where it is not positive keeps its first such column, minus that where it
// is not finite, and goes on with 1.
template <class R>
SXT_WRITTEN_OUT inline Vector<R> checked_pivot(Vector<R> pivot, int64_t j, Bits<R> &info) {
  using V = Vector<R>;
  const V most = spread<V>(sizeof(R) == 4 ? static_cast<R>(__FLT_MAX__) : static_cast<R>(__DBL_MAX__));
  const V zero{};
  const Bits<R> good = (pivot > zero) & (pivot <= most), finite = (pivot >= -most) & (pivot <= most);
  const Bits<R> place = Bits<R>{} + static_cast<Lane<Bits<R>>>(j + 1);
  const Bits<R> first = ~good & (info == 0);
  info = first ? (finite ? place : -place) : info;
  return good ? pivot : spread<V>(R(1));
}

template <class R, int C>
void factor_diagonal(const Packed<R, C> &p, int64_t b, Vector<R> (*tile)[rows][C], Bits<R> &info) {
  using V = Vector<R>;
  for (int q = 0; q < rows; ++q) {
    V pivot = tile[q][q][0];
    for (int k = 0; k < q; ++k)
      for (int part = 0; part < C; ++part) pivot -= tile[q][k][part] * tile[q][k][part];
    const V diagonal = root(checked_pivot<R>(pivot, rows * b + q, info));
    p.inverse[rows * b + q] = R(1) / diagonal;
    for (int part = 0; part < C; ++part) p.at(rows * b + q, rows * b + q)[part] = part ? V{} : diagonal;
    for (int r = q + 1; r < rows; ++r) {
      finish_entry(p, b, tile, r, q);
      for (int part = 0; part < C; ++part) p.at(rows * b + r, rows * b + q)[part] = tile[r][q][part];
    }
  }
}

template <class R, int C>
void factor(const Group &g, const Packed<R, C> &p, Bits<R> &info) {
  const int64_t blocks = (g.n + rows - 1) / rows;
  Vector<R> tile[rows][rows][C];
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t c = 0; c < b; ++c) {
      update_tile(p, b, c, tile);
      for (int r = 0; r < rows; ++r)
        for (int q = 0; q < rows; ++q) {
          finish_entry(p, c, tile, r, q);
          for (int part = 0; part < C; ++part) p.at(rows * b + r, rows * c + q)[part] = tile[r][q][part];
        }
    }
    update_tile(p, b, b, tile);
    factor_diagonal(p, b, tile, info);
  }
}

// ---- solution

// v -= a b, and v -= conj(a) b.
template <int C, class V>
SXT_WRITTEN_OUT inline void subtract_product(V *v, const V *a, const V *b) {
  v[0] -= a[0] * b[0];
  if constexpr (C == 2) {
    v[0] += a[1] * b[1];
    v[1] -= a[0] * b[1];
    v[1] -= a[1] * b[0];
  }
}
template <int C, class V>
SXT_WRITTEN_OUT inline void subtract_left_conjugate(V *v, const V *a, const V *b) {
  v[0] -= a[0] * b[0];
  if constexpr (C == 2) {
    v[0] -= a[1] * b[1];
    v[1] -= a[0] * b[1];
    v[1] += a[1] * b[0];
  }
}

template <class R, int C>
void solve_forward(const Packed<R, C> &p, int64_t blocks) {
  using V = Vector<R>;
  for (int64_t b = 0; b < blocks; ++b) {
    V sum[rows][C];
    written_out<rows * C>([&](int k) SXT_WRITTEN_OUT { sum[k / C][k % C] = p.x[rows * b * C + k]; });
    for (int64_t k = 0; k < rows * b; ++k)
      written_out<rows>(
          [&](int r) SXT_WRITTEN_OUT { subtract_product<C>(sum[r], p.block(b) + (k * rows + r) * C, p.x + k * C); });
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < r; ++k)
        subtract_product<C>(sum[r], p.at(rows * b + r, rows * b + k), p.x + (rows * b + k) * C);
      for (int part = 0; part < C; ++part) p.x[(rows * b + r) * C + part] = sum[r][part] * p.inverse[rows * b + r];
    }
  }
}

template <class R, int C>
void solve_backward(const Packed<R, C> &p, int64_t blocks) {
  using V = Vector<R>;
  for (int64_t b = blocks; b-- > 0;) {
    V z[rows][C];
    for (int64_t r = rows; r-- > 0;) {
      V *const at = p.x + (rows * b + r) * C;
      for (int64_t k = r + 1; k < rows; ++k) subtract_left_conjugate<C>(at, p.at(rows * b + k, rows * b + r), z[k]);
      for (int part = 0; part < C; ++part) at[part] = z[r][part] = at[part] * p.inverse[rows * b + r];
    }
    for (int64_t k = 0; k < rows * b; ++k) {
      V sum[C];
      written_out<C>([&](int part) SXT_WRITTEN_OUT { sum[part] = p.x[k * C + part]; });
      written_out<rows>(
          [&](int r) SXT_WRITTEN_OUT { subtract_left_conjugate<C>(sum, p.block(b) + (k * rows + r) * C, z[r]); });
      written_out<C>([&](int part) SXT_WRITTEN_OUT { p.x[k * C + part] = sum[part]; });
    }
  }
}

template <class R, int C>
void solve(const Group &g, const Packed<R, C> &p) {
  using V = Vector<R>;
  constexpr int W = width<R>;
  const int64_t blocks = (g.n + rows - 1) / rows;
  R *run[W];
  for (int64_t r = 0; r < g.n_rhs; ++r) {
    for (int l = 0; l < W; ++l) run[l] = static_cast<R *>(g.b[l]) + C * r * g.ldb[l];
    gather_lanes<R>(run, C * g.n, [&](int64_t q, V v) SXT_WRITTEN_OUT { p.x[q] = v; });
    for (int64_t q = C * g.n; q < C * rows * blocks; ++q) p.x[q] = V{};
    solve_forward(p, blocks);
    solve_backward(p, blocks);
    scatter_lanes<R>(run, g.write, C * g.n, [&](int64_t q) SXT_WRITTEN_OUT { return p.x[q]; });
  }
}

template <class R, int C>
void work(Group &g) {
  const Packed<R, C> p(g);
  constexpr int W = width<R>;
  Bits<R> info{};
  pack(g, p);
  if (g.factors) {
    factor(g, p, info);
    for (int l = 0; l < W; ++l) {
      g.info[l] = static_cast<int32_t>(info[l]);
      g.write[l] = g.write[l] && info[l] == 0;  // a system that failed stays unchanged
    }
    unpack(g, p);
  } else {
    for (int64_t i = 0; i < g.n; ++i) p.inverse[i] = R(1) / p.at(i, i)[0];
    for (int64_t i = g.n; i % rows; ++i) p.inverse[i] = spread<Vector<R>>(R(1));
  }
  if (g.solves) solve(g, p);
}

extern const Table table;
const Table table = {{width<float>, width<double>, width<float>, width<double>},
                     {&work<float, 1>, &work<double, 1>, &work<float, 2>, &work<double, 2>}};

}  // namespace sextant_hermitian_interleaved::SXT_ISA
