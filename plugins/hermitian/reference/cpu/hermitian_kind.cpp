// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.hermitian/1: orders from 0 to 300, one or many systems, both triangles and layouts, flawed systems among
// good ones.
#include <cstdint>
#include <iterator>
#include <memory>

#include "hermitian_compare.hpp"
#include "hermitian_reference.hpp"

using namespace sextant::plugin;

namespace sextant::hermitian_reference {
namespace {

constexpr std::int32_t F = SXT_HERMITIAN_FACTOR, S = SXT_HERMITIAN_SOLVE, FS = SXT_HERMITIAN_FACTOR_SOLVE;
constexpr std::int32_t D = SXT_HERMITIAN_DEFINITE, I = SXT_HERMITIAN_INDEFINITE, G = SXT_HERMITIAN_SIGNED;
constexpr sxt_triangle L = SXT_LOWER, U = SXT_UPPER;
constexpr std::uint64_t types = 4;

// phase, definiteness, batch, n, right-hand sides, triangle, pointers, orders vary, mask, padding, digits lost, flaw,
// whether the other triangle may be overwritten, whether no factor need be left
const Shape shapes[] = {
    {FS, D, 0, 5, 1, L, false, false, false, 0, 0},
    {FS, D, 3, 0, 1, L, false, false, false, 1, 0},
    {FS, I, 5, 1, 2, U, false, false, false, 0, 0},
    {FS, D, 5, 1, 1, L, true, false, false, 2, 0},
    {F, D, 9, 2, 0, L, false, false, true, 0, 1},
    {FS, D, 6, 3, 2, U, false, false, false, 0, 1},
    {FS, D, 7, 16, 1, L, false, false, false, 0, 2},
    {F, D, 5, 17, 0, U, true, false, false, 2, 2},
    {F, D, 12, 40, 0, L, true, true, true, 1, 2, Flaw::some_not_definite},
    {FS, D, 9, 37, 3, U, true, true, true, 3, 2, Flaw::some_not_finite},
    {FS, D, 8, 36, 1, L, false, true, false, 1, 2},
    {S, D, 4, 33, 3, L, false, false, true, 1, 3},
    {S, D, 4, 31, 1, U, true, true, false, 0, 3},
    {FS, D, 3, 64, 1, L, false, false, false, 0, 3},
    {FS, D, 3, 65, 5, U, false, false, false, 3, 3},
    {FS, D, 2, 130, 1, L, true, false, false, 0, 3},
    {FS, D, 7, 24, 2, L, false, false, false, 1, 3, Flaw::some_not_definite},
    {FS, D, 700, 6, 1, U, false, false, false, 0, 3},
    {FS, D, 3, 40, 1, L, false, false, false, 0, 12},
    {FS, D, 2, 300, 2, L, false, false, false, 4, 4},
    {F, I, 9, 2, 0, L, false, false, false, 0, 1},
    {FS, I, 6, 17, 2, U, false, false, false, 1, 2},
    {FS, I, 9, 38, 1, L, true, true, true, 1, 2, Flaw::some_not_finite},
    {F, I, 3, 65, 0, U, true, false, false, 2, 3},
    {S, I, 4, 33, 2, L, false, false, true, 1, 3},
    {S, I, 4, 34, 1, U, false, false, false, 0, 3},
    {FS, I, 5, 40, 1, L, false, false, false, 0, 2, Flaw::zero_diagonal},
    {F, I, 3, 7, 0, L, false, false, false, 0, 0, Flaw::zero},
    {FS, I, 2, 150, 3, L, false, false, false, 0, 9},
    {F, I, 2, 129, 0, U, false, false, false, 0, 4},
    // The other triangle may be overwritten.
    {FS, D, 6, 3, 2, U, false, false, false, 0, 1, Flaw::none, true},
    {F, D, 5, 17, 0, U, true, false, false, 2, 2, Flaw::none, true},
    {FS, D, 7, 24, 2, L, false, false, true, 1, 3, Flaw::some_not_definite, true},
    {FS, D, 7, 30, 1, L, true, false, false, 1, 3, Flaw::some_not_finite, true},
    {S, D, 4, 33, 3, L, false, false, true, 1, 3, Flaw::none, true},
    {FS, D, 3, 129, 1, U, false, false, false, 0, 3, Flaw::none, true},
    // And no factor need be left.
    {FS, I, 6, 17, 2, U, false, false, false, 1, 2, Flaw::none, true, true},
    {FS, I, 9, 38, 1, L, true, false, true, 1, 2, Flaw::some_not_finite, true, true},
    {FS, I, 3, 100, 1, L, false, false, false, 0, 3, Flaw::zero_diagonal, true, true},
    // In measurements; without a solution the factor is left all the same.
    {F, D, 5, 17, 0, L, false, false, false, 2, 2, Flaw::none, true, true},
    {F, D, 20, 70, 0, U, false, false, false, 0, 3, Flaw::none, true, true},
    // Without interchanges.
    {FS, G, 5, 1, 2, U, false, false, false, 0, 0},
    {F, G, 9, 2, 0, L, false, false, false, 0, 1},
    {FS, G, 6, 17, 2, U, false, false, false, 1, 2},
    {F, G, 9, 40, 0, L, true, true, true, 1, 2, Flaw::some_not_finite},
    {FS, G, 8, 40, 3, L, false, true, false, 1, 2},
    {S, G, 4, 33, 3, L, false, false, true, 1, 3},
    {S, G, 4, 65, 1, U, true, true, false, 0, 3},
    {FS, G, 3, 64, 1, L, false, false, false, 0, 3},
    {FS, G, 3, 65, 5, U, false, false, false, 3, 3},
    {FS, G, 2, 130, 1, L, true, false, false, 0, 3},
    {F, G, 3, 130, 0, U, false, false, false, 2, 3},
    {FS, G, 2, 300, 2, L, false, false, false, 4, 4},
    {FS, G, 7, 24, 2, L, false, false, false, 1, 3, Flaw::some_not_finite},
    {F, G, 3, 7, 0, L, false, false, false, 0, 0, Flaw::zero},
    {FS, G, 9, 130, 1, L, false, true, true, 0, 2, Flaw::none, true},  // as core asks
};
constexpr std::uint64_t n_shapes = std::size(shapes);

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    make(shapes[i % n_shapes], static_cast<sxt_value_type>(1 + (i + i / n_shapes) % types), random, *c);
    *out = {sizeof(sxt_case), c->description.c_str(), &c->query.q, nullptr, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return guard(exec, [&] {
    Case &c = *static_cast<Case *>(moved->owner);
    Move move(c.moved, exec, to_device);
    move.array(c.a).array(c.b);
    if (to_device) {  // the lists of pointers travel with the addresses that the arrays have there
      for (void *&pointer : c.a_pointers) move.point(pointer);
      for (void *&pointer : c.b_pointers) move.point(pointer);
    }
    move.array(c.a_pointers).array(c.b_pointers).array(c.info).array(c.pivots).array(c.orders_device);
    move.array(c.lda).array(c.ldb).array(c.active);
    sxt_hermitian_args &a = c.args;
    move.point(a.a).point(a.b).point(a.a_array).point(a.b_array).point(a.info).point(a.pivots);
    move.point(a.orders_device).point(a.lda_each).point(a.ldb_each).point(a.active);
    const sxt_status status = move.finish();
    if (!to_device) c.set_pointers();
    return status;
  });
}

}  // namespace

const sxt_kind kind = kind_of_cases<Case>(SXT_KIND_HERMITIAN, "factor and solve a set of dense Hermitian systems",
                                          {&kernel, n_shapes *types, make_case, compare, move_case});

}  // namespace sextant::hermitian_reference
