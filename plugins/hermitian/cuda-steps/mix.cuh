// SPDX-License-Identifier: BSD-3-Clause
// The lower triangle of c = U^T a U by the butterfly U of plugin_hermitian_butterfly.hpp, a block of threads for 16 by
// 16 of its orbits, a thread for two orbits and the 4 x 4 numbers they share. Numbers that neighbouring threads would
// read or write a column apart, the mirror images of what lies above the diagonal, pass through shared memory.
#pragma once

#include <cstdint>

#include "sextant/plugin_hermitian_butterfly.hpp"

namespace sextant::plugin::hermitian_steps {

inline constexpr int mix_side = 16, mix_threads = mix_side * mix_side;

// Pairs of such groups of orbits, the second not beyond the first.
inline SXT_LANES std::int64_t mix_pairs(std::int64_t n) {
  const std::int64_t groups = ((n + 3) / 4 + mix_side - 1) / mix_side;
  return groups * (groups + 1) / 2;
}

// In shared memory: planes for those of the 4 x 4 numbers that pass through it, which are 6 above the diagonal, or
// of an upper triangle the 10 others.
template <class T>
struct MixShared {
  alignas(16) real_of<T> numbers[2][mix_side][8];  // of the rows' and of the columns' orbits, level 2 and level 1
  T plane[10][mix_side][mix_side + 1];
  static constexpr std::size_t bytes(bool lower) {
    return sizeof(MixShared) - (lower ? 4 * sizeof(T[mix_side][mix_side + 1]) : 0);
  }
};

// One system and one pair of groups: orbits row0 .. and column0 .. of `quarter`. lower: a's triangle.
template <class T, bool lower>
struct MixTile {
  Part<T> a, c;
  MixShared<T> &shared;
  std::int64_t n, quarter, row0, column0;
  int fast, slow;  // of the thread; its own orbits are row0 + fast and column0 + slow

  __device__ bool there(int k, std::int64_t orbit) const { return orbit < quarter && k * quarter + orbit < n; }
  __device__ std::int64_t index(int k, std::int64_t orbit) const { return k * quarter + orbit; }
  // Number (k, l) of two orbits lies where threads that go along the rows' orbits find neighbours.
  static __device__ constexpr bool direct(int k, int l) { return (k >= l) == lower; }

  __device__ void make_numbers() const {
    for (int e = threadIdx.x; e < 2 * mix_side * 8; e += mix_threads) {
      const int of = e / (mix_side * 8), orbit = e / 8 % mix_side, k = e % 4, level = e % 8 < 4 ? 2 : 1;
      shared.numbers[of][orbit][e % 8] =
          static_cast<real_of<T>>(butterfly_number(index(k, (of ? column0 : row0) + orbit), level));
    }
  }
  __device__ void read(T (&block)[16]) const {
    int plane = 0;
#pragma unroll
    for (int e = 0; e < 16; ++e) {
      const int k = e % 4, l = e / 4;
      const std::int64_t r = row0 + (direct(k, l) ? fast : slow), s = column0 + (direct(k, l) ? slow : fast);
      block[e] = from<T>(0, 0);
      if (there(k, r) && there(l, s) && (r >= s || k != l))
        block[e] = direct(k, l) ? a.at(index(k, r), index(l, s)) : conjugate_of(a.at(index(l, s), index(k, r)));
    }
#pragma unroll
    for (int e = 0; e < 16; ++e)
      if (!direct(e % 4, e / 4)) shared.plane[plane++][slow][fast] = block[e];
    __syncthreads();
    plane = 0;
#pragma unroll
    for (int e = 0; e < 16; ++e)
      if (!direct(e % 4, e / 4)) block[e] = shared.plane[plane++][fast][slow];
    if (row0 + fast == column0 + slow)
#pragma unroll
      for (int k = 0; k < 4; ++k) block[5 * k] = from<T>(re(block[5 * k]), 0);
  }
  __device__ void transform(T (&block)[16]) const {
    const Orbit<T> row(row0 + fast, quarter, n, shared.numbers[0][fast]);
    const Orbit<T> column(column0 + slow, quarter, n, shared.numbers[1][slow]);
#pragma unroll
    for (int l = 0; l < 4; ++l) row.transposed(block + 4 * l);
#pragma unroll
    for (int k = 0; k < 4; ++k) column.transposed(block + k, 4);
  }
  __device__ void write(const T (&block)[16]) const {
    const std::int64_t r = row0 + fast, s = column0 + slow;
#pragma unroll
    for (int e = 0; e < 16; ++e) {
      const int k = e % 4, l = e / 4;
      if (k < l || r < s || !there(k, r) || !there(l, s)) continue;
      c.at(index(k, r), index(l, s)) = r == s && k == l ? from<T>(re(block[e]), 0) : block[e];
    }
    __syncthreads();
    int plane = 0;
#pragma unroll
    for (int e = 0; e < 16; ++e)
      if (e % 4 < e / 4) shared.plane[plane++][fast][slow] = conjugate_of(block[e]);
    __syncthreads();
    const std::int64_t mirrored_r = row0 + slow, mirrored_s = column0 + fast;
    plane = 0;
#pragma unroll
    for (int e = 0; e < 16; ++e) {
      const int k = e % 4, l = e / 4;
      if (k >= l) continue;
      const T value = shared.plane[plane++][slow][fast];
      if (mirrored_r > mirrored_s && there(k, mirrored_r) && there(l, mirrored_s))
        c.at(index(l, mirrored_s), index(k, mirrored_r)) = value;
    }
  }
  __device__ void run() const {
    T block[16];
    make_numbers();
    read(block);
    transform(block);
    write(block);
  }
};

template <class T, bool lower>
__global__ void __launch_bounds__(mix_threads, 2) mix_of_systems(sxt_hermitian_step_args args) {
  extern __shared__ __align__(16) unsigned char memory[];
  MixShared<T> &shared = *reinterpret_cast<MixShared<T> *>(memory);
  const std::int64_t pairs = mix_pairs(args.n_max);
  for (std::int64_t work = blockIdx.x; work < args.batch * pairs; work += gridDim.x) {
    const std::int64_t s = work / pairs, n = order_of(args, s), quarter = (n + 3) / 4, pair = work % pairs;
    auto row = static_cast<std::int64_t>((sqrt(8.0 * static_cast<double>(pair) + 1) - 1) / 2);
    row += (row + 1) * (row + 2) / 2 <= pair;
    row -= row * (row + 1) / 2 > pair;
    const std::int64_t column = pair - row * (row + 1) / 2;
    if (row * mix_side >= quarter || passes_over<T>(args, s, n)) continue;
    const MixTile<T, lower> tile{part_of_block<T>(args.a, s),
                                 part_of_block<T>(args.c, s),
                                 shared,
                                 n,
                                 quarter,
                                 row * mix_side,
                                 column * mix_side,
                                 static_cast<int>(threadIdx.x % mix_side),
                                 static_cast<int>(threadIdx.x / mix_side)};
    tile.run();
    __syncthreads();
  }
}

}  // namespace sextant::plugin::hermitian_steps
