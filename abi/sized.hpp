// SPDX-License-Identifier: BSD-3-Clause
// Structs that begin with struct_size. The caller's struct may be shorter (an older header) or longer (a newer one)
// than ours, and holds only whole members.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/members.hpp"

namespace sextant::abi {

inline constexpr std::uint64_t largest_struct = 65536;  // a larger number is no size

template <class T>
bool is_size_of(std::uint64_t struct_size) noexcept {
  return struct_size >= sizeof(std::uint64_t) && struct_size <= largest_struct && is_whole<T>(struct_size);
}

// Writes defaults into the caller's struct, no further than its size, and no member in part.
template <class T>
void write_sized(T *to, std::uint64_t struct_size, T value) noexcept {
  if (!to || struct_size < sizeof(std::uint64_t)) return;
  value.struct_size = struct_size;
  std::uint64_t whole = std::min<std::uint64_t>(struct_size, sizeof value);
  while (!is_whole<T>(whole)) --whole;
  std::memcpy(to, &value, whole);
}

// Our full struct: the caller's members over the defaults.
template <class T>
T read_sized(const T *from, T defaults, const char *name) {
  if (!from) return defaults;
  require(is_size_of<T>(from->struct_size), SXT_E_ARGUMENT, name, "->struct_size is ", from->struct_size,
          "; set the struct up with its _init function");
  std::memcpy(&defaults, from, std::min<std::uint64_t>(from->struct_size, sizeof defaults));
  defaults.struct_size = sizeof defaults;
  return defaults;
}

// Checks that the caller's struct can hold the answer; called before any work.
template <class T>
void check_sized(const T *to, const char *name) {
  require(to != nullptr, SXT_E_ARGUMENT, name, " is NULL");
  require(is_size_of<T>(to->struct_size), SXT_E_ARGUMENT, name, "->struct_size is ", to->struct_size,
          "; set it to sizeof *", name, " before the call");
}

// Writes the answer into a struct whose size the caller stated.
template <class T>
void answer_sized(T *to, const T &value, const char *name) {
  check_sized(to, name);
  write_sized(to, to->struct_size, value);
}

}  // namespace sextant::abi
