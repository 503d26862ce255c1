// SPDX-License-Identifier: BSD-3-Clause
// L D L^H with partial (Bunch-Kaufman) pivoting of small systems, a block each, in LAPACK's format: the triangle is
// packed in shared memory, a thread has a row. Of a system that does not fit, the first columns are eliminated in
// device memory until the rest fits.
#pragma once

#include "pivoted_lanes.cuh"
#include "pivoted_rest.cuh"

namespace sextant::hermitian_pivoted {

// Columns of a panel on chip, and of one in memory.
template <class T>
constexpr SXT_DENSE_BOTH int tile_depth(int threads) {
  return sizeof(Real<T>) == 8 && threads <= 64 ? 4 : 8;
}
constexpr int memory_columns = 16;  // of a panel in memory, at most

// Elements from row to row of L: an odd number, so that rows lie in different banks.
constexpr SXT_DENSE_BOTH int tile_pitch(int depth) { return depth | 1; }

constexpr SXT_DENSE_BOTH std::size_t packed_elements(std::size_t n) { return n * (n + 1) / 2; }

// Elements of L of a panel on chip.
template <class T>
constexpr SXT_DENSE_BOTH std::size_t beside_triangle(int n, int threads) {
  return static_cast<std::size_t>(n) * tile_pitch(tile_depth<T>(threads));
}

// Always in shared memory.
template <class T, int threads>
struct alignas(16) TileControl {
  static constexpr int warps = threads / 32;
  T zero;                    // read instead of elements outside the triangle
  T largest[warps];          // of a column, below its diagonal element
  T beside[memory_columns];  // D of the panel: element (partner, i)
  Found<Real<T>> found[2][warps];
  Real<T> own[memory_columns];           // element (i, i)
  Real<T> diagonal[2];                   // of a column and of its second candidate
  std::int32_t partner[memory_columns];  // the other column of a 2 x 2 block, or i
  std::int32_t holder[threads];          // the thread that has the row at a position
};

#ifdef __CUDACC__

// Element (r, c), r >= c.
template <class T>
struct InMemory {
  T *a;
  std::int64_t column;
  int row;  // 1 or -1
  __device__ T *at(int r, int c) const { return a + c * column + r * row; }
  // Any number where (r, c) is no part of the triangle up to row `last`: a condition would make loads wait.
  __device__ T load(int r, int c, int last) const { return *at(min(r, last), min(c, last)); }
};
template <class T>
struct Packed {
  T *a;
  int order;
  const T *zero;
  __device__ T *at(int r, int c) const { return a + c * (2 * order - 1 - c) / 2 + r; }
  __device__ T load(int r, int c, int last) const { return *(r <= last && c <= r ? at(r, c) : zero); }
};

// A thread's row of W = L D.
template <class T, int columns>
struct InRegisters {
  T w[columns];
  __device__ void put(int at, T value) {
#pragma unroll
    for (int j = 0; j < columns; ++j)
      if (j == at) w[j] = value;
  }
};
template <class T>
struct InShared {
  T *w;
  __device__ void put(int at, T value) const { w[at] = value; }
};
// L of a panel: each thread's row.
template <class T>
struct Left {
  T *l;
  int pitch;
  __device__ T *row(int thread) const { return l + thread * pitch; }
};

// A block's data of its system.
template <class T, int threads>
struct Tile {
  using R = Real<T>;
  using Control = TileControl<T, threads>;
  static constexpr int warps = Control::warps;
  Control *control;
  T *triangle;  // what is left; behind it, L of the panel
  InMemory<T> out;
  std::int32_t *pivots;
  int n, first, rows;  // order; columns eliminated before `out` begins; rows left there

