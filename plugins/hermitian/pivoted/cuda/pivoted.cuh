// SPDX-License-Identifier: BSD-3-Clause
// L D L^H with partial (Bunch-Kaufman) pivoting, a block a system, in LAPACK's format.
#pragma once

#include "pivoted_rest.cuh"
#include "pivoted_solve.cuh"

namespace sextant::hermitian_pivoted {

#ifdef __CUDACC__

// One panel of the elimination. Rows and columns count from the panel's first one. Rows stay where they are while the
// panel is made: `position` says where a row would stand by now (-1: it is eliminated), `physical` which row stands at
// a position. A row always belongs to the same thread.
template <class T, int threads, bool shared>
struct Panel {
  using R = Real<T>;
  static constexpr int ahead = 4;  // columns on their way into the panel
  const Storage<T, threads> &s;

  // A lane's data of the panel's column of its number, in each warp: D^-1's elements (i, i) and (partner, i), and how
  // rows are combined.
  struct Column {
    T beside;
    R own;
    int partner, swapped;
  };

  // Columns on their way into the panel: how many were asked for, and the next one's first element in memory.
  struct Coming {
    int columns;
    const T *next;
  };
  // Starts to bring the next column into its place.
  __device__ void fetch(Coming &coming) const {
    const int c = coming.columns;
    if (shared && c < s.depth && c < s.rows)
#pragma unroll 1
      for (int r = threadIdx.x; r < s.rows; r += threads) {
        const T *from = coming.next + r * s.row;
        if (r < c) from = coming.next + (r - c) * s.column + c * s.row;
        copy_async(&s.panel[r * s.pitch + c], from);
      }
    commit();
    ++coming.columns, coming.next += s.column;
  }

  // conj(L(q, .)) for this warp.
  __device__ const T *multipliers(int q, int width, const Column &mine) const {
    T *row = s.control->row[threadIdx.x / 32];
    const int i = threadIdx.x % 32;
    const T *const from = s.panel + q * s.pitch;
    __syncwarp();
    if (i < width) {
      T value = dense::scaled(from[i], mine.own);
      if (mine.partner != i) value = dense::plus_product(value, from[mine.partner], mine.beside);
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

  // A column brought up to date: its largest element off the diagonal, and that on it.
  struct Candidate {
    Found<R> largest;
    R diagonal;
  };
  // Column c, into column `slot` of the panel, where it stands already if in_place.
  __device__ Candidate candidate(int c, int slot, int width, const Column &mine, bool in_place, Found<R> *found) const {
    T *const to = s.panel + slot;
    const auto load = [&](T(&value)[2], int r) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int at = min(r + i * threads, s.rows - 1);
        value[i] = in_place ? to[at * s.pitch] : *s.at(max(at, c), min(at, c));
      }
    };
    T value[2];
    load(value, threadIdx.x);
    const T *row = multipliers(c, width, mine);  // while the column is on its way
    Found<R> best{};
#pragma unroll 1
    for (int r = threadIdx.x; r < s.rows; r += 2 * threads) {
      const int rows[2] = {r, r + threads};
      const bool second = rows[1] < s.rows;
      const int where[2] = {s.position[r], s.position[second ? rows[1] : r]};
      if (r >= 2 * threads) load(value, r);
#pragma unroll
      for (int i = 0; i < 2; ++i) value[i] = conjugate_if(rows[i] < c, value[i]);
      const T *const mine[2] = {s.panel + r * s.pitch, s.panel + (r + threads) * s.pitch};
      if (second)
        take_off<2>(value, mine, row, width);
      else
        take_off<1>(value, mine, row, width);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (i == 1 && !second) break;
        if (rows[i] == c) value[i] = dense::from_real<T>(dense::real_of(value[i]));
        to[rows[i] * s.pitch] = value[i];
        if (rows[i] != c && where[i] >= 0)
          best.offer(dense::size_of(value[i]), static_cast<unsigned>(where[i]) << 16 | rows[i]);
      }
    }
    tell_block<threads>(best, found);
    const R diagonal = dense::real_of(to[c * s.pitch]);
    return {largest_told<threads>(found), diagonal};
  }

  // D^-1's columns at `width`: of a pivot of order 1, or of order 2 with d2 and `below` below d1.
  __device__ static void invert(R d1, int width, Column &mine) {
    if (threadIdx.x % 32 == width) mine.own = d1 != 0 ? inverse_of(d1) : R(1), mine.partner = width;
  }
  __device__ static void invert(R d1, T below, R d2, int width, Column &mine) {
    const R by = one_over_power(below), a = d1 * by, c = d2 * by;
    const T unit = dense::scaled(below, by);
    const R inverse = by * inverse_of(fma(a, c, -dense::squared_size(unit)));
    const T beside = dense::scaled(unit, -inverse);
    const int lane = threadIdx.x % 32;
    if (lane == width) mine = {beside, c * inverse, width + 1, 0};
    if (lane == width + 1) mine = {dense::conjugate(beside), a * inverse, width, 0};
  }

  // A step's data from the steps before: the row at its position; which of two buffers was used last; whether the
  // numbers fetched for the position were overwritten.
  struct State {
    int q, buffer;
    bool stale;
  };

