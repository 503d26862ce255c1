// SPDX-License-Identifier: BSD-3-Clause
#include "report/explain_tree.hpp"

#include <cstdint>

#include "report/output.hpp"
#include "report/write_file.hpp"

namespace tool {
namespace {

sxt_value_type type_of(const std::string &name) {
  if (name == "f32") return SXT_F32;
  if (name == "c64") return SXT_C64;
  return name == "c128" ? SXT_C128 : SXT_F64;  // the parser accepts no other
}

}  // namespace

int explain_tree(const ContextOptions &context_options, const std::string &operation, const TreeOptions &options,
                 bool json) {
  if (!options.svg.empty()) check_writable(options.svg);
  const Context context = open_context(context_options);
  const auto tree = [&](std::int32_t form) {
    return get_text(context.get(), [&](char *buffer, std::int64_t capacity, std::int64_t *length) {
      return sxt_decision_tree(context.get(), operation.c_str(), type_of(options.type), form, buffer, capacity, length);
    });
  };
  if (json)
    print_json(Json::parse(tree(SXT_JSON)));
  else
    print_text(tree(SXT_TEXT));
  if (!options.svg.empty()) write_text(options.svg, tree(SXT_SVG));
  return exit_done;
}

}  // namespace tool
