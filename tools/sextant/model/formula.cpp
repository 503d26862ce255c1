// SPDX-License-Identifier: BSD-3-Clause
#include "model/formula.hpp"

#include <algorithm>
#include <cmath>

#include "report/embedded.hpp"
#include "report/output.hpp"

namespace tool {
namespace {

struct Words {
  std::string open, close, infinity;
};

std::string formula_number(double value, const Words &words) {
  return std::isinf(value) ? words.infinity : fmt::format("{:.9g}", value);
}

std::string list(const std::vector<double> &values, const Words &words) {
  std::string out = words.open;
  for (std::size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + formula_number(values[i], words);
  return out + words.close;
}

std::string filled_formula(const char *file, const sextant::FitLabel &label, const sextant::FittedModel &model,
                           const Words &words) {
  std::string coefficients = words.open, names, groups = words.open;
  for (std::size_t r = 0; r < model.coefficients.size(); ++r)
    coefficients += (r ? ", " : "") + list(model.coefficients[r], words);
  for (std::size_t j = 0; j < model.names.size(); ++j) {
    names += (j ? ", " : "") + model.names[j];
    groups += (j ? ", " : "") + std::to_string(static_cast<int>(sextant::group_of(model.names[j].c_str())));
  }
  return filled_in(
      embedded(file),
      {{"KERNEL", label.kernel},
       {"TYPES", label.vector_type},
       {"CLASS", std::to_string(label.model_class)},
       {"NAMES", names},
       {"TERMS", std::to_string(model.names.size())},
       {"REGIMES", std::to_string(model.coefficients.size())},
       {"BREAKPOINTS", list(model.breakpoints.empty() ? std::vector<double>{0} : model.breakpoints, words)},
       {"COEFFICIENTS", coefficients + words.close},
       {"GROUPS", groups + words.close},
       {"POWER", formula_number(model.power, words)}});
}

}  // namespace

std::string formula_c(const sextant::FitLabel &label, const sextant::FittedModel &model) {
  return filled_formula("formula.c", label, model, {"{", "}", "INFINITY"});
}

std::string formula_python(const sextant::FitLabel &label, const sextant::FittedModel &model) {
  return filled_formula("formula.py", label, model, {"[", "]", "math.inf"});
}

std::string form_in_words(const sextant::FittedModel &model) {
  const std::string form = model.power == 1          ? "sum"
                           : std::isinf(model.power) ? "maximum"
                                                     : fmt::format("soft maximum {:g}", model.power);
  if (model.breakpoints.empty()) return form;
  return fmt::format("{}, {} breakpoint{}", form, model.breakpoints.size(), model.breakpoints.size() == 1 ? "" : "s");
}

}  // namespace tool
