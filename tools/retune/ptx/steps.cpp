// SPDX-License-Identifier: BSD-3-Clause
#include "ptx/steps.hpp"

#include <charconv>

#include "ptx/tokens.hpp"

namespace sextant::retune::ptx {
namespace {

// 12, -3, 0x1F, 017, 1U; floating-point numbers (0f..., 1.5) have a value that is not followed.
Value number(std::string_view word) {
  std::string_view digits = word;
  const bool negative = digits[0] == '-';
  if (negative) digits.remove_prefix(1);
  if (digits.back() == 'U') digits.remove_suffix(1);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
    base = 16, digits.remove_prefix(2);
  else if (digits.size() > 1 && digits[0] == '0')
    base = 8;
  std::uint64_t read = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), read, base);
  if (end.ec != std::errc{} || end.ptr != digits.data() + digits.size()) return Value::free();
  return Value::of(static_cast<std::int64_t>(negative ? 0 - read : read));
}

const std::unordered_map<std::string_view, Part> &shape() {
  static const auto *const table = new std::unordered_map<std::string_view, Part>{
      {"%tid.x", tid}, {"%ntid.x", ntid}, {"%ctaid.x", ctaid}, {"%nctaid.x", nctaid}};
  return *table;
}

bool writes_first(Operation operation) {
  switch (operation) {
    case Operation::store:
    case Operation::reduce:
    case Operation::prefetch:
    case Operation::branch:
    case Operation::call:
    case Operation::leave:
    case Operation::refused:
    case Operation::unknown: return false;
    default: return true;
  }
}

class Numbering {
 public:
  Numbering(const Module &module, const Function &function) : module_(module), function_(function) {}

  Steps number_all() {
    Steps all;
    all.body = read_body(function_);
    all.refusal = all.body.refusal;
    if (all.refusal) return all;
    check_names(all);
    for (const Statement &statement : all.body.statements) number_outputs(statement, all);
    if (all.refusal) return all;
    for (const Statement &statement : all.body.statements) all.steps.push_back(step(statement, all));
    all.registers = static_cast<int>(registers_.size());
    return all;
  }

 private:
  // A register has no other meaning, wherever it is declared: ptxas knows scopes, and this proof one table. So it
  // shares its name with nothing outside of bodies, and where it begins with % it is called as compilers call them,
  // which no special register is. The same holds of variables and labels.
  void check_names(Steps &all) const {
    const auto refuse = [&](std::string_view name, const char *why) {
      if (!all.refusal) all.refusal = {function_.line, "'" + std::string(name.substr(0, 80)) + why};
    };
    for (const auto &[name, several] : all.body.register_names()) {
      if (name[0] == '%' && !usual(name)) refuse(name, "' is no name that compilers give registers");
      if ((several ? module_.stems : module_.names).count(name) || name == "WARP_SZ")
        refuse(name, "' stands for two things");
    }
    for (const auto *names : {&all.body.locals, &all.body.params, &all.body.labels})
      for (const std::string_view name : *names)
        if (name[0] == '%' || module_.names.count(name) || name == "WARP_SZ") refuse(name, "' stands for two things");
  }

  // %rd7, or %rd of several; %SP and %SPL of the stack; %a3 and %alo of CUDA's own headers.
  static bool usual(std::string_view name) {
    name.remove_prefix(1);
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
    if (name.size() == 1 && name[0] >= 'a' && name[0] <= 'z') return true;
    for (const std::string_view kind :
         {"rs", "rd", "rq", "rc", "fd", "hh", "temp", "SP", "SPL", "alo", "ahi", "blo", "bhi", "clo", "chi"})
      if (name == kind) return true;
    return false;
  }

  void number_outputs(const Statement &statement, Steps &all) {
    if (!writes_first(opcode(statement.opcode).operation) || statement.operands.empty()) return;
    const Operand &first = statement.operands[0];
    for (const std::string_view word : first.words) add(word, statement.line, all);
    if (!first.second.empty()) add(first.second, statement.line, all);
  }
  void add(std::string_view word, std::size_t line, Steps &all) {
    if (word == "_") return;
    if (all.body.bits(word) == 0 && !all.refusal)
      all.refusal = {line, "it writes " + std::string(word.substr(0, 80)) + ", which is not declared as a register"};
    registers_.emplace(word, static_cast<int>(registers_.size()));
  }

  Source source(std::string_view word, Steps &all) const {
    Source found;
    found.word = word;
    if (const auto reg = registers_.find(word); reg != registers_.end()) {
      found.reg = reg->second;
      found.bits = all.body.bits(word);
      all.read.insert(word);
    } else if (all.body.bits(word) > 0) {
      found.problem = std::string(word) + " is never set";
    } else if (const auto part = shape().find(word); part != shape().end()) {
      found.value = Value::of(part->second);
    } else if (word[0] == '%') {
      found.problem = word.find('.') != word.npos || special(word) ? "it reads " + std::string(word)
                                                                   : std::string(word) + " is never set";
    } else if (is_number(word)) {
      found.value = number(word);
    } else if (word == "WARP_SZ") {
      found.value = Value::of(std::int64_t{32});
    } else {
      name(word, all.body, found);
    }
    return found;
  }

