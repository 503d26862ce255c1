// SPDX-License-Identifier: BSD-3-Clause
#include "input/hints.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "names/names.hpp"

namespace tool {
namespace {

std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> option_names(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string &name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string &name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *each : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(each->get_name());
  return names;
}

// "-5" and "-.5" are values.
bool is_option(const std::string &word) {
  return word.size() > 1 && word[0] == '-' && word != "--" && (word[1] < '0' || word[1] > '9') && word[1] != '.';
}

// The option a word names; "-ofile" is "-o" with its value.
const CLI::Option *option_of(const CLI::App &app, const std::string &word) {
  const bool is_long = word[1] == '-';
  return app.get_option_no_throw(is_long ? word.substr(0, word.find('=')) : word.substr(0, 2));
}

std::string meant(const std::string &word, const std::string &what, const std::vector<std::string> &known) {
  const std::string name = sextant::nearest_name(word, known);
  return fmt::format("'{}' is no {}{}", word, what, name.empty() ? "" : fmt::format("; did you mean '{}'?", name));
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> names) {
  std::string shown = joined(names);
  return CLI::Validator(
      [names = std::move(names)](std::string &word) {
        return std::find(names.begin(), names.end(), word) != names.end() ? ""
                                                                          : sextant::unknown_name("value", word, names);
      },
      "{" + shown + "}");
}

std::string hint(const CLI::App &app, const std::vector<std::string> &arguments) {
  const CLI::App *at = &app;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string &word = arguments[i];
    if (word == "--") return "";
    if (is_option(word)) {
      const CLI::Option *option = option_of(*at, word);
      const std::string name = word.substr(0, word.find('='));
      if (!option)
        return meant(name, "option of " + (at == &app ? "sextant" : "sextant " + at->get_name()), option_names(*at));
      if (option->get_items_expected_max() > 0 && name == word && word.size() > 1) ++i;  // its value
      continue;
    }
    const std::vector<const CLI::App *> inner = at->get_subcommands([](const CLI::App *) { return true; });
    const auto named =
        std::find_if(inner.begin(), inner.end(), [&](const CLI::App *each) { return each->get_name() == word; });
    if (named != inner.end())
      at = *named;
    else if (!inner.empty())
      return meant(word, "subcommand", subcommand_names(*at));
  }
  return "";
}

}  // namespace tool
