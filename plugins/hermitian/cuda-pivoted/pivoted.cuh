// SPDX-License-Identifier: BSD-3-Clause
// L D L^H with partial (Bunch-Kaufman) pivoting, a block a system, in LAPACK's format.
#pragma once

#include "pivoted_rest.cuh"
#include "pivoted_solve.cuh"

namespace sextant::hermitian_pivoted {

#ifdef __CUDACC__

// One panel of the elimination. Rows and columns count from the panel's first one. Rows stay where they are while the
// panel is made: `position` tells where a row would stand by now (-1: it is eliminated), `physical` which row stands at
// a position. A row always belongs to the same thread.
template <class T, int threads, bool shared>
struct Panel {
  using R = Real<T>;
  static constexpr int ahead = 4;  // columns on their way into the panel
  const Storage<T, threads> &s;

  // The pivots eliminated last: nobody but their thread may have seen their coefficients yet, and the last column of
  // them stands in `other`, as far as other threads can tell.
  struct Newest {
    int count;
    bool in_other;
    R own[2];
    T beside[2];
  };

  __device__ static bool finite(R size) { return size <= greatest<R>(); }

  // Starts to bring column c into its place.
  __device__ void fetch(int c) const {
    if (shared && c < s.depth && c < s.rows)
#pragma unroll 1
      for (int r = threadIdx.x; r < s.rows; r += threads)
        copy_async(&s.panel[r * s.pitch + c], s.at(max(r, c), min(r, c)));
    commit();
  }

  // conj(L(q, .)) for this warp.
  __device__ const T *multipliers(int q, int width, const Newest &newest) const {
    T *row = s.control->row[threadIdx.x / 32];
    const int i = threadIdx.x % 32;
    const T *const from = s.panel + q * s.pitch;
    __syncwarp();
    if (i < width) {
      const int age = width - 1 - i;
      const bool fresh = age < newest.count;
      const int partner = fresh ? (newest.count == 2 ? 2 * width - 3 - i : i) : s.control->partner[i];
      const R own = fresh ? (newest.count == 2 && age == 0 ? newest.own[1] : newest.own[0]) : s.control->own[i];
      const auto at = [&](int c) { return newest.in_other && c == width - 1 ? s.other[q] : from[c]; };
      T value = dense::scaled(at(i), own);
      if (partner != i) {
        const T beside = fresh ? (age == 0 ? newest.beside[1] : newest.beside[0]) : s.control->beside[i];
        value = dense::plus_product(value, at(partner), beside);
      }
      row[i] = dense::conjugate(value);
    }
    __syncwarp();
    return row;
  }

  // value[i] -= W(row, .) conj(L(c, .)) for one or two rows that begin at mine[i].
  template <int count>
  __device__ static void take_off(T (&value)[2], const T *const (&mine)[2], const T *row, int width) {
    T apart[count] = {};
    int j = 0;
#pragma unroll 2
    for (; j + 1 < width; j += 2) {
      const T one = row[j], two = row[j + 1];
#pragma unroll
      for (int i = 0; i < count; ++i) {
        value[i] = dense::minus_product(value[i], mine[i][j], one);
        apart[i] = dense::minus_product(apart[i], mine[i][j + 1], two);
      }
    }
    if (j < width) {
      const T one = row[j];
#pragma unroll
      for (int i = 0; i < count; ++i) value[i] = dense::minus_product(value[i], mine[i][j], one);
    }
#pragma unroll
    for (int i = 0; i < count; ++i) value[i] = dense::sum(value[i], apart[i]);
  }

