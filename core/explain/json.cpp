// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/explain/explain.hpp"

namespace sextant {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: an unknown time is null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json launch_json(const std::int64_t *launch) { return Json::array({launch[0], launch[1], launch[2], launch[3]}); }

Json tree(const Choice &choice) {
  Json parts = Json::array();
  for (const SlotChoice &slot : choice.slots)
    for (const ChoicePtr &part : slot.parts) parts.push_back(tree(*part));
  return {{"role", choice.role},
          {"kind", choice.query.kind()},
          {"kernel", choice.kernel->name()},
          {"device", choice.kernel->table.device},
          {"format", format_text(choice.storage)},
          {"launch", launch_json(choice.candidate.launch)},
          {"predicted_setup_s", number(choice.setup_s + choice.storage_s)},
          {"predicted_run_s", number(choice.run_s)},
          {"rel_error", number(choice.rel_error)},
          {"features_s", number(choice.features_s)},
          {"measured_run_s", choice.measured_s > 0 ? number(choice.measured_s) : Json(nullptr)},
          {"correction", choice.correction},
          {"reason", choice.reason},
          {"parts", std::move(parts)}};
}

void candidates(const Choice &choice, Json &out) {
  for (const Considered &each : choice.considered) {
    const bool priced = each.applicable;
    out.push_back({{"role", choice.role},
                   {"kernel", each.kernel},
                   {"device", each.device},
                   {"format", format_text(each.format)},
                   {"launch", launch_json(each.launch)},
                   {"predicted_setup_s", priced ? number(each.setup_s) : Json(nullptr)},
                   {"predicted_run_s", priced ? number(each.run_s) : Json(nullptr)},
                   {"rel_error", priced ? number(each.rel_error) : Json(nullptr)},
                   {"measured_run_s", each.measured_s > 0 ? number(each.measured_s) : Json(nullptr)},
                   {"memory_bytes", each.memory_bytes},
                   {"chosen", each.chosen},
                   {"reason", each.reason}});
  }
  for (const SlotChoice &slot : choice.slots)
    for (const ChoicePtr &part : slot.parts) candidates(*part, out);
}

}  // namespace

std::string explain_json(const Explanation &explanation) {
  Json problem = Json::object(), plan = Json::array(), lines = Json::array();
  for (const auto &[name, value] : explanation.facts) problem[name] = value;
  for (const ChoicePtr &choice : explanation.choices) {
    plan.push_back(tree(*choice));
    candidates(*choice, lines);
  }
  const Json all{{"title", explanation.title},
                 {"problem", problem},
                 {"notes", explanation.notes},
                 {"plan", plan},
                 {"candidates", lines}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sextant
