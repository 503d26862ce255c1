// SPDX-License-Identifier: BSD-3-Clause
#include "ptx/module.hpp"

#include <charconv>

#include "ptx/tokens.hpp"

namespace sextant::retune::ptx {
namespace {

constexpr int oldest_version = 30, newest_version = 93;

Refusal refuse(std::size_t line, std::string reason) { return {line, std::move(reason)}; }
std::string quoted(std::string_view text) { return "'" + std::string(text.substr(0, 80)) + "'"; }

// Skips to behind the matching mark; false at the end of the text.
bool skip_group(Tokens &tokens, std::string_view open, std::string_view close) {
  for (int depth = 1; depth > 0;) {
    const Token token = tokens.next();
    if (token.text.empty()) return false;
    depth += token.text == open ? 1 : token.text == close ? -1 : 0;
  }
  return true;
}

// "9.0" -> 90; 0 where it is no version.
int version_of(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot + 2 != text.size()) return 0;
  int major = 0, minor = 0;
  const auto one = std::from_chars(text.data(), text.data() + dot, major);
  const auto two = std::from_chars(text.data() + dot + 1, text.data() + text.size(), minor);
  if (one.ptr != text.data() + dot || two.ptr != text.data() + text.size()) return 0;
  return 10 * major + minor;
}

// "sm_90a" -> 90
int target_of(std::string_view text) {
  int number = 0;
  if (text.substr(0, 3) != "sm_") return 0;
  std::from_chars(text.data() + 3, text.data() + text.size(), number);
  return number;
}

// What stands between the parameters of a kernel and its body and leaves the block free.
bool harmless_directive(std::string_view word) {
  return word == ".maxntid" || word == ".minnctapersm" || word == ".maxnreg" || word == ".maxnctapersm" ||
         word == ".pragma" || word == ".noreturn";
}

class ModuleReader {
 public:
  explicit ModuleReader(std::string_view text) : text_(text), tokens_(text) {}

  Module read() {
    while (!module_.refusal) {
      const Token token = next();
      if (token.text.empty()) break;
      top(token);
    }
    if (!module_.refusal && module_.version == 0) module_.refusal = refuse(0, "it has no .version");
    return std::move(module_);
  }

 private:
  void note(std::string_view name) {
    module_.names.insert(name);
    const std::size_t last = name.find_last_not_of("0123456789");
    if (last + 1 < name.size()) module_.stems.insert(name.substr(0, last + 1));
  }

  // Of all that stands outside of bodies: names are remembered, whatever they name. What could hide one is refused: a
  // name ends before a dot, a number before a letter, and <5> makes five names of one.
  Token next() {
    const Token token = tokens_.next();
    const std::string_view text = token.text;
    if (text.empty() || text[0] == '.' || (!word_character(text[0]) && text[0] != '<')) return token;
    const bool number = is_number(text) || version_of(text) != 0, digit = text[0] >= '0' && text[0] <= '9';
    const bool hides = text == "<" || (!number && (digit || text.find('.') != text.npos));
    if (hides && !module_.refusal) module_.refusal = refuse(token.line, quoted(text) + " is not understood here");
    if (!number && text != "<") note(text);
    return token;
  }

  void top(const Token &token) {
    const std::string_view word = token.text;
    if (word == ".version") {
      version();
    } else if (word == ".target") {
      target();
    } else if (word == ".entry" || word == ".func") {
      function(word == ".entry", token.line);
    } else if (word == ".visible" || word == ".extern" || word == ".weak" || word == ".common") {
      // Linkage changes nothing here.
    } else if (word == ".global" || word == ".const" || word == ".shared") {
      variable(word == ".shared" ? module_.shared : module_.globals);
    } else if (word == ".section") {
      Token open = next();
      while (!open.text.empty() && open.text != "{") open = next();
      if (!skip_group(tokens_, "{", "}")) broken(token.line);
    } else if (word == ".file" || word == ".address_size") {
      if (next().text.empty()) broken(token.line);
      list();
    } else if (word == ".pragma" || word == ".alias") {
      if (word == ".alias") module_.refusal = refuse(token.line, "functions have second names (.alias)");
      skip_statement();
    } else {
      module_.refusal = refuse(token.line, quoted(word) + " is not known at the top of a module");
    }
  }

