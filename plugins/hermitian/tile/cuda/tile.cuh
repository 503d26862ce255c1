// SPDX-License-Identifier: BSD-3-Clause
// Small systems, each wholly on chip: the kernels, and the substitutions with a factor that is read once, a block
// column at a time, from device memory (where it was just written, so from the last cache).
#pragma once

#include "tile_back.cuh"

namespace sextant::hermitian_tile {

#ifdef __CUDACC__

template <class T, int warps>
struct Substitution {
  using Work = Worker<T, warps, false>;
  const Work &work;
  int buffers;  // block columns in shared memory at once: 1 or 2

  __device__ T *panel(int q) const { return work.blocks + (q & (buffers - 1)) * work.rows * block_size; }

  // Starts to bring in the blocks (q, 0) .. (q, q), for the way back, or (q, q), (q + 1, q) .., for the way there.
  // Beyond the order it is the identity.
  template <bool back>
  __device__ void fetch(int q) const {
    const bool by_rows = work.system.row == 1;
    const int count = back ? q + 1 : work.rows - q;
    if (q >= 0 && q < work.rows)
      for (int e = work.id; e < count * block_size; e += Work::threads) {
        // Neighbouring threads take neighbouring addresses.
        const int fast = e % side, slow = e / side % side, p = e / block_size;
        const int r = by_rows ? fast : slow, c = by_rows ? slow : fast;
        const int row = (back ? q : q + p) * side + r, column = (back ? p : q) * side + c;
        T *to = panel(q) + p * block_size + offset<T>(r, c);
        if (row < work.system.n && column <= row)
          copy_async(to, work.system.at(row, column));
        else
          *to = dense::from_real<T>(row == column);
      }
    copies_end();
  }
  __device__ void wait(bool for_all) const {
    if (for_all)
      copies_arrive<0>();
    else
      copies_arrive<1>();
    Work::meet();
  }

  // Subtracts the contributions of block q from the unknowns above: a thread an unknown, each from another row on, so
  // that threads use different banks. Two independent sums.
  __device__ void scatter_up(int q) const {
    const int n_rhs = work.system.n_rhs;
    for (int k = 0; k < n_rhs; ++k)
      for (int e = work.id; e < q * side; e += Work::threads) {
        const int c = e % side;
        const T *factor = panel(q) + e / side * block_size;
        T left = work.rhs[e * n_rhs + k], other{};
#pragma unroll
        for (int i = 0; i < side; i += 2) {
          const int r = (i + c) % side, s = (i + 1 + c) % side;
          left = dense::minus_product(left, factor[offset<T>(r, c)], work.rhs[(q * side + r) * n_rhs + k]);
          other = dense::minus_product(other, factor[offset<T>(s, c)], work.rhs[(q * side + s) * n_rhs + k]);
        }
        work.rhs[e * n_rhs + k] = dense::sum(left, other);
      }
  }
  // Subtracts the contributions of block q from the unknowns below: a thread an unknown.
  __device__ void scatter(int q) const {
    const int n_rhs = work.system.n_rhs, below = (work.rows - q - 1) * side;
    for (int k = 0; k < n_rhs; ++k)
      for (int r = work.id; r < below; r += Work::threads) {
        const T *factor = panel(q) + (r / side + 1) * block_size;
        T value = work.rhs[((q + 1) * side + r) * n_rhs + k];
#pragma unroll
        for (int c = 0; c < side; ++c)
          value = dense::minus_product(value, dense::conjugate(factor[offset<T>(r % side, c)]),
                                       work.rhs[(q * side + c) * n_rhs + k]);
        work.rhs[((q + 1) * side + r) * n_rhs + k] = value;
      }
  }
  // The diagonal block: a warp a right-hand side.
  template <bool back>
  __device__ void solve_diagonal(int q) const {
    const T *diagonal = panel(q) + (back ? q * block_size : 0);
    const int n_rhs = work.system.n_rhs, c = work.lane % side;
    for (int k = work.warp; k < n_rhs; k += warps) {
      T &place = work.rhs[(q * side + c) * n_rhs + k];
      const T value = substitute<back>(diagonal, work.inverse + q * side, work.lane < side ? place : T{}, work.lane);
      if (work.lane < side) place = value;
    }
  }

