// SPDX-License-Identifier: BSD-3-Clause
// What is known and counted of one kernel, whatever handles it has.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "hook/trials.hpp"
#include "policy/policy.hpp"

namespace sextant::retune {

enum class Status { proven, declared, refused };

struct Device {
  int ordinal = -1;
  std::string name;
  sxt_launch_limits limits{};
};

// Decided shapes, read without a lock: a slot counts only where its two words agree, so that a torn pair is a miss.
class Decisions {
 public:
  // grid < 2^31, block <= 1024, shared < 2^20: 62 bits, and never 0.
  static std::uint64_t key_of(const Shape &shape) {
    return (std::uint64_t{shape.grid} << 31 | std::uint64_t{shape.block} << 20 | shape.shared) + 1;
  }
  // What is kept of a decision: block, shared memory, and which count it goes to.
  struct Decision {
    std::uint32_t block, shared;
    std::uint32_t count;
  };
  bool find(const Shape &shape, Decision &decision) const {
    const std::uint64_t key = key_of(shape);
    const Slot &slot = slots_[place(key)];
    const std::uint64_t value = slot.value.load(std::memory_order_relaxed);
    if ((slot.check.load(std::memory_order_relaxed) ^ value) != key) return false;
    decision = {static_cast<std::uint32_t>(value >> 32), static_cast<std::uint32_t>(value >> 8 & 0xffffff),
                static_cast<std::uint32_t>(value & 0xff)};
    return true;
  }
  void keep(const Shape &shape, const Decision &decision) {
    const std::uint64_t key = key_of(shape);
    Slot &slot = slots_[place(key)];
    const std::uint64_t value =
        std::uint64_t{decision.block} << 32 | std::uint64_t{decision.shared} << 8 | decision.count;
    slot.value.store(value, std::memory_order_relaxed);
    slot.check.store(key ^ value, std::memory_order_relaxed);
  }
  void clear() {
    for (Slot &slot : slots_) slot.check.store(~std::uint64_t{0}, std::memory_order_relaxed);
  }

 private:
  struct Slot {
    std::atomic<std::uint64_t> check{~std::uint64_t{0}}, value{0};
  };
  static constexpr std::size_t size = 64;
  static std::size_t place(std::uint64_t key) { return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 58); }
  std::array<Slot, size> slots_;
};

// Launches of one class and original block size in one chosen.
struct ShapeCount {
  std::uint32_t original = 0, chosen = 0;
  int size_class = 0;
  double saved_s = 0;  // a launch, where it was measured
  std::atomic<std::uint64_t> launches{0};
};

struct Kernel {
  std::string name, reason;
  std::uint64_t module = 0;  // image::Image::hash
  std::size_t line = 0;
  Status status = Status::refused;
  bool reorders = false;
  Facts facts;
  std::shared_ptr<const Device> device;

  // Left alone for good, by its status or because the driver refused a changed shape.
  std::atomic<bool> left_alone{false};
  std::atomic<int> driver_error{0};
  std::atomic<std::uint64_t> launches{0}, changed{0}, other{0};  // other: not one-dimensional, cooperative, clustered
  Decisions decisions;
  static constexpr std::uint32_t most_counts = 32;  // the last one takes all further pairs
  std::array<ShapeCount, most_counts> counts;

  // Under the registry's lock: trials by class of T and original block.
  std::map<std::pair<int, std::uint32_t>, Trials> trials;
  std::uint32_t count_of(const Shape &original, std::uint32_t chosen, double saved_s);
  // Nothing is tried before this time of the steady clock, in nanoseconds.
  std::atomic<std::int64_t> quiet_until{0};
};

}  // namespace sextant::retune
