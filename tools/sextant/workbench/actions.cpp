// SPDX-License-Identifier: BSD-3-Clause
#include "workbench/actions.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "input/numbers.hpp"
#include "names/names.hpp"
#include "report/error.hpp"
#include "report/shell.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_value = 400;

// How the value of a field may look, and what becomes of it.
enum class Kind {
  flag,      // true: the option
  name,      // letters, digits and . , / : + -, not beginning with -
  number,    // finite, 0 or more
  argument,  // a name in front of the options
  file,      // an uploaded file, or a path
  matrix,    // the same as the first argument
  matrices,  // "uploads": all that were uploaded; else a file
  percent,   // a number in percent, passed on as a share
};

struct Field {
  const char *name, *option;
  Kind kind;
};

struct Spec {
  const char *name, *view;
  std::vector<const char *> words;
  std::vector<Field> fields;
  const char *output = nullptr;  // the option that takes a folder or file of this workbench
};

const std::vector<Spec> &specs() {
  static constexpr Field device = {"device", "--device", Kind::name};
  static const std::vector<Field> source = {
      {"matrix", "", Kind::matrix}, {"generate", "--generate", Kind::name}, {"n", "--n", Kind::name}, device};
  const auto with = [](std::vector<Field> fields) {
    fields.insert(fields.begin(), source.begin(), source.end());
    return fields;
  };
  static const std::vector<Spec> all = {
      {"machine", "machine", {"machine"}, {device, {"measure", "--measure", Kind::flag}}},
      {"calibrate",
       "machine",
       {"calibrate"},
       {device,
        {"quick", "--quick", Kind::flag},
        {"seconds", "--seconds", Kind::number},
        {"kind", "--kind", Kind::name}}},
      {"model",
       "model",
       {"model"},
       {{"kernel", "", Kind::argument},
        device,
        {"type", "--type", Kind::name},
        {"op", "--op", Kind::name},
        {"matrices", "--matrices", Kind::matrices},
        {"set", "--set", Kind::name},
        {"points", "--points", Kind::name},
        {"wanted", "--wanted", Kind::percent},
        {"seconds", "--seconds", Kind::number},
        {"compare", "--compare", Kind::file}},
       "--output"},
      {"accept", "model", {"model"}, {}, "--accept"},
      {"undo", "model", {"model", "--undo"}, {}},
      {"explain",
       "choice",
       {"explain", "--pattern"},
       with({{"op", "--op", Kind::name}, {"runs", "--runs", Kind::number}})},
      {"verify",
       "choice",
       {"verify-model"},
       with({{"applies", "--applies", Kind::number},
             {"types", "--types", Kind::name},
             {"seconds", "--seconds", Kind::number}})},
      {"tree", "choice", {"explain", "--tree"}, {{"op", "--op", Kind::name}, {"type", "--type", Kind::name}}},
      {"generate",
       "generate",
       {"generate-solver"},
       with({{"rhs", "--rhs", Kind::file},
             {"rtol", "--rtol", Kind::number},
             {"expected_solves", "--expected-solves", Kind::number},
             {"language", "--language", Kind::name},
             {"precond", "--precond", Kind::name},
             {"format", "--format", Kind::name}}),
       "--output"},
  };
  return all;
}

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

[[noreturn]] void refuse(const std::string &field, const std::string &value, const char *wanted) {
  fail(exit_usage, "{}: '{}' is not {}", field, printable(value), wanted);
}

std::string checked_name(const std::string &field, const std::string &value) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("._,/:+-").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (value.empty() || value[0] == '-' || !std::all_of(value.begin(), value.end(), allowed))
    refuse(field, value, "a name: letters, digits and . , / : + -");
  return value;
}

double checked_number(const std::string &field, const std::string &value) {
  double number = 0;
  if (!reads(value, number) || !std::isfinite(number) || number < 0) refuse(field, value, "a number that is 0 or more");
  return number;
}

// An uploaded file by its name, else a path as it stands. Never an option.
std::string checked_file(const std::string &field, const std::string &value, const ActionPlace &place) {
  if (value.empty() || value[0] == '-' || std::any_of(value.begin(), value.end(), is_control))
    refuse(field, value, "a file: upload one, or give a path on the server");
  std::error_code ignored;
  const fs::path uploaded = fs::path(place.uploads) / fs::path(value).filename();
  if (value.find('/') == std::string::npos && fs::exists(uploaded, ignored)) return uploaded.string();
  return value;
}

