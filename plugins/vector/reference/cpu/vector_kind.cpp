// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.vector/1: cases over operations, types, sizes and shared operands; compared element by element.
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>

#include "sextant/sdk/cases.hpp"
#include "vector_reference.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

const std::int64_t sizes[] = {0, 1, 5, 64, 1000, 4099, 20011};
const Wide scalars[] = {2.5, {0.375, -1.25}, -1, 1, 0};
constexpr std::uint64_t operations = 11, types = 4, rounds = 7;  // every size for every operation in every type

struct Case {
  Array x, y, z, y_before, z_before, alpha, beta;
  std::vector<std::int32_t> narrow;  // indices of gather and scatter
  std::vector<std::int64_t> wide;
  sxt_vector_query query{};
  sxt_vector_args args{};
  bool x_is_y = false, z_is_x = false;
  Moved moved;
  char description[120];
};

bool indexed(std::int32_t operation) { return operation == SXT_VECTOR_GATHER || operation == SXT_VECTOR_SCATTER; }
bool real_x(std::int32_t operation) { return operation >= SXT_VECTOR_REAL_MULTIPLY; }
bool writes_z(std::int32_t operation) {
  return operation == SXT_VECTOR_WAXPBY || operation == SXT_VECTOR_MULTIPLY || real_x(operation);
}

sxt_value_type real_type(sxt_value_type type) { return type == SXT_F32 || type == SXT_C64 ? SXT_F32 : SXT_F64; }

// Numbers from 1 to 2, so that dividing by them keeps quotients as small as their numerators.
Array divisors(sxt_value_type type, std::int64_t n, Random &random) {
  Array x(real_type(type), n);
  for (std::int64_t i = 0; i < n; ++i) x.set(i, 1 + std::abs(random.symmetric()));
  return x;
}

// n distinct positions of 0 .. 2n-1 in random order.
void make_indices(Case &c, std::int64_t n, Random &random) {
  std::vector<std::int64_t> all(2 * n);
  std::iota(all.begin(), all.end(), 0);
  for (std::int64_t i = 0; i < n; ++i) std::swap(all[i], all[i + random.below(2 * n - i)]);
  c.wide.assign(all.begin(), all.begin() + n);
  c.narrow.assign(c.wide.begin(), c.wide.end());
}

// The request of a case. round: which operands are shared, and the width of indices.
struct Question {
  std::int32_t operation;
  sxt_value_type type;
  std::int64_t n;
  bool wide_index, share_y, share_x;
  Wide alpha, beta;
};

