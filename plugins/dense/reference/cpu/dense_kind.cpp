// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.dense/1: every operation at orders from 0 to 200, groups of mixed sizes, pivots that fail and that are
// changed.
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>

#include "dense_cases.hpp"
#include "dense_reference.hpp"

namespace sextant_dense {
namespace {

constexpr std::uint64_t types = 4;
constexpr std::int32_t perturb = SXT_PIVOT_POLICY_PERTURB, replace = SXT_PIVOT_POLICY_REPLACE;

// operation, count, m, n, k, padding, unit, policy, flaw, with a D
const Shape shapes[] = {
    {SXT_DENSE_POTRF, 0, 0, 0, 0, 0},
    {SXT_DENSE_POTRF, 5, 0, 1, 0, 1},
    {SXT_DENSE_POTRF, 12, 0, 9, 0, 0},
    {SXT_DENSE_POTRF, 5, 0, 33, 0, 3},
    {SXT_DENSE_POTRF, 2, 0, 130, 0, 1},
    {SXT_DENSE_POTRF, 1, 0, 200, 0, 0},
    {SXT_DENSE_POTRF, 7, 0, 40, 0, 2, false, 0, Flaw::not_definite},
    {SXT_DENSE_POTRF, 5, 0, 70, 0, 0, false, 0, Flaw::not_finite},
    {SXT_DENSE_POTRF, 6, 0, 21, 0, 0, false, 0, Flaw::small_pivot},
    {SXT_DENSE_POTRF, 6, 0, 21, 0, 1, false, perturb, Flaw::small_pivot},
    {SXT_DENSE_POTRF, 6, 0, 90, 0, 0, false, replace, Flaw::small_pivot},
    {SXT_DENSE_POTRF, 3, 0, 21, 0, 0, false, replace, Flaw::not_definite},
    {SXT_DENSE_LDLH, 9, 0, 9, 0, 1},
    {SXT_DENSE_LDLH, 3, 0, 64, 0, 0},
    {SXT_DENSE_LDLH, 2, 0, 131, 0, 2},
    {SXT_DENSE_LDLH, 5, 0, 70, 0, 0, false, perturb, Flaw::not_finite},
    {SXT_DENSE_LDLH, 6, 0, 21, 0, 0, false, 0, Flaw::small_pivot},
    {SXT_DENSE_LDLH, 6, 0, 75, 0, 1, false, perturb, Flaw::small_pivot},
    {SXT_DENSE_LDLH, 6, 0, 21, 0, 0, false, replace, Flaw::small_pivot},
    {SXT_DENSE_TRSM, 9, 17, 9, 0, 1},
    {SXT_DENSE_TRSM, 3, 50, 33, 0, 0, true},
    {SXT_DENSE_TRSM, 2, 130, 70, 0, 3},
    {SXT_DENSE_TRSM, 4, 3, 100, 0, 0, true},
    {SXT_DENSE_TRSM, 9, 17, 9, 0, 1, true, 0, Flaw::none, true},
    {SXT_DENSE_TRSM, 2, 130, 70, 0, 0, true, 0, Flaw::none, true},
    {SXT_DENSE_RIGHT, 9, 17, 9, 0, 1},
    {SXT_DENSE_RIGHT, 3, 16, 33, 0, 0, true},
    {SXT_DENSE_RIGHT, 2, 35, 130, 0, 2},
    {SXT_DENSE_SYRK, 12, 0, 9, 7, 1},
    {SXT_DENSE_SYRK, 12, 0, 19, 7, 1, false, 0, Flaw::none, true},
    {SXT_DENSE_SYRK, 2, 0, 130, 150, 1, false, 0, Flaw::none, true},
    {SXT_DENSE_SYRK, 3, 0, 45, 64, 0},
    {SXT_DENSE_SYRK, 2, 0, 130, 33, 2},
    {SXT_DENSE_GEMMT, 12, 0, 9, 7, 0},
    {SXT_DENSE_GEMMT, 2, 0, 130, 70, 1},
    {SXT_DENSE_GEMM, 12, 13, 9, 7, 1},
    {SXT_DENSE_GEMM, 3, 45, 70, 64, 0},
    {SXT_DENSE_GEMM, 2, 150, 90, 130, 2},
    {SXT_DENSE_GEMM, 3, 40, 40, 0, 0},
    {SXT_DENSE_GEMM, 9, 21, 9, 13, 0, false, 0, Flaw::none, true},
    {SXT_DENSE_GEMM, 2, 140, 130, 300, 1, false, 0, Flaw::none, true},
    {SXT_DENSE_FORWARD, 12, 9, 1, 0, 1},
    {SXT_DENSE_FORWARD, 3, 70, 1, 0, 0, true},
    {SXT_DENSE_FORWARD, 3, 70, 7, 0, 1},
    {SXT_DENSE_FORWARD, 2, 130, 40, 0, 0, true},
    {SXT_DENSE_BACKWARD, 12, 9, 1, 0, 1},
    {SXT_DENSE_BACKWARD, 3, 70, 1, 0, 0, true},
    {SXT_DENSE_BACKWARD, 3, 70, 7, 0, 1},
    {SXT_DENSE_BACKWARD, 2, 130, 40, 0, 0, true},
    {SXT_DENSE_PRODUCT, 12, 19, 1, 7, 1},
    {SXT_DENSE_PRODUCT, 3, 70, 9, 33, 0},
    {SXT_DENSE_PRODUCT, 2, 130, 40, 80, 2},
    {SXT_DENSE_PRODUCT_H, 12, 7, 1, 19, 1},
    {SXT_DENSE_PRODUCT_H, 3, 33, 9, 70, 0},
    {SXT_DENSE_PRODUCT_H, 2, 80, 40, 130, 2},
};
constexpr std::uint64_t n_shapes = std::size(shapes);

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    make(shapes[i % n_shapes], static_cast<sxt_value_type>(1 + (i + i / n_shapes) % types), random, *c);
    c->description = std::string("operation ") + std::to_string(c->shape.operation) + ", " +
                     std::to_string(c->shape.count) + " items to " + std::to_string(c->shape.m) + " x " +
                     std::to_string(c->shape.n) + " x " + std::to_string(c->shape.k) + ", " + value_name(c->type);
    *out = {sizeof(sxt_case), c->description.c_str(), &c->query.q, nullptr, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

// How far the entries of one item may be apart: rounding of as many terms as the sizes say, in units of the largest.
double bound_of(const Case &c, const Matrices &want, std::size_t g) {
  double largest = 1;
  for (std::int64_t j = 0; j < want.cols[g]; ++j)
    for (std::int64_t i = c.lower_result() ? j : 0; i < want.rows[g]; ++i) {
      const double size = magnitude(want.at_entry(g, i, j));
      if (size > largest) largest = size;
    }
  return 4 * (want.rows[g] + c.shape.k + 8) * epsilon(c.type) * largest;
}

void compare_item(const Case &c, const Matrices &got, const Matrices &want, std::size_t g, Verdict &verdict) {
  const double bound = bound_of(c, want, g);
  if (factors(c.shape.operation) && c.info[g] > 0) {
    const std::int64_t j = c.info[g] - 1;
    return verdict.check("pivot", static_cast<std::int64_t>(g), got.at_entry(g, j, j).real(),
                         want.at_entry(g, j, j).real(), bound);
  }
  for (std::int64_t j = 0; j < want.cols[g]; ++j)
    for (std::int64_t i = c.lower_result() ? j : 0; i < want.ld[g]; ++i)
      verdict.check("result", want.at[g] + i + j * want.ld[g], got.at_entry(g, i, j), want.at_entry(g, i, j),
                    i < want.rows[g] ? bound : 0);
}

sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    Case &got = *static_cast<Case *>(got_case->owner), &want = *static_cast<Case *>(want_case->owner);
    Verdict verdict(error, message);
    if (factors(want.shape.operation)) {
      if (got.info != want.info) return verdict.fail("info is not the reference's"), SXT_OK;
      for (std::size_t g = 0; g < want.marks_at.size(); ++g)
        for (std::int32_t j = 0; want.info[g] == 0 && j < want.n[g]; ++j)
          if (got.marks[want.marks_at[g] + j] != want.marks[want.marks_at[g] + j])
            return verdict.fail("other pivots were changed"), SXT_OK;
    }
    const Matrices &a = got.result(), &b = want.result();
    for (std::size_t g = 0; g < b.at.size(); ++g) compare_item(want, a, b, g, verdict);
    if (!got.a.values.guard_intact() || !got.b.values.guard_intact() || !got.c.values.guard_intact())
      verdict.fail("it wrote outside the matrices");
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return guard(exec, [&] {
    Case &c = *static_cast<Case *>(moved->owner);
    Move move(c.moved, exec, to_device);
    move.array(c.a.values).array(c.b.values).array(c.c.values).array(c.d.values).array(c.marks);
    if (to_device) {  // the lists of pointers travel with the addresses that the arrays have there
      for (Matrices *x : {&c.a, &c.b, &c.c, &c.d})
        for (void *&pointer : x->pointers) move.point(pointer);
      for (std::uint8_t *&pointer : c.marks_pointers) move.point(pointer);
    }
    for (Matrices *x : {&c.a, &c.b, &c.c, &c.d}) move.array(x->pointers).array(x->ld);
    move.array(c.m).array(c.n).array(c.k).array(c.info).array(c.marks_pointers);
    sxt_dense_args &a = c.args;
    move.point(a.m).point(a.n).point(a.k).point(a.info).point(a.changed);
    move.point(a.a).point(a.b).point(a.c).point(a.lda).point(a.ldb).point(a.ldc).point(a.d).point(a.incd);
    a.arrays_on_device = to_device;
    const sxt_status status = move.finish();
    if (!to_device) c.set_pointers();
    return status;
  });
}

}  // namespace

const sxt_kind kind = kind_of_cases<Case>(SXT_KIND_DENSE, "groups of dense operations with sizes of their own",
                                          {&reference, n_shapes *types, make_case, compare, move_case});

}  // namespace sextant_dense
