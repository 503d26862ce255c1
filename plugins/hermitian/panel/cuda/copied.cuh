// SPDX-License-Identifier: BSD-3-Clause
// The sweep of a factorisation whose panels are brought by bulk copies: four warps that compute, and one that issues
// the copies. Both visit the tiles in the same order.
#pragma once

#include "arrivals.cuh"
#include "sweep.cuh"

namespace sextant::hermitian_panel {

// A lane's operands for four columns: all of the left one, the first two blocks of eight rows of the right one.
struct FourColumns {
  double x[2], y[2];
  Complex<double> b[2];
  SXT_DENSE void load(const Complex<double> *left, const Complex<double> *right) {
    const unsigned at = shared_address(left);
    x[0] = load_part(at), x[1] = load_part(at + 128), y[0] = load_part(at + 8), y[1] = load_part(at + 136);
    b[0] = load_whole(right), b[1] = load_whole(right + 8);
  }
  SXT_DENSE void flip(unsigned sign) {
#pragma unroll
    for (int i = 0; i < 2; ++i) x[i] = flipped(x[i], sign), y[i] = flipped(y[i], sign);
  }
};
// Products of four columns of c128 for all blocks, or for the first of them. The loads of `load_next` for the next four
// overlap the last of these products.
template <bool whole, class F>
SXT_DENSE void update_by_four(Accumulator<Complex<double>> (&c)[8], FourColumns &at, const Complex<double> *right,
                              int blocks, const F &load_next) {
#pragma unroll
  for (int j = 0; j < 8; j += 2) {
    FourColumns next = at;
    if (j < 6)
      next.b[0] = load_whole(right + 8 * (j + 2)), next.b[1] = load_whole(right + 8 * (j + 3));
    else
      load_next(next);
    if (whole || j < 2 * blocks) multiply_two(c + j, at.x, at.y, at.b);
    at = next;
  }
}

template <class T, Form form>
struct CopiedSweep : Sweep<T, form> {
  using Base = Sweep<T, form>;
  using Base::s, Base::shared, Base::stripe, Base::peers, Base::rank, Base::carries, Base::with_signs;
  using typename Base::Share, typename Base::Tile;

  // A warp's part of tile r of the rows, tile k of the columns. Numbers that are computed again at each use: kept over
  // the loop of the products, they would be spilled to memory.
  template <bool on_diagonal>
  SXT_DENSE Tile tile_at(int r, int k) const {
    asm volatile("" : "+r"(r), "+r"(k));
    const int r0 = this->start_of(r), k0 = this->start_of(k);
    Tile rows;
    rows.k0 = k0, rows.columns = this->columns_of(k0);
    rows.left = stripe_at(s, r0 + inner * stripe);
    if (on_diagonal && r0 == 0 && inner * stripe >= this->first_tile()) rows.left.valid = 0;  // of the second tile
    rows.on_diagonal = on_diagonal;
    const int all = (rows.columns + inner - 1) / inner;
    rows.blocks = rows.left.valid == 0 ? 0 : on_diagonal ? stripe + 1 : all;
    return rows;
  }

