// SPDX-License-Identifier: BSD-3-Clause
// The pieces of the sweep that one thread block does on a tile of 64 rows by 64 columns: a warp owns a stripe of 16
// rows and all 64 columns, in registers, from the update to the triangular solve. Shared memory holds the panels that
// arrive (stages) and the diagonal tile with its four 16-blocks inverted.
#pragma once

#include "mma.cuh"

namespace sextant::hermitian_panel {

// Columns brought in a step, and steps under way or in use.
inline constexpr int depth = 8, stages = 4;
// Steps between two barriers.
template <class T>
inline constexpr int steps_at_once = sizeof(T) == 16 ? 2 : 1;

inline constexpr unsigned all_lanes = 0xffffffffu;

// The four warps that work on a tile; a block may have more.
SXT_DENSE void sync() { asm volatile("barrier.sync.aligned 0, %0;" ::"n"(threads) : "memory"); }

// Read again at each use: kept in a register over the loop of the products, it would be spilled.
SXT_DENSE int lane_now() {
  int lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

// A 16 x 16 block in shared memory has columns of 17; numbers read beyond it are not used.
inline constexpr int block_ld = inner + 1, block_room = (inner + 1) * block_ld;

// The kernel's forms: of any order, or of those with 64 rows in each tile (but for less than 16), whose places are
// known, or of any order with panels whose columns arrive by bulk copies (arrivals.cuh); each also with one right-hand
// side that is carried as a vector (carried.cuh). Signed: of L S L^H.
enum class Form {
  any,
  whole_tiles,
  columns,
  any_with_vector,
  whole_tiles_with_vector,
  columns_with_vector,
  signed_any,
  signed_columns,
  signed_columns_with_vector
};
constexpr bool has_whole_tiles(Form form) { return form == Form::whole_tiles || form == Form::whole_tiles_with_vector; }
constexpr bool carries_vector(Form form) {
  return form == Form::any_with_vector || form == Form::whole_tiles_with_vector || form == Form::columns_with_vector ||
         form == Form::signed_columns_with_vector;
}
constexpr bool copies_columns(Form form) {
  return form == Form::columns || form == Form::columns_with_vector || form == Form::signed_columns ||
         form == Form::signed_columns_with_vector;
}
constexpr bool has_signs(Form form) { return form >= Form::signed_any; }
constexpr int threads_of(Form form) { return copies_columns(form) ? 2 * threads : threads; }

// A system with its right-hand sides carried as rows first_rhs_row .. rows - 1, from a multiple of 16: their
// conjugates, so that what is done to rows of A solves L y = b. A single one that is solved for while the system is
// factored is carried as a vector instead (carried.cuh).
template <class T>
struct View : System<T> {
  int first_rhs_row, rows;
  int first_tile;  // rows of the first tile, whole blocks of 16: the remainder of tiles of 64. The first tile needs no
                   // products; as the last one it would cost nearly as many as a full one.
  SXT_DENSE View(const System<T> &system, bool carries_vector) : System<T>(system) {
    first_rhs_row = (this->n + inner - 1) / inner * inner;
    rows = this->n_rhs > 0 && !carries_vector ? first_rhs_row + this->n_rhs : this->n;
    first_tile = ((rows + inner - 1) / inner * inner + tile - 1) % tile + 1;
  }
};

// Padding of a column of shared memory: the addresses (2t) ld + g of a warp's loads then fall into different banks.
template <class T>
inline constexpr int pad = sizeof(T) == 16  ? 1
                           : sizeof(T) == 8 ? 2
                                            : 4;
template <class T>
inline constexpr int stage_ld = tile + (sizeof(T) == 16 ? 2 : pad<T>);  // c128 is read from there by whole numbers
template <class T>
inline constexpr int stage_room = (depth - 1) * stage_ld<T> + tile;

// Panel p of the diagonal tile: rows 16p .. 63 of its columns 16p .. 16p + 15.
template <class T>
SXT_DENSE_BOTH constexpr int panel_ld(int p) {
  return tile - inner * p + pad<T>;
}
template <class T>
SXT_DENSE_BOTH constexpr int panel_at(int p) {
  return inner * (p * (tile + pad<T>)-inner * (p * (p - 1) / 2));
}

template <class T>
struct Shared {
  T stage[stages][2][stage_room<T>];  // [0] rows of the tile, [1] rows of the block column's own tile
  T diagonal[panel_at<T>(4)];
  T scratch[block_room];
  T carried[tile];                             // a right-hand side at the tile's rows,
  alignas(16) T carried_stage[stages][depth];  // at the columns of a step
  std::uint64_t full[stages], empty[stages];   // barriers of stages that bulk copies fill
  std::uint64_t diagonal_full;                 // and of a diagonal tile, on the way back
  int failed;                                  // the code of a block of the diagonal tile that could not be factored
  int refine;    // bit p: block p is so ill-conditioned that solutions with its inverse are refined
  int signs[2];  // of L S L^H, bit j of 64: column j of the diagonal tile is negative
  View<T> system;
};

// A sign as the bit that it is in a number, or 0.
SXT_DENSE double flipped(double v, unsigned sign) {
  return __hiloint2double(__double2hiint(v) ^ static_cast<int>(sign), __double2loint(v));
}
SXT_DENSE float flipped(float v, unsigned sign) { return __uint_as_float(__float_as_uint(v) ^ sign); }
template <class R>
SXT_DENSE Complex<R> flipped(Complex<R> v, unsigned sign) {
  return {flipped(v.re, sign), flipped(v.im, sign)};
}
// That of bit j.
SXT_DENSE unsigned sign_from(const int (&signs)[2], int j) {
  return static_cast<unsigned>(signs[j / 32]) << (31 - j % 32) & 0x80000000u;
}
// Of L S L^H the numbers on the diagonal, which have the signs, come along with the columns of a step: that of column c
// stands in the padding, of the columns' own rows for the first four, of the tile's rows for the others. Bulk copies
// bring 16 bytes from a multiple of 16 on, of c64 two numbers.
template <class T>
SXT_DENSE int sign_place(int c) {
  return c % 4 * stage_ld<T> + tile + (sizeof(T) == 8 ? c % 2 : 0) - c / 4 * stage_room<T>;
}
// right: the stage's columns of their own rows, which follow those of the tile's rows.
template <class T>
SXT_DENSE unsigned sign_of_column(const T *right, int c) {
  const auto *number = reinterpret_cast<const volatile unsigned *>(right + sign_place<T>(c));
  return number[sizeof(Real<T>) / 4 - 1] & 0x80000000u;
}

SXT_DENSE void copy_async(void *to, const void *from, int bytes, bool valid) {
  const unsigned at = shared_address(to);
  const int size = valid ? bytes : 0;  // 0: zeros are written and nothing is read
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(size) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(size) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(size) : "memory");
}
SXT_DENSE void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
SXT_DENSE void await() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// 16 rows: of the matrix, or right-hand sides carried as rows.
template <class T>
struct Stripe {
  T *base;
  std::int64_t row, column;
  int valid;
  bool rhs;
};
template <class T>
SXT_DENSE Stripe<T> stripe_at(const View<T> &s, int first) {
  if (first < s.first_rhs_row) return {s.a + first * s.row, s.row, s.column, max(0, min(inner, s.n - first)), false};
  return {s.b + (first - s.first_rhs_row) * s.ldb, s.ldb, 1, max(0, min(inner, s.rows - first)), true};
}

// How a lane walks over 16 rows x 8 columns so that neighbouring lanes read neighbouring memory: four elements.
struct Walk {
  int row, column, row_step, column_step;
};
SXT_DENSE Walk walk_for(std::int64_t row_stride, int lane) {
  if (row_stride == 1) return {lane & 15, lane >> 4, 0, 2};
  return {lane >> 3, lane & 7, 4, 0};
}
// A lane's way through a stripe: where its first element of the next eight columns is.
template <class T>
struct Source {
  const T *at;
  int step, advance;  // between the four elements; to the next eight columns
  int to, to_step;
  unsigned valid;  // bit i: element i exists
};
template <class T, int ld = stage_ld<T>>
SXT_DENSE Source<T> source_of(const Stripe<T> &s, int lane) {
  const Walk w = walk_for(s.row, lane);
  unsigned valid = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) valid |= (w.row + i * w.row_step < s.valid) << i;
  return {s.base + w.row * s.row + w.column * s.column,
          static_cast<int>(w.row_step * s.row + w.column_step * s.column),
          static_cast<int>(depth * s.column),
          w.column * ld + w.row,
          w.column_step * ld + w.row_step,
          valid};
}
template <class T>
SXT_DENSE void stage_stripe(T *to, Source<T> &s) {
  const T *from = s.at;
  to += s.to;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    copy_async(to, from, sizeof(T), s.valid >> i & 1);
    to += s.to_step, from += s.step;
  }
  s.at += s.advance;
}

