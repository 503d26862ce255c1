// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.residual/1: its cases, and the tests of an answer: norms that differ by no more than their bounds, bounds
// that are no larger than twice the working precision explains, and r rounded once.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "residual_reference.hpp"
#include "sextant/sdk/cases.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;
using sextant::residual_reference::Quad;

namespace {

struct Shape {
  const char *name;
  Pattern (*make)(Random &);
};

const Shape shapes[] = {
    {"0 x 0", [](Random &) { return Pattern{}; }},
    {"1 x 1", [](Random &) { return banded_pattern(1, 1, {0}); }},
    {"7 x 7 with empty rows",
     [](Random &r) { return random_pattern(7, 7, r, [&](auto i) { return i % 3 ? r.below(5) : 0; }); }},
    {"100 x 100 full", [](Random &r) { return random_pattern(100, 100, r, [](auto) { return 100; }); }},
    {"1500 x 1500 tridiagonal",
     [](Random &) {
       return banded_pattern(1500, 1500, {-1, 0, 1});
     }},
    {"513 x 700, first and last rows long",
     [](Random &r) { return random_pattern(513, 700, r, [](auto i) { return i == 0 || i == 512 ? 600 : 2; }); }},
    {"3000 x 40 tall", [](Random &r) { return random_pattern(3000, 40, r, [&](auto) { return r.below(9); }); }},
};
// The values: b and A x of different size; b the rounded A x, so that all but rounding cancels; the same with rows and
// columns scaled by powers of ten; at the ends of the range; not finite.
enum Values { apart, cancelling, scaled, tiny_values, huge_values, not_finite, n_values };
const char *const value_names[] = {"b and A x apart", "b = A x rounded", "badly scaled", "tiny", "huge", "with a NaN"};
constexpr std::uint64_t n_shapes = std::size(shapes), n_cases = n_shapes * n_values;

struct Case {
  Matrix matrix;
  Array x, b, r, r_before;
  std::vector<sxt_residual_norms> norms;
  sxt_residual_query query{};
  sxt_residual_args args{};
  bool writes_r = true;
  Moved moved;
  char description[160];
};

// b = A x, rounded.
void cancel(Case &c) {
  for (std::int32_t column = 0; column < c.args.n_rhs; ++column) {
    std::vector<Quad> re(c.query.m.rows), im(c.query.m.rows);
    c.matrix.for_each([&](std::int64_t i, std::int64_t j, Wide value) {
      const Wide x = c.x.at(column * c.args.ldx + j);
      re[i] += Quad(value.real()) * x.real() - Quad(value.imag()) * x.imag();
      im[i] += Quad(value.real()) * x.imag() + Quad(value.imag()) * x.real();
    });
    for (std::int64_t i = 0; i < c.query.m.rows; ++i)
      c.b.set(column * c.args.ldb + i, {static_cast<double>(re[i]), static_cast<double>(im[i])});
  }
}

// Rows times 10^of_row, columns times 10^of_column and x divided by that, exponents at random up to `most`.
void scale(Case &c, int most, Random &random) {
  std::vector<double> row(c.query.m.rows), column(c.query.m.cols);
  for (double &s : row) s = std::pow(10.0, static_cast<double>(random.below(2 * most + 1) - most));
  for (double &s : column) s = std::pow(10.0, static_cast<double>(random.below(2 * most + 1) - most));
  c.matrix.for_each([&, k = std::int64_t{0}](std::int64_t i, std::int64_t j, Wide value) mutable {
    c.matrix.values().set(k++, value * row[i] * column[j]);
  });
  for (std::int32_t r = 0; r < c.args.n_rhs; ++r)
    for (std::int64_t j = 0; j < c.query.m.cols; ++j) {
      const std::int64_t at = r * c.args.ldx + j;
      c.x.set(at, c.x.at(at) / column[j]);
    }
}

void multiply(Array &array, double factor) {
  for (std::int64_t i = 0; i < array.size(); ++i) array.set(i, array.at(i) * factor);
}

void make_values(Case &c, Values values, Random &random) {
  const bool single = real_type(c.x.type()) == SXT_F32;
  if (values == scaled) scale(c, single ? 8 : 70, random);
  if (values == tiny_values) multiply(c.matrix.values(), single ? 1e-38 : 1e-300), multiply(c.x, single ? 1e-3 : 1e-8);
  if (values == huge_values) multiply(c.matrix.values(), single ? 1e30 : 1e290), multiply(c.x, single ? 1e5 : 1e10);
  if (values != apart) cancel(c);
  if (values == not_finite && c.x.size() > 0) c.x.set(c.x.size() / 2, NAN);
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    const std::uint64_t s = i % n_shapes;
    const auto values = static_cast<Values>(i / n_shapes);
    const auto type = static_cast<sxt_value_type>(1 + (s + static_cast<std::uint64_t>(values)) % 4);
    const Pattern pattern = shapes[s].make(random);
    c->matrix = Matrix(pattern, type, random);
    const std::int32_t n_rhs = (s + values) % 3 == 0 ? 3 : 1;
    c->writes_r = (s + values) % 5 != 4;
    c->args.h = head<sxt_residual_args>(SXT_KIND_RESIDUAL);
    c->args.n_rhs = n_rhs;
    const int gap = n_rhs > 1;
    c->args.ldx = pattern.cols + 3 * gap;
    c->args.ldb = pattern.rows + 2 * gap;
    c->args.ldr = pattern.rows + gap;
    c->query.m = c->matrix.query(SXT_KIND_RESIDUAL, sizeof c->query, type);
    c->query.n_rhs = n_rhs;
    c->x = Array(type, c->args.ldx * n_rhs, random);
    c->b = Array(type, c->args.ldb * n_rhs, random);
    c->r = c->r_before = Array(type, c->args.ldr * n_rhs, random);
    make_values(*c, values, random);
    c->norms.assign(n_rhs, {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1});
    c->args.x = c->x.data();
    c->args.b = c->b.data();
    c->args.r = c->writes_r ? c->r.data() : nullptr;
    c->args.norms = c->norms.data();
    std::snprintf(c->description, sizeof c->description, "%s of %s, %s, %d columns%s", shapes[s].name, value_name(type),
                  value_names[values], n_rhs, c->writes_r ? "" : ", norms only");
    *out = {sizeof(sxt_case), c->description, &c->query.m.q, &c->matrix.csr().s.h, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

// A norm and its bound against those of the reference, which are far more accurate. allowed: the largest bound that may
// be.
void check_norm(Verdict &verdict, const char *what, std::int64_t column, double got, double bound, double want,
                double want_bound, double allowed) {
  if (!std::isfinite(want) || !std::isfinite(allowed)) {
    if (std::isfinite(got) && std::isfinite(bound) && !std::isfinite(want))
      verdict.fail("the norm is finite although the residual is not");
    return;
  }
  if (got != want || bound != want_bound) verdict.check(what, column, got, want, bound + want_bound);
  if (!(bound >= 0 && bound <= allowed)) verdict.fail("a bound of the rounding is larger than the arithmetic explains");
}

// The bound of the rounding of a sum of `count` terms of this size in twice the working precision.
double doubled(sxt_value_type type, double count, double size) {
  if (real_type(type) == SXT_F32) return 4 * (count + 32) * 0x1p-53 * size + 0x1p-1060;
  return 4 * (count + 32) * (count + 32) * 0x1p-106 * size + (count + 32) * 0x1p-1070;
}

void check_column(Verdict &verdict, const Case &got, const Case &want, std::int32_t c, double longest) {
  const sxt_residual_norms &g = got.norms[c], &w = want.norms[c];
  const sxt_value_type type = want.x.type();
  const double rows = static_cast<double>(want.query.m.rows), few = (rows + 64) * 0x1p-50;
  check_norm(verdict, "norm_2", c, g.norm_2, g.bound_2, w.norm_2, w.bound_2,
             few * w.norm_2 + std::sqrt(rows + 1) * doubled(type, 2 * longest, w.size_2));
  check_norm(verdict, "norm_max", c, g.norm_max, g.bound_max, w.norm_max, w.bound_max,
             few * w.norm_max + doubled(type, 2 * longest, w.size_max));
  check_norm(verdict, "rhs_2", c, g.rhs_2, g.rhs_bound_2, w.rhs_2, w.rhs_bound_2, few * w.rhs_2 + 0x1p-1060);
  check_norm(verdict, "rhs_max", c, g.rhs_max, g.rhs_bound_max, w.rhs_max, w.rhs_bound_max,
             few * w.rhs_max + 0x1p-1060);
  if (std::isfinite(w.size_2)) verdict.check("size_2", c, g.size_2, w.size_2, 0.02 * w.size_2 + 0x1p-1040);
  if (std::isfinite(w.size_max)) verdict.check("size_max", c, g.size_max, w.size_max, 0.02 * w.size_max + 0x1p-1040);
}

sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    const sxt_value_type type = want.x.type();
    Verdict verdict(error, message);
    for (std::int32_t c = 0; c < want.args.n_rhs; ++c) {
      std::vector<double> size(want.query.m.rows, 0), entries(want.query.m.rows, 0);
      want.matrix.for_each([&](std::int64_t i, std::int64_t j, Wide value) {
        size[i] += magnitude(value) * magnitude(want.x.at(c * want.args.ldx + j));
        entries[i] += 2;
      });
      double longest = 0;
      for (const double each : entries) longest = std::max(longest, each);
      check_column(verdict, got, want, c, longest);
      for (std::int64_t i = 0; i < want.args.ldr; ++i) {
        const std::int64_t at = c * want.args.ldr + i;
        const bool written = want.writes_r && i < want.query.m.rows;
        const Wide right = written ? want.r.at(at) : want.r_before.at(at);
        double bound = 0;
        if (written)
          bound = epsilon(type) * magnitude(right) + tiny(type) * epsilon(type) +
                  doubled(type, entries[i], size[i] + magnitude(want.b.at(c * want.args.ldb + i)));
        if (std::isfinite(bound)) verdict.check("r", at, got.r.at(at), right, bound);
      }
    }
    if (!got.r.guard_intact()) verdict.fail("the kernel wrote beyond the end of r");
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return guard(exec, [&] {
    Case &c = *static_cast<Case *>(moved->owner);
    Move move(c.moved, exec, to_device);
    move.array(c.x).array(c.b).array(c.r).array(c.norms);
    move.point(c.args.x).point(c.args.b).point(c.args.r).point(c.args.norms);
    return move.finish();
  });
}

}  // namespace

namespace sextant::residual_reference {

const sxt_kind kind = kind_of_cases<Case>(SXT_KIND_RESIDUAL, "b - A x in twice the working precision, and its norms",
                                          {&kernel, n_cases, make_case, compare, move_case});

}  // namespace sextant::residual_reference
