// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.spmv/1: cases over shapes, types, operations, right-hand sides and scalars; answers are compared row by row
// with the a-priori rounding bound.
#include <cmath>
#include <cstdint>
#include <memory>

#include "sextant/plugin_cases.hpp"
#include "spmv_reference.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

// One matrix shape: what it is, and how it is made.
struct Shape {
  const char *name;
  Pattern (*make)(Random &);
  bool symmetric = false;  // complex: Hermitian in every other variant
};

constexpr auto any = [](std::int64_t most, Random &random) { return random.below(most + 1); };

const Shape shapes[] = {
    {"0 x 0", [](Random &) { return Pattern{}; }},
    {"1 x 1", [](Random &) { return banded_pattern(1, 1, {0}); }},
    {"1 x 1 without entries",
     [](Random &) {
       return Pattern{1, 1, {{}}};
     }},
    {"5 x 0",
     [](Random &) {
       return Pattern{5, 0, std::vector<std::vector<std::int64_t>>(5)};
     }},
    {"0 x 5",
     [](Random &) {
       return Pattern{0, 5, {}};
     }},
    {"7 x 7 random", [](Random &r) { return random_pattern(7, 7, r, [&](auto) { return any(4, r); }); }},
    {"100 x 100 full", [](Random &r) { return random_pattern(100, 100, r, [](auto) { return 100; }); }},
    {"1000 x 1000 tridiagonal",
     [](Random &) {
       return banded_pattern(1000, 1000, {-1, 0, 1});
     }},
    {"1000 x 1000, every third row empty",
     [](Random &r) { return random_pattern(1000, 1000, r, [&](auto i) { return i % 3 ? any(9, r) : 0; }); }},
    {"1000 x 1000, one dense row",
     [](Random &r) { return random_pattern(1000, 1000, r, [](auto i) { return i == 417 ? 1000 : 2; }); }},
    {"300 x 40, one dense column",
     [](Random &r) {
       Pattern p = random_pattern(300, 40, r, [](auto) { return 1; });
       for (auto &columns : p.row) columns = {3, std::max<std::int64_t>(4, columns[0])};
       return p;
     }},
    {"40 x 3000 wide", [](Random &r) { return random_pattern(40, 3000, r, [&](auto) { return any(200, r); }); }},
    {"3000 x 40 tall", [](Random &r) { return random_pattern(3000, 40, r, [&](auto) { return any(8, r); }); }},
    {"700 x 700 power law",
     [](Random &r) {
       return random_pattern(700, 700, r, [&](auto) { return static_cast<std::int64_t>(1 / (r.uniform() + 2e-3)); });
     }},
    {"513 x 513, first and last rows long",
     [](Random &r) { return random_pattern(513, 513, r, [](auto i) { return i == 0 || i == 512 ? 400 : 1; }); }},
    {"1025 x 1025 with only a last row",
     [](Random &r) { return random_pattern(1025, 1025, r, [](auto i) { return i == 1024 ? 600 : 0; }); }},
    {"2600 x 2600 symmetric bands",
     [](Random &) {
       return banded_pattern(2600, 2600, {-1500, -3, -1, 0, 1, 3, 1500});
     },
     true},
    {"1025 x 1025 symmetric, corners, no main diagonal",
     [](Random &) {
       return banded_pattern(1025, 1025, {-1024, -32, 32, 1024});
     },
     true},
};
constexpr std::uint64_t n_shapes = std::size(shapes), variants = 4;

const Wide scalars[] = {1, 0, -1, {0.375, -1.25}, 2.5};

