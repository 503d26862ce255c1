// SPDX-License-Identifier: BSD-3-Clause
// Panels whose columns lie in one piece, from multiples of 16 bytes on, by bulk copies that a fifth warp of the block
// issues: the others need not compute addresses, and each waits only for its own data, not for the other warps. A stage
// holds eight columns of a tile's rows and of the rows of its columns, or sixteen columns of the tile itself. Rows that
// the matrix does not have keep their old content: it is combined only with numbers of such rows.
#pragma once

#include "block.cuh"

namespace sextant::hermitian_panel {

SXT_DENSE void await_phase(const std::uint64_t &barrier, int phase) {
  asm volatile(
      "{\n"
      ".reg .pred over;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
      "@!over bra again;\n"
      "}\n" ::"r"(shared_address(&barrier)),
      "r"(phase)
      : "memory");
}

// Earlier writes of this thread are visible to copies issued after the next barrier.
SXT_DENSE void before_bulk_copies() { asm volatile("fence.proxy.async;" ::: "memory"); }

// Where the fifth warp waits for the four others, which do not wait for it.
SXT_DENSE void workers_are_here() { asm volatile("barrier.arrive 15, %0;" ::"n"(threads + 32) : "memory"); }
SXT_DENSE void await_workers() { asm volatile("barrier.sync 15, %0;" ::"n"(threads + 32) : "memory"); }

template <class T>
SXT_DENSE void set_up_arrivals(Shared<T> &shared) {
#pragma unroll
  for (int i = 0; i < stages; ++i) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&shared.full[i])) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&shared.empty[i])), "n"(warps)
                 : "memory");
  }
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&shared.diagonal_full)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

SXT_DENSE void expect_bytes(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
template <class T>
SXT_DENSE void bulk_copy(T *to, const T *from, int bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
template <class T>
SXT_DENSE void bulk_copy(T *to, const T *from, int bytes, unsigned barrier, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
      : "memory");
}

// A warp's way through the stages, in the order in which they are filled.
template <class T>
struct Arrivals {
  Shared<T> &shared;
  int step = 0;  // of all tiles so far

  SXT_DENSE int slot() const { return step % stages; }
  SXT_DENSE void wait() const { await_phase(shared.full[slot()], step / stages % 2); }
  // This warp has read the stage.
  SXT_DENSE void release() {
    __syncwarp();
    if (lane_now() == 0)
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&shared.empty[slot()])) : "memory");
    ++step;
  }
};

// Of the fifth warp: one lane issues copies of the columns of one tile after the other.
template <class T, bool with_signs>
struct Supply {
  const View<T> &s;
  Shared<T> &shared;
  int step = 0;

  static constexpr int sign_bytes = 16;

  // The barrier of the next stage, once all warps have read its old content; `bytes` will arrive.
  SXT_DENSE unsigned next(int bytes) const {
    await_phase(shared.empty[step % stages], step / stages % 2 ^ 1);
    const unsigned barrier = shared_address(&shared.full[step % stages]);
    expect_bytes(barrier, bytes);
    return barrier;
  }
  // Eight columns of a panel, each `bytes` long.
  template <class... Policy>
  SXT_DENSE void copy_panel(T *to, const T *from, int bytes, unsigned barrier, Policy... policy) const {
#pragma unroll
    for (int c = 0; c < depth; ++c) bulk_copy(to + c * stage_ld<T>, from + c * s.column, bytes, barrier, policy...);
  }

  // The numbers on the diagonal of columns first .. first + 7, to where sign_of_column() reads them.
  SXT_DENSE void copy_signs(T (&place)[2][stage_room<T>], int first, unsigned barrier) const {
    constexpr int numbers = sign_bytes / sizeof(T);
#pragma unroll 1
    for (int c = 0; c < depth; ++c) {
      const int column = first + c, from = column / numbers * numbers;
      bulk_copy(place[1] + sign_place<T>(c) - (column - from), s.at(from, column), sign_bytes, barrier);
    }
  }

  // The panels left of the tile of `rows` rows from r0 and `columns` columns from k0, then the tile itself; `vector`:
  // the entries of a right-hand side that were solved for, too.
  SXT_DENSE void bring(int r0, int rows, int k0, int columns, bool vector) {
    constexpr int bytes = sizeof(T);
    constexpr bool hints = bytes == 16;  // to the last cache
    const bool on_diagonal = r0 == k0;
    const int row_bytes = bytes * rows, right_bytes = bytes * columns;
    const int all =
        depth * (right_bytes + (on_diagonal ? 0 : row_bytes) + (vector ? bytes : 0) + (with_signs ? sign_bytes : 0));
    const T *left = s.a + r0, *right = s.a + k0, *solved = s.b;
    const std::uint64_t once = not_again(), kept = again();
#pragma unroll 1
    for (int i = 0; i < k0 / depth; ++i, ++step) {
      const unsigned barrier = next(all);
      auto &place = shared.stage[step % stages];
      if constexpr (hints) {
        if (!on_diagonal) copy_panel(place[0], left, row_bytes, barrier, once);
      } else {
        if (!on_diagonal) copy_panel(place[0], left, row_bytes, barrier);
      }
      if (hints && i < kept_steps)
        copy_panel(place[1], right, right_bytes, barrier, kept);
      else
        copy_panel(place[1], right, right_bytes, barrier);
      if constexpr (with_signs) copy_signs(place, depth * i, barrier);
      left += depth * s.column, right += depth * s.column;
      if (vector) bulk_copy(shared.carried_stage[step % stages], solved, depth * bytes, barrier), solved += depth;
    }
    left = s.a + r0 + k0 * s.column;
#pragma unroll 1
    for (int first = 0; first < tile; first += inner, ++step) {
      const int count = max(0, min(inner, columns - first));
      const unsigned barrier = next(count * row_bytes);
      auto &place = shared.stage[step % stages];
#pragma unroll 1
      for (int c = 0; c < count; ++c, left += s.column)
        bulk_copy(place[c / depth] + c % depth * stage_ld<T>, left, row_bytes, barrier);
    }
  }
};

}  // namespace sextant::hermitian_panel
