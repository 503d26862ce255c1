// SPDX-License-Identifier: BSD-3-Clause
// Decision trees of vector operations and reductions.
#include <cstdint>

#include "abi/handles.hpp"
#include "core/base/query.hpp"
#include "core/operations/operations.hpp"

using namespace sextant;
using namespace sextant::abi;

sxt_status sxt_decision_tree(sxt_context *context, const char *operation, sxt_value_type type, int32_t form,
                             char *buffer, int64_t capacity, int64_t *length) {
  return guarded(id_of(context), [&] {
    Context &inner = *given(context, "context").context;
    require(form >= SXT_TEXT && form <= SXT_TOML, SXT_E_ARGUMENT, "form ", form,
            " is not SXT_TEXT (0), SXT_JSON (1), SXT_SVG (2) or SXT_TOML (3)");
    const DecisionTree tree = DecisionTree::build(inner, tree_subject(&given(operation, "operation"), type));
    fill(form == SXT_TEXT   ? tree.to_text()
         : form == SXT_JSON ? tree.to_json()
         : form == SXT_SVG  ? tree_svg(inner, tree)
                            : tree.to_toml(),
         buffer, capacity, length);
  });
}

const char *sxt_decision_tree_operation(int64_t i) {
  try {
    static const std::vector<std::string> names = tree_operations();
    return i >= 0 && i < static_cast<int64_t>(names.size()) ? names[static_cast<std::size_t>(i)].c_str() : nullptr;
  } catch (...) {  // no memory for the list
    return nullptr;
  }
}