  // value - W(own row, .) conj(L(that of another thread, .)).
  template <int columns>
  __device__ static T up_to_date(T value, const T *row, int width, const InRegisters<T, columns> &own) {
    T apart{};
#pragma unroll
    for (int j = 0; j < columns; ++j)
      if (j < width) {
        if (j % 2 == 0)
          value = dense::minus_product(value, own.w[j], dense::conjugate(row[j]));
        else
          apart = dense::minus_product(apart, own.w[j], dense::conjugate(row[j]));
      }
    return dense::sum(value, apart);
  }
  __device__ static T up_to_date(T value, const T *row, int width, const InShared<T> &own) {
    T apart{};
    int j = 0;
#pragma unroll 2
    for (; j + 1 < width; j += 2) {
      value = dense::minus_product(value, own.w[j], dense::conjugate(row[j]));
      apart = dense::minus_product(apart, own.w[j + 1], dense::conjugate(row[j + 1]));
    }
    if (j < width) value = dense::minus_product(value, own.w[j], dense::conjugate(row[j]));
    return dense::sum(value, apart);
  }

  // The largest element beside the diagonal one that a column has in the active rows; where: its turn, 0 or 1.
  __device__ Found<R> search(T &value, int r, int c, bool here, int turn) const {
    Found<R> mine{};
    if (here && r == c)
      value = dense::from_real<T>(dense::real_of(value)), control->diagonal[turn] = dense::real_of(value);
    if (here && r != c) mine.offer(dense::size_of(value), static_cast<unsigned>(r) << 16 | threadIdx.x);
    Found<R> *const found = control->found[turn];
    if (threadIdx.x % 32 == lane_of_largest(mine)) {
      found[threadIdx.x / 32] = mine;
      if (turn == 0) control->largest[threadIdx.x / 32] = value;
    }
    meet<threads>();
    return largest_told<threads>(found);
  }

  // One pivot at position k: columns eliminated, 0 for a system that is not finite. Rows are interchanged by exchanging
  // their threads' positions r, until the panel ends.
  template <class Matrix, class Own>
  __device__ __forceinline__ int step(Matrix a, Left<T> l, int k, int width, int &r, Own &mine,
                                      std::int32_t &code) const {
    const R alpha = static_cast<R>(0.6403882032022076);  // (1 + sqrt 17) / 8 bounds the growth of elements
    const bool here = r >= k && r < rows;
    T raw{}, value{}, second_value{};
    if (here) {
      raw = *a.at(r, k);
      value = up_to_date(raw, l.row(width > 0 ? control->holder[k] : 0), width, mine);
    }
    const Found<R> found = search(value, r, k, here, 0);
    const R pivot = control->diagonal[0], most = found.size();
    if (!finite(pivot) || !finite(most)) return 0;
    if (pivot == 0 && most <= 0 && code == 0) code = out.row < 0 ? n - first - k : first + k + 1;
    if (!(fabs(pivot) < alpha * most)) {
      if (code == 0 && !has_inverse(pivot)) return 0;
      eliminate(l, k, k, width, r, r, here && r > k, value, pivot, mine);
      meet<threads>();
      return 1;
    }
    int p = found.place(), wide = 1;
    const T below = control->largest[found.row() / 32];
    if (here) {
      second_value = conjugate_if(r < p, *a.at(max(r, p), min(r, p)));
      second_value = up_to_date(second_value, l.row(found.row()), width, mine);
    }
    // Scaled, so that only numbers far above the bound overflow, and a pivot that is zero stays below it.
    const R by = one_over_power(most), scaled = most * by, own = fabs(pivot) * by * by, bound = alpha * scaled * scaled;
    const Found<R> again = search(second_value, r, p, here, 1);
    const R second = control->diagonal[1], row = again.size(), size = fabs(second);
    if (!finite(row) || !finite(second)) return 0;
    if (!(own * row < bound))  // |pivot| < alpha most^2 / row, without the quotient
      p = k;
    else if (!(size >= alpha * row))
      wide = 2;
    const R alone = p == k ? pivot : second;
    if (wide == 1 && code == 0 && !has_inverse(alone)) return 0;
    const int last = k + wide - 1, old = r;
    if (old == last)
      r = p, control->holder[p] = threadIdx.x;
    else if (old == p)
      r = last;
    const bool left = here && r > last;
    if (left && p != last) {
      const T moved = wide == 1 ? raw : *a.at(old, last);
      *a.at(max(r, p), min(r, p)) = conjugate_if(r < p, moved);
    }
    if (wide == 1)
      eliminate(l, k, p, width, old, r, left, p == k ? value : second_value, alone, mine);
    else
      eliminate(l, k, p, width, old, r, left, value, second_value, pivot, below, second, mine);
    meet<threads>();
    return wide;
  }

