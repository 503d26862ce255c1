// SPDX-License-Identifier: BSD-3-Clause
// Choices told to people (text) and programs (JSON).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/run/choice.hpp"

namespace sextant {

// What stands above the tree: the problem in a few numbers, and notes such as "why Jacobi".
struct Explanation {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // name, value: lines in text, members of "problem" in JSON
  std::vector<std::string> notes;
  std::vector<ChoicePtr> choices;  // top-level choices, in the order in which they act
};

std::string explain_text(const Explanation &explanation);
std::string explain_json(const Explanation &explanation);

std::string launch_text(const std::int64_t *launch);  // "threads 2", "2 x 0 x ..." without trailing zeros
std::string format_text(const std::string &storage);  // "csr" for sxt.storage.csr/1, foreign ids whole

}  // namespace sextant
