// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.convert/1: cases over both operations and types, with and without scales, at sizes around block borders.
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>

#include "convert_reference.hpp"
#include "sextant/sdk/cases.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

const std::int64_t sizes[] = {1000, 0, 1, 5, 255, 256, 257, 20011};
constexpr std::uint64_t operations = 2, types = 2, rounds = std::size(sizes);

struct Case {
  Array x, y, scale;
  sxt_convert_query query{};
  sxt_convert_args args{};
  Moved moved;
  char description[100];
};

sxt_status make(std::int32_t operation, sxt_value_type type, std::int64_t n, bool scaled, Random random,
                sxt_case *out) {
  return guard(nullptr, [&] {
    auto c = std::make_unique<Case>();
    const sxt_value_type single = type == SXT_F64 ? SXT_F32 : SXT_C64;
    const bool narrows = operation == SXT_CONVERT_NARROW;
    c->x = Array(narrows ? type : single, n, random);
    c->y = Array(narrows ? single : type, n, random);
    c->scale = Array(SXT_F64, n, random);
    if (narrows) c->y.poison(0, n);  // it is only written
    c->query.q = {head<sxt_convert_query>(SXT_KIND_CONVERT), 1, 0, type};
    c->query.n = n, c->query.operation = operation;
    c->args = {head<sxt_convert_args>(SXT_KIND_CONVERT),
               n,
               operation,
               0,
               narrows ? 0.375 : 0x1p-600,
               narrows ? 1.0 : 0x1p601,
               static_cast<const double *>(scaled ? c->scale.data() : nullptr),
               c->x.data(),
               c->y.data()};
    std::snprintf(c->description, sizeof c->description, "operation %d of %s, n = %lld%s", operation, value_name(type),
                  (long long)n, scaled ? ", scaled" : "");
    *out = {sizeof(sxt_case), c->description, &c->query.q, nullptr, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  const std::uint64_t round = i / (operations * types);
  return make(static_cast<std::int32_t>(1 + i % operations), i / operations % types ? SXT_C128 : SXT_F64,
              sizes[round % std::size(sizes)], (i + round) % 3 != 0, Random(seed, i), out);
}

sxt_status make_case_like(const sxt_host *, std::uint64_t seed, std::uint64_t i, const sxt_query *like, sxt_case *out) {
  constexpr std::int64_t telling[] = {1000, 257, 5, 20011};
  if (i >= 2 * std::size(telling)) return SXT_NOT_APPLICABLE;
  const auto &query = as<sxt_convert_query>(like);
  return make(query.operation, query.q.value_type, telling[i % std::size(telling)], i < std::size(telling),
              Random(seed, i), out);
}

// Products of numbers below 1, one rounding each, and a sum.
sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    const double bound = 4 * epsilon(want.y.type());
    Verdict verdict(error, message);
    for (std::int64_t i = 0; i < want.x.size(); ++i) verdict.check("x", i, got.x.at(i), want.x.at(i), 0);
    for (std::int64_t i = 0; i < want.y.size(); ++i) verdict.check("y", i, got.y.at(i), want.y.at(i), bound);
    if (!got.x.guard_intact() || !got.y.guard_intact()) verdict.fail("the kernel wrote beyond the end of a vector");
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return move_owner<Case>(moved, exec, to_device, [](Case &c, Move &move) {
    move.array(c.x).array(c.y).array(c.scale);
    move.point(c.args.x).point(c.args.y).point(c.args.scale);
  });
}

}  // namespace

namespace sextant::convert_reference {

const sxt_kind_alike kind =
    kind_alike_of_cases<Case>(SXT_KIND_CONVERT, "vectors between the working and single precision",
                              {&kernel, operations *types *rounds, make_case, compare, move_case}, make_case_like);

}  // namespace sextant::convert_reference