  // A pivot of order 1, and W's column: its elements for the threads whose rows were at `old` and are at r.
  template <class Own>
  __device__ void eliminate(Left<T> l, int k, int p, int width, int old, int r, bool left, T w, R d, Own &mine) const {
    const T divided = dense::scaled(w, d != 0 ? inverse_of(d) : R(1));
    if (left) {
      l.row(static_cast<int>(threadIdx.x))[width] = divided;
      *out.at(r, k) = divided;
      mine.put(width, w);
    }
    if (old == k) put_pivot(k, p, width, d, T{}, 0);
  }
  // The same of order 2, d2 and `below` below d1.
  template <class Own>
  __device__ void eliminate(Left<T> l, int k, int p, int width, int old, int r, bool left, T w1, T w2, R d1, T below,
                            R d2, Own &mine) const {
    const R by = one_over_power(below), a = d1 * by, c = d2 * by;
    const T unit = dense::scaled(below, by);
    const R inverse = by * inverse_of(fma(a, c, -dense::squared_size(unit)));
    const T beside = dense::scaled(unit, -inverse);
    if (left) {
      const T first = dense::plus_product(dense::scaled(w1, c * inverse), w2, beside),
              second = dense::plus_product(dense::scaled(w2, a * inverse), w1, dense::conjugate(beside));
      T *const to = l.row(static_cast<int>(threadIdx.x)) + width;
      to[0] = first, to[1] = second;
      *out.at(r, k) = first, *out.at(r, k + 1) = second;
      mine.put(width, w1), mine.put(width + 1, w2);
    }
    if (old == k) put_pivot(k, p, width, d1, below, 1);
    if (old == k + 1) {
      *out.at(k + 1, k) = below;
      put_pivot(k + 1, p, width + 1, d2, dense::conjugate(below), -1);
    }
  }

  // The entries of D in column k; LAPACK's ipiv: 1-based, negative in both entries of a 2 x 2 block.
  __device__ void put_pivot(int k, int with, int at, R diagonal, T below, int to_partner) const {
    control->own[at] = diagonal, control->beside[at] = below, control->partner[at] = at + to_partner;
    *out.at(k, k) = dense::from_real<T>(diagonal);
    const bool from_end = out.row < 0;
    const int number = from_end ? n - first - with : first + with + 1;
    pivots[from_end ? n - 1 - first - k : first + k] = to_partner != 0 ? -number : number;
  }

  // Element j of a row of W = L D.
  __device__ T times_d(const T *row, int j) const {
    const T value = dense::scaled(row[j], control->own[j]);
    const int partner = control->partner[j];
    return partner == j ? value : dense::plus_product(value, row[partner], control->beside[j]);
  }

