// SPDX-License-Identifier: BSD-3-Clause
// Members of options that mean the same in every struct: switches and names.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "core/base/error.hpp"

namespace sextant::abi {

inline bool switched(std::int32_t value, const char *name) {
  require(value == 0 || value == 1, SXT_E_ARGUMENT, name, " is ", value, ", neither 0 nor 1");
  return value == 1;
}

// Members that a later header may use. A value other than 0 means that the caller did not set up the struct by its
// _init function.
inline void check_reserved(std::int32_t value, const char *name) {
  require(value == 0, SXT_E_ARGUMENT, name, " is ", value, ", not 0; set the struct up with its _init function");
}

// "" where NULL lets the library choose. An empty name is an error: the variable was probably never set.
inline const char *name_or_none(const char *given, const char *name) {
  require(!given || *given, SXT_E_ARGUMENT, name, " is empty; NULL leaves it to the library");
  return given ? given : "";
}

// NULL and "auto" both leave the choice to the model.
inline std::string name_of(const char *given, const char *name) {
  const std::string chosen = name_or_none(given, name);
  return chosen == "auto" ? "" : chosen;
}

// The largest expected number of solves or iterations. The library multiplies them with each other and with seconds.
inline double within_reason(double expected) {
  constexpr double most = 1e30;
  return expected > most && std::isfinite(expected) ? most : expected;
}

}  // namespace sextant::abi
