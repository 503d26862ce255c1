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
  enum class Kind { word, memory, vector, arguments } kind = Kind::word;
  std::vector<std::string_view> words;  // the word; base of the address and its offset; the elements
  std::string_view second;              // %p|%q: the second destination
  bool altered = false;                 // !%p or name+8: not what the word alone is
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
  std::unordered_set<std::string_view> names;  // every word outside of bodies that may name something
  std::unordered_set<std::string_view> stems;  // what stands before the number in those that end with one
};

// The text must outlive the module.
Module read_module(std::string_view text);

// Every statement of a body, and the names of its registers, .local and .param variables and labels. A name stands for
// one kind of thing, and a register for one width, in all scopes of the body: else it is refused.
struct Body {
  std::vector<Statement> statements;
  std::unordered_set<std::string_view> locals, params, labels;
  Refusal refusal;

  // The width of a register in bits; 0: it is none.
  int bits(std::string_view word) const;
  // Notes a register, or, with a count, as many with numbers behind the name. False where it has another width already.
  bool add_registers(std::string_view name, std::size_t count, int bits);
  // Names of registers, and with `several` what stands before the number in names of several.
  struct Name {
    std::string_view text;
    bool several;
  };
  std::vector<Name> register_names() const;

 private:
  struct Range {
    std::size_t count = 0;
    int bits = 0;
  };
  std::unordered_map<std::string_view, int> registers_;
  std::unordered_map<std::string_view, Range> ranges_;
};
Body read_body(const Function &function);

}  // namespace sextant::retune::ptx
