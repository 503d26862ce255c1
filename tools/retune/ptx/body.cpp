// SPDX-License-Identifier: BSD-3-Clause
// The statements of one function.
#include <algorithm>
#include <charconv>

#include "ptx/module.hpp"
#include "ptx/tokens.hpp"

namespace sextant::retune::ptx {
namespace {

bool declares(std::string_view word) {
  return word == ".reg" || word == ".local" || word == ".param" || word == ".shared" || word == ".pragma" ||
         word == ".loc" || word == ".branchtargets" || word == ".callprototype" || word == ".calltargets" ||
         word == ".file" || word == ".const" || word == ".global";
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
// A name, an opcode or a number, which may be negative; no punctuation mark.
bool is_word(std::string_view text) {
  if (text.empty()) return false;
  return is_digit(text[0]) || text[0] == '-' ? is_number(text) : word_character(text[0]);
}

// Bits of a register's type; 0: not known.
int bits_of(std::string_view type) {
  static const auto *const known = new std::unordered_map<std::string_view, int>{
      {".pred", 1}, {".b8", 8},   {".u8", 8},     {".s8", 8},    {".b16", 16},   {".u16", 16},   {".s16", 16},
      {".f16", 16}, {".b32", 32}, {".u32", 32},   {".s32", 32},  {".f32", 32},   {".b64", 64},   {".u64", 64},
      {".s64", 64}, {".f64", 64}, {".b128", 128}, {".bf16", 16}, {".f16x2", 32}, {".bf16x2", 32}};
  const auto found = known->find(type);
  return found == known->end() ? 0 : found->second;
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
    for (const std::string_view label : body_.labels)
      if (body_.bits(label) || body_.locals.count(label) || body_.params.count(label)) refuse_name(0, label);
    for (const auto *names : {&body_.locals, &body_.params})
      for (const std::string_view name : *names)
        if (body_.bits(name)) refuse_name(0, name);
    return std::move(body_);
  }

 private:
  void refuse(std::size_t line, std::string reason) {
    if (!body_.refusal) body_.refusal = {line, std::move(reason)};
  }

  void refuse_name(std::size_t line, std::string_view name) {
    refuse(line, "'" + std::string(name) + "' stands for two things");
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
    // ".reg .b32", and ".reg.b32" of CUDA's own headers.
    if (token.text.substr(0, 5) == ".reg.") return registers(token.line, token.text.substr(4));
    if (!declares(token.text)) return refuse(token.line, "'" + std::string(token.text) + "' is not known in a body");
    if (token.text == ".loc") return location(token.line);
    if (token.text == ".file") return file(token.line);
    if (token.text == ".reg") return registers(token.line, tokens_.next().text);
    if (token.text == ".shared") return refuse(token.line, "it uses shared memory");
    if (token.text == ".global" || token.text == ".const")
      return refuse(token.line, "it declares a variable of the module in a body");
    if (token.text == ".callprototype" || token.text == ".calltargets")
      return refuse(token.line, "it calls through a pointer");
    std::string_view name;
    for (Token next = tokens_.next(); next.text != ";"; next = tokens_.next()) {
      if (next.text.empty()) return refuse(token.line, "what begins here does not end");
      if (next.text == "<") return refuse(token.line, "it declares several variables at once");
      if (is_digit(next.text[0]) && !is_number(next.text))
        return refuse(token.line, "this declaration is not understood");
      if (next.text == "," && token.text != ".branchtargets" && token.text != ".pragma")
        return refuse(token.line, "it declares several variables at once");
      if (next.text[0] != '.' && word_character(next.text[0]) && !is_digit(next.text[0]) && name.empty())
        name = next.text;
    }
    const bool local = token.text == ".local", param = token.text == ".param";
    if ((local || param) && name.empty()) return refuse(token.line, "it declares a variable without a name");
    if ((local || param) && (body_.bits(name) || (param ? body_.locals : body_.params).count(name)))
      return refuse_name(token.line, name);
    if (local) body_.locals.insert(name);
    if (param) body_.params.insert(name);
  }

  // .reg .b32 %r<10>; .reg .pred p, q;
  void registers(std::size_t line, std::string_view type) {
    const int bits = bits_of(type);
    if (bits == 0) return refuse(line, "registers of this type are not known");
    for (std::string_view mark = ","; mark == ",";) {
      const std::string_view name = tokens_.next().text;
      if (!is_word(name) || is_number(name)) return refuse(line, "this declaration is not understood");
      std::size_t count = 0;
      mark = tokens_.next().text;
      if (mark == "<") {
        const std::string_view number = tokens_.next().text;
        const auto end = std::from_chars(number.data(), number.data() + number.size(), count);
        if (is_digit(name.back()) || end.ec != std::errc{} || end.ptr != number.data() + number.size() || count == 0 ||
            tokens_.next().text != ">")
          return refuse(line, "this declaration is not understood");
        mark = tokens_.next().text;
      }
      if (body_.locals.count(name) || body_.params.count(name) || !body_.add_registers(name, count, bits))
        return refuse_name(line, name);
      if (mark != "," && mark != ";") return refuse(line, "this declaration is not understood");
    }
  }

  // Takes the next token where it is what is wanted.
  template <typename Wanted>
  bool take(const Wanted &wanted) {
    Tokens ahead = tokens_;
    if (!wanted(ahead.next().text)) return false;
    tokens_ = ahead;
    return true;
  }
  bool take_mark(std::string_view mark) {
    return take([&](std::string_view text) { return text == mark; });
  }

  // .loc 1 20 3, function_name $name+4, inlined_at 1 10 2: it ends where these words do, and not with its line.
  void location(std::size_t line) {
    const auto numbers = [&] { return take(is_integer) && take(is_integer) && take(is_integer); };
    if (!numbers()) return refuse(line, "this place in a source is not understood");
    while (take_mark(",")) {
      const bool name = take_mark("function_name");
      const bool known =
          name ? take(is_word) && (!take_mark("+") || take(is_integer)) : take_mark("inlined_at") && numbers();
      if (!known) return refuse(line, "this place in a source is not understood");
    }
  }
  // .file 1 "name", 123, 456
  void file(std::size_t line) {
    const auto quoted = [](std::string_view text) { return !text.empty() && text[0] == '"'; };
    if (!take(is_integer) || !take(quoted)) return refuse(line, "this file is not understood");
    while (take_mark(","))
      if (!take(is_integer)) return refuse(line, "this file is not understood");
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
      if (next.text == ";") break;
      if (next.text != ",") return refuse(statement.line, "this instruction is not understood");
      next = tokens_.next();
    }
    body_.statements.push_back(std::move(statement));
  }