  // Where a lane finds its operands of the first four columns of a stage that has arrived.
  template <bool on_diagonal>
  SXT_DENSE void operands_at(const Arrivals<T> &arrivals, const T *&left, const T *&right) const {
    const int me = lane_now(), place = me % 4 * stage_ld<T> + me / 4;
    const auto &stage = shared.stage[arrivals.slot()];
    left = stage[on_diagonal] + inner * stripe + place, right = stage[1] + place;
  }
  // The sign of a lane's column among four of a stage.
  SXT_DENSE unsigned sign_at(const Arrivals<T> &arrivals, int half) const {
    return with_signs ? sign_of_column(shared.stage[arrivals.slot()][1], 4 * half + lane_now() % 4) : 0;
  }
  // Of c128: c -= products of a stage, for `blocks` blocks on the diagonal, all below it.
  template <bool on_diagonal>
  SXT_DENSE void multiply_stage(Accumulator<T> (&c)[8], const Arrivals<T> &arrivals, int blocks) const {
    const T *left, *right;
    operands_at<on_diagonal>(arrivals, left, right);
    FourColumns at;
    at.load(left, right);
    [[maybe_unused]] unsigned sign = sign_at(arrivals, 0);
#pragma unroll 1
    for (int half = 0; half < 2; ++half, right += 4 * stage_ld<T>) {
      left += 4 * stage_ld<T>;
      if constexpr (with_signs) at.flip(sign);
      update_by_four<!on_diagonal>(c, at, right, blocks, [&](FourColumns &next) {
        next.load(left, right + 4 * stage_ld<T>);
        if constexpr (with_signs) sign = sign_at(arrivals, 1);
      });
    }
  }
  // Of other types.
  template <bool on_diagonal>
  SXT_DENSE void multiply_stage_by_steps(Accumulator<T> (&c)[8], const Arrivals<T> &arrivals, int blocks) const {
    const int me = lane_now(), g = me / 4, t = me % 4;
    const auto &stage = shared.stage[arrivals.slot()];
    const T *left = stage[on_diagonal] + inner * stripe, *right = stage[1];
    if (!on_diagonal) return update_step<4, with_signs>(c, left, right, g, t);
    switch (blocks) {
      case 4: return update_step<4, with_signs>(c, left, right, g, t);
      case 3: return update_step<3, with_signs>(c, left, right, g, t);
      case 2: return update_step<2, with_signs>(c, left, right, g, t);
      case 1: return update_step<1, with_signs>(c, left, right, g, t);
    }
  }
  // c -= products of everything left of the tile; also those of the right-hand side, where this warp has its entries.
  template <bool on_diagonal>
  SXT_DENSE void multiply(Accumulator<T> (&c)[8], Arrivals<T> &arrivals, int steps, int blocks) const {
#pragma unroll 1
    for (; steps > 0; --steps) {
      arrivals.wait();
      if constexpr (sizeof(T) == 16)
        multiply_stage<on_diagonal>(c, arrivals, blocks);
      else
        multiply_stage_by_steps<on_diagonal>(c, arrivals, blocks);
      if constexpr (carries && on_diagonal && sizeof(T) != 16)
        this->vector().take_off(shared.stage[arrivals.slot()][1], arrivals.slot());
      arrivals.release();
    }
  }
  // Of c128, for the warp with the first rows of a tile on the diagonal, which has one block of products: it also
  // computes those of the right-hand side, in accumulators that it does not need otherwise.
  SXT_DENSE void multiply_with_vector(Accumulator<T> (&c)[8], Arrivals<T> &arrivals, int steps) const {
    const auto sums = [&](int j) -> Real<T>(&)[4] { return j < 6 ? c[2 + j].re : c[j - 4].im; };
#pragma unroll 1
    for (; steps > 0; --steps) {
      arrivals.wait();
      const T *left, *right, *solved = shared.carried_stage[arrivals.slot()] + lane_now() % 4;
      operands_at<true>(arrivals, left, right);
#pragma unroll 1
      for (int half = 0; half < 2; ++half) {
        FourColumns at;
        at.load(left, right);
        T by = *solved;
        if constexpr (with_signs) {
          const unsigned sign = sign_at(arrivals, half);
          by = flipped(by, sign), at.flip(sign);
        }
        const auto row = this->vector().left_row(by);
        update_by_four<false>(c, at, right, 1, [](FourColumns &) {});
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          const T b = load_whole(right + 8 * j);
          plugin::cuda::dense::multiply_add(sums(j), row.by_re, 0, b.re);
          plugin::cuda::dense::multiply_add(sums(j), row.by_im, 0, b.im);
        }
        left += 4 * stage_ld<T>, right += 4 * stage_ld<T>, solved += 4;
      }
      arrivals.release();
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) this->vector().put_sums(j, sums(j));
  }
  SXT_DENSE void add_own(Accumulator<T> (&c)[8], Arrivals<T> &arrivals, int blocks) const {
    const int me = lane_now(), g = me / 4, t = me % 4;
#pragma unroll
    for (int own = 0; own < 4; ++own) {
      arrivals.wait();
      if (own < blocks) {
        auto &place = shared.stage[arrivals.slot()];
        add_columns(c[2 * own], place[0] + inner * stripe, false, g, t);
        add_columns(c[2 * own + 1], place[1] + inner * stripe, false, g, t);
      }
      arrivals.release();
    }
  }
  template <bool on_diagonal>
  SXT_DENSE void work_on(Accumulator<T> (&c)[8], Arrivals<T> &arrivals, int r, int k) const {
#pragma unroll
    for (auto &column : c) column.clear();
    const Tile rows = tile_at<on_diagonal>(r, k);
    constexpr bool with_vector = carries && on_diagonal;
    const int steps = rows.k0 / depth;
    if constexpr (with_vector && sizeof(T) == 16) {
      if (stripe == 0) {
        multiply_with_vector(c, arrivals, steps);
        this->vector().add_to_sums(rows.k0);
      } else {
        multiply<on_diagonal>(c, arrivals, steps, rows.blocks);
      }
    } else {
      if constexpr (with_vector) this->vector().begin(rows.k0);
      multiply<on_diagonal>(c, arrivals, steps, rows.blocks);
      if constexpr (with_vector) this->vector().end(rows.k0);
    }
    add_own(c, arrivals, rows.blocks);
    this->finish(c, tile_at<on_diagonal>(r, k), on_diagonal);
  }

