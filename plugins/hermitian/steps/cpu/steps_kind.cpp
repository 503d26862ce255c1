// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.hermitian_step/1: every step on a strided set of one order and on one of mixed orders behind pointers, some
// of them NULL, with some systems switched off.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hermitian_steps.hpp"
#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/sdk/cases.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

constexpr std::uint64_t n_steps = SXT_HERMITIAN_CANCELLED, types = 4, layouts = 2, variants = 2;
constexpr std::int64_t batch = 7, n_most = 37, n_rhs = 3, spare = 3;

struct Case {
  std::vector<std::int32_t> orders, info, info_in, pivots, inertia;
  std::vector<std::uint8_t> active, mask;
  std::vector<double> scale, numbers, numbers_in;
  std::vector<void *> pointers[3];
  std::vector<std::int64_t> ld;
  Array blocks[3];  // a, b, c
  sxt_hermitian_step_query query{};
  sxt_hermitian_step_args args{};
  bool behind_pointers = false;
  Moved moved;
  std::string description;

  sxt_hermitian_block *block(int i) { return i == 0 ? &args.a : i == 1 ? &args.b : &args.c; }
  void set_pointers();
};

// Blocks and pointers where they lie on the host; the second system has no memory behind pointers.
void Case::set_pointers() {
  for (int i = 0; i < 3; ++i) {
    sxt_hermitian_block &at = *block(i);
    const std::int64_t cols = blocks[i].size() / batch / (n_most + spare);
    at.ld = n_most + spare;
    at.stride = at.ld * cols;
    pointers[i].clear();
    for (std::int64_t s = 0; s < batch; ++s)
      pointers[i].push_back(s == 1 ? nullptr
                                   : static_cast<char *>(blocks[i].data()) +
                                         s * at.stride * static_cast<std::int64_t>(value_bytes(blocks[i].type())));
    at.data = behind_pointers ? nullptr : blocks[i].data();
    at.array = behind_pointers ? pointers[i].data() : nullptr;
    at.ld_each = behind_pointers ? ld.data() : nullptr;
  }
  args.orders_device = behind_pointers ? orders.data() : nullptr;
  args.active = active.data();
  args.mask = mask.data();
  args.info = info.data();
  args.info_in = info_in.data();
  args.pivots = pivots.data();
  args.scale = scale.data();
  args.numbers = numbers.data();
  args.numbers_in = numbers_in.data();
  args.inertia = inertia.data();
}