// Hints to the last cache: every tile of rows is read once in a column of tiles, the rows of the columns themselves are
// read again with each of them. Steps to keep of those: the blocks on 132 multiprocessors keep 30 MB at once.
inline constexpr int kept_steps = 14;
SXT_DENSE std::uint64_t not_again() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
SXT_DENSE std::uint64_t again() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
template <class T>
SXT_DENSE void stage_stripe(T *to, Source<T> &s, std::uint64_t policy) {
  static_assert(sizeof(T) == 16);
  const T *from = s.at;
  to += s.to;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(shared_address(to)),
                 "l"(from), "r"(s.valid >> i & 1 ? 16 : 0), "l"(policy)
                 : "memory");
    to += s.to_step, from += s.step;
  }
  s.at += s.advance;
}

// Eight columns of the stripe itself, first .. first + 7 of the tile; entries that `exists` excludes are not read and
// count as zero.
template <class T, class F>
SXT_DENSE void stage_own(T *to, Source<T> &s, const Walk &w, int first, const F &exists) {
  const T *from = s.at;
  to += s.to;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    copy_async(to, from, sizeof(T), exists(w.row + i * w.row_step, first + w.column + i * w.column_step));
    to += s.to_step, from += s.step;
  }
  s.at += s.advance;
}
template <class T>
SXT_DENSE void add_columns(Accumulator<T> &c, const T *own, bool conjugated, int g, int t) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const T v = own[(2 * t + i % 2) * stage_ld<T> + g + 8 * (i / 2)];
    c.set(i, sum(c.get(i), conjugated ? conjugate(v) : v));
  }
}
// Writes 16 columns of a stripe, of which `columns` exist.
template <class T>
SXT_DENSE void write_columns(const Accumulator<T> (&x)[2], const Stripe<T> &s, int first, int columns, int g, int t) {
  T *at = s.base + g * s.row + (first + 2 * t) * s.column;
  const std::int64_t lower = 8 * s.row;
  const bool upper_half = g < s.valid, lower_half = g + 8 < s.valid;
#pragma unroll
  for (int j = 0; j < 2; ++j)
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (8 * j + 2 * t + i >= columns) continue;
      T *to = at + (8 * j + i) * s.column;
      if (upper_half) *to = x[j].get(i);
      if (lower_half) to[lower] = x[j].get(2 + i);
    }
}

