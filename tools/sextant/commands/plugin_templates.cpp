// SPDX-License-Identifier: BSD-3-Clause
#include "commands/plugin_templates.hpp"

#include <algorithm>

#include "names/names.hpp"
#include "report/embedded.hpp"
#include "report/error.hpp"
#include "sextant/sextant.h"

namespace tool {
namespace {

// The text of a file that templates.json or this file names, by its path in folder templates/ or of a kernel of the
// library.
std::string text_of_file(const std::string &path) {
  const bool library = path.starts_with("plugins/");
  return std::string(embedded(library ? path : "templates/" + path));
}

const Json &templates() {
  static const Json all = Json::parse(text_of_file("templates.json"));
  return all;
}

std::string text_or(const Json &json, const char *key, const std::string &otherwise) {
  return json.contains(key) ? json[key].get<std::string>() : otherwise;
}

// By its short name or by the id of its kind.
const Json &find_template(const std::string &kind, std::string &name) {
  std::vector<std::string> names;
  for (const auto &[key, value] : templates().items()) {
    if (key == kind || value["kind"] == kind) {
      name = key;
      return value;
    }
    names.push_back(key);
  }
  const std::string near = sextant::nearest_name(kind, names);
  fail(exit_usage,
       "there is no template of kind '{}'{}\n`sextant plugin new --list` names them; 'own' is for a kind of yours",
       kind, near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
}

std::string replaced(std::string text, const std::string &from, const std::string &to, bool &found) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
    found = true;
  }
  return text;
}

// The kernel's own files: each replacement must occur, or the library's kernel and the list no longer agree. What they
// include of the tree is beside them.
std::map<std::string, std::string> sources_of(const Json &device) {
  std::map<std::string, std::string> files;
  for (const auto &[name, path] : device["files"].items()) files[name] = text_of_file(path.get<std::string>());
  for (const Json &pair : device.value("replace", Json::array())) {
    bool found = false;
    for (auto &[name, text] : files) text = replaced(text, pair[0], pair[1], found);
    if (!found) fail(exit_internal, "internal error: no file of the template has '{}'", pair[0].get<std::string>());
  }
  for (const auto &[local, path] : device["files"].items()) {
    bool unused = false;
    for (auto &[name, text] : files)
      text = replaced(text, fmt::format("#include \"{}\"", path.get<std::string>()),
                      fmt::format("#include \"{}\"", local), unused);
  }
  return files;
}

bool compiled(const std::string &name) { return name.ends_with(".cpp") || name.ends_with(".cu"); }

std::string joined_sources(const Json &device, const std::vector<std::string> &isa) {
  std::string out;
  for (const auto &[name, path] : device["files"].items())
    if (compiled(name) && std::find(isa.begin(), isa.end(), name) == isa.end()) out += (out.empty() ? "" : " ") + name;
  return out;
}

// Where the first sentence ends: at a full stop that is in no brackets, as those of "(SIAM J. Sci. Comput.)" are.
std::size_t sentence_end(const std::string &text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (depth <= 0 && text[i] == '.' && (i + 1 == text.size() || text[i + 1] == ' ')) return i;
  }
  return text.size();
}

// What each file is, from the sentence at its top.
std::string file_table(const std::map<std::string, std::string> &files) {
  std::string out;
  for (const auto &[name, text] : files) {
    const std::size_t line = text.find('\n') + 1, begin = text.find("// ", line) == line ? line + 3 : line;
    std::string first = text.substr(begin, text.find("\n\n", begin) - begin);
    first = first.substr(0, first.find("\n#"));
    bool unused = false;
    first = replaced(first, "\n// ", " ", unused);
    first = first.substr(0, sentence_end(first));
    out += fmt::format("{}| `{}` | {} |", out.empty() ? "" : "\n", name, replaced(first, "|", "\\|", unused));
  }
  return out;
}

// How a kernel is used once it is built.
std::string use_line(const std::string &kind, const std::string &name) {
  if (kind == "spmv" || kind == "storage")
    return fmt::format("sextant explain MATRIX.mtx --op spmv --plugin-path build/{}.so", name);
  if (kind == "vector") return fmt::format("sextant explain --op axpby --tree --plugin-path build/{}.so", name);
  if (kind == "preconditioner")
    return fmt::format("sextant solve MATRIX.mtx --precond {0} --plugin-path build/{0}.so", name);
  return fmt::format("sextant plugins --plugin-path build/{}.so", name);
}