  // Words with commas between them, up to a closing mark, and nothing else.
  bool words_until(std::string_view close, std::vector<std::string_view> &words) {
    if (take_mark(close)) return true;
    for (std::string_view mark = ","; mark == ",";) {
      const std::string_view word = tokens_.next().text;
      if (!is_word(word)) return false;
      words.push_back(word);
      mark = tokens_.next().text;
      if (mark == close) return true;
    }
    return false;
  }

  // [%rd1], [%rd1+8], [name+-4]
  bool address(std::vector<std::string_view> &words) {
    const std::string_view base = tokens_.next().text;
    if (!is_word(base)) return false;
    words.push_back(base);
    if (take_mark("]")) return true;
    take_mark("+");
    const std::string_view offset = tokens_.next().text;
    if (!is_integer(offset)) return false;
    words.push_back(offset);
    return tokens_.next().text == "]";
  }

  // Constant expressions are refused: ptxas has its own rules for them.
  bool operand(Token token, Statement &statement) {
    Operand found;
    if (token.text == "[") {
      found.kind = Operand::Kind::memory;
      if (!address(found.words)) return false;
    } else if (token.text == "{" || token.text == "(") {
      found.kind = token.text == "{" ? Operand::Kind::vector : Operand::Kind::arguments;
      if (!words_until(token.text == "{" ? "}" : ")", found.words)) return false;
    } else {
      if (token.text == "!") {
        found.altered = true;
        token = tokens_.next();
        if (is_number(token.text)) return false;
      }
      if (!is_word(token.text)) return false;
      found.words.push_back(token.text);
      if (statement.operands.empty() && !found.altered && take_mark("|")) {
        found.second = tokens_.next().text;
        if (!is_word(found.second) || is_number(found.second)) return false;
      } else if (!is_number(token.text) && take_mark("+")) {
        found.altered = true;
        if (!take(is_number)) return false;
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

int Body::bits(std::string_view word) const {
  if (const auto known = registers_.find(word); known != registers_.end()) return known->second;
  std::size_t digits = word.size();
  while (digits > 0 && is_digit(word[digits - 1])) --digits;
  // %r12 of %r<20>, and of %r1<3>: any cut between name and number.
  for (std::size_t cut = digits; cut < word.size(); ++cut) {
    const auto range = ranges_.find(word.substr(0, cut));
    if (range == ranges_.end() || (word[cut] == '0' && cut + 1 < word.size())) continue;
    std::size_t number = 0;
    std::from_chars(word.data() + cut, word.data() + word.size(), number);
    if (number < range->second.count) return range->second.bits;
  }
  return 0;
}

bool Body::add_registers(std::string_view name, std::size_t count, int bits) {
  if (count == 0) {
    const int known = this->bits(name);
    registers_.emplace(name, bits);
    return known == 0 || known == bits;
  }
  const auto begins = [&](std::string_view longer) { return longer.substr(0, name.size()) == name; };
  for (const auto &[other, width] : registers_)
    if (width != bits && begins(other)) return false;
  for (const auto &[other, range] : ranges_)
    if (range.bits != bits && (begins(other) || name.substr(0, other.size()) == other) && other != name) {
      const std::string_view rest = begins(other) ? other.substr(name.size()) : name.substr(other.size());
      if (std::all_of(rest.begin(), rest.end(), is_digit)) return false;
    }
  Range &range = ranges_[name];
  if (range.count && range.bits != bits) return false;
  range = {std::max(range.count, count), bits};
  return true;
}

std::vector<Body::Name> Body::register_names() const {
  std::vector<Name> all;
  for (const auto &[name, bits] : registers_) all.push_back({name, false});
  for (const auto &[name, range] : ranges_) all.push_back({name, true});
  return all;
}

Body read_body(const Function &function) { return Reader(function).read(); }

}  // namespace sextant::retune::ptx