// The left operand's inner indices are columns 2t and 2t + 1.
SXT_DENSE Left<double> flipped(const Left<double> &a, unsigned first, unsigned second) {
  return {flipped(a.v[0], first), flipped(a.v[1], first), flipped(a.v[2], second), flipped(a.v[3], second)};
}
SXT_DENSE Left<float> flipped(Left<float> a, unsigned first, unsigned second) {
#pragma unroll
  for (int i = 0; i < 4; ++i) a.high[i] ^= i < 2 ? first : second, a.low[i] ^= i < 2 ? first : second;
  return a;
}
template <class T>
SXT_DENSE LeftOperand<T> flipped(const LeftOperand<T> &a, unsigned first, unsigned second) {
  if constexpr (complex_valued<T>)
    return {flipped(a.x, first, second), flipped(a.y, first, second)};
  else
    return {flipped(a.x, first, second)};
}

// c -= products of four columns with two blocks of eight rows: x + iy, rows g and g + 8 of the left operand, and b, one
// inner index a lane.
SXT_DENSE void multiply_two(Accumulator<Complex<double>> *c, const double (&x)[2], const double (&y)[2],
                            const Complex<double> (&b)[2]) {
  using plugin::cuda::dense::multiply_add;
#pragma unroll
  for (int i = 0; i < 2; ++i)
    multiply_add(c[i].re, -x[0], -x[1], b[i].re), multiply_add(c[i].im, -y[0], -y[1], b[i].re);
#pragma unroll
  for (int i = 0; i < 2; ++i) multiply_add(c[i].re, -y[0], -y[1], b[i].im), multiply_add(c[i].im, x[0], x[1], b[i].im);
}

// update_step of c128, `steps_at_once` steps whose stages follow one another: four columns at a time, so that a lane
// has one inner index. A right operand then is one part of a number as it was loaded, and the left ones of four columns
// are all that is kept. Unrolled, those of all columns would be.
template <int blocks, bool with_signs>
SXT_DENSE void update_by_four_columns(Accumulator<Complex<double>> (&c)[8], const Complex<double> *left,
                                      const Complex<double> *right, int g, int t) {
  using T = Complex<double>;
  constexpr int ld = stage_ld<T>, to_next_step = 2 * stage_room<T> - depth * ld;
  left += t * ld + g, right += t * ld + g;
#pragma unroll 1
  for (int step = 0; step < steps_at_once<T>; ++step, left += to_next_step, right += to_next_step)
#pragma unroll 1
    for (int half = 0; half < 2; ++half, left += 4 * ld, right += 4 * ld) {
      const unsigned at = shared_address(left);
      double x[2] = {load_part(at), load_part(at + 128)}, y[2] = {load_part(at + 8), load_part(at + 136)};
      if constexpr (with_signs) {
        const unsigned sign = sign_of_column(right - (4 * half + t) * ld - g, 4 * half + t);
        x[0] = flipped(x[0], sign), x[1] = flipped(x[1], sign);
        y[0] = flipped(y[0], sign), y[1] = flipped(y[1], sign);
      }
#pragma unroll
      for (int j = 0; j < 2 * blocks; j += 2) {
        const T b[2] = {load_whole(right + 8 * j), load_whole(right + 8 * j + 8)};
        multiply_two(c + j, x, y, b);
      }
    }
}