std::string symbol_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// What the build file needs beside the names.
void add_build_values(const Json &device, bool cuda, const std::string &name,
                      std::map<std::string, std::string> &values) {
  std::vector<std::string> isa;
  if (device.contains("isa_sources")) isa = device["isa_sources"].get<std::vector<std::string>>();
  values["SOURCES"] = joined_sources(device, isa);
  values["ISA_SOURCES"] = isa.empty() ? "" : " ISA_SOURCES " + fmt::format("{}", fmt::join(isa, " "));
  values["SETTINGS"] = text_or(device, "settings", "");
  // A plugin of another device than "cuda" says that it needs CUDA.
  values["CUDA"] = cuda && device.contains("device") ? " CUDA" : "";
  values["LANGUAGES"] = cuda ? "CXX CUDA" : "CXX";
  values["ARCHITECTURES"] = cuda ? "if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)\n  set(CMAKE_CUDA_ARCHITECTURES 90-real "
                                   "80-virtual)  # machine code of "
                                   "9.0, and code that later devices translate\nendif()\n"
                                 : "";
  bool unused = false;
  values["CHECK_DEVICE"] = replaced(text_or(device, "check_device", cuda ? "cuda" : "cpu"), "@NAME@", name, unused);
  if (device.contains("unproven")) {
    values["TEST_PROPERTIES"] =
        "# The kind has no cases: the file is loaded, and nothing is proven.\n"
        "set_tests_properties(cases PROPERTIES PASS_REGULAR_EXPRESSION \"not proven\")\n";
    if (cuda)
      values["TEST_PROPERTIES"] +=
          "set_tests_properties(cases PROPERTIES SKIP_RETURN_CODE 5)  # there is no such device here\n";
  } else {
    values["TEST_PROPERTIES"] =
        cuda ? "set_tests_properties(cases PROPERTIES SKIP_RETURN_CODE 5)  # there is no such device here\n" : "";
  }
}

}  // namespace

PluginFolder plugin_folder(const PluginRequest &request) {
  std::string key;
  const Json &found = find_template(request.kind, key);
  const char *device_name = request.cuda ? "cuda" : "cpu";
  if (!found.contains(device_name)) {
    std::vector<std::string> others;
    for (const auto &[name, value] : templates().items())
      if (value.contains(device_name)) others.push_back(name);
    fail(exit_usage, "kind '{}' has no template for CUDA: {}; these have one: {}", key,
         text_or(found, "no_cuda", "there is none yet"), fmt::join(others, ", "));
  }
  const Json &device = found[device_name];
  PluginFolder folder_of;
  folder_of.kernel = request.domain + "." + request.name;
  folder_of.origin = device["origin"];
  std::map<std::string, std::string> values = {
      {"NAME", request.name},
      {"DOMAIN", request.domain},
      {"KERNEL", folder_of.kernel},
      {"SYMBOL", symbol_of(request.name)},
      {"DEVICE", text_or(device, "device", device_name)},
      {"DEVICE_NAME", request.name},
      {"ABOUT", found["about"]},
      {"ORIGIN", folder_of.origin},
      {"HEADER", text_or(found, "header", "")},
      {"HERMITIAN_OPTION", "\n    options." + text_or(found, "option", "") + ";"},
      {"USE", use_line(key, request.name)}};
  values["KIND"] = folder_of.kind = filled_in(found["kind"].get<std::string>(), values);
  values["FORCED"] = filled_in(text_or(device, "forced", text_or(found, "forced", "@KERNEL@")), values);
  const std::string version = sxt_version_string();
  values["VERSION"] = version.substr(0, version.rfind('.'));
  add_build_values(device, request.cuda, request.name, values);

  for (const auto &[name, text] : sources_of(device)) folder_of.files[name] = filled_in(text, values);
  values["FILES"] = file_table(folder_of.files);
  folder_of.files["problem.hpp"] = filled_in(text_of_file(found["problem"].get<std::string>()), values);
  for (const char *name : {"trial.hpp", "test_kernel.cpp", "bench_kernel.cpp"})
    folder_of.files[name] = filled_in(text_of_file(std::string("common/") + name), values);
  for (const char *name : {"CMakeLists.txt", "README.md"})
    folder_of.files[name] = filled_in(text_of_file(fmt::format("common/{}.in", name)), values);
  return folder_of;
}

std::vector<std::vector<std::string>> plugin_templates() {
  std::vector<std::vector<std::string>> out;
  for (const auto &[name, value] : templates().items()) {
    bool unused = false;
    const std::string kind = replaced(replaced(value["kind"], "@DOMAIN@", "DOMAIN", unused), "@NAME@", "NAME", unused);
    out.push_back({name, kind, value.contains("cuda") ? "cpu, cuda" : "cpu", value["about"]});
  }
  return out;
}

}  // namespace tool
