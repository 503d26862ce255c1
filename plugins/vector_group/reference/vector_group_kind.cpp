// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.vector_group/1: every group in every type over a few sizes; all vectors are compared, also those only read.
#include <cstdint>
#include <memory>

#include "sextant/plugin_cases.hpp"
#include "vector_group_reference.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

const std::int64_t sizes[] = {0, 1, 63, 64, 65, 1000, 5003};
constexpr std::uint64_t groups = 3, types = 4, rounds = 4;
constexpr int vectors_of[] = {0, 4, 6, 4};  // by group

struct Case {
  std::vector<Array> vectors;
  Array alpha, beta;
  sxt_vector_group_query query{};
  sxt_vector_group_args args{};
  Moved moved;
  char description[80];
};

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    const auto group = static_cast<std::int32_t>(1 + i % groups);
    const auto type = static_cast<sxt_value_type>(1 + i / groups % types);
    const std::int64_t n = sizes[(i + i / groups) % std::size(sizes)];
    for (int k = 0; k < vectors_of[group]; ++k) c->vectors.emplace_back(type, n, random);
    c->alpha = Array(type, 1, random);
    c->beta = Array(type, 1, random);
    c->args.h = head<sxt_vector_group_args>(SXT_KIND_VECTOR_GROUP);
    c->args.n = n;
    c->args.group = group;
    c->args.scalars[0] = {c->alpha.data(), 0, 0};
    if (group != SXT_GROUP_CLASSICAL_XR) c->args.scalars[1] = {c->beta.data(), 0, 0};
    for (int k = 0; k < vectors_of[group]; ++k) c->args.vectors[k] = c->vectors[k].data();
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

// Numbers stay below 8 in size and meet a handful of roundings.
sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    Verdict verdict(error, message);
    for (std::size_t k = 0; k < want.vectors.size(); ++k) {
      const Array &expected = want.vectors[k];
      for (std::int64_t i = 0; i < expected.size(); ++i)
        verdict.check("vector", i, got.vectors[k].at(i), expected.at(i), 32 * epsilon(expected.type()));
      if (!got.vectors[k].guard_intact()) verdict.fail("the kernel wrote beyond the end of a vector");
    }
    return SXT_OK;
  });
}

void free_case(sxt_case *c) {
  delete static_cast<Case *>(c->owner);
  *c = {};
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return guard(exec, [&] {
    Case &c = *static_cast<Case *>(moved->owner);
    Move move(c.moved, exec, to_device);
    for (Array &vector : c.vectors) move.array(vector);
    move.array(c.alpha).array(c.beta);
    for (void *&vector : c.args.vectors) move.point(vector);
    for (sxt_scalar &scalar : c.args.scalars) move.scalar(scalar);
    return move.finish();
  });
}

}  // namespace

namespace sextant::vector_group_reference {

const sxt_kind kind = [] {
  sxt_kind k = new_kind(SXT_KIND_VECTOR_GROUP, "the vector updates of one PCG iteration in one pass");
  k.reference = &kernel;
  k.n_cases = groups * types * rounds;
  k.make_case = make_case;
  k.compare = compare;
  k.free_case = free_case;
  k.move_case = move_case;
  return k;
}();

}  // namespace sextant::vector_group_reference
