// SPDX-License-Identifier: BSD-3-Clause
// Left-looking Cholesky of one system by one thread block: for each tile of 64 columns, first the tile on the diagonal,
// then the tiles below it; right-hand sides are carried as further rows.
#pragma once

#include "backward.cuh"
#include "carried.cuh"
#include "small.cuh"

namespace sextant::hermitian_panel {

// A template's parameter, because the loop of the products is some per cent slower with the branches in it.
template <class T, Form form>
struct Sweep {
  static constexpr int ahead = stages - steps_at_once<T>;  // steps under way
  static constexpr bool carries = carries_vector(form), copies = copies_columns(form), with_signs = has_signs(form);
  const View<T> &s;
  Shared<T> &shared;
  bool factor;
  int warp, kept_lane, stripe;
  int peers, rank;  // blocks of the cluster that work on this system, and this block's number among them

  // Computed again where columns are copied: numbers derived from it ahead of the loops would be spilled to memory.
  SXT_DENSE int lane() const { return copies ? lane_now() : kept_lane; }

  // A warp's part of a tile: its rows at the columns from k0.
  struct Tile {
    int k0, columns, blocks;  // blocks: 16-column blocks this warp computes, 0: nothing
    Stripe<T> left;
    bool on_diagonal;  // its rows are those of the columns: one copy in shared memory serves both
  };
  // And where it is loaded from.
  struct Rows : Tile {
    Source<T> from_left, from_right;
  };

  // Where tile k begins, which tile a row or column is in, and columns of the tile that begins at k0.
  SXT_DENSE int first_tile() const { return has_whole_tiles(form) ? tile : s.first_tile; }
  SXT_DENSE int start_of(int k) const { return k > 0 ? first_tile() + tile * (k - 1) : 0; }
  SXT_DENSE int tile_of(int row) const { return (row + tile - first_tile()) / tile; }
  SXT_DENSE int columns_of(int k0) const { return min(k0 > 0 ? tile : first_tile(), s.n - k0); }

