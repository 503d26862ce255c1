// SPDX-License-Identifier: BSD-3-Clause
#include "ptx/prove.hpp"

#include "ptx/steps.hpp"

namespace sextant::retune::ptx {
namespace {

constexpr int most_passes = 64;
constexpr std::size_t most_statements = 20000;  // a launch waits for its kernel's proof
constexpr int most_calls = 64;  // one within the other: the proof goes down them on the program's own stack

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  for (const std::string_view each : words)
    if (word == each) return true;
  return false;
}

// Modifiers of ordinary accesses: spaces that are not shared, caching, vectors and types.
bool ordinary(std::string_view modifier) {
  if (one_of(modifier, {"global", "const", "local", "param", "param::entry", "param::func", "weak", "ca", "cg", "cs",
                        "lu", "wb", "wt", "nc", "v2", "v4", "v8", "unified"}))
    return true;
  if (modifier.substr(0, 4) == "L1::" || (modifier.substr(0, 4) == "L2::" && modifier != "L2::cache_hint")) return true;
  return modifier.size() >= 2 && one_of(modifier.substr(0, 1), {"b", "u", "s", "f"}) && modifier[1] >= '1' &&
         modifier[1] <= '9';
}

bool floating(std::string_view type) { return type[0] == 'f' || type.substr(0, 2) == "bf"; }

constexpr const char *two_atomics = "it has two kinds of atomic operations, of which the order may count";

// "add.f32": what an atomic operation does, apart from where.
std::string step_text(const Step &step) {
  std::string text;
  for (const std::string_view modifier : step.op.modifiers) {
    const bool type = modifier.size() > 1 && one_of(modifier.substr(0, 1), {"b", "u", "s", "f", "v"}) &&
                      modifier[1] >= '1' && modifier[1] <= '9';
    if (type || floating(modifier) || one_of(modifier, {"add", "min", "max", "and", "or", "xor"}))
      text += "." + std::string(modifier);
  }
  return text;
}

class Check {
 public:
  Check(const Module &module, const Function &function) : module_(module), function_(function) {}

  // Callees are left to `callees`.
  Verdict run(std::vector<std::pair<std::string_view, std::size_t>> &callees) {
    all_ = steps_of(module_, function_);
    if (function_.refusal) return refused(function_.refusal);
    if (all_.refusal) return refused(all_.refusal);
    if (all_.steps.size() > most_statements)
      return refused({function_.line, "it has more than " + std::to_string(most_statements) + " instructions"});
    values_.resize(static_cast<std::size_t>(all_.registers));
    if (!settle()) return refused({function_.line, "its loops are not understood"});
    for (const Step &step : all_.steps) {
      if (step.op.operation == Operation::call) callees.emplace_back(step.callee, step.line);
      if (std::string why = wrong(step); !why.empty()) return refused({step.line, std::move(why)});
    }
    if (function_.kernel && unchecked_ > 0 && !bound_check_)
      return refused({unchecked_, "it reaches memory by the linear index without comparing the index with a bound"});
    verdict_.proven = true;
    return verdict_;
  }

 private:
  static Verdict refused(const Refusal &refusal) { return {false, false, refusal.line, refusal.reason}; }

  // The least values that satisfy every step: a register's is that of all its definitions together.
  bool settle() {
    bool changed = true;
    for (int pass = 0; changed; ++pass) {
      if (pass == most_passes) return false;
      changed = false;
      for (const Step &step : all_.steps) {
        if (step.writes.empty()) continue;
        const Value value = written(step, function_, all_.body, values_);
        if (!value.set()) continue;
        for (const int reg : step.writes) {
          Value &held = values_[static_cast<std::size_t>(reg)];
          const Value joined = join(held, value);
          if (!(joined == held)) held = joined, changed = true;
        }
      }
    }
    return true;
  }

  // Why this may not be read there; empty: it may.
  std::string unreadable(const Source &source, const Step &step, bool local_too) const {
    if (!source.problem.empty()) return source.problem;
    const Value &value = value_of(source, values_);
    if (!value.set()) return std::string(source.word) + " is never set";
    if (value.plain() || (local_too && value.kind == Value::Kind::local_address)) return {};
    return text(value) + " reaches " + std::string(step.op.name) + " in " + std::string(source.word);
  }

  // .uni says that all threads of a warp go one way, and which threads share a warp follows from the block. Compilers
  // write it of jumps and calls that every thread takes which comes there.
  static bool divergent(const Step &step) {
    const bool always = step.op.operation == Operation::branch && step.op.name == "bra" && !step.guarded;
    const bool called = step.op.operation == Operation::call && !step.guarded;
    return step.op.has("uni") && !always && !called;
  }

  std::string wrong(const Step &step) {
    if (divergent(step)) return "it says that all threads of a warp go one way";
    if (step.guarded)
      if (std::string why = unreadable(step.guard, step, false); !why.empty()) return why;
    switch (step.op.operation) {
      case Operation::unknown: return "the instruction " + std::string(step.op.name) + " is not known";
      case Operation::refused: return step.op.why;
      case Operation::call: return {};
      case Operation::load:
      case Operation::store:
      case Operation::prefetch: return wrong_access(step);
      case Operation::atomic:
      case Operation::reduce: return wrong_atomic(step);
      case Operation::pure:
      case Operation::compare:
      case Operation::branch:
      case Operation::leave: return wrong_use(step);
      default: return wrong_sum(step);
    }
  }