  // One pivot at position `width`: columns eliminated, 0 for a system that is not finite. L is not checked: an element
  // that is not finite makes the pivot of its row so.
  __device__ int step(State &state, int width, Coming &coming, Column &mine, std::int32_t &code) const {
    const R alpha = static_cast<R>(0.6403882032022076);  // (1 + sqrt 17) / 8 bounds the growth of elements
    const int q = state.q;
#pragma unroll 1
    while (coming.columns < width + ahead) fetch(coming);
    await<ahead - 2>();
    int after = 0, later = 0, wide = 1, with = width, chosen = q;
    bool again = false;
    R pivot = 0, below = 0, second = 0;
    // The second candidate's column goes where it belongs if both are eliminated together.
#pragma unroll 1
    for (int turn = 0;; ++turn) {
      state.buffer ^= 1;
      const Candidate now =
          candidate(chosen, width + turn, width, mine, shared && turn == 0 && q == width && !state.stale,
                    s.control->found[state.buffer]);
      const R size = fabs(now.diagonal), most = now.largest.size();
      if (!finite(size) || !finite(most)) return 0;
      if (turn == 0) {
        after = s.physical[width + 1], later = s.physical[width + 2];
        pivot = now.diagonal, below = most;
        if (size <= 0 && most <= 0 && code == 0) code = s.from_end() ? s.n - s.first - width : s.first + width + 1;
        if (!(size < alpha * most)) break;
        chosen = now.largest.row(), with = now.largest.place();
        continue;
      }
      again = true, second = now.diagonal;
      // |pivot| < alpha below^2 / most, without the quotient; scaled, so that only numbers far above the bound
      // overflow, and a pivot that is zero stays below it.
      const R by = one_over_power(below), scaled = below * by;
      if (!(fabs(pivot) * by * by * most < alpha * scaled * scaled))
        with = width, chosen = q;
      else
        wide = size >= alpha * most ? 1 : 2;
      break;
    }
    const R alone = chosen == q ? pivot : second;
    if (wide == 1 && code == 0 && !has_inverse(alone)) return 0;
    if (wide == 2)
      invert(pivot, s.panel[chosen * s.pitch + width], second, width, mine);
    else
      invert(alone, width, mine);
    if (threadIdx.x % 32 - width < static_cast<unsigned>(wide)) mine.swapped = with;
    state.stale = again && wide == 1;
    if (state.stale) leave_one(width, chosen != q);
    const int leaves = wide == 2 ? after : q;  // the row that changes places with the chosen one
    note(q, leaves, chosen, with, width + wide - 1);
    state.q = with == width + wide ? leaves : wide == 2 ? later : after;
    return wide;
  }

  // Of two candidates one was eliminated alone, the second one or the first.
  __device__ void leave_one(int width, bool second) const {
    if (second)
#pragma unroll 1
      for (int r = threadIdx.x; r < s.rows; r += threads)
        s.panel[r * s.pitch + width] = s.panel[r * s.pitch + width + 1];
    meet<threads>();
  }

  // Writes down where rows stand once `chosen` stands at `last`: each thread where its own do, which read it next, and
  // one of the last warp, which has the fewest rows, which rows do.
  __device__ void note(int q, int leaves, int chosen, int with, int last) const {
    const unsigned id = threadIdx.x;
    if (id == static_cast<unsigned>(leaves) % threads) s.position[leaves] = with;
    if (id == static_cast<unsigned>(q) % threads && leaves != q) s.position[q] = -1;
    if (id == static_cast<unsigned>(chosen) % threads) s.position[chosen] = -1;
    if (id == threads - 1) s.physical[with] = leaves, s.physical[last] = chosen;
  }

  // The panel's columns: how many, 0 for a system that is not finite.
  __device__ int make(std::int32_t &code) const {
#pragma unroll 1
    for (int r = threadIdx.x; r < s.rows + 2; r += threads) s.physical[r] = s.position[r] = r;
    int width = 0;
    Coming coming{0, s.a};
    if (threadIdx.x == 0) s.control->strip = 0;
    meet<threads>();
    Column mine{};
    State state{};
    while (width < s.rows && width + 1 < max(s.depth, 2)) {
      const int wide = step(state, width, coming, mine, code);
      if (wide == 0) return 0;
      width += wide;
    }
    if (const int i = threadIdx.x; i < width) {
      s.control->own[i] = mine.own, s.control->beside[i] = mine.beside;
      s.control->partner[i] = mine.partner, s.control->swapped[i] = mine.swapped;
      s.put_pivot(s.first + i, s.first + mine.swapped, mine.partner != i);
    }
    await<0>();
    meet<threads>();
    return width;
  }
};

// Separate functions, each with all registers. The panel's: how many columns, 0 for a system that is not finite.
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
    if (width == 0) {
      await<0>();  // columns on their way would come into the next system's panel
      return SXT_HERMITIAN_NOT_FINITE;
    }
    if (width < storage.rows) update_rest<T, threads, shared>(storage, width);
    write_panel<T, threads, shared>(storage, width);
    storage.go_on(width);
  }
  return code;
}

// Blocks take systems in turn. `elements` of a panel lie in shared memory or, for large orders, in `panels`, this many
// for each block.
template <class T, int threads, int resident, bool shared>
__global__ void __launch_bounds__(threads, resident)
    factor_pivoted(const dense::Set set, std::int32_t phase, std::int64_t elements, T *panels) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto *control = reinterpret_cast<Control<T, threads / 32> *>(memory);
  unsigned char *room = memory + sizeof *control;
  T *column = reinterpret_cast<T *>(room + numbers_bytes(set.n_max));  // a right-hand side's, or the panel's first
  T *panel = shared ? column : panels + blockIdx.x * elements;
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
    if (system.n_rhs > 0) solve<T, threads>(system, {system, pivots, set.upper}, column, control->row[0]);
    __syncthreads();
  }
}

#endif  // __CUDACC__

}  // namespace sextant::hermitian_pivoted
