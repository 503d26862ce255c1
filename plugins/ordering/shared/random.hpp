// SPDX-License-Identifier: BSD-3-Clause
// A small generator whose numbers are the same everywhere (Marsaglia's xorshift, splitmix to begin with).
#pragma once

#include <cstdint>

namespace sextant::plugin::elimination {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    seed += 0x9e3779b97f4a7c15u;
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
    state_ = (seed ^ (seed >> 31)) | 1;
  }
  std::uint64_t next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1du;
  }
  // 0 .. n-1
  std::int32_t below(std::int64_t n) {
    return static_cast<std::int32_t>((next() >> 32) * static_cast<std::uint64_t>(n) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace sextant::plugin::elimination
