// SPDX-License-Identifier: BSD-3-Clause
// The pattern of FSAI's factor found on the device: tril(A), or tril(A^2) by a warp a row that collects the columns its
// neighbours reach, sorts them and keeps each once. The transpose follows by a stable sort of the columns.
#pragma once

#include <cstdint>

#include "sextant/plugin_cuda_factor.hpp"
#include "sextant/plugin_cuda_sort.hpp"
#include "sextant/plugin_fsai.hpp"

namespace fsai_cuda {

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;
namespace device = sextant::plugin::cuda::precondition;
namespace methods = sextant::plugin::precondition;

// What the passes over the rows find: whether a row lacks its diagonal or reaches too much for a warp's memory, and the
// longest row.
struct PatternFindings {
  std::int32_t irregular, longest;
};

// ---- tril(A)
// ---------------------------------------------------------------------------------------------------------

// Entries of each row up to its diagonal; the offsets' last place gets 0, for the prefix sum.
template <class M>
struct CountLower {
  device::Rows<M> a;
  std::int32_t *count;
  PatternFindings *found;
  __device__ void operator()(std::int64_t i) const {
    const bool row = i < a.n;
    const std::int64_t at = row ? a.find(i, i) : 0, end = row ? a.begin(i + 1) : 0;
    count[i] = row ? static_cast<std::int32_t>(at - a.begin(i)) + 1 : 0;
    if (row && (at == end || a.col[at] != i)) found->irregular = 1;
    if (row) atomicMax(&found->longest, count[i]);
  }
};

// A row of the pattern by eight threads.
constexpr int fill_lanes = 8;
template <class M>
__global__ void __launch_bounds__(device::threads)
    fill_lower(device::Rows<M> a, const std::int32_t *ptr, std::int32_t *col) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * device::threads + threadIdx.x) / fill_lanes;
  if (i >= a.n) return;
  const std::int32_t first = ptr[i], count = ptr[i + 1] - first;
  for (std::int32_t k = static_cast<int>(threadIdx.x % fill_lanes); k < count; k += fill_lanes)
    col[first + k] = a.col[a.begin(i) + k];
}

// ---- tril(A^2)
// -------------------------------------------------------------------------------------------------------

constexpr int reach_warps = 4, reach_room = 2048;  // warps a block; columns a row may collect, repeated ones too

// Sorts count (a power of two) numbers in shared memory by a warp: bitonic.
__device__ inline void sort_by_warp(std::int32_t *values, int count, int lane) {
  for (int size = 2; size <= count; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      for (int pair = lane; pair < count / 2; pair += 32) {
        const int low = 2 * pair - (pair & (step - 1)), high = low + step;
        const bool ascending = (low & size) == 0;
        const std::int32_t a = values[low], b = values[high];
        if ((a > b) == ascending) values[low] = b, values[high] = a;
      }
      __syncwarp();
    }
}

// A warp a row. fill false: count[i] = entries of row i (and 0 behind the last row); else the columns go to col.
template <bool fill, class M>
__global__ void __launch_bounds__(32 * reach_warps)
    reach(device::Rows<M> a, std::int32_t *count, std::int32_t *col, PatternFindings *found) {
  __shared__ std::int32_t all[reach_warps][reach_room];
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * reach_warps + threadIdx.x / 32;
  const int lane = static_cast<int>(threadIdx.x % 32);
  constexpr unsigned everyone = 0xffffffffu;
  if (i > a.n) return;  // whole warps
  if (i == a.n) {
    if (!fill && lane == 0) count[i] = 0;
    return;
  }
  std::int32_t *const reached = all[threadIdx.x / 32];
  int total = 0;
  for (std::int64_t k = a.begin(i); k < a.begin(i + 1); ++k) {
    const std::int64_t begin = a.begin(a.col[k]), end = a.find(a.col[k], i + 1);  // columns up to i
    for (std::int64_t l = begin; l < end; l += 32) {
      if (l + lane < end && total + lane < reach_room) reached[total + lane] = a.col[l + lane];
      total += static_cast<int>(min(static_cast<std::int64_t>(32), end - l));
    }
  }
  if (total > reach_room || total == 0) {
    if (lane == 0) {
      found->irregular = 1;
      if (!fill) count[i] = 0;
    }
    return;
  }
  int room = 32;
  while (room < total) room *= 2;
  for (int p = total + lane; p < room; p += 32) reached[p] = 0x7fffffff;
  __syncwarp();
  sort_by_warp(reached, room, lane);

  int kept = 0;
  for (int p = 0; p < total; p += 32) {
    const int mine = p + lane;
    const bool first = mine < total && (mine == 0 || reached[mine] != reached[mine - 1]);
    const unsigned firsts = __ballot_sync(everyone, first);
    if (fill && first) col[count[i] + kept + __popc(firsts & ((1u << lane) - 1))] = reached[mine];
    kept += __popc(firsts);
  }
  if (fill || lane != 0) return;
  count[i] = kept;
  if (reached[total - 1] != i) found->irregular = 1;  // no diagonal
  atomicMax(&found->longest, kept);
}

