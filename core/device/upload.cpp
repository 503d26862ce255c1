// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/upload.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/threads/pool.hpp"
#include "sextant/types.h"

namespace sextant {
namespace {

// Shorter arrays are there before threads have begun; a half is long beside the wait for it.
constexpr std::uint64_t least_bytes = std::uint64_t{4} << 20, half_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t half_alignment = 256;

bool lies_in(const sxt_device_ops &ops, void *device, const void *memory, sxt_space wanted) {
  sxt_space space = SXT_SPACE_HOST;
  std::int32_t ordinal = -1;
  return ops.locate(device, memory, &space, &ordinal) == SXT_OK && space == wanted;
}

void copy_on_threads(int threads, char *to, const char *from, std::uint64_t bytes) {
  sextant::threads::for_parts(threads, threads, [&](int part) {
    const auto parts = static_cast<std::uint64_t>(threads), i = static_cast<std::uint64_t>(part);
    const std::uint64_t begin = bytes * i / parts, end = bytes * (i + 1) / parts;
    std::memcpy(to + begin, from + begin, end - begin);
  });
}

}  // namespace

bool Upload::begin(const sxt_device_ops &ops, void *device) noexcept {
  for (Half &half : halves_) {
    if (!half.memory &&
        ops.alloc(device, nullptr, SXT_SPACE_PINNED, half_bytes, half_alignment, &half.memory) != SXT_OK)
      return half.memory = nullptr, false;
    if (!half.stream && ops.stream_create(device, &half.stream) != SXT_OK) return half.stream = nullptr, false;
  }
  return true;
}

bool Upload::bring(const sxt_device_ops &ops, void *device, int threads, void *stream, void *to, const void *from,
                   std::uint64_t bytes) noexcept {
  if (bytes < least_bytes || threads < 2 || !ops.stream_create || !ops.locate) return false;
  if (!lies_in(ops, device, from, SXT_SPACE_HOST) || !lies_in(ops, device, to, SXT_SPACE_DEVICE)) return false;
  const std::unique_lock alone(lock_, std::try_to_lock);
  if (!alone || !begin(ops, device)) return false;
  // What the stream still does may use the memory; one that is being captured cannot be waited for.
  if (ops.stream_synchronize(device, stream) != SXT_OK) return false;
  bool good = true;
  int turn = 0;
  for (std::uint64_t at = 0; good && at < bytes; at += half_bytes, turn ^= 1) {
    const Half &half = halves_[turn];
    const std::uint64_t length = std::min(half_bytes, bytes - at);
    good = ops.stream_synchronize(device, half.stream) == SXT_OK;
    if (!good) break;
    copy_on_threads(threads, static_cast<char *>(half.memory), static_cast<const char *>(from) + at, length);
    good = ops.copy(device, half.stream, static_cast<char *>(to) + at, half.memory, length) == SXT_OK;
  }
  for (const Half &half : halves_) good &= ops.stream_synchronize(device, half.stream) == SXT_OK;
  return good;
}

void Upload::release(const sxt_device_ops &ops, void *device) noexcept {
  for (Half &half : halves_) {
    if (half.stream) ops.stream_destroy(device, half.stream);
    if (half.memory) ops.free(device, nullptr, SXT_SPACE_PINNED, half.memory);
    half = {};
  }
}

}  // namespace sextant
