// SPDX-License-Identifier: BSD-3-Clause
// sextant completion: scripts that complete subcommands, options and named values in bash, zsh and fish. Each follows
// the words of the line to the subcommand they reach, and completes files where nothing else is known.
#include "commands/command.hpp"
#include "commands/command_tree.hpp"
#include "input/hints.hpp"
#include "report/embedded.hpp"
#include "report/output.hpp"
#include "report/shell.hpp"

namespace tool {
namespace {

std::vector<std::string> option_words(const CommandEntry &command) {
  std::vector<std::string> words;
  for (const OptionEntry &option : command.options)
    if (!option.positional) words.insert(words.end(), option.names.begin(), option.names.end());
  return words;
}

std::vector<std::string> subcommand_words(const CommandEntry &command) {
  std::vector<std::string> words;
  for (const CommandEntry &inner : command.subcommands) words.push_back(inner.name);
  return words;
}

// Values that may stand where no option's value is wanted: subcommands, or those of a positional.
std::vector<std::string> plain_words(const CommandEntry &command) {
  std::vector<std::string> words = subcommand_words(command);
  for (const OptionEntry &option : command.options)
    if (option.positional) words.insert(words.end(), option.choices.begin(), option.choices.end());
  return words;
}

// A script with its variable parts in place of @STEPS@, @VALUES@ and @WORDS@.
std::string filled_script(const char *frame, const std::string &completion_steps, const std::string &values,
                          const std::string &words) {
  return filled_in(frame, {{"STEPS", completion_steps}, {"VALUES", values}, {"WORDS", words}});
}

// The lines of a case over "COMMAND WORD" that lead from a command to the next, as bash and zsh write them.
std::string completion_steps(const std::vector<const CommandEntry *> &all) {
  std::string text;
  for (const CommandEntry *command : all)
    for (const CommandEntry &inner : command->subcommands)
      text += fmt::format("      {}) command={} ;;\n", quoted(command->words + " " + inner.name), quoted(inner.words));
  return text;
}

// The lines of a case over "COMMAND OPTION" for options with values: where the choices are known they stand between
// `before` and `after`; others are files.
std::string values(const std::vector<const CommandEntry *> &all, const std::string &before, const std::string &after,
                   const std::string &files) {
  std::string text;
  for (const CommandEntry *command : all) {
    for (const OptionEntry &option : command->options) {
      if (option.positional || option.value.empty()) continue;
      std::vector<std::string> cases;
      for (const std::string &name : option.names) cases.push_back(quoted(command->words + " " + name));
      const std::string action = option.choices.empty() ? files : before + joined(option.choices, " ") + after;
      text += fmt::format("    {}) {} ;;\n", joined(cases, "|"), action);
    }
  }
  return text;
}

constexpr const char *bash_frame = R"sh(# Completion of sextant for bash: eval "$(sextant completion bash)"
_sextant() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command='' word plain='' options=''
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command $word" in
@STEPS@    esac
  done
  case "$command $previous" in
@VALUES@  esac
  case $command in
@WORDS@  esac
  if [[ $current == -* ]]; then plain=$options; fi
  mapfile -t COMPREPLY < <(compgen -W "$plain" -- "$current")
}
complete -o default -F _sextant sextant
)sh";

std::string bash(const std::vector<const CommandEntry *> &all) {
  std::string words;
  for (const CommandEntry *command : all)
    words += fmt::format("    {}) plain={} options={} ;;\n", quoted(command->words),
                         quoted(joined(plain_words(*command), " ")), quoted(joined(option_words(*command), " ")));
  return filled_script(bash_frame, completion_steps(all),
                       values(all, "mapfile -t COMPREPLY < <(compgen -W '", "' -- \"$current\"); return", "return"),
                       words);
}

constexpr const char *zsh_frame = R"sh(#compdef sextant
# Completion of sextant for zsh: save as _sextant in a folder of fpath
_sextant() {
  local command='' word
  local -a plain options
  for word in ${words[2,CURRENT-1]}; do
    case "$command $word" in
@STEPS@    esac
  done
  case "$command ${words[CURRENT-1]}" in
@VALUES@  esac
  case $command in
@WORDS@  esac
  if [[ ${words[CURRENT]} == -* ]]; then
    _describe -o option options
  elif (( ${#plain} )); then
    _describe word plain
  else
    _files
  fi
}
if [[ ${funcstack[1]} == _sextant ]]; then _sextant "$@"; else compdef _sextant sextant; fi
)sh";

// "word:what it is", whose colons are escaped.
std::string described_word(const std::string &word, const std::string &description) {
  std::string text;
  for (const char c : description) text += c == ':' ? std::string("\\:") : std::string(1, c);
  return quoted(word + ":" + text) + " ";
}

std::string zsh(const std::vector<const CommandEntry *> &all) {
  std::string lists;
  for (const CommandEntry *command : all) {
    std::string plain, options;
    for (const CommandEntry &inner : command->subcommands) plain += described_word(inner.name, inner.description);
    for (const OptionEntry &option : command->options) {
      if (option.positional)
        for (const std::string &choice : option.choices) plain += described_word(choice, option.description);
      else
        for (const std::string &name : option.names) options += described_word(name, option.description);
    }
    lists += fmt::format("    {}) plain=({}) options=({}) ;;\n", quoted(command->words), plain, options);
  }
  return filled_script(zsh_frame, completion_steps(all), values(all, "compadd -- ", "; return", "_files; return"),
                       lists);
}

constexpr const char *fish_frame = R"sh(# Completion of sextant for fish: sextant completion fish | source
function __sextant_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
@STEPS@        end
    end
    test "$at" = "$argv"
end
)sh";

std::string fish_option(const CommandEntry &command, const OptionEntry &option) {
  std::string line = fmt::format("complete -c sextant -n '__sextant_at {}'", command.words);
  for (const std::string &name : option.names)
    line += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.choices.empty())
    line += " -x -a " + quoted(joined(option.choices, " "));
  else if (!option.value.empty())
    line += " -r";
  return line + " -d " + quoted(option.description) + "\n";
}

std::string fish(const std::vector<const CommandEntry *> &all) {
  std::string moves, lines;
  for (const CommandEntry *command : all) {
    for (const CommandEntry &inner : command->subcommands) {
      moves += fmt::format("            case {}; set at {}\n", quoted(command->words + " " + inner.name),
                           quoted(inner.words));
      lines += fmt::format("complete -c sextant -n '__sextant_at {}' -f -a {} -d {}\n", command->words,
                           quoted(inner.name), quoted(inner.description));
    }
    for (const OptionEntry &option : command->options) {
      if (!option.positional) lines += fish_option(*command, option);
      if (option.positional && !option.choices.empty())
        lines += fmt::format("complete -c sextant -n '__sextant_at {}' -f -a {}\n", command->words,
                             quoted(joined(option.choices, " ")));
    }
  }
  return filled_script(fish_frame, moves, "", "") + lines;
}

}  // namespace

void add_completion(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand("completion", "Print a script that completes words of the command line");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "The shell that will read it")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  command->footer("Example:\n  eval \"$(sextant completion bash)\"    in ~/.bashrc, where no package installed it");
  command->callback([&app, &action, shell] {
    action = [&app, shell] {
      const CommandEntry top = command_tree(app);
      const auto all = all_commands(top);
      print("{}", *shell == "bash" ? bash(all) : *shell == "zsh" ? zsh(all) : fish(all));
      return exit_done;
    };
  });
}

}  // namespace tool
