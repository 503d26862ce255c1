// SPDX-License-Identifier: BSD-3-Clause
// What an engine on a device tells the host in pinned memory: a report, and behind it, from the next line on, the
// squares of residuals.
#pragma once

#include <cstdint>

namespace sextant::plugin::pcg {

template <class Report>
struct Told {
  alignas(64) Report report;

  double *squares() { return reinterpret_cast<double *>(this + 1); }
  // With room for so many squares.
  static constexpr std::uint64_t bytes(std::int64_t room) {
    return sizeof(Told) + static_cast<std::uint64_t>(room) * sizeof(double);
  }
};

}  // namespace sextant::plugin::pcg
