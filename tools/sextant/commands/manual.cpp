// SPDX-License-Identifier: BSD-3-Clause
// sextant manual: the manual page sextant(1), written from what --help says.
#include <algorithm>
#include <cctype>
#include <sstream>

#include "commands/command.hpp"
#include "commands/command_tree.hpp"
#include "report/output.hpp"

namespace tool {
namespace {

// Text as troff shows it unchanged.
std::string plain(const std::string &text) {
  std::string out;
  for (const char c : text) {
    const bool line_begins = out.empty() || out.back() == '\n';
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string value_of(const OptionEntry &option) {
  if (!option.choices.empty()) return joined(option.choices, "|");
  return option.value;
}

std::string option_lines(const OptionEntry &option) {
  std::string text = ".TP\n\\fB" + plain(joined(option.names, ", ")) + "\\fR";
  if (!option.value.empty()) text += " \\fI" + plain(value_of(option)) + "\\fR";
  text += "\n" + plain(option.description);
  if (!option.default_value.empty()) text += "; default " + plain(option.default_value);
  return text + "\n";
}

std::string synopsis(const CommandEntry &command) {
  std::string text = "\\fBsextant " + plain(command.words) + "\\fR [\\fIoptions\\fR]";
  for (const OptionEntry &option : command.options)
    if (option.positional)
      text += plain(option.required ? " " : " [") + "\\fI" + plain(value_of(option)) + "\\fR" +
              (option.required ? "" : "]");
  return text + "\n";
}

// "Exit codes:" and the lines below it, as help ends.
std::string footer_sections(const std::string &footer) {
  std::istringstream lines(footer);
  std::string text, line;
  bool verbatim = false;
  while (std::getline(lines, line)) {
    const bool heading = !line.empty() && line[0] != ' ' && line.back() == ':';
    if (verbatim && (heading || line.empty())) text += ".fi\n", verbatim = false;
    if (heading) {
      std::transform(line.begin(), line.end() - 1, line.begin(), [](unsigned char c) { return std::toupper(c); });
      text += ".SH " + plain(line.substr(0, line.size() - 1)) + "\n.nf\n";
      verbatim = true;
    } else if (!line.empty()) {
      text += plain(line) + "\n";
    }
  }
  return text + (verbatim ? ".fi\n" : "");
}

std::string manual(const CLI::App &app) {
  const CommandEntry top = command_tree(app);
  std::string text = fmt::format(
      ".\\\" Written by `sextant manual` from what --help says.\n.TH SEXTANT 1 \"\" \"sextant {}\" \"User "
      "Commands\"\n.SH NAME\n"
      "sextant \\- {}\n.SH SYNOPSIS\n",
      sxt_version_string(), "solve sparse and batched dense systems, with kernels chosen by performance models");
  const auto all = all_commands(top);
  for (const CommandEntry *command : all)
    if (command->subcommands.empty()) text += ".br\n" + synopsis(*command);
  text += ".SH DESCRIPTION\n" + plain(top.description) + "\n.SH OPTIONS\n";
  for (const OptionEntry &option : top.options) text += option_lines(option);
  text += ".SH COMMANDS\n";
  for (const CommandEntry *command : all) {
    if (!command->subcommands.empty()) continue;
    text += ".SS sextant " + plain(command->words) + "\n" + plain(command->description) + "\n";
    for (const OptionEntry &option : command->options)
      if (option.names.back() != "--help") text += option_lines(option);
  }
  return text + footer_sections(app.get_footer()) +
         ".SH SEE ALSO\nThe documents of libsextant\\-dev, or docs/command.md in the sources.\n";
}

}  // namespace

void add_manual(CLI::App &app, Action &action) {
  app.add_subcommand("manual", "Print the manual page sextant(1)")->callback([&app, &action] {
    action = [&app] {
      print("{}", manual(app));
      return exit_done;
    };
  });
}

}  // namespace tool
