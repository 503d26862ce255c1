// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients in one launch: predict-and-recompute (Chen and Carson 2020), everything in registers and shared
// memory, one exchange between blocks an iteration. Nothing of A or of the vectors moves through device memory while it
// runs; an iteration is bound by the latency of the exchange, then by shared memory (10 bytes an entry and a gather).
//
// The exchange: a block publishes the rows of q = A p that others need, and its parts of four inner products, as
// 16-byte packets {value, epoch}. It then waits for the packets of its halo and for the parts of all blocks, which also
// act as the barrier, and updates r and p of its halo with the same operations as the owner, so that bits agree.
// Packets have two copies, by the epoch's parity: a block can be at most one exchange ahead, since the next needs the
// parts of all blocks. In a grid of one cluster there are no packets: blocks read each other's shared memory around a
// barrier of the cluster.
#pragma once

#include "exchange.cuh"
#include "verdict.cuh"

namespace persistent {

// A block's share of the problem, while it runs.
template <class V, class M, int passes, bool clustered>
class Block {
 public:
  __device__ Block(const Matrix &a, const Work &work, unsigned char *shared)
      : a_(a), work_(work), part_(a.part[blockIdx.x]) {
    // Widest first, so that everything is aligned.
    values_ = reinterpret_cast<Pair<M> *>(shared);
    p_ = reinterpret_cast<V *>(values_ + a.most_pairs);
    const int cells = a.most_rows + a.most_halo;
    halo_r_ = p_ + cells + 1;
    halo_q_ = halo_r_ + a.most_halo;
    columns_ = reinterpret_cast<std::uint32_t *>(halo_q_ + a.most_halo);
    halo_packet_ = reinterpret_cast<std::int32_t *>(columns_ + a.most_pairs);
    const int warp = threadIdx.x / warp_lanes, lane = threadIdx.x % warp_lanes;
    owner_ = lane % a.group == 0;
    const int rows_a_slice = warp_lanes / a.group;
    const std::int32_t *slices = a.slices + static_cast<std::int64_t>(blockIdx.x) * (passes * a.warps + 1);
#pragma unroll
    for (int k = 0; k < passes; ++k) {
      const int slice = k * a.warps + warp;
      begin_[k] = slices[slice] + lane;
      end_[k] = slices[slice + 1];
      row_[k] = slice * rows_a_slice + lane / a.group;
      active_[k] = row_[k] < part_.rows;
      diagonal_[k] = active_[k] ? static_cast<V>(static_cast<const M *>(a.diagonal)[part_.first_row + row_[k]]) : V(0);
      packet_[k] = active_[k] && owner_ ? a.packet_of[part_.first_row + row_[k]] : -1;
    }
    if constexpr (clustered) published_ = static_cast<V *>(after_packets(halo_packet_ + a.most_halo));
    copy_matrix();
    keep_first();
  }

  // x, r and p from where this launch starts.
  __device__ void load(const Run &run) {
    const V *b = static_cast<const V *>(run.b), *x = static_cast<const V *>(run.x);
    const V *r = static_cast<const V *>(work_.r), *p = static_cast<const V *>(work_.p);
#pragma unroll
    for (int k = 0; k < passes; ++k) {
      const int position = part_.first_row + row_[k];
      const int row = active_[k] ? a_.row_of[position] : 0;
      x_[k] = active_[k] && run.start != start_zero ? x[row] : V(0);
      r_[k] = !active_[k] ? V(0) : run.start == start_zero || run.start == start_residual ? b[row] : r[position];
      p_[k_place(k)] = p_own_[k] = !active_[k]                   ? V(0)
                                   : run.start == start_residual ? x_[k]
                                   : run.start == start_resume   ? p[position]
                                                                 : r_[k];
    }
    for (int j = threadIdx.x; j < part_.halo; j += blockDim.x) {
      const int position = a_.halo_row[part_.first_halo + j], row = a_.row_of[position];
      halo_packet_[j] = clustered ? place_of(position) : a_.halo_packet[part_.first_halo + j];
      halo_r_[j] = run.start == start_zero ? b[row] : run.start == start_residual ? V(0) : r[position];
      p_[a_.most_rows + j] = run.start == start_residual ? x[row]
                             : run.start == start_resume ? p[position]
                                                         : halo_r_[j];
    }
    if (threadIdx.x == 0) p_[zero_place()] = 0;
    __syncthreads();
  }

