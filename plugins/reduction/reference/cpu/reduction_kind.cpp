// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.reduction/1: cases over operations, types and sizes around block borders, and over numbers that overflow,
// vanish or are NaN.
#include <cmath>
#include <cstdint>
#include <memory>

#include "reduction_reference.hpp"
#include "sextant/sdk/cases.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

const std::int64_t sizes[] = {0, 1, 2, 31, 33, 1000, 1023, 1024, 1025, 2049, 7777, 100000};
constexpr std::uint64_t operations = 9, types = 4, rounds = 6;
constexpr std::uint64_t regular = operations * types * rounds;

// The change of a case's random numbers.
enum Special { none, huge, minute, one_nan, one_infinity, both, all_zero, ties };
struct SpecialCase {
  const char *name;
  Special what;
  std::int32_t operation;
};
const SpecialCase specials[] = {
    {"nrm2 of numbers whose squares overflow", huge, SXT_REDUCTION_NRM2},
    {"nrm2 of numbers whose squares vanish", minute, SXT_REDUCTION_NRM2},
    {"nrm2 of zeros", all_zero, SXT_REDUCTION_NRM2},
    {"nrm2 with a NaN", one_nan, SXT_REDUCTION_NRM2},
    {"nrm2 with an infinity", one_infinity, SXT_REDUCTION_NRM2},
    {"nrm2 with a NaN and an infinity", both, SXT_REDUCTION_NRM2},
    {"sum with a NaN", one_nan, SXT_REDUCTION_SUM},
    {"dot with a NaN", one_nan, SXT_REDUCTION_DOT},
    {"dotc with a NaN", one_nan, SXT_REDUCTION_DOTC},
    {"asum with a NaN", one_nan, SXT_REDUCTION_ASUM},
    {"asum with an infinity", one_infinity, SXT_REDUCTION_ASUM},
    {"amax with a NaN", one_nan, SXT_REDUCTION_AMAX},
    {"amax with a NaN after an infinity", both, SXT_REDUCTION_AMAX},
    {"amax with an infinity", one_infinity, SXT_REDUCTION_AMAX},
    {"min with a NaN", one_nan, SXT_REDUCTION_MIN},
    {"max with a NaN after an infinity", both, SXT_REDUCTION_MAX},
    {"min with an infinity", one_infinity, SXT_REDUCTION_MIN},
    {"max with an infinity", one_infinity, SXT_REDUCTION_MAX},
    {"max of zeros", all_zero, SXT_REDUCTION_MAX},
    {"iamax with a NaN", one_nan, SXT_REDUCTION_IAMAX},
    {"iamax of equal numbers", ties, SXT_REDUCTION_IAMAX},
    {"iamax of zeros", all_zero, SXT_REDUCTION_IAMAX},
};

struct Case {
  Array x, y, value;        // value: the result of all operations but iamax
  std::int64_t index = -2;  // iamax
  sxt_reduction_query query{};
  sxt_reduction_args args{};
  Moved moved;
  char description[120];
};

bool gives_real(std::int32_t operation) {
  return operation == SXT_REDUCTION_NRM2 || operation == SXT_REDUCTION_ASUM || operation == SXT_REDUCTION_AMAX ||
         operation == SXT_REDUCTION_MIN || operation == SXT_REDUCTION_MAX;
}

// min and max compare real numbers only.
bool ordered(std::int32_t operation) { return operation == SXT_REDUCTION_MIN || operation == SXT_REDUCTION_MAX; }

void disturb(Array &x, Special what) {
  const std::int64_t n = x.size();
  const bool single = real_type(x.type()) == SXT_F32;
  const double big = single ? 0x1p120 : 0x1p1000, small = single ? 0x1p-130 : 0x1p-1040;
  for (std::int64_t i = 0; i < n; ++i) {
    if (what == huge) x.set(i, x.at(i) * big);
    if (what == minute) x.set(i, x.at(i) * small);
    if (what == all_zero) x.set(i, 0);
    if (what == ties) x.set(i, i % 3 == 1 ? -2 : 1);
  }
  if (what == one_infinity || what == both) x.set(n / 3, -std::numeric_limits<double>::infinity());
  if (what == one_nan || what == both) x.set(n / 2, std::numeric_limits<double>::quiet_NaN());
}