  void broken(std::size_t line) { module_.refusal = refuse(line, "what begins here does not end"); }

  void version() {
    const Token token = next();
    module_.version = version_of(token.text);
    if (module_.version < oldest_version || module_.version > newest_version)
      module_.refusal = refuse(token.line, "PTX version " + quoted(token.text) + " is not known (3.0 to 9.3 are)");
  }

  void target() {
    const Token token = next();
    module_.target = target_of(token.text);
    if (module_.target == 0) module_.refusal = refuse(token.line, "target " + quoted(token.text) + " is not known");
    list();
  }

  // What may follow on the first word of .target and .file: a file's name, and words with commas before them. No
  // semicolon ends these directives, nor does their line.
  void list() {
    for (Tokens ahead = tokens_;; tokens_ = ahead) {
      const Token token = ahead.next();
      if (token.text.empty()) return;
      if (token.text == ",")
        ahead.next();
      else if (token.text[0] != '"')
        return;
    }
  }

  void skip_statement() {
    for (Token token = next(); !token.text.empty() && token.text != ";"; token = next())
      if (token.text == "{" && !skip_group(tokens_, "{", "}")) return;
  }

  // .align 4 .b8 name[16] = {...}; the first word that is no directive, number or type is the name.
  void variable(std::unordered_set<std::string_view> &names) {
    std::string_view name;
    for (Token token = next(); !token.text.empty() && token.text != ";"; token = next()) {
      const char first = token.text[0];
      const bool is_name = first == '_' || first == '$' || first == '%' || (first >= 'a' && first <= 'z') ||
                           (first >= 'A' && first <= 'Z');
      if (name.empty() && is_name) names.insert(name = token.text);
      if (name.empty() && (token.text == "," || token.text == "=")) break;
      if (token.text == ",") name = {};                // of several
      if (token.text == "=") return skip_statement();  // numbers without an end
    }
    if (name.empty()) module_.refusal = refuse(tokens_.line(), "it declares a variable without a name");
  }

  // Behind "(": parameters and results, of which those in registers are not followed.
  bool parameters(Function &found) {
    for (Token token = next(); token.text != ")"; token = next()) {
      if (token.text.empty() || token.text == "(") return false;
      if (token.text.substr(0, 4) == ".reg" && !found.refusal)
        found.refusal = refuse(token.line, "it takes or gives values in registers");
    }
    return true;
  }

  // .func (.param .b64 result) name (.param .b64 a) .noreturn { ... }, or ; for a declaration
  void function(bool kernel, std::size_t line) {
    Function found;
    found.kernel = kernel, found.line = line;
    Token token = next();
    while (!token.text.empty() && (token.text == "(" || token.text[0] == '.')) {
      if (token.text == ".attribute") found.refusal = refuse(token.line, "its attributes are not known");
      if (token.text == "(" && !parameters(found)) return broken(line);
      token = next();
    }
    found.name = token.text;
    for (token = next(); token.text != "{"; token = next()) {
      if (token.text.empty()) return broken(line);
      if (token.text == ";") return;
      if (token.text == "(") {
        if (!parameters(found)) return broken(line);
        continue;
      }
      const bool plain = token.text == "," || token.text[0] == '.' || token.text[0] == '"' || is_integer(token.text);
      if (!plain && !found.refusal) found.refusal = refuse(token.line, "its head has " + quoted(token.text));
      if (token.text[0] == '.' && !harmless_directive(token.text) && !found.refusal)
        found.refusal = refuse(token.line, "its head has " + std::string(token.text) + ", which binds its shape");
    }
    found.body_line = token.line;
    const std::size_t begin = tokens_.at();
    if (!skip_group(tokens_, "{", "}")) return broken(line);
    found.body = text_.substr(begin, tokens_.at() - begin - 1);
    if (!module_.functions.emplace(found.name, found).second)
      module_.refusal = refuse(line, "two functions are called " + quoted(found.name));
  }

  std::string_view text_;
  Tokens tokens_;
  Module module_;
};

}  // namespace

Module read_module(std::string_view text) { return ModuleReader(text).read(); }

}  // namespace sextant::retune::ptx