  SXT_DENSE Rows rows_at(int r0, int k0) const {
    Rows rows;
    rows.k0 = k0, rows.columns = columns_of(k0);
    rows.left = stripe_at(s, r0 + inner * stripe);
    Stripe<T> right = stripe_at(s, k0 + inner * stripe);
    if (right.rhs) right.valid = 0;
    if (!factor && !rows.left.rhs) rows.left.valid = 0;
    if (r0 == 0 && inner * stripe >= first_tile()) rows.left.valid = 0;  // a row of the second tile
    rows.on_diagonal = factor && r0 == k0 && !rows.left.rhs;
    const int all = (rows.columns + inner - 1) / inner;
    rows.blocks = rows.left.valid == 0 ? 0 : rows.on_diagonal ? stripe + 1 : all;
    rows.from_left = source_of(rows.left, lane());
    rows.from_right = source_of(right, lane());
    return rows;
  }
  // Steps come in turn: eight columns left of the tile each, then four with sixteen columns of the tile itself.
  SXT_DENSE void stage(Rows &rows, int step) const {
    T *left = shared.stage[step % stages][0] + inner * stripe, *right = shared.stage[step % stages][1] + inner * stripe;
    const int own = step - rows.k0 / depth;
    if constexpr (with_signs)
      if (own < 0 && warp == 0 && lane() < depth)
        copy_async(shared.stage[step % stages][1] + sign_place<T>(lane()),
                   s.at(step * depth + lane(), step * depth + lane()), sizeof(T), true);
    if (own < 0) {
      if (rows.on_diagonal) {
        stage_stripe(right, rows.from_left);
        if constexpr (carries) vector().stage(step);
      } else {
        stage_panels(left, right, rows, step);
      }
    } else if (own < rows.blocks) {
      const auto exists = [&](int r, int c) {
        return r < rows.left.valid && c < rows.columns && !(rows.on_diagonal && c > r + inner * stripe);
      };
      const Walk walk = walk_for(rows.left.row, lane());
      stage_own(left, rows.from_left, walk, inner * own, exists);
      stage_own(right, rows.from_left, walk, inner * own + depth, exists);
    }
    commit();
  }
  SXT_DENSE void stage_panels(T *left, T *right, Rows &rows, int step) const {
    if constexpr (sizeof(T) == 16) {
      if (rows.blocks) stage_stripe(left, rows.from_left, not_again());
      if (step < kept_steps)
        stage_stripe(right, rows.from_right, again());
      else
        stage_stripe(right, rows.from_right);
    } else {
      if (rows.blocks) stage_stripe(left, rows.from_left);
      stage_stripe(right, rows.from_right);
    }
  }
  // Issues the steps after those in flight during the work on `step` and those at once with it. Written one after the
  // other they cause spills in the loop, except for one form that is faster this way.
  SXT_DENSE void stage_next(Rows &rows, int step) const {
    constexpr int unrolled = form == Form::any ? steps_at_once<T> : 1;
#pragma unroll unrolled
    for (int i = 0; i < steps_at_once<T>; ++i) stage(rows, step + ahead + i);
  }
  SXT_DENSE CarriedVector<T, with_signs> vector() const { return {s, shared, lane(), stripe}; }
  SXT_DENSE void begin(Rows &rows) const {
#pragma unroll 1
    for (int step = 0; step < ahead; ++step) stage(rows, step);
  }
  // Where begin() left off.
  SXT_DENSE void go_on(Rows &rows) const {
    const int panels = min(ahead, rows.k0 / depth), own = min(ahead - panels, rows.blocks);
    rows.from_left.at += (panels + 2 * own) * rows.from_left.advance;
    rows.from_right.at += panels * rows.from_right.advance;
  }
  // c = the tile less the products of everything to the left of it; begin() was called.
  SXT_DENSE void update(Accumulator<T> (&c)[8], Rows &rows) const {
#pragma unroll
    for (auto &column : c) column.clear();
    const int steps = rows.k0 / depth;
    if constexpr (carries)
      if (rows.on_diagonal) vector().begin(rows.k0);
#pragma unroll 1
    for (int step = 0; step < steps; step += steps_at_once<T>) {
      await<ahead - steps_at_once<T>>();
      sync();
      stage_next(rows, step);
      const int now = lane_now(), g = now / 4, t = now % 4;
      const T *right = shared.stage[step % stages][1];
      const T *left = (rows.on_diagonal ? right : shared.stage[step % stages][0]) + inner * stripe;
      switch (rows.blocks) {
        case 4: update_step<4, with_signs>(c, left, right, g, t); break;
        case 3: update_step<3, with_signs>(c, left, right, g, t); break;
        case 2: update_step<2, with_signs>(c, left, right, g, t); break;
        case 1: update_step<1, with_signs>(c, left, right, g, t); break;
      }
      if constexpr (carries)
        if (rows.on_diagonal)
          for (int i = 0; i < steps_at_once<T>; ++i) vector().take_off(shared.stage[(step + i) % stages][1], step + i);
    }
    sync();
    stage_next(rows, steps);
    const int me = lane(), g = me / 4, t = me % 4;
    // All columns of the tile itself are in flight; a warp reads only those that it requested itself.
    const bool conjugated = rows.left.rhs && !s.conjugate_b && complex_valued<T>;
#pragma unroll
    for (int own = 0; own < 4; ++own) {
      if (own == 0) await<3>();
      if (own == 1) await<2>();
      if (own == 2) await<1>();
      if (own == 3) await<0>();
      __syncwarp();
      if (own >= rows.blocks) continue;
      auto &place = shared.stage[(steps + own) % stages];
      add_columns(c[2 * own], place[0] + inner * stripe, conjugated, g, t);
      add_columns(c[2 * own + 1], place[1] + inner * stripe, conjugated, g, t);
    }
    sync();
  }

