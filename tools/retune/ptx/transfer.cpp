// SPDX-License-Identifier: BSD-3-Clause
// What instructions do to the dependence on the shape. Launches have fewer than 2^31 threads, so that the index, its
// parts and the stride are the same numbers in registers of 32 and of 64 bits, signed or not.
#include "ptx/steps.hpp"

namespace sextant::retune::ptx {
namespace {

constexpr std::int64_t half_range = std::int64_t{1} << 31;

Value nowhere(const std::vector<Value> &values) {
  bool indexed = false;
  for (const Value &value : values) {
    if (!value.plain()) return Value::lost();
    indexed = indexed || value.indexed;
  }
  return Value::free(indexed);
}

bool wide_type(std::string_view type) { return type == "u64" || type == "s64" || type == "b64"; }

// The same number with more bits: true of the index and its parts, of constants as far as both readings agree.
Value widened(const Value &value, bool is_signed) {
  if (value.plain()) {
    const bool same = value.number >= (is_signed ? -half_range : 0) && value.number < half_range;
    return value.constant && same ? value : Value::free(value.indexed);
  }
  return value.single() != parts ? value : Value::lost();
}

Value converted(const Opcode &op, const Value &value) {
  if (value.kind == Value::Kind::local_address) return Value::lost();
  const std::string_view from = op.type;
  const std::string_view to = op.modifiers.size() > 1 ? op.modifiers[op.modifiers.size() - 2] : std::string_view{};
  if (!integer_type(from) || !integer_type(to) || op.has("sat"))
    return value.plain() ? Value::free(value.indexed) : Value::lost();
  if (wide_type(to) && !wide_type(from)) return widened(value, from == "s32");
  return value;
}

Value multiplied(const Opcode &op, const std::vector<Value> &values) {
  if (!integer_type(op.type) || values.size() < 2 || op.has("sat")) return nowhere(values);
  if (op.has("wide")) {
    const bool is_signed = op.type == "s32";
    return product(widened(values[0], is_signed), widened(values[1], is_signed));
  }
  return op.has("lo") ? product(values[0], values[1]) : nowhere(values);
}

Value shifted(const Opcode &op, const std::vector<Value> &values) {
  if (!integer_type(op.type) || values.size() != 2 || !values[1].constant || values[1].number < 0 ||
      values[1].number > 30)
    return nowhere(values);
  return product(values[0], Value::of(std::int64_t{1} << values[1].number));
}

Value followed(const Opcode &op, const std::vector<Value> &values) {
  const bool integers = integer_type(op.type) && !op.has("cc") && !op.has("sat");
  switch (op.operation) {
    case Operation::add:
    case Operation::subtract:
      if (!integers || values.size() != 2) return nowhere(values);
      return sum(values[0], values[1], op.operation == Operation::add ? 1 : -1);
    case Operation::negate:
      return integers && values.size() == 1 ? sum(Value::of(std::int64_t{0}), values[0], -1) : nowhere(values);
    case Operation::multiply: return multiplied(op, values);
    case Operation::multiply_add:
      if (!integers || values.size() != 3 || op.has("hi")) return nowhere(values);
      return sum(multiplied(op, {values[0], values[1]}), values[2], 1);
    case Operation::shift_left: return shifted(op, values);
    case Operation::move:
      return values.size() == 1 && (integer_type(op.type) || values[0].plain()) ? values[0] : nowhere(values);
    case Operation::convert: return values.size() == 1 ? converted(op, values[0]) : nowhere(values);
    case Operation::address: return values.size() != 1 || values[0].depends() ? Value::lost() : values[0];
    default: return nowhere(values);
  }
}

// A pointer may have come in: the address of a caller's local memory among them.
bool may_be_address(const Step &step, const Function &function, const Body &body) {
  return !function.kernel && step.op.has("param") && !body.params.count(step.base) && wide_type(step.op.type);
}

}  // namespace

Value written(const Step &step, const Function &function, const Body &body, const std::vector<Value> &registers) {
  if (step.op.operation == Operation::load)
    return may_be_address(step, function, body) ? Value::local() : Value::free();
  if (step.op.operation == Operation::atomic) return Value::free();
  std::vector<Value> values;
  for (const Source &source : step.reads) {
    values.push_back(value_of(source, registers));
    if (!values.back().set()) return {};
  }
  // Several halves in or out of one register: only what is free of the shape.
  if (step.op.operation == Operation::move && (values.size() > 1 || step.writes.size() > 1)) return nowhere(values);
  return followed(step.op, values);
}

}  // namespace sextant::retune::ptx
