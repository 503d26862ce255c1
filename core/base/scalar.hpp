// SPDX-License-Identifier: BSD-3-Clause
// A caller's scalar where every kernel may read it: those for devices read a complex number in one access, and callers'
// are aligned as its parts.
#pragma once

#include <cstring>

#include "core/base/types.hpp"

namespace sextant {

class AlignedScalar {
 public:
  // value: NULL for none.
  AlignedScalar(const void *value, sxt_value_type type) noexcept : there_(value != nullptr) {
    if (there_) std::memcpy(bytes_, value, value_bytes(type));
  }
  const void *get() const noexcept { return there_ ? bytes_ : nullptr; }

 private:
  alignas(2 * sizeof(double)) unsigned char bytes_[2 * sizeof(double)];
  bool there_;
};

}  // namespace sextant