  // q = A p of the own rows.
  __device__ void multiply() {
    if constexpr (passes == 1) {
      q_[0] = row_in_turn();
    } else if (uniform_) {
      rows_abreast<true>();
      const V value = static_cast<V>(uniform().value);
#pragma unroll
      for (int k = 0; k < passes; ++k) q_[k] *= value;
    } else {
      rows_abreast<false>();
    }
#pragma unroll
    for (int k = 0; k < passes; ++k) {
      for (int other = a_.group / 2; other > 0; other >>= 1) q_[k] += __shfl_xor_sync(0xffffffffu, q_[k], other);
      q_[k] = fma(diagonal_[k], p_own_[k], q_[k]);
    }
  }

  __device__ void publish(Word epoch) {
    if constexpr (clustered) {
      V *to = published_ + (epoch & 1) * a_.most_rows;
#pragma unroll
      for (int k = 0; k < passes; ++k)
        if (active_[k] && owner_) to[row_[k]] = q_[k];
      return;
    }
    ulonglong2 *to = static_cast<ulonglong2 *>(work_.halo_packets) + (epoch & 1) * a_.packets;
#pragma unroll
    for (int k = 0; k < passes; ++k)
      if (packet_[k] >= 0) cuda::send_packet(to + packet_[k], payload_of(q_[k]), epoch);
  }

  // The inner products of this thread's rows.
  __device__ void products(double (&v)[sums]) const {
    v[0] = v[1] = v[2] = v[3] = 0;
    if (!owner_) return;
#pragma unroll
    for (int k = 0; k < passes; ++k) {
      const double p = p_own_[k], q = q_[k], r = r_[k];
      v[0] = fma(p, q, v[0]);
      v[1] = fma(r, q, v[1]);
      v[2] = fma(q, q, v[2]);
      v[3] = fma(r, r, v[3]);
    }
  }
  __device__ void squared_residual(double (&v)[sums]) const {
    v[0] = v[1] = v[2] = v[3] = 0;
    if (!owner_) return;
#pragma unroll
    for (int k = 0; k < passes; ++k) v[0] = fma(static_cast<double>(r_[k]), static_cast<double>(r_[k]), v[0]);
  }

  // Sums v over all threads of the grid into total, the same bits in every block, and sends and fetches q of the halo
  // on request. False: a block did not answer.
  __device__ bool exchange(Word epoch, const double (&v)[sums], bool with_halo, double (&total)[sums]) {
    __shared__ __align__(16) double partial[sums][row_of_parts];
    __shared__ __align__(16) double quarter[quarters][sums];
    const int warp = threadIdx.x / warp_lanes, lane = threadIdx.x % warp_lanes;
    const double mine = sum_four(v);
    if (lane < sums) {
      partial[lane][warp] = mine;
      for (int absent = warp + a_.warps; absent < most_warps; absent += a_.warps) partial[lane][absent] = 0;
    }
    __syncthreads();
    if constexpr (clustered) {
      if (with_halo) publish(epoch);
      return exchange_in_cluster(epoch, partial[lane / 8] + lane % 8, with_halo, total);
    }
    // All blocks wait longest for the sums, so these go first.
    if (warp == 0) send_sums(partial[lane / 8] + lane % 8, epoch);
    if (with_halo) publish(epoch);
    // With warps to spare, four gather the sums while the others gather the halo.
    const int helpers = a_.warps > 2 * quarters ? quarters : 0;
    bool heard = true;
    if (a_.parts > early_parts && warp < quarters) pause();
    for (int k = warp; k < quarters; k += a_.warps) heard &= gather(k, epoch, quarter[k]);
    if (with_halo && warp >= helpers)
      heard &= receive_halo(epoch, threadIdx.x - helpers * warp_lanes, blockDim.x - helpers * warp_lanes);
    heard = __syncthreads_and(heard);
#pragma unroll
    for (int k = 0; k < sums; ++k) total[k] = (quarter[0][k] + quarter[1][k]) + (quarter[2][k] + quarter[3][k]);
    return heard;
  }

