// SPDX-License-Identifier: BSD-3-Clause
#include "commands/command_tree.hpp"

namespace tool {
namespace {

// "TEXT:{auto, pcg}" without its validators, which are the choices where they stand in braces.
void split_type(const std::string &type, OptionEntry &entry) {
  entry.value = type.substr(0, type.find(':'));
  const std::size_t open = type.find('{'), close = type.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return;
  const std::string inner = type.substr(open + 1, close - open - 1);
  for (std::size_t at = 0; at < inner.size();) {
    const std::size_t end = std::min(inner.find(", ", at), inner.size());
    entry.choices.push_back(inner.substr(at, end - at));
    at = end + 2;
  }
}

OptionEntry entry_of(const CLI::Option &option) {
  OptionEntry entry;
  entry.positional = option.nonpositional() ? false : option.get_positional();
  for (const std::string &name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string &name : option.get_lnames()) entry.names.push_back("--" + name);
  if (entry.positional) entry.names = {option.get_name(true)};
  if (option.get_items_expected_max() > 0) split_type(option.get_type_name(), entry);
  entry.default_value = option.get_default_str();
  entry.description = option.get_description();
  entry.required = option.get_required();
  return entry;
}

CommandEntry read(const CLI::App &app, const std::string &above) {
  CommandEntry command;
  command.name = app.get_name();
  command.description = app.get_description();
  command.words = above;
  for (const CLI::Option *option : app.get_options())
    if (!option->get_group().empty()) command.options.push_back(entry_of(*option));  // else it is hidden
  for (const CLI::App *inner : app.get_subcommands([](const CLI::App *) { return true; }))
    command.subcommands.push_back(read(*inner, above + (above.empty() ? "" : " ") + inner->get_name()));
  return command;
}

void gather(const CommandEntry &command, std::vector<const CommandEntry *> &all) {
  all.push_back(&command);
  for (const CommandEntry &inner : command.subcommands) gather(inner, all);
}

}  // namespace

CommandEntry command_tree(const CLI::App &app) { return read(app, ""); }

std::vector<const CommandEntry *> all_commands(const CommandEntry &top) {
  std::vector<const CommandEntry *> all;
  gather(top, all);
  return all;
}

std::string joined(const std::vector<std::string> &words, const std::string &between) {
  std::string text;
  for (const std::string &word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

}  // namespace tool