// The value as text: forms send text, and true for a box.
std::string text_of_field(const std::string &field, const Json &value) {
  if (value.is_number()) return value.dump();
  if (!value.is_string()) fail(exit_usage, "{}: text or a number is expected", field);
  const auto text = value.get<std::string>();
  if (text.size() > longest_value) fail(exit_usage, "{}: longer than {} characters", field, longest_value);
  return text;
}

void add(std::vector<std::string> &arguments, const Field &field, const Json &value, const ActionPlace &place) {
  if (field.kind == Kind::flag) {
    if (!value.is_boolean()) fail(exit_usage, "{}: true or false is expected", field.name);
    if (value.get<bool>()) arguments.emplace_back(field.option);
    return;
  }
  std::string text = text_of_field(field.name, value);
  if (text.empty()) return;
  switch (field.kind) {
    case Kind::number: checked_number(field.name, text); break;
    case Kind::percent: text = fmt::format("{}", checked_number(field.name, text) / 100); break;
    case Kind::matrices: text = text == "uploads" ? place.uploads : checked_file(field.name, text, place); break;
    case Kind::file:
    case Kind::matrix: text = checked_file(field.name, text, place); break;
    default: text = checked_name(field.name, text);
  }
  if (field.kind == Kind::matrix || field.kind == Kind::argument) {
    arguments.insert(arguments.begin() + 1, text);
    return;
  }
  arguments.emplace_back(field.option);
  arguments.push_back(text);
}

}  // namespace

ActionLine action_line(const std::string &action, const Json &fields, const ActionPlace &place) {
  const auto &all = specs();
  const auto spec = std::find_if(all.begin(), all.end(), [&](const Spec &each) { return action == each.name; });
  if (spec == all.end()) {
    std::vector<std::string> known;
    for (const Spec &each : all) known.emplace_back(each.name);
    fail(exit_usage, "{}", sextant::unknown_name("action", printable(action), known));
  }
  if (!fields.is_object() && !fields.is_null()) fail(exit_usage, "fields: an object is expected");
  for (const auto &[name, value] : fields.items())
    if (std::none_of(spec->fields.begin(), spec->fields.end(), [&](const Field &f) { return name == f.name; }))
      fail(exit_usage, "{} has no field '{}'", action, printable(name));
  ActionLine line{spec->view, {spec->words.begin(), spec->words.end()}};
  for (const Field &field : spec->fields)
    if (const auto found = fields.find(field.name); found != fields.end()) add(line.arguments, field, *found, place);
  if (spec->output) {
    line.arguments.emplace_back(spec->output);
    const bool model = line.view == std::string("model");
    line.arguments.push_back(
        (fs::path(place.folder) / (model ? last_model : fmt::format("{}{}", program_folder, place.number))).string());
  }
  const bool own_device = std::find(line.arguments.begin(), line.arguments.end(), "--device") != line.arguments.end();
  for (std::size_t i = 0; i < place.context.size(); ++i) {
    if (own_device && place.context[i] == "--device")
      ++i;  // and its value
    else
      line.arguments.push_back(place.context[i]);
  }
  line.arguments.emplace_back("--json");
  return line;
}

std::string command_text(const std::vector<std::string> &arguments) {
  std::string out = "sextant";
  for (const std::string &argument : arguments) out += ' ' + shell_word(argument);
  return out;
}

std::string printable(const std::string &text) {
  std::string out = text.substr(0, 80);
  std::replace_if(out.begin(), out.end(), is_control, '?');
  return out;
}

std::string safe_name(const std::string &name) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '_' || c == '-' || c == '+'; };
  const bool good = !name.empty() && name.size() <= 120 && name[0] != '.' && name[0] != '-' &&
                    std::all_of(name.begin(), name.end(), allowed);
  if (!good) fail(exit_usage, "name: '{}' is not a file name of letters, digits and . _ - +", printable(name));
  return name;
}

}  // namespace tool