  // Block p of the diagonal tile, by the warp that owns it and has it in c[0] and c[1]: eliminated and written; its
  // inverse comes from the warp before it (of the first: the last), whose own block is done.
  SXT_DENSE void factor_block(const Accumulator<T> (&c)[8], int p, int k0) const {
    T *block = shared.scratch;
    const int me = lane(), g = me / 4, t = me % 4;
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) block[(8 * j + 2 * t + i % 2) * block_ld + g + 8 * (i / 2)] = c[j].get(i);
    __syncwarp();
    const int first = k0 + inner * p, failed = factor_16<with_signs>(block, min(inner, s.n - first), me);
    if (failed && me == 0) shared.failed = failed > 0 ? first + failed : failed;
    if constexpr (with_signs) {
      const bool negative = me < inner && real_of(block[(me & 15) * (block_ld + 1)]) < 0;
      const unsigned bits = __ballot_sync(all_lanes, negative) << 16 * (p % 2);
      // The half before stood two barriers ago.
      if (me == 0) shared.signs[p / 2] = static_cast<int>(p % 2 ? shared.signs[p / 2] | bits : bits);
    }
    if (!failed) write_block(p, k0);
  }
  SXT_DENSE void write_block(int p, int k0) const {
    const T *block = shared.scratch;
    const int me = lane(), r = me & 15, h = me >> 4, first = k0 + inner * p, valid = min(inner, s.n - first);
    const Real<T> root = inverse_roots<with_signs>(block, r), pivot = real_of(block[r * block_ld + r]);
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      const int column = 2 * q + h;
      const Real<T> by = __shfl_sync(all_lanes, root, column);
      if (r < column || r >= valid) continue;
      *s.at(first + r, first + column) =
          r == column ? from_real<T>(pivot * by) : scaled(block[column * block_ld + r], by);
    }
  }
  SXT_DENSE void follow_block(int p) const {
    const int me = lane();
    const bool refine = follow_16<with_signs>(shared.scratch, shared.diagonal + panel_at<T>(p), panel_ld<T>(p), me);
    if (me == 0) shared.refine = (p ? shared.refine : 0) | refine << p;
  }
  // X, rows below block p of the diagonal tile, to where the other warps read it; with signs X S.
  SXT_DENSE void share_columns(const Accumulator<T> (&x)[2], int p) const {
    T *to = shared.diagonal + panel_at<T>(p) + inner * (stripe - p);
    const int ld = panel_ld<T>(p), me = lane(), g = me / 4, t = me % 4;
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int column = 8 * j + 2 * t + i % 2;
        const unsigned sign = with_signs ? sign_from(shared.signs, inner * p + column) : 0;
        to[column * ld + g + 8 * (i / 2)] = with_signs ? flipped(x[j].get(i), sign) : x[j].get(i);
      }
  }
  // Solves the updated tile with the diagonal tile of its columns, 16 columns at a time, and writes it. If it is that
  // tile itself, factors it: every warp passes two barriers a block: after the block's inverse is complete and after
  // the columns below it are. Right-hand sides in the tile are solved for along the way. Ends early, in all warps, when
  // a block could not be factored. The loop stays rolled: its code is fetched once a tile, not once a block.
  SXT_DENSE void finish(Accumulator<T> (&c)[8], const Tile &rows, bool diagonal) const {
    const int all = (rows.columns + inner - 1) / inner;
    const int own = rows.blocks == 0 ? 0 : rows.on_diagonal ? stripe : all;
#pragma unroll 1
    for (int p = 0; p < all; ++p) {
      const T *panel = shared.diagonal + panel_at<T>(p);
      const int ld = panel_ld<T>(p), me = lane(), g = me / 4, t = me % 4;
      Accumulator<T> x[2];
      if (diagonal) {
        if (rows.on_diagonal && p == stripe) factor_block(c, p, rows.k0);
        if (p == (stripe + 1) % warps) follow_block(p);
        sync();
        if (shared.failed) return;
        if constexpr (carries)
          if (stripe == 0) vector().solve(p, rows.k0);
      }
      if (p < own) {
        solve_columns<with_signs>(x, c, shared, panel, ld, p, rows.k0, g, t);
        if (rows.on_diagonal)
          share_columns(x, p);
        else
          write_columns(x, rows.left, rows.k0 + inner * p, rows.columns - inner * p, g, t);
      }
      if (diagonal) {
        sync();
        if constexpr (carries)
          if (stripe == 0) vector().take_off_below(p, rows.columns);
      }
      if (p >= own) continue;
      // Of the tile on the diagonal a warp needs the part left of its own block.
      switch (rows.on_diagonal ? stripe - p : all - 1 - p) {
        case 3: move_up<3>(c, x, panel, ld, g, t); break;
        case 2: move_up<2>(c, x, panel, ld, g, t); break;
        case 1: move_up<1>(c, x, panel, ld, g, t); break;
      }
    }
    if (!diagonal) return;
    if constexpr (carries)
      if (stripe == 0) vector().write(rows.k0, rows.columns);
    write_below_blocks(rows);
  }
  // The part below the blocks of the diagonal tile, from shared memory; adjacent lanes write adjacent memory.
  SXT_DENSE void write_below_blocks(const Tile &rows) const {
    const bool by_rows = s.row == 1;
    const int me = lane(), first_row = by_rows ? me : me / inner + 2 * warp, row_step = by_rows ? 32 : 2 * warps;
    const int first_column = by_rows ? warp : me % inner, column_step = by_rows ? warps : inner;
#pragma unroll 1
    for (int p = 0; inner * (p + 1) < rows.columns; ++p) {
      const T *panel = shared.diagonal + panel_at<T>(p) + inner;
      const int below = rows.columns - inner * (p + 1);
      for (int column = first_column; column < inner; column += column_step)
        for (int r = first_row; r < below; r += row_step) {
          const T value = panel[column * panel_ld<T>(p) + r];
          *s.at(rows.k0 + inner * (p + 1) + r, rows.k0 + inner * p + column) =
              with_signs ? flipped(value, sign_from(shared.signs, inner * p + column)) : value;
        }
    }
  }
  // A tile of the diagonal that was factored before: to shared memory, its 16-blocks inverted; with signs L S.
  SXT_DENSE void load_diagonal(int k0, int columns) const {
    constexpr int ld = block_ld;
    for (int e = threadIdx.x; e < tile * tile; e += threads) {
      const int in = e % tile, out = e / tile, i = s.row == 1 ? in : out, j = s.row == 1 ? out : in, p = j / inner;
      if (i / inner <= p) continue;
      T value = i < columns ? *s.at(k0 + i, k0 + j) : T{};
      if constexpr (with_signs)
        if (i < columns && real_of(*s.at(k0 + j, k0 + j)) < 0) value = flipped(value, 0x80000000u);
      shared.diagonal[panel_at<T>(p) + (j % inner) * panel_ld<T>(p) + i - inner * p] = value;
    }
    // A warp's block lies where its stages would arrive: no copy is in flight there.
    T *block = shared.stage[warp][0];
    const int me = lane(), r = me & 15, first = inner * warp, valid = max(0, min(inner, columns - first));
    for (int c = me >> 4; c < inner; c += 2)
      if (r >= c && r < valid) block[c * ld + r] = s.a[(k0 + first + r) * s.row + (k0 + first + c) * s.column];
    __syncwarp();
    if (threadIdx.x == 0) shared.refine = shared.signs[0] = shared.signs[1] = 0;
    sync();
    if constexpr (with_signs) {
      const unsigned bits = __ballot_sync(all_lanes, me < valid && real_of(block[r * (ld + 1)]) < 0);
      if (me == 0) atomicOr(&shared.signs[warp / 2], static_cast<int>(bits << 16 * (warp % 2)));
    }
    const bool refine = invert_16<with_signs>(block, shared.diagonal + panel_at<T>(warp), panel_ld<T>(warp), valid, me);
    if (refine && me == 0) atomicOr(&shared.refine, 1 << warp);
    sync();
  }

  // A barrier of all blocks of the system: earlier writes of each are visible to all.
  SXT_DENSE void meet() const {
    if (peers == 1) {
      sync();
    } else {
      asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
      asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    }
  }
  // Where the block `owner` of the cluster has what this one has at `own`.
  SXT_DENSE unsigned address_in(int owner, const void *own) const {
    unsigned at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared_address(own)), "r"(owner));
    return at;
  }
  SXT_DENSE int number_in(int owner, const int &own) const {
    if (owner == rank) return own;
    int number;
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(number) : "r"(address_in(owner, &own)) : "memory");
    return number;
  }
  // How the factorisation of a diagonal tile ended, in the block that did it.
  SXT_DENSE int code_of(int owner) const { return number_in(owner, shared.failed); }
  // The diagonal tile that the block `owner` factored, from its shared memory. Returns its code.
  SXT_DENSE int fetch_diagonal(int owner) const {
    if (owner != rank) {
      constexpr int bytes = sizeof(T) * panel_at<T>(4);
      static_assert(bytes % 16 == 0);
      const unsigned to = shared_address(shared.diagonal), from = address_in(owner, shared.diagonal);
      const int refine = number_in(owner, shared.refine);
      if (threadIdx.x == 0) shared.refine = refine;
      if constexpr (with_signs) {
        const int signs = number_in(owner, shared.signs[threadIdx.x % 2]);
        if (threadIdx.x < 2) shared.signs[threadIdx.x] = signs;
      }
#pragma unroll 4
      for (int at = 16 * threadIdx.x; at < bytes; at += 16 * threads) {
        unsigned a, b, c, d;
        asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "r"(from + at)
                     : "memory");
        asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(to + at), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
      }
    }
    return code_of(owner);
  }

  // Tiles of rows below the diagonal tile k that this block works on: first, first + stride, .. The block that will
  // factor the next diagonal tile takes the rows of that tile first and as many more as make all end together.
  struct Share {
    int first, end, stride;
  };
  SXT_DENSE Share share_of(int first, int end, int k, bool next_diagonal) const {
    if (peers == 1 || !next_diagonal) return {first + rank, end, peers};
    const float tile_cost = k + 1.5f, diagonal_cost = 0.8f * k + 3.8f;
    const int all = end - first;
    const int own =
        max(1, min(all, __float2int_rn(((all * tile_cost + diagonal_cost) / peers - diagonal_cost) / tile_cost)));
    const int after_owner = (rank + peers - (k + 1) % peers) % peers;
    if (after_owner == 0) return {first, first + own, 1};
    return {first + own + after_owner - 1, end, peers - 1};
  }

  // The whole factorisation, or the forward half of a solve with an existing factor. Returns 0 or the system's code.
  SXT_DENSE int run() const {
    Accumulator<T> c[8];
    const int last = tile_of(s.n - 1), end = tile_of(s.rows - 1) + 1;
#pragma unroll 1
    for (int k = factor ? -1 : 0; k <= last; ++k) {
      const int k0 = start_of(k);
      const bool next_diagonal = factor && k < last;
      // A tile with rows of the matrix and right-hand sides went through the factorisation of the diagonal.
      const int first = factor ? k + 1 : max(tile_of(s.first_rhs_row), k + (s.first_rhs_row >= start_of(k + 1)));
      const Share share = k < 0 ? Share{0, 0, 1} : share_of(first, end, k, next_diagonal);
      Rows rows;
      if (share.first < share.end) rows = rows_at(start_of(share.first), k0);
      if (factor) {
        if (share.first < share.end) begin(rows);
        const int code = k < 0 ? 0 : fetch_diagonal(k % peers);
        if (code) return code;
      } else {
        load_diagonal(k0, columns_of(k0));
        if (share.first < share.end) begin(rows);
      }
#pragma unroll 1
      for (int r = share.first;; r += share.stride) {
        const bool diagonal = r >= share.end;
        if (diagonal) {
          sync();
          if (!next_diagonal || rank != (k + 1) % peers) break;
          rows = rows_at(start_of(k + 1), start_of(k + 1));
          begin(rows);
        }
        update(c, rows);
        const Tile done = rows;
        const bool more = !diagonal && r + share.stride < share.end;
        int next = start_of(r + share.stride);
        if (more) {
          rows = rows_at(next, k0);
          begin(rows);
        }
        finish(c, done, diagonal);
        if (diagonal) break;
        if constexpr (carries) {
          // Computed again: if kept, it would be spilled to memory.
          asm volatile("" : "+r"(next));
          if (more) rows = rows_at(next, k0), go_on(rows);
        }
      }
      meet();
    }
    return 0;
  }
};

