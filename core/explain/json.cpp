// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include "core/explain/explain.hpp"
#include "core/explain/json_writer.hpp"

namespace sextant {

namespace {

void tree(const Choice &choice, JsonWriter &out) {
  out.begin('{')
      .member("role", choice.role)
      .member("kind", choice.query.kind())
      .member("kernel", choice.kernel->name())
      .member("device", choice.kernel->table.device)
      .member("format", format_text(choice.storage))
      .launch("launch", choice.candidate.launch)
      .member("predicted_setup_s", choice.setup_s + choice.storage_s)
      .member("predicted_run_s", choice.run_s)
      .member("rel_error", choice.rel_error)
      .member("features_s", choice.features_s)
      .number_or_null("measured_run_s", choice.measured_s > 0, choice.measured_s)
      .member("correction", choice.correction)
      .member("reason", choice.reason)
      .key("parts")
      .begin('[');
  for (const SlotChoice &slot : choice.slots)
    for (const ChoicePtr &part : slot.parts) tree(*part, out);
  out.end(']').end('}');
}

void candidates(const Choice &choice, JsonWriter &out) {
  for (const Considered &each : choice.considered) {
    const bool priced = each.applicable;
    out.begin('{')
        .member("role", choice.role)
        .member("kernel", each.kernel)
        .member("device", each.device)
        .member("format", format_text(each.format))
        .launch("launch", each.launch)
        .number_or_null("predicted_setup_s", priced, each.setup_s)
        .number_or_null("predicted_run_s", priced, each.run_s)
        .number_or_null("rel_error", priced, each.rel_error)
        .number_or_null("measured_run_s", each.measured_s > 0, each.measured_s)
        .member("memory_bytes", each.memory_bytes)
        .member("chosen", each.chosen)
        .member("reason", each.reason)
        .end('}');
  }
  for (const SlotChoice &slot : choice.slots)
    for (const ChoicePtr &part : slot.parts) candidates(*part, out);
}

}  // namespace

std::string explain_json(const Explanation &explanation) {
  JsonWriter out;
  out.begin('{').member("title", explanation.title).key("problem").begin('{');
  for (const auto &[name, value] : explanation.facts) out.member(name, value);
  out.end('}').key("notes").begin('[');
  for (const std::string &note : explanation.notes) out.value(note);
  out.end(']').key("plan").begin('[');
  for (const ChoicePtr &choice : explanation.choices) tree(*choice, out);
  out.end(']').key("candidates").begin('[');
  for (const ChoicePtr &choice : explanation.choices) candidates(*choice, out);
  return out.end(']').end('}').text();
}

}  // namespace sextant