  // The rest from row and column k on less L W^H, from `a` to `to`, whose rows and columns count from `shift`. In
  // order: one strip of columns after the other, so that `to` may take the place of rows of L that no later one needs;
  // else a warp a strip.
  template <int steps, bool in_order, class From, class To>
  __device__ void update(From a, To to, Left<T> l, int k, int width, int shift) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, last = rows - 1;
    constexpr int together = in_order ? 1 : warps, far = in_order ? 16 * warps : 16;
#pragma unroll 1
    for (int turn = 0; k + 8 * turn * together <= last; ++turn) {  // the longest strips first, as much for each warp
      const int c0 = k + 8 * (in_order ? turn : turn * warps + (turn % 2 ? warps - 1 - warp : warp));
      if (!in_order && c0 > last) continue;
      const int c = c0 + lane % 4 * 2;
      struct {
        T value[4];
        const T *left[2];
      } next;
      const auto load = [&](int r) {
#pragma unroll
        for (int h = 0; h < 2; ++h) next.left[h] = l.row(control->holder[min(r + 8 * h, last)]);
#pragma unroll
        for (int i = 0; i < 4; ++i) next.value[i] = a.load(r + 8 * (i >> 1), c + (i & 1), last);
      };
      int r = c0 + lane / 4 + (in_order ? 16 * warp : 0);
      load(r);
      Strip<T, steps> right;
      const T *const row = in_order ? l.row(control->holder[min(c0 + lane / 4, last)]) : next.left[0];
#pragma unroll
      for (int i = 0; i < right.count; ++i) {
        const int j = column_of_step<T, right.count>(i);
        right.set(i, j < width ? times_d(row, j) : T{});
      }
#pragma unroll 1
      for (; r - lane / 4 <= last; r += far) {
        T value[4] = {next.value[0], next.value[1], next.value[2], next.value[3]};
        const T *const upper = next.left[0], *const lower = next.left[1];
        load(r + far);
        right.add(value, upper, lower, width);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int row = r + 8 * (i >> 1), column = c + (i & 1);
          if (row <= last && column <= row) *to.at(row - shift, column - shift) = value[i];
        }
      }
      if (in_order) meet<threads>();
    }
    if (!in_order) meet<threads>();
  }

  // A panel at k, of as many columns as are needed if there is room for so many: how many, 0 for a system that is not
  // finite.
  template <class Matrix, class Own>
  __device__ __forceinline__ int panel(Matrix a, Left<T> l, Own &mine, int k, int needed, int room, int &r,
                                       std::int32_t &code) const {
    int width = 0;
    r = threadIdx.x, control->holder[r] = r;
#pragma unroll 1
    while (width < needed && width + 1 < room) {
      const int wide = step(a, l, k + width, width, r, mine, code);
      if (wide == 0) return 0;
      width += wide;
    }
    return width;
  }

  // The first columns, in device memory, until `most` rows are left; the rest is then brought on chip.
  __device__ bool begin(int most, int capacity, std::int32_t &code) {
    prefetch();
#pragma unroll 1
    while (rows > most) {
      const int pitch = min(min(memory_columns + 1, (rows - most + 1) | 1), (capacity / (2 * rows) - 1) | 1);
      const Left<T> l{triangle + capacity - rows * pitch, pitch};
      InShared<T> mine{triangle + static_cast<int>(threadIdx.x) * pitch};
      int r;
      const int width = panel(out, l, mine, 0, rows - most, min(pitch, memory_columns), r, code);
      if (width == 0) return false;
      if (r != static_cast<int>(threadIdx.x) && r >= width) {  // rows of L go where their rows stand
#pragma unroll 1
        for (int j = 0; j < width; ++j) l.row(r)[j] = l.row(static_cast<int>(threadIdx.x))[j];
      }
      meet<threads>();
      control->holder[threadIdx.x] = static_cast<int>(threadIdx.x);
      meet<threads>();
      const bool at_once = rows - width <= most && strips_fit(width, pitch, capacity);
      const Packed<T> to{triangle, rows - width, &control->zero};
      if (at_once)
        update_in_order(out, to, l, width, width);
      else
        update_in_order(out, out, l, width, 0);
      first += width, rows -= width, out.a += width * (out.column + out.row);
      if (at_once) return true;
    }
    load();
    return true;
  }
  // Whether each strip of columns has room beside the rows of L that it and later ones need.
  __device__ bool strips_fit(int width, int pitch, int capacity) const {
    bool fit = true;
    for (int c = width; c < rows; c += 8) {
      const int left = rows - min(c + 8, rows), all = rows - width;
      fit = fit && all * (all + 1) / 2 - left * (left + 1) / 2 + (rows - c) * pitch <= capacity;
    }
    return fit;
  }
  template <int steps = 1, class To>
  __device__ void update_in_order(InMemory<T> a, To to, Left<T> l, int width, int shift) const {
    if constexpr (4 * steps < memory_columns)
      if (4 * steps < width) return update_in_order<steps + 1>(a, to, l, width, shift);
    update<steps, true>(a, to, l, width, width, shift);
  }

  // Asks the last cache for the whole triangle: columns in memory are then read one by one with its latency only.
  __device__ void prefetch() const {
    constexpr int line = 128 / sizeof(T);
    for (int c = threadIdx.x / 8; c < rows; c += threads / 8)
      for (int r = c + threadIdx.x % 8 * line; r < rows; r += 8 * line) prefetch_from_memory(out.at(r, c));
  }

  __device__ void load() const {
    const Packed<T> to{triangle, rows, &control->zero};
    for (int c = threadIdx.x / 32; c < rows; c += warps)
      for (int r = c + threadIdx.x % 32; r < rows; r += 32) copy_async(to.at(r, c), out.at(r, c));
    commit();
    await<0>();
    meet<threads>();
  }

  // The code for info. `most`: rows whose triangle has room on chip; capacity: elements of it and of L.
  __device__ std::int32_t factor(int most, int capacity) {
    std::int32_t code = 0;
    if (threadIdx.x == 0) control->zero = T{};
    if (rows <= most)
      load();
    else if (!begin(most, capacity, code))
      return SXT_HERMITIAN_NOT_FINITE;
    constexpr int depth = tile_depth<T>(threads);
    const Packed<T> a{triangle, rows, &control->zero};
    const Left<T> l{triangle + packed_elements(most), tile_pitch(depth)};
#pragma unroll 1
    for (int k = 0; k < rows;) {
      InRegisters<T, depth - 2> mine{};  // the last two columns are never requested
      int r;
      const int width = panel(a, l, mine, k, rows - k, depth, r, code);
      if (width == 0) return SXT_HERMITIAN_NOT_FINITE;
      k += width;
      if (k < rows) update<depth / 4, false>(a, a, l, k, width, 0);
    }
    return code;
  }
};

