// SPDX-License-Identifier: BSD-3-Clause
// One iteration of predict-and-recompute conjugate gradients on a stencil's matrix in one walk: r -= alpha q, x +=
// alpha p, p = r + beta p, q = A p and the four inner products. A block walks through planes and computes p of its tile
// and of the halo beside it from r, q and p of the iterate before, so that every vector moves once, x in every second
// iteration: 7 n + A.
#pragma once

#include <cstdint>

#include "walk.cuh"

namespace stencil {

// The numbers of a step.
template <class V>
struct Step {
  V alpha, beta;
  V deferred;          // of x, in directions p - r; 0: nothing
  bool leaves_x;       // to the next step
  std::int32_t begin;  // Begin
  std::int32_t from;
  V *x;
  bool constant;  // the main diagonal is `main` everywhere
  V main;
};

template <class V, class M, int in_plane, int across>
class Walk {
 public:
  __device__ Walk(const Stencil &a, const Tiling &t, const Vectors &v, unsigned char *shared, Barrier *barriers)
      : a_(a),
        t_(t),
        v_(v),
        shared_(shared),
        barrier_(barriers),
        planes_(reinterpret_cast<V *>(shared + t.stages * t.stage_bytes)) {
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(passing_));
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(usual_));
  }

  // Once, before the first walk.
  __device__ void prepare() {
    if (threadIdx.x == 0) {
      for (int k = 0; k < t_.stages; ++k) barrier_[k].init(1);
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    // Elements beyond the ends of the arrays, which no copy brings, are multiplied by a p of zero; they must be finite.
    const int words = (t_.stages * t_.stage_bytes + planes_kept * plane_size() * static_cast<int>(sizeof(V))) / 16;
    for (int i = threadIdx.x; i < words; i += blockDim.x) reinterpret_cast<int4 *>(shared_)[i] = int4{0, 0, 0, 0};
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
  }

  __device__ void run(const Step<V> &step, double (&sum)[4]) {
    step_ = step;
    for (int item = blockIdx.x; item < t_.items; item += gridDim.x) {
      begin_item(item);
      if (item != static_cast<int>(blockIdx.x)) __syncthreads();
      if (threadIdx.x == 0)
        for (int k = 0; k < min(t_.stages - !refills_at_end, steps_); ++k) fetch(k, (slot_ + k) % t_.stages);
      V part = 0, r_before = 0;
      if constexpr (loads_ahead) load_own(0, x_, main_);
#pragma unroll 1
      for (int k = 0; k < steps_; ++k) pass(k, part, r_before, sum);
    }
    back_ ^= 1;
  }

  // x += alpha p of set `from` in the rows that this block has written there.
  __device__ void settle(V alpha, V *x, int from) {
    const V *p = static_cast<const V *>(v_.p[from]);
    for (int item = blockIdx.x; item < t_.items; item += gridDim.x) {
      begin_item(item);
      for (int k = 1; k < steps_ - 1; ++k)
        if (const int i = base(k) + static_cast<int>(threadIdx.x);
            static_cast<int>(threadIdx.x) < width_ && i < a_.rows)
          x[i] = fma(alpha, p[i], x[i]);
    }
  }

 private:
  // Many diagonals leave room for two planes only: the room of one is filled again as soon as it has been read, which
  // costs a barrier, instead of after the next plane's barrier.
  static constexpr bool refills_at_end = across > 3;
  // x and the main diagonal a plane ahead, where registers are left: the 1024 threads of the other forms hide the wait
  // better.
  static constexpr bool loads_ahead = refills_at_end;
  // p of this plane and of the one before; where others' columns of that one are read, one more, since a thread may be
  // a plane ahead.
  static constexpr int planes_kept = kept_planes(across);
  __device__ int plane_size() const { return t_.width + 2 * t_.halo; }
  __device__ void begin_item(int item) {
    const int chunk = item / t_.tiles;
    column_ = item % t_.tiles * t_.width;
    width_ = min(t_.width, a_.stride - column_);
    const int first = chunk * t_.chunk, last = min(t_.planes, first + t_.chunk);
    // Neighbours walk towards each other, and every other iteration walks back: the planes touched last are still
    // cached.
    up_ = ((chunk ^ back_) & 1) == 0;
    begin_ = up_ ? first - 1 : last;
    steps_ = last - first + 2;
  }
  __device__ bool ghost(int k) const { return k == 0 || k == steps_ - 1; }
  __device__ int base(int k) const { return (begin_ + (up_ ? k : -k)) * a_.stride + column_; }
  // The plane below the coupling between plane k of the walk and the one before.
  __device__ int lower(int k) const { return up_ ? base(k - 1) : base(k); }

  __device__ void fetch(int k, int slot) {
    unsigned char *to = shared_ + slot * t_.stage_bytes;
    Barrier &barrier = barrier_[slot];
    std::uint32_t bytes = 0;
    const int at = base(k), rows = a_.rows;
    if (k > 0) {
      const int low = lower(k);
#pragma unroll
      for (int m = 0; m < across; ++m) {
        const int o = a_.across_offset[m];
        bytes += Window<M>::fetch(to + t_.across_at[m], a_.across[m], low - max(o, 0), low + width_ + max(-o, 0), rows,
                                  barrier, passing_);
      }
    }
    if (!ghost(k))
#pragma unroll
      for (int m = 0; m < in_plane; ++m)
        bytes += Window<M>::fetch(to + t_.in_plane_at[m], a_.in_plane[m], at - a_.in_plane_offset[m], at + width_, rows,
                                  barrier, passing_);
    const int halo = ghost(k) ? t_.ghost_halo : t_.halo;
    const void *const from[] = {v_.r[step_.from], v_.q[step_.from], v_.p[step_.from]};
#pragma unroll
    for (int m = 0; m < 3; ++m)
      bytes +=
          Window<V>::fetch(to + m * t_.vector_bytes, from[m], at - halo, at + width_ + halo, rows, barrier, usual_);
    barrier.arrive(bytes);
  }

  // Element i of the new r and p from the old ones in a stage.
  struct New {
    V r, p, r_old, p_old;
  };
  __device__ New renew(const unsigned char *stage, int i, int begin) const {
    if (i < 0 || i >= a_.rows) return {0, 0, 0, 0};
    const V *r = reinterpret_cast<const V *>(stage), *q = reinterpret_cast<const V *>(stage + t_.vector_bytes),
            *p = reinterpret_cast<const V *>(stage + 2 * t_.vector_bytes);
    New out;
    out.r_old = r[i - begin];
    out.p_old = p[i - begin];
    if (step_.begin != begin_step) return {out.r_old, step_.begin == begin_restart ? out.r_old : out.p_old, 0, 0};
    out.r = fma(-step_.alpha, q[i - begin], out.r_old);
    out.p = fma(step_.beta, out.p_old, out.r);
    return out;
  }

  // Elements of x and of the main diagonal for plane k of the walk.
  __device__ void load_own(int k, V &x, V &main) const {
    const int column = threadIdx.x, i = base(k) + column;
    const bool mine = k > 0 && k < steps_ - 1 && column < width_ && i < a_.rows;
    x = mine && !step_.leaves_x ? step_.x[i] : V(0);
    main = !mine ? V(0) : step_.constant ? step_.main : static_cast<V>(static_cast<const M *>(a_.main)[i]);
  }

  // Plane k of the walk: its p, the end of q of the plane before, the beginning of its own.
  __device__ void pass(int k, V &part, V &r_before, double (&sum)[4]) {
    const int at = base(k), column = threadIdx.x, i = at + column;
    const bool inner = !ghost(k);
    V x_next = 0, main_next = 0;
    if constexpr (loads_ahead)
      load_own(k + 1, x_next, main_next);
    else
      load_own(k, x_, main_);
    barrier_[slot_].wait(phase_);
    const unsigned char *stage = shared_ + slot_ * t_.stage_bytes;
    V *here = planes_ + place_ * plane_size() + t_.halo;
    const V *before = planes_ + (place_ == 0 ? planes_kept - 1 : place_ - 1) * plane_size() + t_.halo;
    place_ = place_ == planes_kept - 1 ? 0 : place_ + 1;
    const int halo = inner ? t_.halo : t_.ghost_halo, begin = Window<V>::begin(at - halo);
    New own{0, 0, 0, 0};
    if (column < width_) {
      own = renew(stage, i, begin);
      here[column] = own.p;
    }
    for (int e = threadIdx.x; e < 2 * halo; e += blockDim.x) {
      const int beside = e < halo ? e - halo : width_ + e - halo;
      here[beside] = renew(stage, at + beside, begin).p;
    }
    __syncthreads();
    if (!refills_at_end && threadIdx.x == 0 && k + t_.stages - 1 < steps_)
      fetch(k + t_.stages - 1, (slot_ + t_.stages - 1) % t_.stages);
    if (column < width_) {
      V here_part = main_ * own.p;
      if (k > 0) add_across(k, stage, column, here, before, part, here_part);
      const int other = up_ ? i - a_.stride : i + a_.stride;
      if (k > 1 && other < a_.rows) finish(other, part, before[column], r_before, sum);
      if (inner && i < a_.rows) {
        add_in_plane(at, stage, column, here, here_part);
        put(static_cast<V *>(v_.r[step_.from ^ 1]) + i, own.r);
        put(static_cast<V *>(v_.p[step_.from ^ 1]) + i, own.p);
        if (step_.begin == begin_step && !step_.leaves_x) put(step_.x + i, advanced(own));
      }
      part = here_part;
      r_before = own.r;
    }
    if constexpr (refills_at_end) {
      __syncthreads();
      if (threadIdx.x == 0 && k + t_.stages < steps_) fetch(k + t_.stages, slot_);
    }
    if constexpr (loads_ahead) x_ = x_next, main_ = main_next;
    if (++slot_ == t_.stages) slot_ = 0, phase_ ^= 1;
  }

  // x after this step, and after the one before where that skipped it.
  __device__ V advanced(const New &own) const {
    const V x = fma(step_.alpha, own.p_old, x_);
    return step_.deferred != 0 ? fma(step_.deferred, own.p_old - own.r_old, x) : x;
  }
  // The contributions of this plane and the one before to each other's q.
  __device__ void add_across(int k, const unsigned char *stage, int column, const V *here, const V *before,
                             V &part_before, V &part_here) const {
    const int low = lower(k);
#pragma unroll
    for (int m = 0; m < across; ++m) {
      const int o = a_.across_offset[m];
      const M *coefficient =
          reinterpret_cast<const M *>(stage + t_.across_at[m]) + (low - Window<M>::begin(low - max(o, 0)));
      const V as_lower = static_cast<V>(coefficient[column]), as_upper = static_cast<V>(coefficient[column - o]);
      part_before = fma(up_ ? as_lower : as_upper, here[up_ ? column + o : column - o], part_before);
      part_here = fma(up_ ? as_upper : as_lower, before[up_ ? column - o : column + o], part_here);
    }
  }
  __device__ void add_in_plane(int at, const unsigned char *stage, int column, const V *here, V &part) const {
#pragma unroll
    for (int m = 0; m < in_plane; ++m) {
      const int o = a_.in_plane_offset[m];
      const M *coefficient = reinterpret_cast<const M *>(stage + t_.in_plane_at[m]) + (at - Window<M>::begin(at - o));
      part = fma(static_cast<V>(coefficient[column - o]), here[column - o], part);
      part = fma(static_cast<V>(coefficient[column]), here[column + o], part);
    }
  }
  // A new element; where vectors do not stay in the last cache until the next iteration, it leaves at once.
  __device__ void put(double *to, double value) const {
    asm volatile("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(to), "d"(value), "l"(t_.keeps ? usual_ : passing_)
                 : "memory");
  }
  __device__ void put(float *to, float value) const {
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(to), "f"(value), "l"(t_.keeps ? usual_ : passing_)
                 : "memory");
  }
  __device__ void finish(int i, V q, V p, V r, double (&sum)[4]) {
    put(static_cast<V *>(v_.q[step_.from ^ 1]) + i, q);
    const double wide_q = q, wide_p = p, wide_r = r;
    sum[0] = fma(wide_p, wide_q, sum[0]);
    sum[1] = fma(wide_r, wide_q, sum[1]);
    sum[2] = fma(wide_q, wide_q, sum[2]);
    sum[3] = fma(wide_r, wide_r, sum[3]);
  }

  const Stencil &a_;
  const Tiling &t_;
  const Vectors &v_;
  unsigned char *shared_;
  Barrier *barrier_;
  V *planes_;  // p of the last planes of the walk
  Step<V> step_;
  V x_, main_;                     // of the present plane
  std::uint64_t passing_, usual_;  // how long the last cache keeps a line
  bool up_;
  int back_ = 0, column_, width_, begin_, steps_, slot_ = 0, phase_ = 0, place_ = 0;
};

}  // namespace stencil
