// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.spmv_dots/1: square matrices, some symmetric or Hermitian, one to four inner products, the new y on one
// side, the other or both.
#include <cmath>
#include <cstdint>
#include <memory>

#include "sextant/sdk/cases.hpp"
#include "spmv_dots_reference.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

constexpr std::uint64_t n_shapes = 8, types = 4, most_dots = 4, variants = types * most_dots;

Pattern make_shape(std::uint64_t shape, Random &random) {
  const auto lengths = [&](std::int64_t most) { return [&random, most](auto) { return random.below(most + 1); }; };
  switch (shape) {
    case 0: return Pattern{};
    case 1: return banded_pattern(1, 1, {0});
    case 2: return random_pattern(7, 7, random, lengths(5));
    case 3: return banded_pattern(1024, 1024, {-32, -1, 0, 1, 32});
    case 4: return random_pattern(1025, 1025, random, lengths(12));
    case 5: return random_pattern(600, 600, random, [](auto i) { return i == 7 ? 600 : i % 2; });
    case 6: return banded_pattern(3000, 3000, {-1, 0, 1});
    default: return banded_pattern(2500, 2500, {-1200, -1, 0, 1, 1200});  // symmetric
  }
}

struct Case {
  Matrix matrix;
  Array x, y, y_before, other, alpha, beta, dots;
  std::vector<const void *> u, v;
  std::vector<const Array *> left, right;  // the vectors of u and v; null: y
  sxt_spmv_dots_query query{};
  sxt_spmv_dots_args args{};
  Moved moved;
  char description[120];
};

// Pair d of a case, in turn: (x, y), (y, y), (other, x), (y, other).
void add_pair(Case &c, std::int32_t d) {
  const Array *left[] = {&c.x, nullptr, &c.other, nullptr}, *right[] = {nullptr, nullptr, &c.x, &c.other};
  c.left.push_back(left[d]);
  c.right.push_back(right[d]);
  c.u.push_back(left[d] ? left[d]->data() : nullptr);
  c.v.push_back(right[d] ? right[d]->data() : nullptr);
}