sxt_status make(const Question &asked, Random random, sxt_case *out) {
  return guard(nullptr, [&] {
    auto c = std::make_unique<Case>();
    const std::int32_t operation = asked.operation;
    const std::int64_t n = asked.n, length = indexed(operation) ? 2 * n : n;
    c->x = real_x(operation) ? divisors(asked.type, length, random) : Array(asked.type, length, random);
    c->y = Array(asked.type, length, random);
    c->z = Array(asked.type, n, random);
    c->alpha = c->beta = Array(asked.type, 1);
    c->alpha.set(0, asked.alpha);
    c->beta.set(0, asked.beta);
    // Operands are shared where the kind allows it.
    c->x_is_y = asked.share_y && !indexed(operation) && !real_x(operation) && operation != SXT_VECTOR_COPY;
    c->z_is_x = asked.share_x && !c->x_is_y && writes_z(operation) && !real_x(operation);
    // Memory that is only written must not be read.
    if (operation == SXT_VECTOR_COPY || (operation == SXT_VECTOR_FILL && !c->x_is_y)) c->y.poison(0, length);
    c->z.poison(0, n);
    c->y_before = c->y;
    c->z_before = c->z;

    sxt_vector_args &a = c->args;
    a.h = head<sxt_vector_args>(SXT_KIND_VECTOR);
    a.n = n;
    a.operation = operation;
    if (indexed(operation)) {
      make_indices(*c, n, random);
      a.index_type = asked.wide_index ? SXT_I64 : SXT_I32;
      a.index = asked.wide_index ? static_cast<const void *>(c->wide.data()) : c->narrow.data();
    }
    a.alpha = {c->alpha.data(), 0, 0};
    a.beta = {c->beta.data(), 0, 0};
    a.x = c->x_is_y ? c->y.data() : c->x.data();
    a.y = c->y.data();
    a.z = c->z_is_x ? c->x.data() : c->z.data();
    c->query.q = {head<sxt_vector_query>(SXT_KIND_VECTOR), 1, 0, asked.type};
    c->query.n = n;
    c->query.operation = operation;
    c->query.index_type = a.index_type;
    std::snprintf(c->description, sizeof c->description, "operation %d of %s, n = %lld%s%s", operation,
                  value_name(asked.type), (long long)n, c->x_is_y ? ", x is y" : "", c->z_is_x ? ", z is x" : "");
    *out = {sizeof(sxt_case), c->description, &c->query.q, nullptr, nullptr, &a.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  const std::uint64_t round = i / (operations * types);
  Question asked{};
  asked.operation = static_cast<std::int32_t>(1 + i % operations);
  asked.type = static_cast<sxt_value_type>(1 + i / operations % types);
  asked.n = sizes[(i + i / operations + 2 * round) % std::size(sizes)];
  asked.wide_index = round % 2;
  asked.share_x = round % 3 == 1;
  asked.share_y = round % 3 == 2;
  asked.alpha = scalars[i % 5];
  asked.beta = scalars[(i + 1 + round) % 5];
  return make(asked, Random(seed, i), out);
}

sxt_status make_case_like(const sxt_host *, std::uint64_t seed, std::uint64_t i, const sxt_query *like, sxt_case *out) {
  constexpr std::int64_t telling[] = {1000, 5, 4099, 64, 20011};
  if (i >= 3 * std::size(telling)) return SXT_NOT_APPLICABLE;
  const auto &query = as<sxt_vector_query>(like);
  Question asked{};
  asked.operation = query.operation;
  asked.type = query.q.value_type;
  asked.n = telling[i % std::size(telling)];
  asked.wide_index = query.index_type == SXT_I64;
  asked.share_x = i / std::size(telling) == 1;
  asked.share_y = i / std::size(telling) == 2;
  asked.alpha = scalars[i % 3];
  asked.beta = scalars[(i + 1) % 5];
  return make(asked, Random(seed, i), out);
}

// Two products of numbers below 2 in size and one sum: a few roundings. Copies must be exact: the bound is 0.
sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    const std::int32_t operation = want.args.operation;
    const bool exact = operation == SXT_VECTOR_COPY || operation == SXT_VECTOR_FILL || indexed(operation);
    const double scale = magnitude(want.alpha.at(0)) + magnitude(want.beta.at(0)) + 1;
    const double bound = exact ? 0 : 8 * epsilon(want.y.type()) * scale;
    Verdict verdict(error, message);
    for (std::int64_t i = 0; i < want.x.size(); ++i)
      verdict.check("x", i, got.x.at(i), want.x.at(i), want.z_is_x ? bound : 0);
    for (std::int64_t i = 0; i < want.y.size(); ++i) verdict.check("y", i, got.y.at(i), want.y.at(i), bound);
    for (std::int64_t i = 0; i < want.z.size(); ++i) verdict.check("z", i, got.z.at(i), want.z.at(i), bound);
    if (!got.x.guard_intact() || !got.y.guard_intact() || !got.z.guard_intact())
      verdict.fail("the kernel wrote beyond the end of a vector");
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return move_owner<Case>(moved, exec, to_device, [](Case &c, Move &move) {
    move.array(c.x).array(c.y).array(c.z).array(c.alpha).array(c.beta);
    if (c.args.index) move.array(c.narrow).array(c.wide);
    move.point(c.args.x).point(c.args.y).point(c.args.z).point(c.args.index);
    move.scalar(c.args.alpha).scalar(c.args.beta);
  });
}

}  // namespace

namespace sextant::vector_reference {

const sxt_kind_alike kind =
    kind_alike_of_cases<Case>(SXT_KIND_VECTOR, "element-wise vector operations",
                              {&kernel, operations *types *rounds, make_case, compare, move_case}, make_case_like);

}  // namespace sextant::vector_reference
