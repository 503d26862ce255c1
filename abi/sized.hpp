// SPDX-License-Identifier: BSD-3-Clause
// Structs that begin with struct_size: the caller's may be shorter (older header) or longer (newer) than ours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/base/error.hpp"

namespace sextant::abi {

// Writes defaults into the caller's struct, no further than his size.
template <class T>
void write_sized(T *to, std::uint64_t struct_size, T value) noexcept {
  if (!to || struct_size < sizeof(std::uint64_t)) return;
  value.struct_size = struct_size;
  std::memcpy(to, &value, std::min<std::uint64_t>(struct_size, sizeof value));
}

// Our full struct: the caller's members over the defaults.
template <class T>
T read_sized(const T *from, T defaults, const char *name) {
  if (!from) return defaults;
  require(from->struct_size >= sizeof(std::uint64_t) && from->struct_size <= 65536, SXT_E_ARGUMENT, name,
          "->struct_size is ", from->struct_size, "; set the struct up with its _init function");
  std::memcpy(&defaults, from, std::min<std::uint64_t>(from->struct_size, sizeof defaults));
  defaults.struct_size = sizeof defaults;
  return defaults;
}

// Answers into a struct whose size the caller stated.
template <class T>
void answer_sized(T *to, const T &value, const char *name) {
  require(to != nullptr, SXT_E_ARGUMENT, name, " is NULL");
  require(to->struct_size >= sizeof(std::uint64_t) && to->struct_size <= 65536, SXT_E_ARGUMENT, name,
          "->struct_size is ", to->struct_size, "; set it to sizeof *", name, " before the call");
  write_sized(to, to->struct_size, value);
}

}  // namespace sextant::abi
