// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.spmv/1: cases over shapes, types, operations, right-hand sides and scalars; answers are compared row by row
// with the a-priori rounding bound.
#include <cmath>
#include <cstdint>
#include <memory>

#include "sextant/sdk/cases.hpp"
#include "spmv_reference.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

// One matrix shape: its description, and its generator.
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
constexpr std::uint64_t n_shapes = std::size(shapes), trivial_shapes = 5, trivial_cases = 4 * trivial_shapes;
constexpr std::uint64_t tridiagonal = 7, first_symmetric = n_shapes - 2,
                        plain_shapes = first_symmetric - trivial_shapes;

// Every type of vectors and matrix with every operation and one or several columns, each over this many shapes and
// scalars: kernels have code for each of the former, and errors appear with the latter.
constexpr std::uint64_t type_pairs = 6, operations = 3, ways = 2 * type_pairs * operations, rounds = 8;
constexpr sxt_value_type pairs[type_pairs][2] = {{SXT_F64, SXT_F64}, {SXT_F32, SXT_F32}, {SXT_C128, SXT_C128},
                                                 {SXT_C64, SXT_C64}, {SXT_F64, SXT_F32}, {SXT_C128, SXT_C64}};

// For the test before a kernel first serves: the cases that detect most mistakes first.
constexpr std::uint64_t telling[] = {8, 14, 5, 16, 13, 7, 15, 17, 10, 11, 12, 9, 6};

const Wide alphas[] = {1, -1, 2.5, {0.375, -1.25}, 0}, betas[] = {0, 1, {-0.75, 0.5}};

// The request of a case, and its matrix.
struct Question {
  std::uint64_t shape;
  sxt_value_type type, stored;
  sxt_op op;
  std::int32_t n_rhs;
  Wide alpha, beta;
  sxt_symmetry symmetry;  // of a symmetric shape
};

struct Case {
  Matrix matrix;
  Array x, x_before, y, y_before, alpha, beta;
  std::int64_t ldx = 0, ldy = 0;
  sxt_spmv_query query{};
  sxt_spmv_args args{};
  Moved moved;
  char description[160];
};

// Memory that a kernel must not read holds NaN: y where beta is 0, gaps between columns of x, and memory around x.
void fill_vectors(Case &c, const Question &asked, std::int64_t in, std::int64_t result, Random &random) {
  c.x = Array(asked.type, c.ldx * asked.n_rhs, random);
  c.y = Array(asked.type, c.ldy * asked.n_rhs, random);
  c.x.poison_guards();
  for (std::int32_t r = 0; r < asked.n_rhs; ++r) {
    c.x.poison(r * c.ldx + in, (r + 1) * c.ldx);
    if (asked.beta == Wide(0)) c.y.poison(r * c.ldy, r * c.ldy + result);
  }
  c.x_before = c.x;
  c.y_before = c.y;
  c.alpha = c.beta = Array(asked.type, 1);
  c.alpha.set(0, asked.alpha);
  c.beta.set(0, asked.beta);
}

