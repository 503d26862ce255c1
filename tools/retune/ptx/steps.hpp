// SPDX-License-Identifier: BSD-3-Clause
// The statements of a function with their registers numbered, and what each writes as a function of what it reads.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ptx/module.hpp"
#include "ptx/opcodes.hpp"
#include "ptx/value.hpp"

namespace sextant::retune::ptx {

struct Source {
  std::string_view word;
  int reg = -1;  // a register, or a value that is always the same:
  int bits = 0;  // of the register
  Value value;
  std::string problem;  // it may not be read at all
};

struct Step {
  std::size_t line = 0;
  Opcode op;
  Source guard;
  bool guarded = false;
  std::vector<int> writes;
  int bits = 0;                           // of the register that is written, where it is one
  bool pieces = false;                    // several registers are written or read as one
  bool altered = false;                   // an operand is not what its word says
  std::vector<Source> reads;              // operands, but the address
  std::vector<Source> address;            // of a memory access
  std::string_view base;                  // its first word
  std::string_view callee;                // of a call; empty: through a pointer
  std::vector<std::string_view> outputs;  // as reads, of the destination
};

struct Steps {
  std::vector<Step> steps;
  std::unordered_set<std::string_view> read;  // registers that something reads
  Body body;
  int registers = 0;
  Refusal refusal;
};

Steps steps_of(const Module &module, const Function &function);

// What the step writes, from the values of registers; unset while something it reads is.
Value written(const Step &step, const Function &function, const Body &body, const std::vector<Value> &registers);

inline const Value &value_of(const Source &source, const std::vector<Value> &registers) {
  return source.reg < 0 ? source.value : registers[static_cast<std::size_t>(source.reg)];
}

bool integer_type(std::string_view type);  // of 32 or 64 bits
inline bool wide_type(std::string_view type) { return type == "u64" || type == "s64" || type == "b64"; }

}  // namespace sextant::retune::ptx