// A block a system. `most`: rows whose triangle has room in shared memory.
template <class T, int threads, int resident>
__global__ void __launch_bounds__(threads, resident)
    factor_tile(const dense::Set set, std::int32_t phase, std::int32_t most) {
  static_assert(threads <= lane_rows);
  extern __shared__ __align__(16) unsigned char memory[];
  using Control = TileControl<T, threads>;
  auto *control = reinterpret_cast<Control *>(memory);
  T *triangle = reinterpret_cast<T *>(memory + sizeof(Control));
  const std::int64_t i = blockIdx.x;
  const dense::System<T> system = dense::indefinite_system<T>(set, i);
  std::int32_t *pivots = set.pivots + i * set.stride_pivots;
  assume_global(system.a);
  if (!dense::takes_part(set, i, phase, system, threadIdx.x == 0)) return;
  if (phase & SXT_HERMITIAN_FACTOR) {
    Tile<T, threads> tile{control, triangle, {system.a, system.column, static_cast<int>(system.row)}, pivots, system.n,
                          0,       system.n};
    const int capacity = static_cast<int>(packed_elements(most) + beside_triangle<T>(set.n_max, threads));
    const std::int32_t code = tile.factor(most, capacity);
    __syncthreads();
    if (threadIdx.x == 0) set.info[i] = code;
    if (code != 0) return;
  }
  if (system.n_rhs > 0) solve_by_lanes<T>(system, {system, pivots, set.upper});
}

#endif  // __CUDACC__

}  // namespace sextant::hermitian_pivoted