sxt_status make(const Question &asked, Random random, sxt_case *out) {
  return guard(nullptr, [&] {
    auto c = std::make_unique<Case>();
    const Shape &shape = shapes[asked.shape];
    const Pattern pattern = shape.make(random);
    c->matrix = Matrix(pattern, asked.stored, random);
    if (shape.symmetric) c->matrix.mirror_upper(asked.symmetry);
    const std::int64_t in = asked.op == SXT_NO_TRANSPOSE ? pattern.cols : pattern.rows;
    const std::int64_t result = asked.op == SXT_NO_TRANSPOSE ? pattern.rows : pattern.cols;
    c->ldx = in + (asked.n_rhs > 1 ? 3 : 0);  // columns with a gap between them
    c->ldy = result + (asked.n_rhs > 1 ? 2 : 0);
    fill_vectors(*c, asked, in, result, random);
    c->query.m = c->matrix.query(SXT_KIND_SPMV, sizeof c->query, asked.type);
    c->query.op = asked.op;
    c->query.n_rhs = asked.n_rhs;
    c->args.h = head<sxt_spmv_args>(SXT_KIND_SPMV);
    c->args.op = asked.op;
    c->args.n_rhs = asked.n_rhs;
    c->args.ldx = c->ldx;
    c->args.ldy = c->ldy;
    c->args.alpha = {c->alpha.data(), 0, 0};
    c->args.beta = {c->beta.data(), 0, 0};
    c->args.x = c->x.data();
    c->args.y = c->y.data();
    std::snprintf(c->description, sizeof c->description, "%s, %s of %s, op %d, %d columns, alpha %g, beta %g",
                  shape.name, value_name(asked.type), value_name(asked.stored), asked.op, asked.n_rhs,
                  c->alpha.at(0).real(), c->beta.at(0).real());
    *out = {sizeof(sxt_case), c->description, &c->query.m.q, &c->matrix.csr().s.h, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  const std::uint64_t round = i / ways, way = i % ways;
  const auto &pair = pairs[way % type_pairs];
  Question asked{};
  asked.type = pair[0], asked.stored = pair[1];
  asked.op = static_cast<sxt_op>(way / type_pairs % operations);
  asked.n_rhs = way < ways / 2 ? 1 : std::int32_t{2} + static_cast<std::int32_t>(round % 3) * 3;  // 2, 5, 8
  asked.alpha = alphas[(way + round) % 4];
  asked.beta = betas[round % 3];
  asked.symmetry = way % 2 ? SXT_HERMITIAN : SXT_SYMMETRIC;
  if (round < rounds) {
    asked.shape = round == 6   ? first_symmetric + way % 2
                  : round == 7 ? tridiagonal
                               : trivial_shapes + (way + 2 * round) % plain_shapes;
    if (round == 7) asked.alpha = alphas[way % 5];  // 0, too
  } else {
    asked.shape = (i - ways * rounds) % trivial_shapes;
  }
  return make(asked, Random(seed, i), out);
}

sxt_status make_case_like(const sxt_host *, std::uint64_t seed, std::uint64_t i, const sxt_query *like, sxt_case *out) {
  constexpr std::uint64_t each = std::size(telling);
  if (i >= 3 * each) return SXT_NOT_APPLICABLE;
  const auto &query = as<sxt_spmv_query>(like);
  Question asked{};
  asked.shape = telling[i % each];
  asked.type = query.m.q.value_type, asked.stored = query.m.matrix_type;
  asked.op = query.op;
  asked.n_rhs = query.n_rhs;
  asked.alpha = alphas[i % 4];
  asked.beta = betas[(i + i / each) % 3];
  const bool hermitian = query.m.symmetry == SXT_HERMITIAN || (query.m.symmetry == SXT_GENERAL && i / each % 2);
  asked.symmetry = hermitian ? SXT_HERMITIAN : SXT_SYMMETRIC;
  return make(asked, Random(seed, i), out);
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
        const double before = magnitude(want.beta.at(0)) * magnitude(want.y_before.at(at));
        double bound = 0;  // the gap between columns stays unchanged
        if (i < rows)
          bound = 2 * (entries[i] + 8) * epsilon(type) *
                      (magnitude(want.alpha.at(0)) * sum[i] + (want.beta.at(0) == Wide(0) ? 0 : before)) +
                  tiny(type);
        verdict.check("y", at, got.y.at(at), i < rows ? want.y.at(at) : want.y_before.at(at), bound);
      }
    }
    for (std::int64_t i = 0; i < want.x.size(); ++i) verdict.check("x", i, got.x.at(i), want.x_before.at(i), 0);
    if (!got.y.guard_intact()) verdict.fail("the kernel wrote before the beginning or beyond the end of y");
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

const sxt_kind_alike kind =
    kind_alike_of_cases<Case>(SXT_KIND_SPMV, "y = alpha op(A) x + beta y",
                              {&kernel, ways *rounds + trivial_cases, make_case, compare, move_case}, make_case_like);

}  // namespace sextant::spmv_reference