  // Column c brought up to date, into to[r * step]; its largest element off the diagonal. in_place: the column stands
  // in the panel, at `to`.
  __device__ Found<R> candidate(int c, int width, const Newest &newest, T *to, int step, bool in_place,
                                Found<R> *found) const {
    const auto load = [&](T(&value)[2], int r) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int at = min(r + i * threads, s.rows - 1);
        value[i] = in_place ? to[at * step] : *s.at(max(at, c), min(at, c));
      }
    };
    T value[2];
    load(value, threadIdx.x);
    const T *row = multipliers(c, width, newest);  // while the column is on its way
    Found<R> best{};
#pragma unroll 1
    for (int r = threadIdx.x; r < s.rows; r += 2 * threads) {
      const int rows[2] = {r, r + threads};
      const bool second = rows[1] < s.rows;
      if (r >= 2 * threads) load(value, r);
#pragma unroll
      for (int i = 0; i < 2; ++i)
        if (rows[i] < c) value[i] = dense::conjugate(value[i]);
      const T *const mine[2] = {s.panel + r * s.pitch, s.panel + (r + threads) * s.pitch};
      if (second)
        take_off<2>(value, mine, row, width);
      else
        take_off<1>(value, mine, row, width);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (i == 1 && !second) break;
        if (rows[i] == c) value[i] = dense::from_real<T>(dense::real_of(value[i]));
        to[rows[i] * step] = value[i];
        const int where = s.position[rows[i]];
        if (rows[i] != c && where >= 0)
          best.offer(dense::size_of(value[i]), static_cast<unsigned>(where) << 16 | rows[i]);
      }
    }
    return over_block<threads>(best, found);
  }

  // Own rows of the second candidate's column become column c.
  __device__ void adopt(int c) const {
#pragma unroll 1
    for (int r = threadIdx.x; r < s.rows; r += threads) s.panel[r * s.pitch + c] = s.other[r];
  }

  __device__ static Newest one(R pivot, bool in_other) {
    return {1, in_other, {pivot != 0 ? inverse_of(pivot) : R(1), R(0)}, {T{}, T{}}};
  }
  __device__ static Newest two(R d1, T below, R d2) {
    const R by = one_over_power(below), a = d1 * by, c = d2 * by;
    const T unit = dense::scaled(below, by);
    const R inverse = by * inverse_of(fma(a, c, -dense::squared_size(unit)));
    const T beside = dense::scaled(unit, -inverse);
    return {2, true, {c * inverse, a * inverse}, {beside, dense::conjugate(beside)}};
  }

  // Where a candidate's column is kept: the first one's in the panel. In shared memory both are told from one pointer,
  // so that the compiler knows that it is shared memory.
  __device__ T *place_of(int turn, int width) const {
    if constexpr (shared)
      return s.other + (turn == 0 ? static_cast<int>(s.panel - s.other) + width : 0);
    else
      return turn == 0 ? s.panel + width : s.other;
  }

  // One pivot at position `width`, where row q stands: columns eliminated, 0 for a system that is not finite.
  __device__ int step(int &q, int width, int &fetched, Newest &newest, std::int32_t &code) const {
    const R alpha = static_cast<R>(0.6403882032022076);  // (1 + sqrt 17) / 8 bounds the growth of elements
#pragma unroll 1
    while (fetched < width + ahead) fetch(fetched++);
    await<ahead - 2>();
    int after = 0, later = 0, wide = 1, with = width, chosen = q;
    R pivot = 0, own = 0, most = 0, second = 0;
#pragma unroll 1
    for (int turn = 0;; ++turn) {
      // What was eliminated last is known to all threads by the second turn.
      const Newest fresh{turn == 0 ? newest.count : 0,
                         turn == 0 && newest.in_other,
                         {newest.own[0], newest.own[1]},
                         {newest.beside[0], newest.beside[1]}};
      const Found<R> found = candidate(chosen, width, fresh, place_of(turn, width), turn == 0 ? s.pitch : 1,
                                       shared && turn == 0 && q == width, s.control->found[turn]);
      if (turn == 0) {
        after = s.physical[width + 1], later = s.physical[width + 2];
        pivot = dense::real_of(s.panel[q * s.pitch + width]), own = fabs(pivot), most = found.size();
        if (!finite(own) || !finite(most)) return 0;
        if (own <= 0 && most <= 0 && code == 0) code = s.from_end() ? s.n - s.first - width : s.first + width + 1;
        if (!(own < alpha * most)) break;
        chosen = found.row(), with = found.place();
        continue;
      }
      second = dense::real_of(s.other[chosen]);
      const R row = found.size(), size = fabs(second);
      if (!finite(row) || !finite(size)) return 0;
      // own < alpha most^2 / row, without the quotient; scaled, so that no product of ordinary sizes overflows.
      const R by = one_over_power(most), scaled = most * by;
      if (!(own * by * (row * by) < alpha * scaled * scaled))
        with = width, chosen = q;
      else
        wide = size >= alpha * row ? 1 : 2;
      break;
    }
    const bool in_other = chosen != q;
    if (wide == 2)
      newest = two(pivot, s.panel[chosen * s.pitch + width], second);
    else
      newest = one(in_other ? second : pivot, in_other);
    if (in_other) adopt(width + wide - 1);
    const int leaves = wide == 2 ? after : q;  // the row that changes places with the chosen one
    note(q, leaves, chosen, with, width, wide, newest);
    q = with == width + wide ? leaves : wide == 2 ? later : after;
    return wide;
  }

  // Writes down what was decided.
  __device__ void note(int q, int leaves, int chosen, int with, int width, int wide, const Newest &newest) const {
    const int last = width + wide - 1, id = threadIdx.x;
    if (id == leaves % threads) s.position[leaves] = with;
    if (wide == 2 && id == q % threads) s.position[q] = -1;
    if (id == chosen % threads) s.position[chosen] = -1;
    if (id == 0) s.physical[with] = leaves, s.physical[last] = chosen;
    if (id < wide) {
      const int i = width + id;
      s.control->own[i] = id ? newest.own[1] : newest.own[0];
      s.control->beside[i] = id ? newest.beside[1] : newest.beside[0];
      s.control->partner[i] = wide == 2 ? 2 * width + 1 - i : i;
      s.control->swapped[i] = with;
      s.put_pivot(s.first + i, s.first + with, wide == 2);
    }
  }

  // The panel's columns: how many, 0 for a system that is not finite.
  __device__ int make(std::int32_t &code) const {
#pragma unroll 1
    for (int r = threadIdx.x; r < s.rows + 2; r += threads) s.physical[r] = s.position[r] = r;
    int fetched = 0, width = 0, q = 0;
#pragma unroll 1
    for (; fetched < ahead; ++fetched) fetch(fetched);
    if (threadIdx.x == 0) s.control->strip = 0;
    meet<threads>();
    Newest newest{};
    while (width < s.rows && width + 1 < max(s.depth, 2)) {
      const int wide = step(q, width, fetched, newest, code);
      if (wide == 0) return 0;
      width += wide;
    }
    await<0>();
    meet<threads>();
    return width;
  }
};