SXT_DENSE int cluster_size() {
  int size;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
  return size;
}
SXT_DENSE int cluster_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// Which system a block works on, with how many others and as which of them.
struct Task {
  int peers = cluster_size(), rank = cluster_rank();
  std::int64_t place = blockIdx.x / peers, index;

  SXT_DENSE explicit Task(const std::int32_t *turn) : index(turn ? turn[place] : place) {}
  SXT_DENSE bool states() const { return rank == 0 && threadIdx.x == 0; }  // writes the system's code
  // Warps that share a scheduler have different parts of their tiles in blocks that share a multiprocessor.
  SXT_DENSE int stripe_of(int warp) const { return static_cast<int>((warp + place) % warps); }
};

template <class T, Form form>
__global__ void __launch_bounds__(threads, blocks_per_unit<T>)
    sweep_systems(const __grid_constant__ Set set, const std::int32_t *turn, std::int32_t phase) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char memory[];
  Shared<T> &shared = *reinterpret_cast<Shared<T> *>(memory);
  const Task task(turn);
  const System<T> system = definite_system<T>(set, task.index);
  if (!takes_part(set, task.index, phase, system, task.states())) return;
  if (threadIdx.x == 0) shared.system = View<T>(system, carries_vector(form)), shared.failed = 0;
  sync();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const bool factor = (phase & SXT_HERMITIAN_FACTOR) != 0;
  const Sweep<T, form> sweep{shared.system, shared, factor, warp, lane, task.stripe_of(warp), task.peers, task.rank};
  const int code = sweep.run();
  // The code comes from the block that found the failure; no block exits while its shared memory is read.
  if (task.peers > 1) sweep.meet();
  if (factor && task.states()) set.info[task.index] = code;
  if (code == 0 && system.n_rhs > 0 && task.rank == 0) solve_backward<false>(shared.system, shared, warp, lane);
#endif
}

}  // namespace sextant::hermitian_panel
