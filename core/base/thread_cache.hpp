// SPDX-License-Identifier: BSD-3-Clause
// What a thread used last, found again without a lock. Held is what an entry keeps: a weak pointer where the owner may
// drop the object while calls are under way, a plain one where it lives as long as its owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/per_thread.hpp"

namespace sextant {

struct CacheKey {
  std::uint64_t owner = 0;  // an id that is never used twice; 0: none
  std::uint64_t epoch = 0;  // of the owner's choices: older entries are no longer found
  std::uint64_t what = 0;
  bool operator==(const CacheKey &) const = default;
};

// One for each Held and thread. Few entries, each with one place: two keys that share it drive each other out.
template <class Held>
class ThreadCache {
 public:
  static const Held *find(const CacheKey &key) noexcept {
    const Places *const own = PerThread<Places>::there();
    if (!own) return nullptr;
    const Entry &entry = (*own)[place(key)];
    return entry.key == key ? &entry.value : nullptr;
  }
  // Where memory is short nothing is kept: the next call looks the object up as this one did.
  static void keep(const CacheKey &key, const Held &value) noexcept {
    Places *const own = PerThread<Places>::get();
    if (!own) return;
    Entry &entry = (*own)[place(key)];
    entry.key = key;
    entry.value = value;
  }

 private:
  struct Entry {
    CacheKey key;
    Held value{};
  };
  using Places = std::array<Entry, 64>;
  static std::size_t place(const CacheKey &key) noexcept {
    // Fibonacci hashing (Knuth 1973): consecutive numbers spread over the top bits.
    const std::uint64_t mixed = (key.owner * 31 + key.what) * 11400714819323198485ull;
    return static_cast<std::size_t>(mixed >> 58);
  }
};

}  // namespace sextant