  // Tiles below the diagonal tile k that this block works on.
  SXT_DENSE Share share_of_column(int k, int last) const {
    return k < 0 ? Share{0, 0, 1} : this->share_of(k + 1, last + 1, k, k < last);
  }
  SXT_DENSE bool factors_next(int k, int last) const { return k < last && rank == (k + 1) % peers; }
  // All earlier writes of this block are visible to copies after the barrier.
  SXT_DENSE void meet_after_writes() const {
    before_bulk_copies();
    this->meet();
    if (peers == 1) workers_are_here();
  }

  // The work of the four warps. Returns 0 or the system's code.
  SXT_DENSE int run() const {
    Accumulator<T> c[8];
    Arrivals<T> arrivals{shared};
    const int last = this->tile_of(s.n - 1);
#pragma unroll 1
    for (int k = -1; k <= last; ++k) {
      if (k >= 0) {
        if (const int code = this->fetch_diagonal(k % peers)) return code;
        if (peers > 1) sync();  // all have read the fetched numbers
      }
      const Share share = share_of_column(k, last);
#pragma unroll 1
      for (int r = share.first; r < share.end; r += share.stride) work_on<false>(c, arrivals, r, k);
      before_bulk_copies();
      sync();
      if (factors_next(k, last)) {
        workers_are_here();
        work_on<true>(c, arrivals, k + 1, k + 1);
      }
      meet_after_writes();
    }
    return 0;
  }
  // The work of the fifth warp.
  SXT_DENSE void supply() const {
    Supply<T, with_signs> supply{s, shared};
    const int last = this->tile_of(s.n - 1);
    const auto bring = [&](int r, int k) {
      const int r0 = this->start_of(r), k0 = this->start_of(k);
      if (lane_now() == 0) supply.bring(r0, min(tile, s.n - r0), k0, this->columns_of(k0), carries && r == k);
      __syncwarp();
    };
#pragma unroll 1
    for (int k = -1; k <= last; ++k) {
      if (k >= 0 && this->code_of(k % peers)) return;
      const Share share = share_of_column(k, last);
#pragma unroll 1
      for (int r = share.first; r < share.end; r += share.stride) bring(r, k);
      if (factors_next(k, last)) {
        await_workers();
        bring(k + 1, k + 1);
      }
      if (peers == 1)
        await_workers();
      else
        this->meet();
    }
  }
};

// Registers of a thread, where an instruction can hand them from the warps that ask to those that work: 232 and 24, of
// 128 each that a block of eight warps is launched with.
SXT_DENSE void take_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
#endif
}
SXT_DENSE void give_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
#endif
}

// A second group of four warps, of which one asks for copies and three end at once: registers are handed on by groups.
template <class T, Form form>
__global__ void __launch_bounds__(2 * threads, blocks_per_unit<T>)
    sweep_by_copies(const __grid_constant__ Set set, const std::int32_t *turn, std::int32_t) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char memory[];
  Shared<T> &shared = *reinterpret_cast<Shared<T> *>(memory);
  const Task task(turn);
  const System<T> system = definite_system<T>(set, task.index);
  if (!takes_part(set, task.index, SXT_HERMITIAN_FACTOR, system, task.states())) return;
  if (threadIdx.x == 0) {
    shared.system = View<T>(system, carries_vector(form)), shared.failed = 0;
    set_up_arrivals(shared);
  }
  __syncthreads();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const CopiedSweep<T, form> sweep{
      {shared.system, shared, true, warp, lane, task.stripe_of(warp), task.peers, task.rank}};
  if (warp >= warps) {
    give_registers();
    if (warp > warps) return;
    sweep.supply();
    if (task.peers > 1) sweep.meet();
    return;
  }
  take_registers();
  const int code = sweep.run();
  // The code comes from the block that found the failure; no block exits while its shared memory is read.
  if (task.peers > 1) sweep.meet();
  if (task.states()) set.info[task.index] = code;
  if (code == 0 && system.n_rhs > 0 && task.rank == 0) solve_backward<true>(shared.system, shared, warp, lane_now());
#endif
}

}  // namespace sextant::hermitian_panel
