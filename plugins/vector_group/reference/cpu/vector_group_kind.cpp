// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.vector_group/1: every group in every type over a few sizes; all vectors are compared, also those only read.
#include <cstdint>
#include <memory>

#include "sextant/sdk/cases.hpp"
#include "vector_group_reference.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;
using namespace sextant::vector_group_reference;

namespace {

const std::int64_t sizes[] = {0, 1, 63, 64, 65, 1000, 5003};
constexpr std::uint64_t rounds = 4;

struct Case {
  Operands operands;
  sxt_vector_group_query query{};
  sxt_vector_group_args args{};
  Moved moved;
  char description[80];
};

sxt_status make(std::int32_t group, sxt_value_type type, std::int64_t n, Random random, sxt_case *out) {
  return guard(nullptr, [&] {
    auto c = std::make_unique<Case>();
    c->operands = Operands(group, type, n, random);
    c->args.h = head<sxt_vector_group_args>(SXT_KIND_VECTOR_GROUP);
    c->operands.fill(c->args, group);
    c->query.q = {head<sxt_vector_group_query>(SXT_KIND_VECTOR_GROUP), 1, 0, type};
    c->query.n = n;
    c->query.group = group;
    std::snprintf(c->description, sizeof c->description, "group %d of %s, n = %lld", group, value_name(type),
                  (long long)n);
    *out = {sizeof(sxt_case), c->description, &c->query.q, nullptr, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return make(static_cast<std::int32_t>(1 + i % groups), static_cast<sxt_value_type>(1 + i / groups % types),
              sizes[(i + i / groups) % std::size(sizes)], Random(seed, i), out);
}

sxt_status make_case_like(const sxt_host *, std::uint64_t seed, std::uint64_t i, const sxt_query *like, sxt_case *out) {
  constexpr std::int64_t telling[] = {1000, 63, 5003, 65};
  if (i >= 2 * std::size(telling)) return SXT_NOT_APPLICABLE;
  const auto &query = as<sxt_vector_group_query>(like);
  return make(query.group, query.q.value_type, telling[i % std::size(telling)], Random(seed, i), out);
}

sxt_status compare(const sxt_case *got, const sxt_case *want, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    Verdict verdict(error, message);
    static_cast<const Case *>(got->owner)->operands.compare(static_cast<const Case *>(want->owner)->operands, verdict);
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return move_owner<Case>(moved, exec, to_device, [](Case &c, Move &move) { c.operands.move(move, c.args); });
}

}  // namespace

namespace sextant::vector_group_reference {

const sxt_kind_alike kind =
    kind_alike_of_cases<Case>(SXT_KIND_VECTOR_GROUP, "the vector updates of one PCG iteration in one pass",
                              {&kernel, groups *types *rounds, make_case, compare, move_case}, make_case_like);

}  // namespace sextant::vector_group_reference
