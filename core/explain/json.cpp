// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include "core/base/types.hpp"
#include "core/explain/explain.hpp"
#include "core/explain/explain_model.hpp"
#include "core/explain/json_writer.hpp"
#include "core/model/cost.hpp"

namespace sextant {

namespace {

// What a fit would be made on.
void model(const Choice &choice, const sxt_machine &machine, JsonWriter &out) {
  const sxt_kernel &kernel = choice.kernel->table;
  const ModelKey key = model_key(kernel, *choice.query.get(), choice.candidate);
  const ModelTerms terms = model_terms(kernel, *choice.query.get(), choice.candidate, machine);
  out.key("model").begin('{').member("version", key.version).member("model_class", key.model_class);
  out.member("vector_type", value_name(key.vector_type));
  if (key.matrix_type)
    out.member("matrix_type", value_name(key.matrix_type));
  else
    out.key("matrix_type").null();
  out.member("working_set_bytes", choice.candidate.working_set_bytes).key("terms").begin('[');
  for (std::uint32_t i = 0; i < terms.count; ++i)
    out.begin('{')
        .member("name", term_name(kernel, i))
        .member("count", terms.values[i])
        .member("analytic_s", terms.analytic[i])
        .end('}');
  out.end(']').end('}');
}

void tree(const Choice &choice, const sxt_machine *machine, JsonWriter &out) {
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
      .member("reason", choice.reason);
  if (machine) model(choice, *machine, out);
  out.key("parts").begin('[');
  for (const SlotChoice &slot : choice.slots)
    for (const ChoicePtr &part : slot.parts) tree(*part, machine, out);
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

std::string written(const Explanation &explanation, const sxt_machine *machine) {
  JsonWriter out;
  out.begin('{').member("title", explanation.title).key("problem").begin('{');
  for (const auto &[name, value] : explanation.facts) out.member(name, value);
  out.end('}').key("notes").begin('[');
  for (const std::string &note : explanation.notes) out.value(note);
  out.end(']').key("plan").begin('[');
  for (const ChoicePtr &choice : explanation.choices) tree(*choice, machine, out);
  out.end(']').key("candidates").begin('[');
  for (const ChoicePtr &choice : explanation.choices) candidates(*choice, out);
  return out.end(']').end('}').text();
}

}  // namespace

std::string explain_json(const Explanation &explanation) { return written(explanation, nullptr); }

std::string explain_json(const Explanation &explanation, const sxt_machine &machine) {
  return written(explanation, &machine);
}

}  // namespace sextant