  // r -= alpha q, x += alpha p; r of the halo likewise.
  __device__ void step(V alpha) {
#pragma unroll
    for (int k = 0; k < passes; ++k) {
      r_[k] = fma(-alpha, q_[k], r_[k]);
      x_[k] = fma(alpha, p_own_[k], x_[k]);
    }
    for (int j = threadIdx.x; j < part_.halo; j += blockDim.x) halo_r_[j] = fma(-alpha, halo_q_[j], halo_r_[j]);
  }
  // p = r + beta p.
  __device__ void turn(V beta) {
#pragma unroll
    for (int k = 0; k < passes; ++k) {
      p_own_[k] = fma(beta, p_own_[k], r_[k]);
      p_[k_place(k)] = p_own_[k];
    }
    for (int j = threadIdx.x; j < part_.halo; j += blockDim.x) {
      V &p = p_[a_.most_rows + j];
      p = fma(beta, p, halo_r_[j]);
    }
    __syncthreads();
  }

  __device__ void store_residual() {  // r = b - A x, computed with x in p's place
#pragma unroll
    for (int k = 0; k < passes; ++k)
      if (active_[k] && owner_) static_cast<V *>(work_.r)[part_.first_row + row_[k]] = r_[k] - q_[k];
  }
  __device__ void store(void *x) {
#pragma unroll
    for (int k = 0; k < passes; ++k) {
      if (!active_[k] || !owner_) continue;
      const int position = part_.first_row + row_[k];
      static_cast<V *>(work_.r)[position] = r_[k];
      static_cast<V *>(work_.p)[position] = p_own_[k];
      static_cast<V *>(x)[a_.row_of[position]] = x_[k];
    }
  }

 private:
  // The first place behind the packets' numbers that a value may take.
  __device__ static void *after_packets(std::int32_t *end) {
    return reinterpret_cast<void *>((reinterpret_cast<std::uintptr_t>(end) + 7) / 8 * 8);
  }
  // At the end lies the zero by which padded entries are multiplied, also p of rows that are padding.
  __device__ int zero_place() const { return a_.most_rows + a_.most_halo; }
  __device__ int k_place(int k) const { return active_[k] ? row_[k] : zero_place(); }

  // The one row of this lane.
  __device__ V row_in_turn() const {
    V even = 0, odd = 0;
#pragma unroll
    for (int j = 0; j < kept; ++j) {
      even = fma(static_cast<V>(values_kept_[j].first), p_[columns_kept_[j] & 0xffffu], even);
      odd = fma(static_cast<V>(values_kept_[j].second), p_[columns_kept_[j] >> 16], odd);
    }
    // Two at a time: their loads are in flight together, and an odd one is paired with a zero.
    const std::uint32_t zero = static_cast<std::uint32_t>(zero_place()) * 0x10001u;
#pragma unroll 1
    for (int i = begin_[0] + kept * warp_lanes; i < end_[0]; i += 2 * warp_lanes)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int at = i + j * warp_lanes;
        const bool there = at < end_[0];
        const std::uint32_t columns = there ? columns_[at] : zero;
        const Pair<M> entries = there ? values_[at] : Pair<M>{};
        even = fma(static_cast<V>(entries.first), p_[columns & 0xffffu], even);
        odd = fma(static_cast<V>(entries.second), p_[columns >> 16], odd);
      }
    return even + odd;
  }
  // Several rows, pair by pair of all of them, so that their loads are in flight together. The first is the longest;
  // the others are then padded with zeros. unit: without the values.
  template <bool unit>
  __device__ void rows_abreast() {
#pragma unroll
    for (int k = 0; k < passes; ++k) q_[k] = 0;
    const std::uint32_t zero = static_cast<std::uint32_t>(zero_place()) * 0x10001u;
    for (int at = 0; begin_[0] + at < end_[0]; at += warp_lanes) {
#pragma unroll
      for (int k = 0; k < passes; ++k) {
        const int i = begin_[k] + at;
        const bool there = i < end_[k];
        const std::uint32_t columns = there ? columns_[i] : zero;
        const V first = p_[columns & 0xffffu], second = p_[columns >> 16];
        if constexpr (unit) {
          q_[k] += first;
          q_[k] += second;
        } else {
          const Pair<M> entries = there ? values_[i] : Pair<M>{};
          q_[k] = fma(static_cast<V>(entries.first), first, q_[k]);
          q_[k] = fma(static_cast<V>(entries.second), second, q_[k]);
        }
      }
    }
  }

