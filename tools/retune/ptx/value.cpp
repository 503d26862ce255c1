// SPDX-License-Identifier: BSD-3-Clause
#include "ptx/value.hpp"

namespace sextant::retune::ptx {
namespace {

constexpr std::int64_t largest = std::int64_t{1} << 31;  // beyond that, factors are not followed

bool without_factors(const Value &value) {
  for (const std::int64_t factor : value.factor)
    if (factor != 0) return false;
  return true;
}

// k ctaid ntid + k tid is k times the linear index, which the shape does not change.
Value settled(Value value) {
  if (value.kind != Value::Kind::sum) return value;
  for (const std::int64_t factor : value.factor)
    if (factor > largest || factor < -largest) return Value::lost();
  if (value.factor[tid] != 0 && value.factor[tid] == value.factor[block_start]) {
    value.factor[tid] = value.factor[block_start] = 0;
    value.rest = value.indexed = true;
  }
  if (without_factors(value)) value.scaled = false;
  value.constant = !value.rest && without_factors(value);
  return value;
}

Value times(Value value, std::int64_t by) {
  for (std::int64_t &factor : value.factor) factor *= by;
  value.number = static_cast<std::int64_t>(static_cast<std::uint64_t>(value.number) * static_cast<std::uint64_t>(by));
  return settled(value);
}

}  // namespace

Value Value::free(bool indexed) {
  Value value;
  value.kind = Kind::sum, value.rest = true, value.indexed = indexed;
  return value;
}
Value Value::of(std::int64_t number) {
  Value value;
  value.kind = Kind::sum, value.constant = true, value.number = number;
  return value;
}
Value Value::of(Part part) {
  Value value;
  value.kind = Kind::sum, value.factor[part] = 1;
  return value;
}
Value Value::local() {
  Value value;
  value.kind = Kind::local_address;
  return value;
}
Value Value::lost() {
  Value value;
  value.kind = Kind::mixed;
  return value;
}

bool Value::depends() const { return kind == Kind::mixed || (kind == Kind::sum && !without_factors(*this)); }
bool Value::plain() const { return kind == Kind::sum && without_factors(*this); }

Part Value::single() const {
  if (kind != Kind::sum || rest || scaled || number != 0) return parts;
  Part found = parts;
  for (int part = 0; part < parts; ++part) {
    if (factor[static_cast<std::size_t>(part)] == 0) continue;
    if (factor[static_cast<std::size_t>(part)] != 1 || found != parts) return parts;
    found = static_cast<Part>(part);
  }
  return found;
}

Value join(const Value &a, const Value &b) {
  if (!a.set() || a == b) return b;
  if (!b.set()) return a;
  using Kind = Value::Kind;
  if (a.kind == Kind::mixed || b.kind == Kind::mixed) return Value::lost();
  if (a.kind == Kind::local_address || b.kind == Kind::local_address) {
    const Value &other = a.kind == Kind::local_address ? b : a;
    return other.depends() ? Value::lost() : Value::local();
  }
  if (a.factor != b.factor) return Value::lost();
  Value joined = a;
  joined.rest = true, joined.constant = false, joined.number = 0;
  joined.indexed = a.indexed || b.indexed;
  joined.scaled = a.scaled || b.scaled;
  return joined;
}

Value sum(const Value &a, const Value &b, std::int64_t sign) {
  using Kind = Value::Kind;
  if (!a.set() || !b.set()) return {};
  if (a.kind == Kind::mixed || b.kind == Kind::mixed) return Value::lost();
  if (a.kind == Kind::local_address || b.kind == Kind::local_address) {
    const bool moved = sign > 0 ? a.plain() || b.plain() : b.plain();
    return moved ? Value::local() : Value::lost();
  }
  // Two unknown factors need not be the same.
  if ((a.scaled && b.depends()) || (b.scaled && a.depends())) return Value::lost();
  Value total = a;
  total.scaled = a.scaled || b.scaled;
  for (std::size_t part = 0; part < parts; ++part) total.factor[part] += sign * b.factor[part];
  total.number = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.number) +
                                           static_cast<std::uint64_t>(sign) * static_cast<std::uint64_t>(b.number));
  total.rest = a.rest || b.rest || (total.scaled && total.number != 0);
  if (total.scaled) total.number = 0;
  total.indexed = a.indexed || b.indexed;
  return settled(total);
}

Value product(const Value &a, const Value &b) {
  if (!a.set() || !b.set()) return {};
  if (a.kind != Value::Kind::sum || b.kind != Value::Kind::sum) return Value::lost();
  if (b.constant && !a.constant) return product(b, a);
  if (!b.depends() && !(a.constant && b.constant) && !a.depends()) return Value::free(a.indexed || b.indexed);
  if (a.constant)
    return b.depends() && (a.number > largest || a.number < -largest) ? Value::lost() : times(b, a.number);
  if (!b.depends()) return product(b, a);
  if (!a.depends()) {
    Value multiple = b;
    multiple.scaled = true;
    multiple.rest = b.rest || b.number != 0;
    multiple.indexed = a.indexed || b.indexed;
    multiple.number = 0;
    return multiple;
  }
  // (ctaid + k) * ntid and ntid * nctaid, with or without a factor that is not known.
  if (a.rest || b.rest) return Value::lost();
  const auto only = [](const Value &value, Part part) {
    for (std::size_t other = 0; other < parts; ++other)
      if (other != part && value.factor[other] != 0) return false;
    return true;
  };
  if (!only(b, ntid)) return only(a, ntid) ? product(b, a) : Value::lost();
  if (a.factor[tid] != 0 || a.factor[block_start] != 0 || a.factor[ntid] != 0 || b.number != 0) return Value::lost();
  Value result = times(Value::of(ntid), a.number);
  result.factor[block_start] = a.factor[ctaid];
  result.rest = a.factor[nctaid] != 0;
  result.scaled = a.scaled || b.scaled;
  return times(result, b.factor[ntid]);
}

std::string text(const Value &value) {
  static constexpr const char *names[] = {"%tid.x", "%ctaid.x", "%ntid.x", "%nctaid.x", "%ctaid.x * %ntid.x"};
  if (value.kind == Value::Kind::local_address) return "the address of local memory";
  std::string words;
  if (value.kind == Value::Kind::sum)
    for (std::size_t part = 0; part < parts; ++part)
      if (value.factor[part] != 0) words += (words.empty() ? "" : " and ") + std::string(names[part]);
  return words.empty() ? "a value that depends on the shape" : words;
}

}  // namespace sextant::retune::ptx
