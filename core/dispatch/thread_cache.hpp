// SPDX-License-Identifier: BSD-3-Clause
// What a thread used last, found again without a lock. Held is what an entry keeps: a weak pointer where the owner may
// drop the object while calls are under way, a plain one where it lives as long as its owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sextant {

struct CacheKey {
  std::uint64_t owner = 0;  // an id that is never used twice; 0: nobody
  std::uint64_t epoch = 0;  // of the owner's choices: older entries are no longer found
  std::uint64_t what = 0;
  bool operator==(const CacheKey &) const = default;
};

// One for each Held and thread. Few entries, each with one place: two keys that share it drive each other out.
template <class Held>
class ThreadCache {
 public:
  static const Held *find(const CacheKey &key) noexcept {
    const Entry &entry = place(key);
    return entry.key == key ? &entry.value : nullptr;
  }
  static void keep(const CacheKey &key, const Held &value) noexcept {
    Entry &entry = place(key);
    entry.key = key;
    entry.value = value;
  }

 private:
  struct Entry {
    CacheKey key;
    Held value{};
  };
  static Entry &place(const CacheKey &key) noexcept {
    constexpr std::size_t places = 64;
    static thread_local std::array<Entry, places> entries;
    // Fibonacci hashing (Knuth 1973): consecutive numbers spread over the top bits.
    const std::uint64_t mixed = (key.owner * 31 + key.what) * 11400714819323198485ull;
    return entries[static_cast<std::size_t>(mixed >> 58)];
  }
};

}  // namespace sextant
