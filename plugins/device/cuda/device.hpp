// SPDX-License-Identifier: BSD-3-Clause
// One opened device: its primary context, pool, own stream and pinned memory, and the edge that every call crosses.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "driver.hpp"
#include "sextant/plugin/kinds/device.h"
#include "sextant/sdk/kernel.hpp"

namespace sextant::device_cuda {

// The process's table, kept from the plugin's entry: count and describe get no other.
void set_host(const sxt_host *host);
const sxt_host *the_host();

// SXT_OK, or the status of a failed call, with the sentence "could not <step> on CUDA device N: ...". An error that
// lasts until the process ends is remembered for the ordinal.
sxt_status outcome(std::int32_t ordinal, cudaError_t problem, const char *step);
// A sentence of ours.
__attribute__((format(printf, 2, 3))) sxt_status refusal(sxt_status status, const char *format, ...);
// Whether the device has failed for good; the sentence is then set.
sxt_status check_alive(std::int32_t ordinal);

// Makes the device current on this thread while it lives, and keeps it out of captures. Also on a failed device, for
// clean-up.
class Current {
 public:
  explicit Current(const Driver &calls, Context context)
      : calls_(calls), outside_(calls), status_(calls.context_push(context)) {}
  ~Current() {
    Context ours = nullptr;
    if (status_ == 0) calls_.context_pop(&ours);
  }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;
  explicit operator bool() const { return status_ == 0; }
  int status() const { return status_; }  // what the driver answered

 private:
  const Driver &calls_;
  const OutsideCaptures outside_;
  int status_;
};

// Pinned host memory. Small pieces (status words, results, counters) come from slabs, since pinning costs a page and a
// system call: blocks of two sizes, each with its own slabs.
class PinnedMemory {
 public:
  cudaError_t get(std::uint64_t bytes, void **memory);
  void put(void *memory);
  void close();

 private:
  static constexpr std::uint64_t slab_bytes = 1u << 16;
  struct Blocks {
    bool in_slab(const void *memory) const;
    std::uint64_t bytes;  // of a block
    std::vector<char *> slabs = {};
    std::vector<void *> idle = {};
  };
  std::mutex lock_;
  Blocks sizes_[2] = {{256}, {8192}};
};

class Device {
 public:
  // NULL with a sentence and a status.
  static sxt_status open(std::int32_t ordinal, Device **out);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  std::int32_t ordinal() const { return ordinal_; }
  Context context() const { return context_; }
  cudaStream_t own_stream() const { return stream_; }
  cudaStream_t stream_or_own(void *stream) const { return stream ? static_cast<cudaStream_t>(stream) : stream_; }

  // Runs f with the device current; SXT_E_DEVICE with the old sentence when the device has failed for good.
  template <class F>
  sxt_status call(F &&f) {
    if (const sxt_status dead = check_alive(ordinal_)) return dead;
    const Current current(calls_, context_);
    if (!current) return not_current(current.status());
    return f();
  }
  // The same for calls that free something, on a lost device too: they have no status to return.
  template <class F>
  void clean(F &&f) {
    const Current current(calls_, context_);
    f();
    cudaGetLastError();
  }

  sxt_status alloc(void *stream, sxt_space space, std::uint64_t bytes, void **memory);
  void free(void *stream, sxt_space space, void *memory);
  sxt_status copy_peer(void *stream, void *to, Device &from_device, const void *from, std::uint64_t bytes);
  sxt_status check_stream(void *stream);
  sxt_status keep_at_most(std::uint64_t bytes);  // of idle memory in the pool; with the device current
  sxt_status enter() const;
  void leave() const;

 private:
  sxt_status not_current(int status) const;
  Device(std::int32_t ordinal, const Driver &calls) : ordinal_(ordinal), calls_(calls) {}
  sxt_status start();
  sxt_status make_pool();
  void open_pool_to(const Device &reader);
  cudaError_t from_pool(void *stream, std::uint64_t bytes, void **memory) const;

  std::int32_t ordinal_;
  const Driver &calls_;
  int device_ = 0;
  Context context_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  cudaStream_t stream_ = nullptr;
  PinnedMemory pinned_;
  std::mutex readers_lock_;
  std::uint64_t readers_ = 0;     // a bit for each ordinal to which opening the pool was tried
  std::uint64_t readers_of_ = 0;  // devices opened when these were noted
};

// True while work on the stream is captured instead of done.
bool capturing(cudaStream_t stream);

}  // namespace sextant::device_cuda
