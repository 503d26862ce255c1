// SPDX-License-Identifier: BSD-3-Clause
// The lower triangle of c = U^T a U by the butterfly U of plugins/hermitian/shared/butterfly.hpp, a block of threads
// for 16 by 16 of its orbits, a thread for two orbits and the 4 x 4 numbers they share. Numbers that neighbouring
// threads would read or write a column apart, the mirror images of what lies above the diagonal, pass through shared
// memory.
#pragma once

#include <cstdint>

#include "plugins/hermitian/shared/butterfly.hpp"

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
  int n, quarter, row0, column0;
  int fast, slow;  // of the thread; its own orbits are row0 + fast and column0 + slow

  // Elements that an orbit has.
  __device__ int count_of(int orbit) const { return orbit < quarter ? (n - orbit + quarter - 1) / quarter : 0; }
  // Number (k, l) of two orbits lies where threads that go along the rows' orbits find neighbours.
  static __device__ constexpr bool direct(int k, int l) { return (k >= l) == lower; }
  // Number (0, 0) of orbits r and s, and of its mirror image.
  static __device__ T *place(const Part<T> &of, int r, int s) { return of.data + r + s * of.ld; }

  __device__ void make_numbers() const {
    for (int e = threadIdx.x; e < 2 * mix_side * 8; e += mix_threads) {
      const int of = e / (mix_side * 8), orbit = e / 8 % mix_side, k = e % 4, level = e % 8 < 4 ? 2 : 1;
      shared.numbers[of][orbit][e % 8] =
          static_cast<real_of<T>>(butterfly_number(k * quarter + (of ? column0 : row0) + orbit, level));
    }
  }
  __device__ void read_direct(T (&block)[16]) const {
    const int r = row0 + fast, s = column0 + slow, rows = count_of(r), columns = count_of(s);
    const T *column = place(a, r, s);
#pragma unroll
    for (int l = 0; l < 4; ++l, column += quarter * a.ld)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (direct(k, l)) block[k + 4 * l] = k < rows && l < columns && (r >= s || k != l) ? column[k * quarter] : T(0);
  }
  // And those whose mirror images lie so, through shared memory.
  __device__ void read_mirrored(T (&block)[16]) const {
    const int r = row0 + slow, s = column0 + fast, rows = count_of(r), columns = count_of(s);
    const T *column = place(a, s, r);
#pragma unroll
    for (int k = 0; k < 4; ++k, column += quarter * a.ld)
#pragma unroll
      for (int l = 0; l < 4; ++l)
        if (!direct(k, l))
          block[k + 4 * l] = k < rows && l < columns && (r >= s || k != l) ? conjugate_of(column[l * quarter]) : T(0);
    int plane = 0;
#pragma unroll
    for (int e = 0; e < 16; ++e)
      if (!direct(e % 4, e / 4)) shared.plane[plane++][slow][fast] = block[e];
    __syncthreads();
    plane = 0;
#pragma unroll
    for (int e = 0; e < 16; ++e)
      if (!direct(e % 4, e / 4)) block[e] = shared.plane[plane++][fast][slow];
  }
  __device__ void transform(T (&block)[16]) const {
    const int r = row0 + fast, s = column0 + slow;
    if (r == s)
#pragma unroll
      for (int k = 0; k < 4; ++k) block[5 * k] = from<T>(re(block[5 * k]), 0);
    {
      const Orbit<T> row(count_of(r), shared.numbers[0][fast]);
#pragma unroll
      for (int l = 0; l < 4; ++l) row.transposed(block + 4 * l);
    }
    const Orbit<T> column(count_of(s), shared.numbers[1][slow]);
#pragma unroll
    for (int k = 0; k < 4; ++k) column.transposed(block + k, 4);
    if (r == s)
#pragma unroll
      for (int k = 0; k < 4; ++k) block[5 * k] = from<T>(re(block[5 * k]), 0);
  }
  __device__ void write_direct(const T (&block)[16]) const {
    const int r = row0 + fast, s = column0 + slow, rows = r >= s ? count_of(r) : 0, columns = count_of(s);
    T *column = place(c, r, s);
#pragma unroll
    for (int l = 0; l < 4; ++l, column += quarter * c.ld)
#pragma unroll
      for (int k = l; k < 4; ++k)
        if (k < rows && l < columns) column[k * quarter] = block[k + 4 * l];
  }
  __device__ void write_mirrored(const T (&block)[16]) const {
    __syncthreads();
    int plane = 0;
#pragma unroll
    for (int e = 0; e < 16; ++e)
      if (e % 4 < e / 4) shared.plane[plane++][fast][slow] = conjugate_of(block[e]);
    __syncthreads();
    const int r = row0 + slow, s = column0 + fast, rows = r > s ? count_of(r) : 0, columns = count_of(s);
    T *column = place(c, s, r);
#pragma unroll
    for (int e = 0, at = 0; e < 16; ++e) {
      const int k = e % 4, l = e / 4;
      if (k >= l) continue;
      const T value = shared.plane[at++][slow][fast];
      if (k < rows && l < columns) column[l * quarter + k * quarter * c.ld] = value;
    }
  }
  __device__ void run() const {
    T block[16];
    make_numbers();
    read_direct(block);
    read_mirrored(block);
    transform(block);
    write_direct(block);
    write_mirrored(block);
  }
};

template <class T, bool lower>
__global__ void __launch_bounds__(mix_threads, sizeof(T) == 16 ? 2 : 3) mix_of_systems(sxt_hermitian_step_args args) {
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
                                 static_cast<int>(n),
                                 static_cast<int>(quarter),
                                 static_cast<int>(row) * mix_side,
                                 static_cast<int>(column) * mix_side,
                                 static_cast<int>(threadIdx.x % mix_side),
                                 static_cast<int>(threadIdx.x / mix_side)};
    tile.run();
    __syncthreads();
  }
}

}  // namespace sextant::plugin::hermitian_steps
