// SPDX-License-Identifier: BSD-3-Clause
// The templates in program/, filled in.
#include "solver/program.hpp"

#include <map>

#include "report/embedded.hpp"

namespace tool {
namespace {

// A string constant of C, with its quotes.
std::string c_string(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?')
      out += std::string("\\") + c;
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\{:03o}", byte);
    else
      out += c;
  }
  return out + '"';
}

// A character constant of Fortran, in lines that are short enough for its standard. A name with a line break in it is
// no constant there.
std::string fortran_string(const std::string &text) {
  constexpr std::size_t most = 50;  // of 132 columns, where each may be a doubled quote
  std::string out = "'";
  std::size_t column = 0;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) fail(exit_usage, "'{}' cannot stand in a Fortran program", text);
    if (++column > most) {
      out += "&\n    &";
      column = 1;
    }
    out += c == '\'' ? "''" : std::string(1, c);
  }
  return out + "'";
}

// The shortest digits that read back to the same number, as both languages take them.
std::string number(double value) {
  const std::string digits = fmt::format("{}", value);
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

// Assignments of members of `options` in either language.
class Assignments {
 public:
  Assignments(Language language, std::string object) : c_(language == Language::c), object_(std::move(object)) {}
  void text(const char *member, const std::string &value) { add(member, c_ ? c_string(value) : fortran_string(value)); }
  void real(const char *member, double value) { add(member, number(value) + (c_ ? "" : "_real64")); }
  void integer(const char *member, std::int64_t value) { add(member, std::to_string(value)); }
  void wide_integer(const char *member, std::int64_t value) {
    add(member, std::to_string(value) + (c_ ? "" : "_int64"));
  }
  void add(const char *member, const std::string &value) {
    lines_ += c_ ? fmt::format("  {}.{} = {};\n", object_, member, value)
                 : fmt::format("  {}%{} = {}\n", object_, member, value);
  }
  const std::string &lines() const { return lines_; }

 private:
  bool c_;
  std::string object_, lines_;
};

// What differs from the library's own defaults; the rest is left to them.
std::string solver_lines(const ProgramFacts &facts) {
  const bool c = facts.language == Language::c;
  const SolverOptions &solver = facts.solver;
  Assignments set(facts.language, "options");
  if (solver.preconditioner != "auto") set.text("preconditioner", solver.preconditioner);
  if (solver.recurrence != "auto") set.text("recurrence", solver.recurrence);
  if (!solver.engine.empty()) set.text("engine", solver.engine);
  if (solver.format != "auto") set.text("format", solver.format);
  set.real("rtol", solver.relative_tolerance());
  if (solver.atol != 0) set.real("atol", solver.atol);
  if (solver.max_iterations != 0) set.wide_integer("max_iterations", solver.max_iterations);
  if (solver.time_limit != 0) set.real("time_limit", solver.time_limit);
  sxt_pcg_options native;
  sxt_pcg_options_init(&native, sizeof native);
  solver.setup.apply(native);
  set.real("expected_solves", native.expected_solves);
  if (native.reorder != 0) set.integer("reorder", native.reorder);
  if (native.null_space_size != 0) set.wide_integer("null_space_size", native.null_space_size);
  if (native.symmetry_tolerance != 0) set.real("symmetry_tolerance", native.symmetry_tolerance);
  if (native.check_symmetry == 0) set.add("check_symmetry", c ? "0" : ".false.");
  return set.lines();
}

std::string matrix_lines(const ProgramFacts &facts) {
  Assignments set(facts.language, facts.language == Language::c ? "options" : "settings");
  if (facts.solver.setup.symmetry_tolerance != 0) set.real("symmetry_tolerance", facts.solver.setup.symmetry_tolerance);
  if (facts.rows_per_byte != 0) set.real("most_rows_per_byte", facts.rows_per_byte);
  return set.lines();
}

std::string c_context(const ContextOptions &context) {
  Assignments set(Language::c, "options");
  set.text("device", context.device);
  if (context.threads) set.integer("threads", context.threads);
  if (context.deterministic) set.integer("deterministic", 1);
  if (!context.plugin_paths.empty()) {
    std::string list;
    for (const std::string &path : context.plugin_paths) list += (list.empty() ? "" : ", ") + c_string(path);
    set.add("plugin_paths", "(const char *const[]){" + list + "}");
    set.integer("n_plugin_paths", static_cast<std::int64_t>(context.plugin_paths.size()));
  }
  return set.lines();
}

// The arguments in front of stat, each with its comma.
std::string fortran_context(const ContextOptions &context) {
  if (context.plugin_paths.size() > 1)
    fail(exit_usage, "a Fortran program names one --plugin-path; put the plugins into one folder");
  std::string out = "device=" + fortran_string(context.device) + ", ";
  if (context.threads) out += fmt::format("threads={}, ", context.threads);
  if (context.deterministic) out += "deterministic=.true., ";
  if (!context.plugin_paths.empty()) out += "&\n    plugin_path=" + fortran_string(context.plugin_paths[0]) + ", ";
  return out;
}

}  // namespace

std::string source_name(Language language) { return language == Language::c ? "solve.c" : "solve.f90"; }

std::string source_text(const ProgramFacts &facts) {
  const bool c = facts.language == Language::c;
  const std::string ending = c ? ".c" : ".f90";
  std::map<std::string, std::string> values = {
      {"PARTS", facts.complex_values ? "2" : "1"},
      {"REPEATS", std::to_string(facts.repeats)},
      {"ITERATIONS", std::to_string(facts.iterations)},
      {"SECONDS", number(facts.seconds)},
      {"CONTEXT", c ? c_context(facts.context) : fortran_context(facts.context)},
      {"OPTIONS", solver_lines(facts)},
      {"MATRIX", facts.matrix},
      {"MATRIX_OPTIONS", matrix_lines(facts)},
      {"VALUE", facts.complex_values ? "complex(real64)" : "real(real64)"},
      {"FROM_PARTS", facts.complex_values ? "cmplx(parts(1), parts(2), real64)" : "parts(1)"}};
  const std::string rhs = filled_in(embedded((facts.rhs_file ? "rhs_file" : "rhs_ones") + ending), values);
  values["RHS"] = values["RHS_FUNCTION"] = rhs;
  return filled_in(embedded("solve" + ending), values);
}

std::string cmake_text(const ProgramFacts &facts) {
  const bool c = facts.language == Language::c;
  const std::string version = sxt_version_string();
  return filled_in(embedded("CMakeLists.txt"), {{"LANGUAGE", c ? "C" : "Fortran"},
                                                {"VERSION", version.substr(0, version.rfind('.'))},
                                                {"COMPONENTS", c ? "" : " COMPONENTS fortran"},
                                                {"SOURCE", source_name(facts.language)},
                                                {"LIBRARY", c ? "Sextant::sextant" : "Sextant::fortran"}});
}

}  // namespace tool
