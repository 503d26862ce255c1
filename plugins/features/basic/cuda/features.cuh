// SPDX-License-Identifier: BSD-3-Clause
// The feature kernels of this folder and shared helpers: CSR on the device, results that come back in one copy, and
// counters that blocks add to.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/plugin/kinds/features.h"
#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/memory.hpp"

namespace sextant::features_cuda {

using Count = unsigned long long;

extern const sxt_kernel sizes_kernel;      // features.sizes.cuda: from the numbers of rows, columns and entries
extern const sxt_kernel rows_kernel;       // features.rows.cuda: row lengths
extern const sxt_kernel sample_kernel;     // features.sample.cuda: locality, blocks and diagonals from a sample
extern const sxt_kernel columns_kernel;    // features.columns.cuda: where the columns lie
extern const sxt_kernel transpose_kernel;  // features.transpose.cuda: row lengths of the transpose

// Time of a run on the host beside its launches: scratch, the copy back, a wait. As measured on an H200's host.
inline constexpr double call_s = 30e-6;

// Every feature kernel here keeps the matrix, its candidate's launch, and, from begin to run, the requested names and
// the counters whose copy to pinned memory has begun.
struct State {
  const sxt_csr *a;
  std::int64_t launch[4];
  mutable bool begun;
  plugin::cuda::DeviceArray counters;  // pinned, once something was begun
  std::vector<int> places;             // of Asked
};
// Whether run has to launch; the next one does in any case.
inline bool take_begun(const State &state) { return std::exchange(state.begun, false); }

// The names of a kernel, to be found by name.
class Names {
 public:
  explicit Names(const char *const *names) {
    for (int k = 0; names[k]; ++k) sorted_.emplace_back(names[k], k);
    std::sort(sorted_.begin(), sorted_.end());
  }
  // Its place in the list it was made from; -1: none.
  int find(std::string_view name) const {
    const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair<std::string_view, int>(name, 0));
    return at != sorted_.end() && at->first == name ? at->second : -1;
  }

 private:
  std::vector<std::pair<std::string_view, int>> sorted_;
};

// The positions of the requested names among a kernel's own.
class Asked {
 public:
  Asked(const sxt_features_args &args, const Names &own) : args_(args) {
    for (std::uint64_t i = 0; i < args.count; ++i) places_.push_back(own.find(args.names[i]));
  }
  // As it was found for the same args before.
  Asked(const sxt_features_args &args, std::vector<int> places) : args_(args), places_(std::move(places)) {}
  const std::vector<int> &places() const { return places_; }
  // Whether one of the kernel's names first .. first + count - 1 is among them.
  bool any(int first, int count) const {
    return std::any_of(places_.begin(), places_.end(), [=](int k) { return k >= first && k < first + count; });
  }
  // Writes values (one for each of the kernel's names) in the requested order; NaN for other names.
  sxt_status answer(const double *values) const {
    for (std::uint64_t i = 0; i < args_.count; ++i)
      args_.values[i] = places_[i] < 0 ? std::numeric_limits<double>::quiet_NaN() : values[places_[i]];
    return SXT_OK;
  }

 private:
  const sxt_features_args &args_;
  std::vector<int> places_;
};

// A kernel over CSR on the device; `storages` may be NULL.
sxt_kernel feature_kernel(const char *name, const char *description, const sxt_features_ops *ops,
                          const char *const *storages, decltype(sxt_kernel::candidates) candidates,
                          decltype(sxt_kernel::run) run);
extern const char *const csr_storage[];
// Answers of features.rows.cuda from the shape and the row pointers of `a` alone: counted into exec's scratch, then
// written.
void count_all_rows(const sxt_csr &a, const Asked &asked, const sxt_exec *exec);
sxt_status tell_rows(const sxt_csr &a, const Asked &asked, const sxt_exec *exec);
std::uint64_t rows_scratch_bytes();
const Names &rows_names();

// Row pointers in their own type; columns on the device are i32.
template <class F>
void with_row_ptr(const sxt_csr &a, F &&f) {
  if (a.s.offset_type == SXT_I32)
    f(static_cast<const std::int32_t *>(a.row_ptr));
  else
    f(static_cast<const std::int64_t *>(a.row_ptr));
}