  // Blocks with one pass have registers left for the first entries of a row.
  static constexpr int kept = passes == 1 ? 3 : 0;
  static constexpr bool may_be_uniform = kept == 0;
  __device__ static Uniform &uniform() {  // in shared memory: registers are short
    __shared__ Uniform kept_here;
    return kept_here;
  }
  __device__ void keep_first() {
    if constexpr (kept > 0) {
      __syncthreads();
#pragma unroll
      for (int j = 0; j < kept; ++j) {
        const int i = begin_[0] + j * warp_lanes;
        values_kept_[j] = i < end_[0] ? values_[i] : Pair<M>{};
        columns_kept_[j] = i < end_[0] ? columns_[i] : 0;
      }
    }
  }

  // Block and row of a position, where packets have their number.
  __device__ std::int32_t place_of(int position) const {
    int block = 0;
    while (block + 1 < a_.parts && a_.part[block + 1].first_row <= position) ++block;
    return block << 16 | (position - a_.part[block].first_row);
  }

  __device__ void copy_matrix() {
    const Pair<M> *values = static_cast<const Pair<M> *>(a_.values) + part_.first_pair;
    const std::uint32_t *columns = a_.columns + part_.first_pair;
    if (threadIdx.x == 0) uniform() = *a_.uniform;
    uniform_ = a_.uniform->holds != 0;
    const int read = may_be_uniform && a_.uniform->holds ? 0 : part_.pairs;
#pragma unroll 4
    for (int i = threadIdx.x; i < read; i += blockDim.x) values_[i] = values[i];
#pragma unroll 4
    for (int i = threadIdx.x; i < part_.pairs; i += blockDim.x) columns_[i] = columns[i];
  }

  // Packets of the sums: copy c of this parity, by block, the four sums of a block in one line of 64 bytes. Each block
  // reads one copy, so that no line is read by all of them at once.
  __device__ ulonglong2 *sums_of(Word epoch, int copy) const {
    return static_cast<ulonglong2 *>(work_.sum_packets) +
           static_cast<std::int64_t>((epoch & 1) * sum_copies + copy) * a_.parts * sums;
  }

  // The block's sums of its warps' parts: lane 8 k + j has the parts of sum k of warps j and 8 + j; lane l gets sum l %
  // 4.
  __device__ static double sum_of_warps(const double *parts) {
    static_assert(most_warps == 16, "a lane has two parts");
    return sum_quarters(parts[0], parts[8]);
  }
  // Warp 0 sends sum l % 4 in copy l / 4.
  __device__ void send_sums(const double *parts, Word epoch) {
    const int lane = threadIdx.x % warp_lanes;
    const double mine = sum_of_warps(parts);
    if (lane / sums < sum_copies)
      cuda::send_packet(sums_of(epoch, lane / sums) + blockIdx.x * sums + lane % sums, payload_of(mine), epoch);
  }

  // The rest of an exchange in a cluster: sums are written to every block, q is read in its owner's memory.
  __device__ bool exchange_in_cluster(Word epoch, const double *parts, bool with_halo, double (&total)[sums]) {
    __shared__ double all[2][most_cluster][sums];
    const int warp = threadIdx.x / warp_lanes, lane = threadIdx.x % warp_lanes;
    if (warp == 0) {
      const double mine = sum_of_warps(parts);
      const std::uint32_t place = shared_address(&all[epoch & 1][blockIdx.x][lane % sums]);
      for (int block = lane / sums; block < a_.parts; block += warp_lanes / sums)
        write_there(in_block(place, static_cast<std::uint32_t>(block)), mine);
    }
    meet_cluster();
    const std::uint32_t q = shared_address(published_ + (epoch & 1) * a_.most_rows);
    for (int j = threadIdx.x; with_halo && j < part_.halo; j += blockDim.x) {
      const auto place = static_cast<std::uint32_t>(halo_packet_[j]);
      read_there(in_block(q + (place & 0xffffu) * static_cast<std::uint32_t>(sizeof(V)), place >> 16), halo_q_[j]);
    }
    const int block = lane % 8, which = lane / 8;
    const auto part_of = [&](int b) { return b < a_.parts ? all[epoch & 1][b][which] : 0; };
    const double sum = sum_quarters(part_of(block), part_of(block + 8));
#pragma unroll
    for (int k = 0; k < sums; ++k) total[k] = __shfl_sync(0xffffffffu, sum, k);
    return true;
  }