void make(Case &c, std::int32_t operation, sxt_value_type type, std::int64_t n, Special what, const char *name,
          Random &random) {
  if (ordered(operation)) type = real_type(type);
  c.x = Array(type, n, random);
  c.y = Array(type, n, random);
  disturb(c.x, what);
  c.value = Array(gives_real(operation) ? real_type(type) : type, 1);
  c.query.q = {head<sxt_reduction_query>(SXT_KIND_REDUCTION), 1, 0, type};
  c.query.n = n;
  c.query.operation = operation;
  // Every third length of single precision also asks for more than its own precision, which the reference has.
  c.query.accuracy = n % 3 == 1 && real_type(type) == SXT_F32 ? SXT_ACCURACY_DOUBLED : SXT_ACCURACY_WORKING;
  void *result = operation == SXT_REDUCTION_IAMAX ? static_cast<void *>(&c.index) : c.value.data();
  c.args = {head<sxt_reduction_args>(SXT_KIND_REDUCTION), n, operation, 0, c.x.data(), c.y.data(), result};
  std::snprintf(c.description, sizeof c.description, "%s, operation %d of %s, n = %lld", name, operation,
                value_name(type), (long long)n);
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    if (i < regular) {
      const std::uint64_t round = i / (operations * types), type = i / operations % types;
      make(*c, static_cast<std::int32_t>(1 + i % operations), static_cast<sxt_value_type>(1 + type),
           sizes[(i + 5 * type + 7 * round) % std::size(sizes)], none, "random", random);
    } else {
      const std::uint64_t s = (i - regular) / types;
      make(*c, specials[s].operation, static_cast<sxt_value_type>(1 + i % types),
           1500 + 100 * static_cast<std::int64_t>(s), specials[s].what, specials[s].name, random);
    }
    *out = {sizeof(sxt_case), c->description, &c->query.q, nullptr, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

sxt_status make_case_like(const sxt_host *, std::uint64_t seed, std::uint64_t i, const sxt_query *like, sxt_case *out) {
  constexpr std::int64_t telling[] = {1025, 33, 1000, 7777, 2, 2049, 1023};
  constexpr Special odd[] = {none, none, huge, one_nan};
  if (i >= 2 * std::size(telling)) return SXT_NOT_APPLICABLE;
  return guard(nullptr, [&] {
    const auto &query = as<sxt_reduction_query>(like);
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    const Special what = query.operation == SXT_REDUCTION_NRM2 ? odd[i % std::size(odd)] : none;
    make(*c, query.operation, query.q.value_type, telling[i % std::size(telling)], what, "random", random);
    c->query.accuracy = query.accuracy;
    *out = {sizeof(sxt_case), c->description, &c->query.q, nullptr, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

// Rounding grows like the square root of n in any reasonable order of adding; the sum of magnitudes scales it.
double bound_of(const Case &c) {
  const std::int64_t n = c.args.n;
  double growth = (16 + 4 * std::sqrt(static_cast<double>(n))) * epsilon(c.x.type());
  // In twice the precision: one rounding of the result, which the sum of magnitudes bounds, and n of the square.
  if (c.query.accuracy == SXT_ACCURACY_DOUBLED)
    growth = epsilon(c.x.type()) * (1 + static_cast<double>(n) * epsilon(c.x.type()));
  double total = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool product = c.args.operation == SXT_REDUCTION_DOT || c.args.operation == SXT_REDUCTION_DOTC;
    const double term = magnitude(c.x.at(i)) * (product ? magnitude(c.y.at(i)) : 1);
    // NaN and infinity bound nothing: the other part of a complex sum still has to be right.
    if (std::isfinite(term)) total += term;
  }
  // A norm is relative to itself; a result below the normal numbers is good to the last one of them.
  if (c.args.operation == SXT_REDUCTION_NRM2) total = magnitude(c.value.at(0));
  return growth * total + tiny(c.x.type()) * epsilon(c.x.type());
}

sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    Verdict verdict(error, message);
    if (want.args.operation == SXT_REDUCTION_IAMAX)
      verdict.check("index", 0, static_cast<double>(got.index), static_cast<double>(want.index), 0);
    else
      verdict.check("result", 0, got.value.at(0), want.value.at(0),
                    want.args.operation == SXT_REDUCTION_AMAX || ordered(want.args.operation) ? 0 : bound_of(want));
    if (!got.value.guard_intact()) verdict.fail("the kernel wrote beyond the result");
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return move_owner<Case>(moved, exec, to_device, [&](Case &c, Move &move) {
    move.array(c.x).array(c.y).array(c.value).block(&c.index, sizeof c.index);
    move.point(c.args.x).point(c.args.y).point(c.args.result);
    c.args.result_on_device = to_device;
  });
}

}  // namespace

namespace sextant::reduction_reference {

const sxt_kind_alike kind = kind_alike_of_cases<Case>(
    SXT_KIND_REDUCTION, "one number from one or two vectors",
    {&kernel, regular + std::size(specials) * types, make_case, compare, move_case}, make_case_like);

}  // namespace sextant::reduction_reference