// ---- the transpose
// -----------------------------------------------------------------------------------------------------

struct CountColumns {
  const std::int32_t *col;
  std::int32_t *count;
  __device__ void operator()(std::int64_t k) const { atomicAdd(&count[col[k]], 1); }
};

// Place p of the transpose holds entry places[p].
struct PlaceEntries {
  const std::int32_t *places, *ptr;
  std::int64_t n;
  std::int32_t *col, *mirror;
  __device__ void operator()(std::int64_t p) const {
    const std::int32_t entry = places[p];
    col[p] = static_cast<std::int32_t>(cuda::row_of_entry(ptr, std::int64_t(0), n, static_cast<std::int64_t>(entry)));
    mirror[entry] = static_cast<std::int32_t>(p);
  }
};

// Offsets and columns of upper = lower', and where each entry of lower stands in it.
inline void transpose(const sxt_exec *exec, const device::Factor &lower, const device::Factor &upper,
                      std::int32_t *mirror) {
  const auto *col = lower.col.as<const std::int32_t>();
  auto *ptr = upper.ptr.as<std::int32_t>();
  cuda::fill_bytes(exec, ptr, 0, upper.ptr.bytes(), "clear offsets");
  cuda::visit_all(exec, lower.nnz, CountColumns{col, ptr});
  cuda::exclusive_scan(exec, ptr, lower.n + 1);
  const cuda::DeviceArray places(exec, static_cast<std::uint64_t>(lower.nnz) * sizeof(std::int32_t), "a transposition",
                                 cuda::Life::call);
  cuda::sorted_places(exec, col, lower.nnz, lower.n - 1, places.as<std::int32_t>());
  cuda::visit_all(exec, lower.nnz,
                  PlaceEntries{places.as<const std::int32_t>(), lower.ptr.as<const std::int32_t>(), lower.n,
                               upper.col.as<std::int32_t>(), mirror});
}

// Finds G's pattern and its transpose. False where the host has to: rows beyond the limit, which are cut by strength,
// or that reach too much, or a diagonal that is not stored.
inline bool find_pattern(const sxt_exec *exec, sxt_value_type type, const sxt_csr &a, int power, device::Factor &lower,
                         device::Factor &upper, cuda::DeviceArray &mirror, int *longest) {
  if (a.s.rows == 0 || a.s.nnz >= cuda::narrow_limit) return false;
  const std::int64_t n = a.s.rows;
  const cuda::DeviceArray findings(exec, sizeof(PatternFindings), "findings", cuda::Life::call);
  auto *found = findings.as<PatternFindings>();
  cuda::fill_bytes(exec, found, 0, sizeof *found, "clear findings");
  lower = device::Factor(exec, n);
  upper = device::Factor(exec, n);
  auto *ptr = lower.ptr.as<std::int32_t>();
  const auto blocks = static_cast<unsigned>(cuda::divide_up<std::int64_t>(n + 1, reach_warps));
  const auto with_matrix = [&](auto &&f) {
    device::with_rows(type, a, [&](auto, const auto &rows) { f(rows); });
    cuda::need_launch("the pattern of FSAI");
  };
  with_matrix([&](const auto &rows) {
    using M = std::remove_cv_t<std::remove_pointer_t<decltype(rows.values)>>;
    if (power == 1)
      cuda::visit_all(exec, n + 1, CountLower<M>{rows, ptr, found});
    else
      reach<false><<<blocks, 32 * reach_warps, 0, cuda::stream_of(*exec)>>>(rows, ptr, nullptr, found);
  });
  const PatternFindings counted = cuda::fetch(exec, found, "the rows' state");
  const bool too_many = counted.longest >= cuda::narrow_limit / n;  // offsets of 32 bits
  if (counted.irregular || counted.longest > methods::fsai_row_limit || too_many) return false;
  cuda::exclusive_scan(exec, ptr, n + 1);
  const auto entries = cuda::fetch(exec, ptr + n, "a factor's entries");
  lower.make_room(exec, entries, type);
  upper.make_room(exec, entries, type);
  mirror = cuda::DeviceArray(exec, static_cast<std::uint64_t>(entries) * sizeof(std::int32_t), "a transposition");
  with_matrix([&](const auto &rows) {
    auto *col = lower.col.as<std::int32_t>();
    if (power == 1)
      fill_lower<<<device::row_blocks(n, fill_lanes), device::threads, 0, cuda::stream_of(*exec)>>>(rows, ptr, col);
    else
      reach<true><<<blocks, 32 * reach_warps, 0, cuda::stream_of(*exec)>>>(rows, ptr, col, found);
  });
  transpose(exec, lower, upper, mirror.as<std::int32_t>());
  *longest = std::max(1, counted.longest);
  return true;
}

}  // namespace fsai_cuda