struct Case {
  Matrix matrix;
  Array x, y, y_before, alpha, beta;
  std::int64_t ldx = 0, ldy = 0;
  sxt_spmv_query query{};
  sxt_spmv_args args{};
  Moved moved;
  char description[160];
};

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    const std::uint64_t s = i % n_shapes, variant = i / n_shapes;
    const Shape &shape = shapes[s];
    const auto type = static_cast<sxt_value_type>(1 + (s + variant) % 4);
    // Every third shape stores the matrix in half the vectors' precision.
    const sxt_value_type stored = s % 3 ? type : type == SXT_F64 ? SXT_F32 : type == SXT_C128 ? SXT_C64 : type;
    const Pattern pattern = shape.make(random);
    c->matrix = Matrix(pattern, stored, random);
    if (shape.symmetric) c->matrix.mirror_upper(variant % 2 ? SXT_HERMITIAN : SXT_SYMMETRIC);
    const auto op = static_cast<sxt_op>((s + variant + variant / 3) % 3);
    const std::int32_t n_rhs = static_cast<std::int32_t>((s / 2 + variant) % 2 ? (s % 4 == 1 ? 7 : 3) : 1);
    const std::int64_t in = op == SXT_NO_TRANSPOSE ? pattern.cols : pattern.rows;
    const std::int64_t result = op == SXT_NO_TRANSPOSE ? pattern.rows : pattern.cols;
    c->ldx = in + (n_rhs > 1 ? 3 : 0);  // columns with a gap between them
    c->ldy = result + (n_rhs > 1 ? 2 : 0);
    c->x = Array(type, c->ldx * n_rhs, random);
    c->y = c->y_before = Array(type, c->ldy * n_rhs, random);
    c->alpha = c->beta = Array(type, 1);
    c->alpha.set(0, scalars[(s + 2 * variant) % 5]);
    c->beta.set(0, scalars[(s + variant + 1) % 5]);

    c->query.m = c->matrix.query(SXT_KIND_SPMV, sizeof c->query, type);
    c->query.op = op;
    c->query.n_rhs = n_rhs;
    c->args.h = head<sxt_spmv_args>(SXT_KIND_SPMV);
    c->args.op = op;
    c->args.n_rhs = n_rhs;
    c->args.ldx = c->ldx;
    c->args.ldy = c->ldy;
    c->args.alpha = {c->alpha.data(), 0, 0};
    c->args.beta = {c->beta.data(), 0, 0};
    c->args.x = c->x.data();
    c->args.y = c->y.data();
    std::snprintf(c->description, sizeof c->description, "%s, %s of %s, op %d, %d columns, alpha %g, beta %g",
                  shape.name, value_name(type), value_name(stored), op, n_rhs, c->alpha.at(0).real(),
                  c->beta.at(0).real());
    *out = {sizeof(sxt_case), c->description, &c->query.m.q, &c->matrix.csr().s.h, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

// Row i of op(A) with k entries is computed within (k + 8) eps (|alpha| |A| |x| + |beta| |y|), in any order of adding.
sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    const sxt_value_type type = want.y.type();
    const bool plain = want.args.op == SXT_NO_TRANSPOSE;
    const std::int64_t rows = plain ? want.query.m.rows : want.query.m.cols;
    Verdict verdict(error, message);
    for (std::int32_t r = 0; r < want.args.n_rhs; ++r) {
      std::vector<double> sum(rows, 0), entries(rows, 0);
      want.matrix.for_each([&](std::int64_t i, std::int64_t j, Wide value) {
        sum[plain ? i : j] += magnitude(value) * magnitude(want.x.at(r * want.ldx + (plain ? j : i)));
        entries[plain ? i : j] += 1;
      });
      for (std::int64_t i = 0; i < want.ldy; ++i) {
        const std::int64_t at = r * want.ldy + i;
        double bound = 0;  // the gap between columns stays as it was
        if (i < rows)
          bound = 2 * (entries[i] + 8) * epsilon(type) *
                      (magnitude(want.alpha.at(0)) * sum[i] +
                       magnitude(want.beta.at(0)) * magnitude(want.y_before.at(at))) +
                  tiny(type);
        verdict.check("y", at, got.y.at(at), i < rows ? want.y.at(at) : want.y_before.at(at), bound);
      }
    }
    if (!got.y.guard_intact()) verdict.fail("the kernel wrote beyond the end of y");
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return guard(exec, [&] {
    Case &c = *static_cast<Case *>(moved->owner);
    Move move(c.moved, exec, to_device);
    move.array(c.x).array(c.y).array(c.alpha).array(c.beta);
    move.point(c.args.x).point(c.args.y).scalar(c.args.alpha).scalar(c.args.beta);
    return move.finish();
  });
}

}  // namespace

namespace sextant::spmv_reference {

const sxt_kind kind = kind_of_cases<Case>(SXT_KIND_SPMV, "y = alpha op(A) x + beta y",
                                          {&kernel, n_shapes *variants, make_case, compare, move_case});

}  // namespace sextant::spmv_reference
