// SPDX-License-Identifier: BSD-3-Clause
// Walks and prints the plan tree and its candidates.
#include "report/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "report/table.hpp"

namespace tool {
namespace {

Json parse(const std::string &text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) fail(exit_internal, "the library's explanation is not valid JSON");
  return json;
}

// The plan is one tree or a list of trees: preconditioner, engine, confirmation.
void collect(const Json &plan, std::vector<const Json *> &nodes) {
  if (plan.is_array()) {
    for (const Json &tree : plan) collect(tree, nodes);
  } else if (plan.is_object()) {
    nodes.push_back(&plan);
    collect(part(plan, "parts"), nodes);
  }
}

bool is_chosen(const Json &candidate) {
  const Json &chosen = part(candidate, "chosen");
  return chosen.is_boolean() && chosen.get<bool>();
}

}  // namespace

const Json &part(const Json &object, const char *key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

Json explain_json(const sxt_pcg *pcg) {
  return parse(get_text(nullptr, [pcg](char *buffer, std::int64_t capacity, std::int64_t *length) {
    return sxt_pcg_explain(pcg, SXT_JSON, buffer, capacity, length);
  }));
}

Json explain_json(const sxt_selection *selection) {
  return parse(get_text(nullptr, [selection](char *buffer, std::int64_t capacity, std::int64_t *length) {
    return sxt_selection_explain(selection, SXT_JSON, buffer, capacity, length);
  }));
}

std::string explain_text(const sxt_pcg *pcg) {
  return get_text(nullptr, [pcg](char *buffer, std::int64_t capacity, std::int64_t *length) {
    return sxt_pcg_explain(pcg, SXT_TEXT, buffer, capacity, length);
  });
}

std::string text_of(const Json &object, const char *key, const std::string &otherwise) {
  const Json &value = part(object, key);
  return value.is_string() ? value.get<std::string>() : otherwise;
}

double number_of(const Json &object, const char *key) {
  const Json &value = part(object, key);
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string short_format(const std::string &format) {
  if (format.empty()) return "-";
  const std::string prefix = "sxt.storage.";
  if (format.rfind(prefix, 0) != 0) return format;
  return format.substr(prefix.size(), format.find('/') - prefix.size());
}

std::string launch_text(const Json &launch) {
  if (launch.is_string()) return launch.get<std::string>();
  if (!launch.is_array()) return "-";
  std::size_t used = launch.size();
  while (used > 0 && launch[used - 1] == 0) --used;
  std::string text;
  for (std::size_t i = 0; i < used; ++i) text += (i == 0 ? "" : "x") + launch[i].dump();
  return text.empty() ? "-" : text;
}

std::vector<const Json *> plan_nodes(const Json &plan) {
  std::vector<const Json *> nodes;
  collect(plan, nodes);
  return nodes;
}

Json kernel_names(const Json &plan) {
  Json names = Json::array();
  for (const Json *node : plan_nodes(plan)) {
    const std::string name = text_of(*node, "kernel");
    if (!name.empty() && std::find(names.begin(), names.end(), Json(name)) == names.end()) names.push_back(name);
  }
  return names;
}

const Json *find_kind(const Json &plan, const std::string &kind) {
  for (const Json *node : plan_nodes(plan)) {
    if (text_of(*node, "kind") == kind) return node;
  }
  return nullptr;
}

std::string plan_table(const Json &plan, int indent) {
  Table table({{"part"}, {"kernel"}, {"format"}, {"launch", true}, {"set-up", true}, {"run", true}, {"why"}});
  for (const Json *node : plan_nodes(plan)) {
    table.add({text_of(*node, "role"), text_of(*node, "kernel"), short_format(text_of(*node, "format")),
               launch_text(part(*node, "launch")), seconds_text(number_of(*node, "predicted_setup_s")),
               seconds_text(number_of(*node, "predicted_run_s")), text_of(*node, "reason")});
  }
  return table.text(indent);
}

std::string features_text(const Json &plan, int indent) {
  std::string text;
  for (const Json *node : plan_nodes(plan)) {
    const double seconds = number_of(*node, "features_s");
    if (seconds > 0)
      text += fmt::format("{:{}}set-up of {}: {} are for features of the matrix, whatever is chosen\n", "", indent,
                          text_of(*node, "role"), seconds_text(seconds));
  }
  return text;
}

std::string candidate_table(const Json &candidates, int indent) {
  const bool roles = std::any_of(candidates.begin(), candidates.end(),
                                 [](const Json &candidate) { return !text_of(candidate, "role").empty(); });
  std::vector<Table::Column> columns = {
      {""},          {"kernel"},   {"device"},       {"format"}, {"launch", true}, {"set-up", true},
      {"run", true}, {"+-", true}, {"memory", true}, {"reason"}};
  if (roles) columns.insert(columns.begin() + 1, {"part"});
  Table table(columns);
  for (const Json &candidate : candidates) {
    const double error = number_of(candidate, "rel_error");
    std::vector<std::string> cells = {is_chosen(candidate) ? "*" : "",
                                      text_of(candidate, "kernel"),
                                      text_of(candidate, "device", "-"),
                                      short_format(text_of(candidate, "format")),
                                      launch_text(part(candidate, "launch")),
                                      seconds_text(number_of(candidate, "predicted_setup_s")),
                                      seconds_text(number_of(candidate, "predicted_run_s")),
                                      std::isfinite(error) ? fmt::format("{:.0f}%", 100 * error) : "-",
                                      bytes_text(number_of(candidate, "memory_bytes")),
                                      text_of(candidate, "reason")};
    if (roles) cells.insert(cells.begin() + 1, text_of(candidate, "role"));
    table.add(std::move(cells), is_chosen(candidate) ? Style::good : Style::plain);
  }
  return table.text(indent);
}

}  // namespace tool