// stored: the matrix's own type. symmetry: of the shape that has one.
sxt_status make(std::uint64_t i, sxt_value_type type, sxt_value_type stored, std::int32_t n_dots, sxt_symmetry symmetry,
                Random random, sxt_case *out) {
  return guard(nullptr, [&] {
    auto c = std::make_unique<Case>();
    const Pattern pattern = make_shape(i % n_shapes, random);
    const std::int64_t n = pattern.rows;
    c->matrix = Matrix(pattern, stored, random);
    if (i % n_shapes == 7) c->matrix.mirror_upper(symmetry);
    c->x = Array(type, n, random);
    c->other = Array(type, n, random);
    c->y = c->y_before = Array(type, n, random);
    c->alpha = c->beta = Array(type, 1);
    c->alpha.set(0, i % 3 ? Wide(-1.5, 0.5) : Wide(1));
    c->beta.set(0, (i + i / n_shapes) % 2 ? Wide(0) : Wide(0.75));
    c->x.poison_guards();
    if (c->beta.at(0) == Wide(0)) c->y.poison(0, n);  // it must not be read
    c->y_before = c->y;
    c->dots = Array(type, n_dots);
    for (std::int32_t d = 0; d < n_dots; ++d) add_pair(*c, d);
    c->query.m.m = c->matrix.query(SXT_KIND_SPMV_DOTS, sizeof c->query, type);
    c->query.m.n_rhs = 1;
    c->query.n_dots = n_dots;
    c->args.m.h = head<sxt_spmv_dots_args>(SXT_KIND_SPMV_DOTS);
    c->args.m.n_rhs = 1;
    c->args.m.ldx = c->args.m.ldy = n;
    c->args.m.alpha = {c->alpha.data(), 0, 0};
    c->args.m.beta = {c->beta.data(), 0, 0};
    c->args.m.x = c->x.data();
    c->args.m.y = c->y.data();
    c->args.n_dots = n_dots;
    c->args.u = c->u.data();
    c->args.v = c->v.data();
    c->args.dots = c->dots.data();
    std::snprintf(c->description, sizeof c->description, "%lld x %lld of %s, %lld entries, %d inner products",
                  (long long)n, (long long)n, value_name(type), (long long)pattern.nnz(), n_dots);
    *out = {sizeof(sxt_case), c->description, &c->query.m.m.q, &c->matrix.csr().s.h, nullptr, &c->args.m.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  const std::uint64_t variant = i / n_shapes;
  const auto type = static_cast<sxt_value_type>(1 + (i + variant) % types);
  const auto n_dots = static_cast<std::int32_t>(1 + (i + variant / types) % most_dots);
  return make(i, type, type, n_dots, variant % 2 ? SXT_HERMITIAN : SXT_SYMMETRIC, Random(seed, i), out);
}

sxt_status make_case_like(const sxt_host *, std::uint64_t seed, std::uint64_t i, const sxt_query *like, sxt_case *out) {
  constexpr std::uint64_t telling[] = {4, 3, 2, 7, 5, 6};
  if (i >= 2 * std::size(telling)) return SXT_NOT_APPLICABLE;
  const auto &query = as<sxt_spmv_dots_query>(like);
  const std::uint64_t shape = telling[i % std::size(telling)], variant = i + i / std::size(telling);
  const sxt_symmetry symmetry = query.m.m.symmetry == SXT_HERMITIAN ? SXT_HERMITIAN : SXT_SYMMETRIC;
  return make(shape + n_shapes * variant, query.m.m.q.value_type, query.m.m.matrix_type, query.n_dots, symmetry,
              Random(seed, i), out);
}

// y row by row as for sxt.spmv/1; a product's error follows from y's and from adding n terms.
sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    const std::int64_t n = want.y.size();
    const double eps = epsilon(want.y.type()), least = tiny(want.y.type());
    std::vector<double> sum(n, 0), entries(n, 0), bound(n);
    want.matrix.for_each([&](std::int64_t i, std::int64_t j, Wide value) {
      sum[i] += magnitude(value) * magnitude(want.x.at(j));
      entries[i] += 1;
    });
    Verdict verdict(error, message);
    const Wide beta = want.beta.at(0);
    for (std::int64_t i = 0; i < n; ++i) {
      bound[i] = 2 * (entries[i] + 8) * eps *
                     (magnitude(want.alpha.at(0)) * sum[i] +
                      (beta == Wide(0) ? 0 : magnitude(beta) * magnitude(want.y_before.at(i)))) +
                 least;
      verdict.check("y", i, got.y.at(i), want.y.at(i), bound[i]);
    }
    const double growth = (16 + 4 * std::sqrt(static_cast<double>(n))) * eps;
    for (std::int32_t d = 0; d < want.args.n_dots; ++d) {
      double allowed = least;
      for (std::int64_t i = 0; i < n; ++i) {
        const double u = magnitude(want.left[d] ? want.left[d]->at(i) : want.y.at(i));
        const double v = magnitude(want.right[d] ? want.right[d]->at(i) : want.y.at(i));
        allowed += growth * u * v + (want.left[d] ? 0 : bound[i] * v) + (want.right[d] ? 0 : bound[i] * u);
      }
      verdict.check("dots", d, got.dots.at(d), want.dots.at(d), allowed);
    }
    if (!got.y.guard_intact() || !got.dots.guard_intact()) verdict.fail("the kernel wrote beyond the end of y or dots");
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return guard(exec, [&] {
    Case &c = *static_cast<Case *>(moved->owner);
    Move move(c.moved, exec, to_device);
    move.array(c.x).array(c.y).array(c.other).array(c.dots).array(c.alpha).array(c.beta);
    move.point(c.args.m.x).point(c.args.m.y).scalar(c.args.m.alpha).scalar(c.args.m.beta).point(c.args.dots);
    for (const void *&u : c.u) move.point(u);
    for (const void *&v : c.v) move.point(v);
    return move.finish();
  });
}

}  // namespace

namespace sextant::spmv_dots_reference {

const sxt_kind_alike kind =
    kind_alike_of_cases<Case>(SXT_KIND_SPMV_DOTS, "y = alpha A x + beta y and inner products with the new y",
                              {&kernel, n_shapes *variants, make_case, compare, move_case}, make_case_like);

}  // namespace sextant::spmv_dots_reference