  std::string wrong_use(const Step &step) {
    for (const Source &source : step.reads) {
      if (std::string why = unreadable(source, step, false); !why.empty()) return why;
      if (step.op.operation == Operation::compare && integer_type(step.op.type) && value_of(source, values_).indexed)
        bound_check_ = true;
    }
    return {};
  }

  // Where the index is put together: parts may be read, but the result must have a name.
  std::string wrong_sum(const Step &step) const {
    for (const Source &source : step.reads) {
      if (!source.problem.empty()) return source.problem;
      if (!value_of(source, values_).set()) return std::string(source.word) + " is never set";
    }
    const Value value = written(step, function_, all_.body, values_);
    if (value.kind != Value::Kind::mixed) return {};
    for (const Source &source : step.reads)
      if (std::string why = unreadable(source, step, false); !why.empty()) return why;
    return "a value that depends on the shape reaches " + std::string(step.op.name);
  }

  std::string wrong_address(const Step &step) {
    for (const Source &source : step.address) {
      if (std::string why = unreadable(source, step, true); !why.empty()) return why;
      if (value_of(source, values_).indexed && unchecked_ == 0) unchecked_ = step.line;
    }
    return {};
  }

  std::string wrong_access(const Step &step) {
    for (const std::string_view modifier : step.op.modifiers) {
      if (modifier.substr(0, 6) == "shared") return "it uses shared memory";
      if (step.op.operation != Operation::prefetch && !ordinary(modifier))
        return "it accesses memory as ." + std::string(modifier);
    }
    if (std::string why = wrong_address(step); !why.empty()) return why;
    // Arguments of calls may be addresses of local memory; what is kept or returned may not.
    const bool argument = step.op.has("param") && all_.body.params.count(step.base) > 0;
    for (const Source &source : step.reads)
      if (std::string why = unreadable(source, step, argument); !why.empty()) return why;
    return {};
  }

  std::string wrong_atomic(const Step &step) {
    bool operation = false, adds = false, floats = false;
    for (const std::string_view modifier : step.op.modifiers) {
      if (modifier.substr(0, 6) == "shared") return "it uses shared memory";
      adds = adds || modifier == "add";
      floats = floats || floating(modifier);
      operation = operation || one_of(modifier, {"add", "min", "max", "and", "or", "xor"});
      if (!ordinary(modifier) && !floating(modifier) &&
          !one_of(modifier, {"relaxed", "gpu", "sys", "noftz", "add", "min", "max", "and", "or", "xor"}))
        return "its atomic operation is ." + std::string(modifier) + ", which may depend on order or block";
    }
    if (!operation) return "its atomic operation is not known";
    if (!verdict_.atomic.empty() && verdict_.atomic != step_text(step)) return two_atomics;
    verdict_.atomic = step_text(step);
    for (const std::string_view output : step.outputs)
      if (all_.read.count(output)) return "it uses the value that an atomic operation returns";
    if (std::string why = wrong_address(step); !why.empty()) return why;
    for (const Source &source : step.reads)
      if (std::string why = unreadable(source, step, false); !why.empty()) return why;
    verdict_.reorders = verdict_.reorders || (adds && floats);
    return {};
  }

  const Module &module_;
  const Function &function_;
  Steps all_;
  std::vector<Value> values_;
  Verdict verdict_;
  std::size_t unchecked_ = 0;  // the first line that reaches memory by the index
  bool bound_check_ = false;
};

}  // namespace

Verdict Prover::prove_function(const Function &function, int depth) {
  std::vector<std::pair<std::string_view, std::size_t>> callees;
  Verdict verdict = Check(module_, function).run(callees);
  for (const auto &[name, line] : callees) {
    if (!verdict.proven) break;
    const auto callee = module_.functions.find(name);
    if (name.empty()) {
      verdict = {false, false, line, "it calls through a pointer, or with registers as arguments"};
    } else if (callee == module_.functions.end() || callee->second.kernel) {
      verdict = {false, false, line, "it calls " + std::string(name) + ", which has no body in this module"};
    } else if (depth == most_calls) {
      verdict = {false, false, line, "its calls go deeper than " + std::to_string(most_calls) + " functions"};
    } else {
      // Met again while it is being proven, it is recursive: what is assumed of it then could be wrong.
      const bool first = callees_.emplace(name, Verdict{false, false, line, "it is recursive"}).second;
      if (first) callees_[name] = prove_function(callee->second, depth + 1);
      const Verdict inner = callees_[name];
      if (!inner.proven)
        verdict = {false, false, inner.line, "it calls " + std::string(name) + ": " + inner.reason};
      else if (!verdict.atomic.empty() && !inner.atomic.empty() && verdict.atomic != inner.atomic)
        verdict = {false, false, line, two_atomics};
      else
        verdict.reorders = verdict.reorders || inner.reorders,
        verdict.atomic += verdict.atomic.empty() ? inner.atomic : "";
    }
  }
  return verdict;
}

Verdict Prover::prove(std::string_view kernel) {
  if (module_.refusal) return {false, false, module_.refusal.line, module_.refusal.reason};
  const auto found = module_.functions.find(kernel);
  if (found == module_.functions.end() || !found->second.kernel)
    return {false, false, 0, "the PTX has no kernel of this name"};
  return prove_function(found->second);
}

std::unordered_map<std::string, Verdict> prove_all(std::string_view text) {
  const Module module = read_module(text);
  Prover prover(module);
  std::unordered_map<std::string, Verdict> all;
  for (const auto &[name, function] : module.functions)
    if (function.kernel) all.emplace(name, prover.prove(name));
  return all;
}

}  // namespace sextant::retune::ptx
