// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.multidot/1: cases over the number of pairs, shared arrays, types and sizes around block borders.
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>

#include "multidot_reference.hpp"
#include "sextant/sdk/cases.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

const std::int64_t sizes[] = {1025, 0, 1, 100, 1023, 1024, 5000, 40000};
constexpr std::uint64_t types = 4, rounds = 4;

struct Case {
  std::vector<Array> arrays;
  std::vector<std::size_t> left, right;  // which array stands in each pair
  std::vector<const void *> u, v;
  Array result;
  sxt_multidot_query query{};
  sxt_multidot_args args{};
  Moved moved;
  char description[100];
};

// distinct: no two pairs share an array; else few arrays, so that pairs share them and some pairs are squares.
sxt_status make(std::int32_t n_dots, sxt_value_type type, std::int64_t n, bool distinct, Random random, sxt_case *out) {
  return guard(nullptr, [&] {
    auto c = std::make_unique<Case>();
    const std::int64_t count = distinct ? 2 * n_dots : 3;
    for (std::int64_t k = 0; k < count; ++k) c->arrays.emplace_back(type, n, random);
    std::set<std::size_t> used;
    for (std::int32_t d = 0; d < n_dots; ++d) {
      c->left.push_back(distinct ? 2 * d : random.below(count));
      c->right.push_back(distinct ? 2 * d + 1 : random.below(count));
      c->u.push_back(c->arrays[c->left.back()].data());
      c->v.push_back(c->arrays[c->right.back()].data());
      used.insert({c->left.back(), c->right.back()});
    }
    c->result = Array(type, n_dots);
    c->query.q = {head<sxt_multidot_query>(SXT_KIND_MULTIDOT), 1, 0, type};
    c->query.n = n;
    c->query.n_dots = n_dots;
    c->query.distinct = static_cast<std::int32_t>(used.size());
    c->args = {head<sxt_multidot_args>(SXT_KIND_MULTIDOT), n, n_dots, 0, c->u.data(), c->v.data(), c->result.data()};
    std::snprintf(c->description, sizeof c->description, "%d pairs of %d arrays of %s, n = %lld", n_dots,
                  c->query.distinct, value_name(type), (long long)n);
    *out = {sizeof(sxt_case), c->description, &c->query.q, nullptr, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  const auto n_dots = static_cast<std::int32_t>(1 + i % SXT_MULTIDOT_MAX);
  const auto type = static_cast<sxt_value_type>(1 + i / SXT_MULTIDOT_MAX % types);
  const std::uint64_t round = i / (SXT_MULTIDOT_MAX * types);
  const std::int64_t n = sizes[(i + i / SXT_MULTIDOT_MAX + round) % std::size(sizes)];
  return make(n_dots, type, n, round % 2, Random(seed, i), out);
}

sxt_status make_case_like(const sxt_host *, std::uint64_t seed, std::uint64_t i, const sxt_query *like, sxt_case *out) {
  constexpr std::int64_t telling[] = {1025, 100, 1023, 5000, 1};
  if (i >= 2 * std::size(telling)) return SXT_NOT_APPLICABLE;
  const auto &query = as<sxt_multidot_query>(like);
  return make(query.n_dots, query.q.value_type, telling[i % std::size(telling)], i % 2, Random(seed, i), out);
}

// As for single reductions: rounding grows like the square root of n.
sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    const sxt_value_type type = want.result.type();
    const double growth = (16 + 4 * std::sqrt(static_cast<double>(want.args.n))) * epsilon(type);
    Verdict verdict(error, message);
    for (std::int32_t d = 0; d < want.args.n_dots; ++d) {
      double total = 0;
      for (std::int64_t i = 0; i < want.args.n; ++i)
        total += magnitude(want.arrays[want.left[d]].at(i)) * magnitude(want.arrays[want.right[d]].at(i));
      verdict.check("result", d, got.result.at(d), want.result.at(d), growth * total + tiny(type));
    }
    if (!got.result.guard_intact()) verdict.fail("the kernel wrote beyond the results");
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return move_owner<Case>(moved, exec, to_device, [](Case &c, Move &move) {
    for (Array &array : c.arrays) move.array(array);
    move.array(c.result).point(c.args.result);
    for (const void *&u : c.u) move.point(u);
    for (const void *&v : c.v) move.point(v);
  });
}

}  // namespace

namespace sextant::multidot_reference {

const sxt_kind_alike kind = kind_alike_of_cases<Case>(
    SXT_KIND_MULTIDOT, "several inner products in one pass",
    {&kernel, SXT_MULTIDOT_MAX *types *rounds, make_case, compare, move_case}, make_case_like);

}  // namespace sextant::multidot_reference