inline void need_lent(const sxt_exec *exec, std::uint64_t bytes) {
  if (bytes > exec->scratch_bytes)
    throw plugin::cuda::Failure(SXT_E_STATE, "%llu bytes of scratch lent, %llu needed",
                                (unsigned long long)exec->scratch_bytes, (unsigned long long)bytes);
}
// Scratch as a struct of results, cleared.
template <class T>
T *cleared_scratch(const sxt_exec *exec, std::uint64_t bytes) {
  need_lent(exec, bytes);
  plugin::cuda::fill_bytes(exec, exec->scratch, 0, bytes, "clear counters");
  return static_cast<T *>(exec->scratch);
}

// A second kernel of a run, which begins while the first one ends.
template <class... Parameters, class... Arguments>
void launch_second(const sxt_exec *exec, const char *what, void (*kernel)(Parameters...), unsigned blocks,
                   unsigned threads, const Arguments &...args) {
  if (const sxt_status status = plugin::cuda::launch_chained(exec, true, what, kernel, blocks, threads, 0, args...))
    throw plugin::cuda::Failure(status, "could not launch %s", what);
}

// Starts the copy of the counters from scratch to the state's own memory: run has only to wait.
template <class T>
void begin_fetching(State &state, const Asked &asked, const sxt_exec *exec) {
  if (!state.counters.data())
    state.counters =
        plugin::cuda::DeviceArray(exec, sizeof(T), "counters", plugin::cuda::Life::state, SXT_SPACE_PINNED);
  plugin::cuda::copy(exec, state.counters.data(), exec->scratch, sizeof(T), "counters");
  state.places = asked.places();
  state.begun = true;
}

// report(counters, asked) with those that begin has sent for, or counted by count(asked) now.
template <class T, class Count, class F>
sxt_status with_counters(const State &state, const sxt_features_args &args, const Names &own, const sxt_exec *exec,
                         Count &&count, F &&report) {
  if (take_begun(state)) {
    const Asked asked(args, state.places);
    plugin::cuda::wait(exec);
    return report(*state.counters.as<const T>(), asked);
  }
  const Asked asked(args, own);
  count(asked);
  const auto counters = std::make_unique<T>();
  plugin::cuda::fetch(exec, counters.get(), static_cast<const T *>(exec->scratch), 1, "counters");
  return report(*counters, asked);
}

// ---- on the device: sums and maxima of a warp's lanes, added to a counter by one of them

// Sixteen bits of every lane at a time, which warps add in one instruction.
__device__ inline Count warp_sum(Count value) {
  constexpr unsigned all = 0xffffffffu;
  const auto low = static_cast<unsigned>(value), high = static_cast<unsigned>(value >> 32);
  Count sum = __reduce_add_sync(all, low & 0xffffu) + (Count{__reduce_add_sync(all, low >> 16)} << 16);
  if (__any_sync(all, high != 0))
    sum += (Count{__reduce_add_sync(all, high & 0xffffu)} << 32) + (Count{__reduce_add_sync(all, high >> 16)} << 48);
  return sum;
}
__device__ inline void add_sum(Count *to, Count value) {
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0 && value) atomicAdd(to, value);
}
__device__ inline Count warp_most(Count value) {
  constexpr unsigned all = 0xffffffffu;
  const unsigned high = __reduce_max_sync(all, static_cast<unsigned>(value >> 32));
  return Count{high} << 32 | __reduce_max_sync(all, value >> 32 == high ? static_cast<unsigned>(value) : 0);
}
__device__ inline void add_most(Count *to, Count value) {
  value = warp_most(value);
  if (threadIdx.x % 32 == 0 && value) atomicMax(to, value);
}
// Number `which` of `looked` things that lie evenly among `all`, fewer than 2^32; looked * looked must be so, too.
__device__ inline unsigned spread(unsigned all, unsigned looked, unsigned which) {
  return all / looked * which + all % looked * which / looked;
}
// The entries of row i, fewer than 2^31 as columns and rows are.
template <class Offset>
__device__ inline int row_length(const Offset *row_ptr, std::int64_t i) {
  return static_cast<int>(row_ptr[i + 1] - row_ptr[i]);
}

}  // namespace sextant::features_cuda