void fill_arrays(Case &c, Random &random) {
  const std::int32_t step = c.args.step;
  const bool matrix_target = step == SXT_HERMITIAN_COPY || step == SXT_HERMITIAN_NARROW || step == SXT_HERMITIAN_MIX;
  const bool narrow = step >= SXT_HERMITIAN_NARROW && step <= SXT_HERMITIAN_WIDEN_RHS;
  const sxt_value_type half = complex_type(c.args.value_type) ? SXT_C64 : SXT_F32;
  const sxt_value_type target = narrow ? half : c.args.value_type;
  c.blocks[0] = Array(c.args.value_type, batch * (n_most + spare) * n_most, random);
  c.blocks[1] = Array(c.args.value_type, batch * (n_most + spare) * n_rhs, random);
  if (step == SXT_HERMITIAN_ESTIMATE && c.args.variant == 0)  // the vector's place, where nothing was written yet
    for (std::int64_t i = 0; i < c.blocks[1].size(); ++i) c.blocks[1].set(i, {NAN, NAN});
  c.blocks[2] = Array(target, batch * (n_most + spare) * (matrix_target ? n_most : n_rhs), random);
  if (step == SXT_HERMITIAN_RESIDUAL)  // a right-hand side that is not finite, beside others that are
    c.blocks[2].set(2 * (n_most + spare) * n_rhs, {NAN, 0});
  for (std::int64_t s = 0; s < batch; ++s) {
    c.orders.push_back(static_cast<std::int32_t>(c.behind_pointers ? (5 * s + 2) % (n_most + 1) : n_most));
    c.ld.push_back(n_most + spare);
    c.active.push_back(s % 4 != 3);
    c.mask.push_back(s % 2 ? 9 : 0);
    c.info.push_back(static_cast<std::int32_t>(s % 3 == 2 ? s : 0));
    c.info_in.push_back(static_cast<std::int32_t>(10 + s));
    for (std::int64_t i = 0; i < n_most; ++i) {
      c.pivots.push_back(s % 2 ? 0 : i % 5 < 2 ? -1 : 1);
      c.scale.push_back(step == SXT_HERMITIAN_SCALE_RHS ? std::ldexp(1.0, static_cast<int>(i % 9) - 4) : 0);
    }
    c.numbers.push_back(random.uniform());
    c.numbers_in.push_back(random.uniform());
    c.inertia.insert(c.inertia.end(), {-1, -1, -1});
  }
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    sxt_hermitian_step_args &a = c->args;
    a.h = head<sxt_hermitian_step_args>(SXT_KIND_HERMITIAN_STEP);
    a.step = static_cast<std::int32_t>(1 + i % n_steps);
    a.value_type = static_cast<sxt_value_type>(1 + i / n_steps % types);
    c->behind_pointers = i / (n_steps * types) % layouts != 0;
    const bool second = i / (n_steps * types * layouts) != 0;
    a.triangle = second ? SXT_UPPER : SXT_LOWER;
    a.batch = batch;
    a.n_max = a.stride_pivots = a.stride_scale = n_most;
    a.n_rhs = a.step == SXT_HERMITIAN_ESTIMATE ? 1 : n_rhs;
    a.value = a.step == SXT_HERMITIAN_CHECK ? second : 0.5;
    // SELECT and ESTIMATE have more variants than cases of one type: the type chooses.
    a.variant = a.step == SXT_HERMITIAN_SELECT     ? static_cast<std::int32_t>((a.value_type + second * 3) % 7)
                : a.step == SXT_HERMITIAN_ESTIMATE ? static_cast<std::int32_t>((a.value_type + second * 3) % 7)
                                                   : second;
    fill_arrays(*c, random);
    c->set_pointers();
    c->query.q = {{sizeof c->query, SXT_KIND_HERMITIAN_STEP}, 1, 0, a.value_type};
    c->query.batch = batch;
    c->query.n_max = n_most;
    c->query.n_rhs = n_rhs;
    c->query.sum_n1 = batch * n_most;
    c->query.sum_n2 = c->query.sum_n1 * n_most;
    c->description = "step " + std::to_string(a.step) + " of " + value_name(a.value_type) + ", variant " +
                     std::to_string(a.variant) + (c->behind_pointers ? ", behind pointers" : ", strided");
    *out = {sizeof(sxt_case), c->description.c_str(), &c->query.q, nullptr, nullptr, &a.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

template <class T>
void check_exact(const char *what, const std::vector<T> &got, const std::vector<T> &want, Verdict &verdict) {
  for (std::size_t i = 0; i < want.size(); ++i)
    verdict.check(what, static_cast<std::int64_t>(i), static_cast<double>(got[i]), static_cast<double>(want[i]), 0);
}

// Whole numbers exactly; sums of n products within n roundings.
sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    Verdict verdict(error, message);
    const double eps = 4 * n_most * epsilon(want.args.value_type);
    for (int b = 0; b < 3; ++b) {
      for (std::int64_t i = 0; i < want.blocks[b].size(); ++i) {
        const Wide value = want.blocks[b].at(i);
        const double size = std::isfinite(magnitude(value)) ? magnitude(value) : 0;  // of a number half NaN
        verdict.check("a block", i, got.blocks[b].at(i), value, eps * (size + n_most));
      }
      if (!got.blocks[b].guard_intact()) verdict.fail("the kernel wrote beyond the end of a block");
    }
    check_exact("mask", got.mask, want.mask, verdict);
    check_exact("info", got.info, want.info, verdict);
    check_exact("pivots", got.pivots, want.pivots, verdict);
    check_exact("inertia", got.inertia, want.inertia, verdict);
    check_exact("scale", got.scale, want.scale, verdict);
    const double digits = want.args.step == SXT_HERMITIAN_RESIDUAL ? 1e-6 : 0;
    for (std::size_t s = 0; s < want.numbers.size(); ++s)
      verdict.check("numbers", static_cast<std::int64_t>(s), got.numbers[s], want.numbers[s],
                    std::max(eps, digits) * (1 + std::abs(want.numbers[s])));
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return guard(exec, [&] {
    Case &c = *static_cast<Case *>(moved->owner);
    Move move(c.moved, exec, to_device);
    for (Array &block : c.blocks) move.array(block);
    for (std::vector<void *> &list : c.pointers) {
      for (void *&pointer : list)
        if (to_device && pointer) move.point(pointer);
      move.array(list);
    }
    move.array(c.orders).array(c.info).array(c.info_in).array(c.pivots).array(c.inertia).array(c.active).array(c.mask);
    move.array(c.scale).array(c.numbers).array(c.numbers_in).array(c.ld);
    sxt_hermitian_step_args &a = c.args;
    for (int i = 0; i < 3; ++i) move.point(c.block(i)->data).point(c.block(i)->array).point(c.block(i)->ld_each);
    move.point(a.orders_device).point(a.active).point(a.mask).point(a.info).point(a.info_in).point(a.pivots);
    move.point(a.scale).point(a.numbers).point(a.numbers_in).point(a.inertia);
    const sxt_status status = move.finish();
    if (!to_device) c.set_pointers();
    return status;
  });
}

}  // namespace

namespace sextant::hermitian_steps_cpu {

const sxt_kind kind =
    kind_of_cases<Case>(SXT_KIND_HERMITIAN_STEP, "operations on a set of systems beside factoring and solving",
                        {&kernel, n_steps *types *layouts *variants, make_case, compare, move_case});

}  // namespace sextant::hermitian_steps_cpu