// Functions of their own, each with all registers for itself. The panel's: how many columns, 0 for a system that is not
// finite.
template <class T, int threads, bool shared>
__device__ __noinline__ int make_panel(Storage<T, threads> storage, std::int32_t *code) {
  storage.template known_places<shared>();
  std::int32_t own = *code;
  const int width = Panel<T, threads, shared>{storage}.make(own);
  *code = own;
  return width;
}
template <class T, int threads, bool shared>
__device__ __noinline__ void write_panel(Storage<T, threads> storage, int width) {
  storage.template known_places<shared>();
  Rest<T, threads, shared>{storage, width}.write();
}
template <class T, int threads, bool shared>
__device__ __noinline__ void update_rest(Storage<T, threads> storage, int width) {
  storage.template known_places<shared>();
  Rest<T, threads, shared>{storage, width}.update();
}
template <class T, int threads>
__device__ __noinline__ void solve(dense::System<T> system, Pivots<T> numbers, T *x, T *partial) {
  assume_shared(x), assume_shared(partial), assume_global(system.a), assume_global(system.b);
  constexpr int warps = threads / 32;
  if (system.n_rhs < max(warps, 2)) {
    const BlockSolve<T> together{system, numbers, x, partial};
    for (int k = 0; k < system.n_rhs; ++k) together.solve(k);
  } else {
    const WarpSolve<T> each{system, numbers, static_cast<int>(threadIdx.x % 32)};
    for (int k = threadIdx.x / 32; k < system.n_rhs; k += warps) each.solve(k);
  }
}

template <class T, int threads, bool shared>
__device__ std::int32_t factor(Storage<T, threads> &storage) {
  std::int32_t code = 0;
  while (storage.rows > 0) {
    storage.shape();
    const int width = make_panel<T, threads, shared>(storage, &code);
    if (width == 0) return SXT_HERMITIAN_NOT_FINITE;
    if (width < storage.rows) update_rest<T, threads, shared>(storage, width);
    write_panel<T, threads, shared>(storage, width);
    storage.go_on(width);
  }
  return code;
}

// Blocks take systems in turn. `elements` of a panel stand in shared memory or, of large orders, in `panels`, so many
// for each block.
template <class T, int threads, int resident, bool shared>
__global__ void __launch_bounds__(threads, resident)
    factor_pivoted(const dense::Set set, std::int32_t phase, std::int64_t elements, T *panels) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto *control = reinterpret_cast<Control<T, threads / 32> *>(memory);
  unsigned char *room = memory + sizeof *control;
  T *panel = shared ? reinterpret_cast<T *>(room + beside_panel<T>(set.n_max)) : panels + blockIdx.x * elements;
  for (std::int64_t i = blockIdx.x; i < set.batch; i += gridDim.x) {
    const dense::System<T> system = dense::indefinite_system<T>(set, i);
    std::int32_t *pivots = set.pivots + i * set.stride_pivots;
    assume_global(system.a);
    if (!dense::takes_part(set, i, phase, system, threadIdx.x == 0)) continue;
    Storage<T, threads> storage(system, control, room, panel, static_cast<int>(elements), set.n_max, pivots);
    if (phase & SXT_HERMITIAN_FACTOR) {
      const std::int32_t code = factor<T, threads, shared>(storage);
      __syncthreads();
      if (threadIdx.x == 0) set.info[i] = code;
      if (code != 0) continue;
    }
    if (system.n_rhs > 0) solve<T, threads>(system, {system, pivots, set.upper}, storage.other, control->row[0]);
    __syncthreads();
  }
}

#endif  // __CUDACC__

}  // namespace sextant::hermitian_pivoted
