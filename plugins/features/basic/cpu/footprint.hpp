// SPDX-License-Identifier: BSD-3-Clause
// A set of few keys, for counting the distinct lines of x that a short walk touches
// (plugins/features/shared/footprint.hpp).
#pragma once

#include <cstdint>
#include <cstring>

#include "plugins/features/shared/footprint.hpp"

namespace sextant::features_basic {

using plugin::Footprint;

// Distinct keys among few: a table that does not need the range of the keys.
class SmallSet {
 public:
  static constexpr std::uint64_t slots = 8192;  // for at most half as many keys
  void clear() { std::memset(keys_, 0, sizeof keys_); }
  // True when it was not there.
  bool insert(std::uint64_t key) {
    std::uint64_t slot = (key * 0x9E3779B97F4A7C15ull) >> 51;
    while (keys_[slot] != 0) {
      if (keys_[slot] == key + 1) return false;
      slot = (slot + 1) % slots;
    }
    keys_[slot] = key + 1;
    return true;
  }

 private:
  std::uint64_t keys_[slots];
};

}  // namespace sextant::features_basic