  // L^H x = y.
  __device__ void back() const {
    if (buffers == 2) fetch<true>(work.rows - 1);
    for (int q = work.rows - 1; q >= 0; --q) {
      fetch<true>(buffers == 2 ? q - 1 : q);
      wait(buffers == 1);
      solve_diagonal<true>(q);
      Work::meet();
      scatter_up(q);
      Work::meet();
    }
  }
  // L y = b with a factor that is given.
  __device__ void forward() const {
    if (buffers == 2) fetch<false>(0);
    for (int q = 0; q < work.rows; ++q) {
      fetch<false>(buffers == 2 ? q + 1 : q);
      wait(buffers == 1);
      if (work.id < side) {
        const Real<T> diagonal = dense::real_of(panel(q)[offset<T>(work.id, work.id)]);
        work.inverse[q * side + work.id] = 1 / diagonal;
      }
      Work::meet();
      solve_diagonal<false>(q);
      Work::meet();
      scatter(q);
      Work::meet();
    }
  }
  __device__ void load_right() const {
    const int n_rhs = work.system.n_rhs;
    for (int e = work.id; e < work.rows * side * n_rhs; e += Work::threads) {
      const int c = e % (work.rows * side), k = e / (work.rows * side);
      work.rhs[c * n_rhs + k] = c < work.system.n ? dense::conjugate(work.system.right(c, k)) : T{};
    }
    Work::meet();
  }
  __device__ void store_right() const {
    const int n = work.system.n, n_rhs = work.system.n_rhs;
    for (int e = work.id; e < n * n_rhs; e += Work::threads)
      work.system.put_right(e % n, e / n, dense::conjugate(work.rhs[e % n * n_rhs + e / n]));
  }
};

// The system of a group of warps and its place in shared memory; right-hand sides lie at the end: the blocks in between
// are as many as the largest order needs.
template <class T, int warps, int groups, bool carries>
__device__ __forceinline__ Worker<T, warps, carries> worker_of(const dense::Set &set, std::int64_t i,
                                                               unsigned char *memory, std::uint32_t group_bytes,
                                                               const Places &places) {
  unsigned char *mine = memory + static_cast<std::size_t>(group_bytes) * (threadIdx.x / (warps * 32));
  auto *control = reinterpret_cast<Control<T> *>(mine);
  const dense::System<T> system = dense::definite_system<T>(set, i);
  const int id = threadIdx.x % (warps * 32), rows = (system.n + side - 1) / side,
            most_rows = (set.n_max + side - 1) / side;
  auto *inverse = reinterpret_cast<Real<T> *>(mine + group_bytes) - most_rows * side;
  T *rhs = reinterpret_cast<T *>(inverse) - static_cast<std::size_t>(most_rows) * side * set.n_rhs;
  return {system, places, reinterpret_cast<T *>(control + 1), rhs, inverse, control, id, id % 32, id / 32, rows};
}

// One system a group of warps; groups of one warp share a block. phase as in plugin/kinds/hermitian.h.
template <class T, int warps, int groups, int resident>
__global__ void __launch_bounds__(warps * 32 * groups, resident)
    tile(const dense::Set set, std::int32_t phase, std::int32_t buffers, std::uint32_t group_bytes,
         const __grid_constant__ Places places) {
  extern __shared__ __align__(16) unsigned char memory[];
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * groups + threadIdx.x / (warps * 32);
  if (i >= set.batch) return;
  const auto work = worker_of<T, warps, groups, false>(set, i, memory, group_bytes, places);
  if (!dense::takes_part(set, i, phase, work.system, work.id == 0)) return;
  const Substitution<T, warps> substitution{work, buffers};
  if (phase == SXT_HERMITIAN_SOLVE) {
    substitution.load_right(), substitution.forward();
  } else {
    const int code = work.factor();
    if (work.id == 0) set.info[i] = code;
    if (code != 0 || work.system.n_rhs == 0) return;
  }
  substitution.back();
  substitution.store_right();
}

// To factor and solve one right-hand side, which is carried along. All systems are of one order.
template <class T, int warps, int groups, int resident>
__global__ void __launch_bounds__(warps * 32 * groups, resident)
    tile_carrying(const dense::Set set, std::uint32_t group_bytes, const __grid_constant__ Places places,
                  const __grid_constant__ WayBack way) {
  extern __shared__ __align__(16) unsigned char memory[];
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * groups + threadIdx.x / (warps * 32);
  if (i >= set.batch) return;
  const auto work = worker_of<T, warps, groups, true>(set, i, memory, group_bytes, places);
  if (!dense::takes_part(set, i, SXT_HERMITIAN_FACTOR_SOLVE, work.system, work.id == 0)) return;
  const int code = work.factor();
  if (work.id == 0) set.info[i] = code;
  if (code == 0) Backward<T, warps>{work, way}.run();
}

#endif  // __CUDACC__

}  // namespace sextant::hermitian_tile
