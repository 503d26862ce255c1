// SPDX-License-Identifier: BSD-3-Clause
// The proof that a kernel does not notice its block size: docs/retune.md states the theorem and what it assumes.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "ptx/module.hpp"

namespace sextant::retune::ptx {

struct Verdict {
  bool proven = false;
  bool reorders = false;    // adds floating-point numbers atomically, in an order that was open before, too
  std::size_t line = 0;     // of the PTX text; 0: none
  std::string reason;       // why not
  std::string atomic = {};  // the one kind of atomic operation that it has; empty: none
};

// Proves kernels of one module, each when asked; what they call is proven once.
class Prover {
 public:
  explicit Prover(const Module &module) : module_(module) {}
  Verdict prove(std::string_view kernel);

 private:
  Verdict prove_function(const Function &function, int depth = 0);
  const Module &module_;
  std::unordered_map<std::string_view, Verdict> callees_;
};

// Every kernel of a text: for tests and the command.
std::unordered_map<std::string, Verdict> prove_all(std::string_view text);

}  // namespace sextant::retune::ptx