// c -= L(rows, step) conj(L(columns, step))' for a step of eight columns, or all steps at once. The number of blocks is
// the code's, not a condition: accumulators that are updated under a condition would be copied back and forth.
template <int blocks, bool with_signs, class T>
SXT_DENSE void update_step(Accumulator<T> (&c)[8], const T *left, const T *right, int g, int t) {
  if constexpr (sizeof(T) == 16) return update_by_four_columns<blocks, with_signs>(c, left, right, g, t);
  LeftOperand<T> a = load_left<T, -1>(left, stage_ld<T>, g, t);
  if constexpr (with_signs) a = flipped(a, sign_of_column(right, 2 * t), sign_of_column(right, 2 * t + 1));
#pragma unroll
  for (int j = 0; j < 2 * blocks; j += 2) {
    const RightOperand<T> b[2] = {load_right<T>(right + 8 * j, stage_ld<T>, g, t),
                                  load_right<T>(right + 8 * j + 8, stage_ld<T>, g, t)};
    products(c + j, a, b);
  }
}

// x += C inverse(L_pp)^H for 16 columns of a stripe, given as the two accumulators of C.
template <class T>
SXT_DENSE void times_inverse(Accumulator<T> (&x)[2], const Accumulator<T> (&c)[8], const T *panel, int ld, int g,
                             int t) {
  const LeftOperand<T> a = as_left<T, 1>(c[0]), b = as_left<T, 1>(c[1]);
  product(x[0], a, load_right<T>(panel, ld, g, t));
  product(x[1], a, load_right<T>(panel + 8, ld, g, t));
  product(x[1], b, load_right<T>(panel + 8 * ld + 8, ld, g, t));
}
// C -= X L_pp^H (X S L_pp^H) with L_pp as it stands in memory from row and column `first` on, column p of the signs.
template <bool with_signs, class T>
SXT_DENSE void take_product_off(Accumulator<T> (&c)[8], const Accumulator<T> (&x)[2], const Shared<T> &shared,
                                int first, int p, int g, int t) {
  const View<T> &s = shared.system;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    LeftOperand<T> a = as_left<T, -1>(x[k]);
    if constexpr (with_signs) {
      const int column = inner * p + 8 * k + 2 * t;
      a = flipped(a, sign_from(shared.signs, column), sign_from(shared.signs, column + 1));
    }
#pragma unroll
    for (int j = k; j < 2; ++j) {
      const auto l = [&](int column) {
        const int row = 8 * j + g;
        if (row < column) return T{};
        return first + row < s.n && first + column < s.n ? *s.at(first + row, first + column)
                                                         : from_real<T>(row == column);
      };
      product(c[j], a, RightOperand<T>::of(l(8 * k + 2 * t), l(8 * k + 2 * t + 1)));
    }
  }
}
// Solves for the 16 columns p of the stripe, which stand in c[0] and c[1]: X = C inverse(L_pp)^H. Where the block is so
// ill-conditioned that its inverse would cost digits, the residual C - X L_pp^H is solved for once more. Of L S L^H the
// inverse is that of L_pp S, so that X solves C = X S L_pp^H.
template <bool with_signs, class T>
SXT_DENSE void solve_columns(Accumulator<T> (&x)[2], Accumulator<T> (&c)[8], const Shared<T> &shared, const T *panel,
                             int ld, int p, int k0, int g, int t) {
  x[0].clear(), x[1].clear();
  times_inverse(x, c, panel, ld, g, t);
  if (shared.refine >> p & 1) {
    take_product_off<with_signs>(c, x, shared, k0 + inner * p, p, g, t);
    times_inverse(x, c, panel, ld, g, t);
  }
}
// Takes the solved columns off the `blocks` blocks of 16 to the right of them, which move to the front:
// c[j] = c[j + 2] - X L(j, p)^H. Of L S L^H the panel holds L S there.
template <int blocks, class T>
SXT_DENSE void move_up(Accumulator<T> (&c)[8], const Accumulator<T> (&x)[2], const T *panel, int ld, int g, int t) {
  const LeftOperand<T> a = as_left<T, -1>(x[0]), b = as_left<T, -1>(x[1]);
#pragma unroll
  for (int j = 0; j < 2 * blocks; ++j) {
    product(c[j], c[j + 2], a, load_right<T>(panel + inner + 8 * j, ld, g, t));
    product(c[j], b, load_right<T>(panel + 8 * ld + inner + 8 * j, ld, g, t));
  }
}

}  // namespace sextant::hermitian_panel
