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

// The same number with more bits: true of the index and its parts, of constants as far as both readings agree.
Value widened(const Value &value, bool is_signed) {
  if (value.plain()) {
    const bool same = value.number >= (is_signed ? -half_range : 0) && value.number < half_range;
    return value.constant && same ? value : Value::free(value.indexed);
  }
  return value.single() != parts ? value : Value::lost();
}

// Register `bits` wide: a wider one than the type gets the narrow result with more bits.
Value converted(const Opcode &op, const Value &value, int bits) {
  if (value.kind == Value::Kind::local_address) return Value::lost();
  const std::string_view from = op.type;
  const std::string_view to = op.modifiers.size() > 1 ? op.modifiers[op.modifiers.size() - 2] : std::string_view{};
  if (!integer_type(from) || !integer_type(to) || op.has("sat"))
    return value.plain() ? Value::free(value.indexed) : Value::lost();
  if (bits != 64 && (bits != 32 || wide_type(to))) return value.plain() ? Value::free(value.indexed) : Value::lost();
  if (wide_type(to) && !wide_type(from)) return widened(value, from == "s32");
  if (bits == 64 && !wide_type(to)) return widened(value, to == "s32");
  return value;
}

// Whether registers are as wide as the instruction's type says, which ptxas demands of all but conversions and
// accesses.
bool fits(const Step &step) {
  const int bits = wide_type(step.op.type) ? 64 : 32, result = step.op.has("wide") ? 2 * bits : bits;
  if (step.bits != result) return false;
  for (std::size_t i = 0; i < step.reads.size(); ++i) {
    const int wanted = step.op.operation == Operation::multiply_add && i == 2 ? result
                       : step.op.operation == Operation::shift_left && i == 1 ? 32
                                                                              : bits;
    if (step.reads[i].bits != 0 && step.reads[i].bits != wanted) return false;
  }
  return true;
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

Value followed(const Step &step, const std::vector<Value> &values) {
  const Opcode &op = step.op;
  const bool integers = integer_type(op.type) && !op.has("cc") && !op.has("sat");
  if (step.pieces || step.altered) return nowhere(values);
  const bool converts = op.operation == Operation::convert || op.operation == Operation::address;
  if (!converts && integer_type(op.type) && !fits(step)) return nowhere(values);
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
    case Operation::convert: return values.size() == 1 ? converted(op, values[0], step.bits) : nowhere(values);
    case Operation::address:  // plus where the space begins, which no number of the text says
      if (values.size() != 1 || values[0].depends()) return Value::lost();
      return values[0].plain() ? Value::free(values[0].indexed) : values[0];
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
  return followed(step, values);
}

}  // namespace sextant::retune::ptx