  // Packets need some 300 nanoseconds; earlier polling only delays them.
  __device__ static void pause() {
    const unsigned began = clock();
    while (static_cast<unsigned>(clock()) - began < 600u) {
    }
  }

  // One warp: the sums of a quarter of the blocks, four lanes a block, added in an order that only the grid decides.
  __device__ bool gather(int which, Word epoch, double *result) {
    constexpr int blocks_at_once = warp_lanes / sums, flight = 5;
    const int lane = threadIdx.x % warp_lanes;
    const int share = (a_.parts + quarters - 1) / quarters, begin = which * share, end = min(begin + share, a_.parts);
    const ulonglong2 *packets = sums_of(epoch, blockIdx.x % sum_copies) + lane / blocks_at_once;
    double sum = 0;
    bool heard = true;
    for (int first = begin + lane % blocks_at_once; first < end; first += blocks_at_once * flight)
      heard &= receive<flight>(
          epoch, [&](int i) { return first + i * blocks_at_once < end; },
          [&](int i) { return packets + (first + i * blocks_at_once) * sums; },
          [&](int, Word payload) { sum += value_of<double>(payload); });
    sum = sum_quarters(sum);
    if (lane < sums) result[lane] = sum;
    return heard;
  }

  __device__ bool receive_halo(Word epoch, int worker, int workers) {
    const ulonglong2 *packets = static_cast<const ulonglong2 *>(work_.halo_packets) + (epoch & 1) * a_.packets;
    bool heard = true;
    for (int first = worker; first < part_.halo; first += workers * polls_in_flight)
      heard &= receive<polls_in_flight>(
          epoch, [&](int i) { return first + i * workers < part_.halo; },
          [&](int i) { return packets + halo_packet_[first + i * workers]; },
          [&](int i, Word payload) { halo_q_[first + i * workers] = value_of<V>(payload); });
    return heard;
  }

  const Matrix &a_;
  const Work &work_;
  const Part part_;
  Pair<M> *values_;
  V *p_, *halo_r_, *halo_q_;
  V *published_ = nullptr;  // in a cluster: q of the own rows, twice, by parity
  std::uint32_t *columns_;
  std::int32_t *halo_packet_;
  bool owner_, uniform_, active_[passes];
  int begin_[passes], end_[passes], row_[passes], packet_[passes];
  Pair<M> values_kept_[kept ? kept : 1];
  std::uint32_t columns_kept_[kept ? kept : 1];
  V diagonal_[passes], x_[passes], r_[passes], p_own_[passes], q_[passes];
};

template <class V, class M, int passes, bool clustered>
__global__ void __launch_bounds__(most_threads, 1)
    iterate(const __grid_constant__ Matrix a, const __grid_constant__ Work work, const __grid_constant__ Run run) {
#ifndef SXT_NO_PACKETS
  extern __shared__ __align__(16) unsigned char shared[];
  Block<V, M, passes, clustered> block(a, work, shared);
  block.load(run);
  if (run.start == start_residual) {
    block.multiply();
    block.store_residual();
    return;
  }
  const bool speaker = blockIdx.x == 0 && threadIdx.x == 0;
  Word epoch = run.epoch;
  std::int64_t k = run.first;
  double gamma = 0;
  bool measuring = false;  // r'r of the next iterate, where its prediction cancelled: x and r are ahead of p
  pcg::Ended ended;
  for (;;) {
    double v[sums], total[sums];
    ++epoch;
    if (measuring) {
      block.squared_residual(v);
    } else {
      block.multiply();
      block.products(v);
    }
    if (!block.exchange(epoch, v, !measuring, total)) {
      ended = lost;
      break;
    }
    if (measuring) {
      block.turn(static_cast<V>(total[0] / gamma));
      measuring = false;
      ++k;
      continue;
    }
    gamma = total[3];
    const Verdict<V> verdict = decide<V>(run, work, speaker, k, total);
    ended = verdict.ended;
    if (ended != pcg::Ended::running) break;
    block.step(verdict.alpha);
    measuring = verdict.measure;
    if (measuring) continue;
    block.turn(verdict.beta);
    ++k;
  }
  if constexpr (clustered) meet_cluster();  // the others may still read this block's memory
  block.store(run.x);
  if (speaker) *work.report = {ended, 0, k, epoch};
#endif
}

}  // namespace persistent
