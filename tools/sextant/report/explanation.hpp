// SPDX-License-Identifier: BSD-3-Clause
// Reads the explanation that the library gives as JSON: the plan tree, and the candidates with their reasons.
#pragma once

#include <string>
#include <vector>

#include "input/handle.hpp"
#include "report/output.hpp"

namespace tool {

// {"problem": {..}, "notes": [..], "plan": [..], "candidates": [..]}
Json explain_json(const sxt_pcg *pcg);
Json explain_json(const sxt_selection *selection);
std::string explain_text(const sxt_pcg *pcg);

// The member, or null where it is missing; never throws.
const Json &part(const Json &object, const char *key);
// Members, with a default where one is absent or of another type.
std::string text_of(const Json &object, const char *key, const std::string &otherwise = "");
double number_of(const Json &object, const char *key);  // NaN when there is none
// "sxt.storage.csr/1" -> "csr"; other names stay as they are; "" -> "-".
std::string short_format(const std::string &format);
// [4, 0, 0, 0] -> "4": the launch without its trailing zeros; "-" when nothing is left.
std::string launch_text(const Json &launch);

// Every node of the plan, parents before their parts.
std::vector<const Json *> plan_nodes(const Json &plan);
// The names of the chosen kernels, parents first, each once.
Json kernel_names(const Json &plan);
// The first node of a kind, "sxt.preconditioner/1"; null when the plan has none.
const Json *find_kind(const Json &plan, const std::string &kind);

// One line a part of the plan: kernel, storage, launch, predicted cost, and why.
std::string plan_table(const Json &plan, int indent);
// One line for each part whose set-up has seconds for features of the matrix; "" where none has.
std::string features_text(const Json &plan, int indent);
// One line a candidate, the chosen ones marked.
std::string candidate_table(const Json &candidates, int indent);

}  // namespace tool
