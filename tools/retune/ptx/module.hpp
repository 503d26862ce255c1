// SPDX-License-Identifier: BSD-3-Clause
// A PTX module read once for where its functions lie and what its variables are; bodies are read when one is proven.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sextant::retune::ptx {

// A sentence about the text, with the line it is about (0: the whole).
struct Refusal {
  std::size_t line = 0;
  std::string reason;  // empty: none
  explicit operator bool() const { return !reason.empty(); }
};

struct Operand {
  enum class Kind { word, memory, vector } kind = Kind::word;
  std::vector<std::string_view> words;  // the word; base of the address; the elements
  std::string_view second;              // %p|%q: the second destination
};

struct Statement {
  std::size_t line = 0;
  std::string_view guard;   // the predicate register of @%p; empty: none
  std::string_view opcode;  // "ld.global.f32"
  std::vector<Operand> operands;
};

struct Function {
  std::string_view name, body;
  std::size_t line = 0, body_line = 0;
  bool kernel = false;
  Refusal refusal;  // of its head: .reqntid, for example
};

struct Module {
  int version = 0, target = 0;  // 90 for 9.0 and for sm_90
  Refusal refusal;              // where the whole is not understood
  std::unordered_map<std::string_view, Function> functions;
  std::unordered_set<std::string_view> shared, globals;
};

// The text must outlive the module.
Module read_module(std::string_view text);

// Every statement of a body, and the names of its .local and .param variables and labels.
struct Body {
  std::vector<Statement> statements;
  std::unordered_set<std::string_view> locals, params, labels;
  Refusal refusal;
};
Body read_body(const Function &function);

}  // namespace sextant::retune::ptx
