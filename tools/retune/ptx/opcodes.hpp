// SPDX-License-Identifier: BSD-3-Clause
// What is known of instructions by their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant::retune::ptx {

enum class Operation {
  unknown,
  refused,  // never: see why
  pure,     // a function of its operands, the same in every thread
  add,
  subtract,
  multiply,
  multiply_add,
  shift_left,
  negate,
  move,
  convert,
  address,  // followed for the index
  compare,  // pure, and a bound check where integers are compared
  load,
  store,
  atomic,
  reduce,
  prefetch,
  branch,
  call,
  leave,
};

struct Opcode {
  Operation operation = Operation::unknown;
  std::string_view name;                    // "ld"
  std::vector<std::string_view> modifiers;  // "global", "f32"
  std::string_view type;                    // the last modifier
  std::string why;                          // of what is refused
  bool has(std::string_view modifier) const;
};

Opcode opcode(std::string_view text);

}  // namespace sextant::retune::ptx
