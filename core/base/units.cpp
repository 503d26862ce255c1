// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/units.hpp"

#include <cmath>
#include <cstdio>

namespace sextant {

namespace {

// Three digits: what they would round up to 1000 takes the next unit.
std::string scaled(double value, const char *const *units, double step, int count) {
  int unit = 0;
  while (unit + 1 < count && std::fabs(value) >= 999.5) value /= step, ++unit;
  char line[512];
  std::snprintf(line, sizeof line, "%.3g %s", value, units[unit]);
  return line;
}

}  // namespace

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  static const char *const units[] = {"ns", "us", "ms", "s"};
  return scaled(seconds * 1e9, units, 1000, 4);
}

std::string bytes_text(double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  return scaled(bytes, units, 1024, 5);
}

}  // namespace sextant