  static bool special(std::string_view word) {
    for (const std::string_view name : {"%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%clock",
                                        "%lanemask", "%globaltimer", "%envreg", "%pm", "%dynamic_smem", "%total_smem",
                                        "%aggr_smem", "%reserved_smem", "%cluster", "%is_explicit", "%current_graph"})
      if (word.substr(0, name.size()) == name) return true;
    return false;
  }

  void name(std::string_view word, const Body &body, Source &found) const {
    const std::string own = std::string(function_.name) + "_param_";
    if (module_.shared.count(word))
      found.problem = "it uses shared memory";
    else if (body.locals.count(word))
      found.value = Value::local();
    else if (module_.functions.count(word))
      found.problem = "it takes the address of a function";
    else if (body.params.count(word) || word.substr(0, own.size()) == own)
      found.problem = "it takes the address of a parameter, beside which lie numbers of the launch";
    else if (module_.globals.count(word) || body.labels.count(word))
      found.value = Value::free();
    else
      found.problem = "'" + std::string(word.substr(0, 80)) + "' is not known";
  }

  Step step(const Statement &statement, Steps &all) const {
    Step made;
    made.line = statement.line;
    made.op = opcode(statement.opcode);
    if ((made.guarded = !statement.guard.empty())) made.guard = source(statement.guard, all);
    if (made.op.operation == Operation::call) return call(statement, all.body, made), made;
    if (made.op.operation == Operation::unknown || made.op.operation == Operation::refused) return made;
    bool output = writes_first(made.op.operation);
    for (const Operand &operand : statement.operands) {
      if (operand.kind == Operand::Kind::arguments) return unknown(made, "its operand in parentheses is not known");
      if (!output && !operand.second.empty()) return unknown(made, "its operands are not understood");
      made.pieces = made.pieces || operand.kind == Operand::Kind::vector || !operand.second.empty();
      made.altered = made.altered || operand.altered;
      if (output) {
        if (operand.kind == Operand::Kind::memory || operand.altered)
          return unknown(made, "its operands are not understood");
        for (const std::string_view word : operand.words) write(word, made);
        if (!operand.second.empty()) write(operand.second, made);
        if (!made.pieces && !operand.words.empty()) made.bits = all.body.bits(operand.words[0]);
      } else {
        if (operand.kind == Operand::Kind::memory) made.base = operand.words[0];
        auto &into = operand.kind == Operand::Kind::memory ? made.address : made.reads;
        const bool in_params = operand.kind == Operand::Kind::memory && parameter_space(made.op);
        if (operand.kind == Operand::Kind::memory)
          if (const char *why = outside(operand, in_params, all.body)) return unknown(made, why);
        for (const std::string_view word : operand.words)
          if (!in_params) into.push_back(source(word, all));
      }
      output = false;
    }
    return made;
  }

  static Step unknown(Step &made, const char *why) {
    made.op.operation = Operation::refused;
    made.op.why = why;
    return std::move(made);
  }

  // Beside parameters and constants lie numbers of the launch.
  static const char *outside(const Operand &operand, bool in_params, const Body &body) {
    constexpr std::int64_t most_offset = 4096;  // bytes of parameters
    const std::string_view base = operand.words[0];
    if (in_params && (base[0] == '%' || body.bits(base) > 0 || is_number(base)))
      return "it computes the address of a parameter";
    if (body.bits(base) > 0 || operand.words.size() < 2) return nullptr;
    const Value offset = number(operand.words[1]);
    const bool within = offset.constant && offset.number >= 0 && (!in_params || offset.number < most_offset);
    return within ? nullptr : "it reaches memory beside a variable";
  }

  static bool parameter_space(const Opcode &op) {
    return op.has("param") || op.has("param::entry") || op.has("param::func");
  }

  void write(std::string_view word, Step &made) const {
    if (const auto reg = registers_.find(word); reg != registers_.end()) made.writes.push_back(reg->second);
    made.outputs.push_back(word);
  }

  // call (result), name, (arguments): a name, or a register and a prototype. Arguments are variables that were stored
  // to.
  static void call(const Statement &statement, const Body &body, Step &made) {
    int words = 0;
    bool variables = true;
    for (const Operand &operand : statement.operands) {
      if (operand.kind == Operand::Kind::word && ++words == 1) made.callee = operand.words[0];
      variables = variables && !operand.altered && operand.second.empty();
      if (operand.kind != Operand::Kind::word)
        for (const std::string_view word : operand.words)
          variables = variables && body.params.count(word) > 0 && body.bits(word) == 0;
    }
    if (words != 1 || !variables || made.callee[0] == '%') made.callee = {};
  }

  const Module &module_;
  const Function &function_;
  std::unordered_map<std::string_view, int> registers_;
};

}  // namespace

Steps steps_of(const Module &module, const Function &function) { return Numbering(module, function).number_all(); }

bool integer_type(std::string_view type) {
  return type == "u32" || type == "s32" || type == "b32" || type == "u64" || type == "s64" || type == "b64";
}

}  // namespace sextant::retune::ptx
