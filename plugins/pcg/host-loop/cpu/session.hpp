// SPDX-License-Identifier: BSD-3-Clause
// An engine's data between solves: the shape of its problem (state) and, for each concurrent caller, the bound parts
// and the work vectors (session).
#pragma once

#include <cstdint>

#include "parts.hpp"
#include "sextant/sdk/kernel.hpp"

namespace host_loop {

struct State {
  const Recurrence *recurrence;
  sxt_value_type type;
  std::int64_t n;
  bool preconditioned;
  std::int32_t columns;  // right-hand sides that a session has vectors for
};

// Bytes of one work vector, rounded up so that each begins on a cache line.
inline std::uint64_t vector_bytes(std::int64_t n, sxt_value_type type) {
  return (static_cast<std::uint64_t>(n) * sextant::plugin::value_bytes(type) + 63) / 64 * 64;
}

class Session {
 public:
  Session(const State &state, const sxt_filled *slots, const sxt_exec &exec)
      : parts_(collect(*state.recurrence, slots)),
        stride_(vector_bytes(state.n, state.type)),
        memory_(&exec, SXT_SPACE_HOST,
                stride_ * static_cast<std::uint64_t>(state.columns) *
                    static_cast<std::uint64_t>(state.recurrence->vectors[state.preconditioned])) {}

  const Parts &parts() const { return parts_; }
  void *vector(std::int32_t i) const { return memory_.as<char>() + stride_ * static_cast<std::uint64_t>(i); }
  std::uint64_t stride() const { return stride_; }  // bytes between vectors

 private:
  Parts parts_;
  std::uint64_t stride_;
  sextant::plugin::Memory memory_;
};

}  // namespace host_loop
