// SPDX-License-Identifier: BSD-3-Clause
// A set of few keys, for counting the distinct lines of x that a short walk touches
// (plugins/features/shared/footprint.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "plugins/features/shared/footprint.hpp"

namespace sextant::features_basic {

using plugin::Footprint;

// Distinct keys among few. Keys of a small range are marked in a map, others in a hash table.
class SmallSet {
 public:
  static constexpr std::uint64_t slots = 8192;  // for at most half as many keys
  // Empties it for at most `most_keys` keys below `range`. No more is cleared than they need, which would take longer
  // than a small matrix.
  void clear(std::uint64_t most_keys, std::uint64_t range) {
    most_keys = std::min({most_keys, range, slots / 2});
    is_map_ = range <= std::min<std::uint64_t>(sizeof keys_, 32 * most_keys);
    const std::uint64_t used = std::bit_ceil(std::max<std::uint64_t>(2 * most_keys, 2));
    shift_ = 64 - std::countr_zero(used);
    std::memset(keys_, 0, is_map_ ? range : used * sizeof keys_[0]);
  }
  // True when it was not there.
  bool insert(std::uint64_t key) {
    if (is_map_) {
      unsigned char &mark = reinterpret_cast<unsigned char *>(keys_)[key];
      const bool is_new = mark == 0;
      mark = 1;
      return is_new;
    }
    std::uint64_t slot = (key * 0x9E3779B97F4A7C15ull) >> shift_;
    while (keys_[slot] != 0) {
      if (keys_[slot] == key + 1) return false;
      slot = (slot + 1) & ((std::uint64_t{1} << (64 - shift_)) - 1);
    }
    keys_[slot] = key + 1;
    return true;
  }

 private:
  bool is_map_;
  int shift_;  // of a hash to a slot
  std::uint64_t keys_[slots];
};

}  // namespace sextant::features_basic
