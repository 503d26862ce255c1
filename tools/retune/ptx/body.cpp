// SPDX-License-Identifier: BSD-3-Clause
// The statements of one function.
#include "ptx/module.hpp"
#include "ptx/tokens.hpp"

namespace sextant::retune::ptx {
namespace {

bool declares(std::string_view word) {
  return word == ".reg" || word == ".local" || word == ".param" || word == ".shared" || word == ".pragma" ||
         word == ".loc" || word == ".branchtargets" || word == ".callprototype" || word == ".calltargets" ||
         word == ".file" || word == ".const" || word == ".global";
}

// A name, an opcode or a number, which may be negative; no punctuation mark.
bool is_word(std::string_view text) {
  return !text.empty() && (word_character(text[0]) || (text.size() > 1 && text[0] == '-'));
}

class Reader {
 public:
  explicit Reader(const Function &function) : text_(function.body), tokens_(function.body, function.body_line) {}

  Body read() {
    for (Token token = tokens_.next(); !token.text.empty() && !body_.refusal; token = tokens_.next()) {
      if (token.text == "{" || token.text == "}" || token.text == ";") continue;
      if (token.text[0] == '.') {
        declaration(token);
      } else if (token.text != "@" && label(token)) {
        continue;
      } else {
        statement(token);
      }
    }
    return std::move(body_);
  }

 private:
  void refuse(std::size_t line, std::string reason) {
    if (!body_.refusal) body_.refusal = {line, std::move(reason)};
  }

  // "name:", and the list of targets that may follow on it.
  bool label(const Token &token) {
    Tokens ahead = tokens_;
    if (ahead.next().text != ":") return false;
    tokens_ = ahead;
    body_.labels.insert(token.text);
    return true;
  }

  void declaration(const Token &token) {
    if (!declares(token.text)) return refuse(token.line, "'" + std::string(token.text) + "' is not known in a body");
    if (token.text == ".loc" || token.text == ".file") return skip_line(token.line);
    if (token.text == ".shared") return refuse(token.line, "it uses shared memory");
    if (token.text == ".callprototype" || token.text == ".calltargets")
      return refuse(token.line, "it calls through a pointer");
    std::string_view name;
    for (Token next = tokens_.next(); next.text != ";"; next = tokens_.next()) {
      if (next.text.empty()) return refuse(token.line, "what begins here does not end");
      const char first = next.text[0];
      if (first != '.' && word_character(first) && !(first >= '0' && first <= '9') && name.empty()) name = next.text;
    }
    if (token.text == ".local") body_.locals.insert(name);
    if (token.text == ".param") body_.params.insert(name);
  }

  void skip_line(std::size_t line) {
    for (Tokens ahead = tokens_;; tokens_ = ahead) {
      const Token token = ahead.next();
      if (token.text.empty() || token.line != line) return;
    }
  }

  void statement(Token token) {
    Statement statement;
    statement.line = token.line;
    if (token.text == "@") {
      token = tokens_.next();
      if (token.text == "!") token = tokens_.next();
      statement.guard = token.text;
      token = tokens_.next();
    }
    statement.opcode = token.text;
    if (!is_word(token.text)) return refuse(statement.line, "an instruction was expected");
    Token next = tokens_.next();
    while (next.text != ";") {
      if (!operand(next, statement)) return refuse(statement.line, "this instruction is not understood");
      next = tokens_.next();
      if (next.text == ",") next = tokens_.next();
    }
    body_.statements.push_back(std::move(statement));
  }

  // The words up to a closing mark.
  bool words_until(std::string_view close, std::vector<std::string_view> &words) {
    for (Token token = tokens_.next(); token.text != close; token = tokens_.next()) {
      if (token.text.empty() || token.text == ";" || token.text == "{" || token.text == "[" || token.text == "(")
        return false;
      if (is_word(token.text)) words.push_back(token.text);
    }
    return true;
  }

  bool operand(Token token, Statement &statement) {
    Operand found;
    if (token.text == "[") {
      found.kind = Operand::Kind::memory;
      if (!words_until("]", found.words) || found.words.empty()) return false;
    } else if (token.text == "{" || token.text == "(") {
      found.kind = Operand::Kind::vector;
      if (!words_until(token.text == "{" ? "}" : ")", found.words)) return false;
    } else {
      while (token.text == "-" || token.text == "!" || token.text == "+") token = tokens_.next();
      if (!is_word(token.text)) return false;
      found.words.push_back(token.text);
      Tokens ahead = tokens_;
      if (ahead.next().text == "|") {
        found.second = ahead.next().text;
        if (!is_word(found.second)) return false;
        tokens_ = ahead;
      }
    }
    statement.operands.push_back(std::move(found));
    return true;
  }

  std::string_view text_;
  Tokens tokens_;
  Body body_;
};

}  // namespace

Body read_body(const Function &function) { return Reader(function).read(); }

}  // namespace sextant::retune::ptx
