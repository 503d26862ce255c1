// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/upload.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "core/threads/pool.hpp"
#include "sextant/types.h"

namespace sextant {
namespace {

// Shorter arrays are there before threads have begun. Calls that send a piece go through a driver's lock one by one, so
// a piece is long beside them; pinning memory for larger ones would take longer than what they save.
constexpr std::uint64_t least_bytes = std::uint64_t{4} << 20, piece_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t pinned_alignment = 256;

bool lies_in(const sxt_device_ops &ops, void *device, const void *memory, sxt_space wanted) {
  sxt_space space = SXT_SPACE_HOST;
  std::int32_t ordinal = -1;
  return ops.locate(device, memory, &space, &ordinal) == SXT_OK && space == wanted;
}

}  // namespace

int Upload::lanes_for(int threads, std::uint64_t bytes) noexcept {
  return static_cast<int>(
      std::min<std::uint64_t>((bytes + piece_bytes - 1) / piece_bytes, std::min(threads, most_lanes)));
}

bool Upload::pays(int threads, std::uint64_t bytes) noexcept { return bytes >= least_bytes && threads >= 2; }

bool Upload::begin(const sxt_device_ops &ops, void *device, int lanes) noexcept {
  if (lanes > lanes_) {
    release(ops, device);
    const std::uint64_t bytes = static_cast<std::uint64_t>(2 * lanes) * piece_bytes;
    if (ops.alloc(device, nullptr, SXT_SPACE_PINNED, bytes, pinned_alignment, &pinned_) != SXT_OK)
      return pinned_ = nullptr, false;
    for (int i = 0; i < 2 * lanes; ++i)
      slots_[i].memory = static_cast<char *>(pinned_) + static_cast<std::uint64_t>(i) * piece_bytes;
    lanes_ = lanes;
  }
  for (int i = 0; i < 2 * lanes; ++i)
    if (!slots_[i].stream && ops.stream_create(device, &slots_[i].stream) != SXT_OK)
      return slots_[i].stream = nullptr, false;
  return true;
}

bool Upload::pass(const sxt_device_ops &ops, void *device, int lanes, void *to, std::uint64_t bytes,
                  const Write &write) noexcept {
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> good{true};
  threads::for_parts(lanes, lanes, [&](int lane) {
    for (int turn = 0; good; turn ^= 1) {
      const std::uint64_t at = next.fetch_add(piece_bytes);
      if (at >= bytes) return;
      const Slot &slot = slots_[2 * lane + turn];
      const std::uint64_t end = std::min(bytes, at + piece_bytes);
      if (ops.stream_synchronize(device, slot.stream) != SXT_OK || !write(at, end, slot.memory) ||
          ops.copy(device, slot.stream, static_cast<char *>(to) + at, slot.memory, end - at) != SXT_OK)
        good = false;
    }
  });
  bool arrived = good;
  for (int i = 0; i < 2 * lanes; ++i) arrived &= ops.stream_synchronize(device, slots_[i].stream) == SXT_OK;
  return arrived;
}

bool Upload::was_sent(const void *array, std::uint64_t bytes, const void **there) noexcept {
  const std::lock_guard lock(ahead_lock_);
  *there = ahead_.there;
  return ahead_.there && ahead_.array == array && ahead_.bytes == bytes;
}

bool Upload::bring(const sxt_device_ops &ops, void *device, int threads, void *stream, void *to, const void *from,
                   std::uint64_t bytes) noexcept {
  if (!pays(threads, bytes) || !ops.stream_create || !ops.locate) return false;
  if (const void *there = nullptr; was_sent(from, bytes, &there))
    return ops.copy(device, stream, to, there, bytes) == SXT_OK;
  if (!lies_in(ops, device, from, SXT_SPACE_HOST) || !lies_in(ops, device, to, SXT_SPACE_DEVICE)) return false;
  const std::unique_lock alone(lock_, std::try_to_lock);
  const int lanes = lanes_for(threads, bytes);
  if (!alone || !begin(ops, device, lanes)) return false;
  // What the stream still does may use the memory; one that is being captured cannot be waited for.
  if (ops.stream_synchronize(device, stream) != SXT_OK) return false;
  return pass(ops, device, lanes, to, bytes, [from](std::uint64_t begin, std::uint64_t end, void *pinned) {
    std::memcpy(pinned, static_cast<const char *>(from) + begin, end - begin);
    return true;
  });
}

bool Upload::send_ahead(const sxt_device_ops &ops, void *device, int threads, void *ahead, const void *array,
                        std::uint64_t bytes, const Write &write, bool *failed) noexcept {
  *failed = false;
  if (!pays(threads, bytes) || !ops.stream_create) return false;
  const std::unique_lock alone(lock_, std::try_to_lock);
  const int lanes = lanes_for(threads, bytes);
  if (!alone || !begin(ops, device, lanes)) return false;
  *failed = !pass(ops, device, lanes, ahead, bytes, write);
  if (*failed) return false;
  const std::lock_guard lock(ahead_lock_);
  ahead_ = {array, ahead, bytes};
  return true;
}

void Upload::recall() noexcept {
  const std::lock_guard lock(ahead_lock_);
  ahead_ = {};
}

void Upload::release(const sxt_device_ops &ops, void *device) noexcept {
  for (Slot &slot : slots_) {
    if (slot.stream) ops.stream_destroy(device, slot.stream);
    slot = {};
  }
  if (pinned_) ops.free(device, nullptr, SXT_SPACE_PINNED, pinned_);
  pinned_ = nullptr, lanes_ = 0;
}

}  // namespace sextant
