// SPDX-License-Identifier: BSD-3-Clause
// Small systems, each wholly on chip: the kernels, and the substitutions with a factor that is read once, a block
// column at a time, from device memory (where it was just written, so from the last cache).
#pragma once

#include "tile_worker.cuh"

namespace sextant::hermitian_tile {

#ifdef __CUDACC__

template <class T>
__device__ __forceinline__ void copy_async(T *to, const T *from) {
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(sizeof(T)) : "memory");
}

template <class T, int warps>
struct Substitution {
  using Work = Worker<T, warps>;
  const Work &work;
  int buffers;  // block columns in shared memory at once: 1 or 2

  __device__ T *panel(int q) const { return work.blocks + (q & (buffers - 1)) * work.rows * block_size; }

  // Starts to bring in the blocks (q, 0) .. (q, q), for the way back, or (q, q), (q + 1, q) .., for the way there. What
  // lies beyond the order is the identity.
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
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  __device__ void wait(bool for_all) const {
    if (for_all)
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    else
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    Work::meet();
  }

  // Takes what block q contributes off the unknowns above: a thread an unknown, each from another row on, so that
  // threads meet different banks. Two sums, which do not wait for one another.
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
  // Takes what block q contributes off the unknowns below: a thread an unknown.
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
  // The diagonal block: a warp a right-hand side, a lane an unknown. The right-hand sides are conjugates. Unknowns stay
  // unscaled until the end: the factors are scaled instead, which nothing waits for.
  template <bool back>
  __device__ void solve_diagonal(int q) const {
    const T *diagonal = panel(q) + (back ? q * block_size : 0);
    const int n_rhs = work.system.n_rhs, c = work.lane % side;
    const Real<T> *inverse = work.inverse + q * side;
    for (int k = work.warp; k < n_rhs; k += warps) {
      T &place = work.rhs[(q * side + c) * n_rhs + k];
      T value = work.lane < side ? place : T{};  // the other lanes only take part in exchanges
#pragma unroll
      for (int i = 0; i + 1 < side; ++i) {
        const int j = back ? side - 1 - i : i;
        const T factor = back ? diagonal[offset<T>(j, c)] : dense::conjugate(diagonal[offset<T>(c, j)]);
        const T by = dense::scaled(factor, inverse[j]), solved = dense::from_lane(~0u, value, j);
        if (back ? c < j : c > j) value = dense::minus_product(value, by, solved);
      }
      if (work.lane < side) place = dense::scaled(value, inverse[c]);
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

// One system a group of warps; groups of one warp share a block. phase as in kinds/hermitian.h.
template <class T, int warps, int groups, int resident>
__global__ void __launch_bounds__(warps * 32 * groups, resident)
    tile(const dense::Set set, std::int32_t phase, std::int32_t buffers, std::uint32_t group_bytes,
         const __grid_constant__ Places places) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int group = threadIdx.x / (warps * 32);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * groups + group;
  if (i >= set.batch) return;
  unsigned char *mine = memory + static_cast<std::size_t>(group_bytes) * group;
  auto *control = reinterpret_cast<Control<T> *>(mine);
  T *blocks = reinterpret_cast<T *>(control + 1);
  const dense::System<T> system = dense::definite_system<T>(set, i);
  // Right-hand sides stand at the end: the blocks in between are as many as the largest order needs.
  const int id = threadIdx.x % (warps * 32), rows = (system.n + side - 1) / side,
            most_rows = (set.n_max + side - 1) / side;
  auto *inverse = reinterpret_cast<Real<T> *>(mine + group_bytes) - most_rows * side;
  T *rhs = reinterpret_cast<T *>(inverse) - static_cast<std::size_t>(most_rows) * side * set.n_rhs;
  const Worker<T, warps> work{system, places, blocks, rhs, inverse, control, id, id % 32, id / 32, rows};
  if (!dense::takes_part(set, i, phase, system, id == 0)) return;
  const Substitution<T, warps> substitution{work, buffers};
  if (phase == SXT_HERMITIAN_SOLVE) {
    substitution.load_right(), substitution.forward();
  } else {
    const int code = work.factor();
    if (id == 0) set.info[i] = code;
    if (code != 0 || system.n_rhs == 0) return;
  }
  substitution.back();
  substitution.store_right();
}

#endif  // __CUDACC__

}  // namespace sextant::hermitian_tile
