// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.vector_group_dots/1: every group in every type with none to four inner products, over sizes around the
// borders of registers, warps and blocks; all vectors and all products are compared.
#include <cmath>
#include <cstdint>
#include <memory>

#include "sextant/sdk/cases.hpp"
#include "vector_group_reference.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;
using namespace sextant::vector_group_reference;

namespace {

const std::int64_t sizes[] = {0, 1, 31, 33, 255, 257, 1024, 1025, 5003, 70001};
constexpr std::uint64_t rounds = 5;

struct Case {
  Operands operands;
  Array dots;
  sxt_vector_group_dots_query query{};
  sxt_vector_group_dots_args args{};
  Moved moved;
  char description[100];
};

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    const auto group = static_cast<std::int32_t>(1 + i % groups);
    const auto type = static_cast<sxt_value_type>(1 + i / groups % types);
    const auto n_dots = static_cast<std::int32_t>((i / (groups * types) + i) % (SXT_VECTOR_GROUP_DOTS_MAX + 1));
    const std::int64_t n = sizes[(i + i / groups) % std::size(sizes)];
    c->operands = Operands(group, type, n, random);
    c->dots = Array(type, n_dots);
    sxt_vector_group_args &g = c->args.g;
    g.h = head<sxt_vector_group_dots_args>(SXT_KIND_VECTOR_GROUP_DOTS);
    c->operands.fill(g, group);
    c->args.n_dots = n_dots;
    for (int d = 0; d < n_dots; ++d) {
      c->args.a[d] = static_cast<std::int32_t>(random.below(vectors_of[group]));
      c->args.b[d] = static_cast<std::int32_t>(random.below(vectors_of[group]));
    }
    c->args.dots = c->dots.data();
    c->query.q = {head<sxt_vector_group_dots_query>(SXT_KIND_VECTOR_GROUP_DOTS), 1, 0, type};
    c->query.n = n;
    c->query.group = group;
    c->query.n_dots = n_dots;
    std::snprintf(c->description, sizeof c->description, "group %d of %s with %d products, n = %lld", group,
                  value_name(type), n_dots, (long long)n);
    *out = {sizeof(sxt_case), c->description, &c->query.q, nullptr, nullptr, &c->args.g.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

// The rounding of a product of vectors grows like the square root of n.
sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    Verdict verdict(error, message);
    got.operands.compare(want.operands, verdict);
    const sxt_value_type type = want.dots.type();
    const double growth = (64 + 4 * std::sqrt(static_cast<double>(want.args.g.n))) * epsilon(type);
    for (std::int32_t d = 0; d < want.args.n_dots; ++d) {
      const Array &a = want.operands.vectors[want.args.a[d]], &b = want.operands.vectors[want.args.b[d]];
      double total = 0;
      for (std::int64_t i = 0; i < want.args.g.n; ++i) total += (magnitude(a.at(i)) + 1) * (magnitude(b.at(i)) + 1);
      verdict.check("product", d, got.dots.at(d), want.dots.at(d), growth * total + tiny(type));
    }
    if (!got.dots.guard_intact()) verdict.fail("the kernel wrote beyond the products");
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return move_owner<Case>(moved, exec, to_device, [](Case &c, Move &move) {
    c.operands.move(move, c.args.g);
    move.array(c.dots).point(c.args.dots);
  });
}

}  // namespace

namespace sextant::vector_group_reference {

const sxt_kind dots_kind = kind_of_cases<Case>(
    SXT_KIND_VECTOR_GROUP_DOTS, "the vector updates of one PCG iteration with inner products in one pass",
    {&dots_kernel, groups *types *rounds, make_case, compare, move_case});

}  // namespace sextant::vector_group_reference
