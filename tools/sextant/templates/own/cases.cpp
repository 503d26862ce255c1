// SPDX-License-Identifier: BSD-3-Clause
// The kind of kind.hpp as data: a reference kernel that is meant to be read, the cases that every kernel of the kind is
// tested on, and how two answers are compared.
#include <cstdint>
#include <memory>
#include <string>

#include "kind.hpp"
#include "sextant/sdk/cases.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

extern const sxt_kernel own_reference;
extern const sxt_kind own_kind;

namespace {

sxt_value_type type_of(const void *state) { return *static_cast<const sxt_value_type *>(state); }

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new sxt_value_type(problem->query->value_type), state); });
}

// By the formula, in double precision.
sxt_status run_reference(const void *state, void *, const sxt_head *head, const sxt_exec *) {
  const auto &args = as<OwnArgs>(head);
  return with_value_type(type_of(state), [&]<class T>(Tag<T>) {
    const T *x = static_cast<const T *>(args.x);
    const auto at = [&](std::int64_t i) { return i >= 0 && i < args.n ? Wide(x[i]) : Wide(0); };
    for (std::int64_t i = 0; i < args.n; ++i) {
      const Wide y = 0.25 * (at(i - 1) + 2.0 * at(i) + at(i + 1));
      if constexpr (is_complex<T>)
        static_cast<T *>(args.y)[i] = T(y);
      else
        static_cast<T *>(args.y)[i] = static_cast<T>(y.real());
    }
    return SXT_OK;
  });
}

constexpr std::int64_t sizes[] = {1, 2, 7, 64, 1000, 4097};
constexpr std::uint64_t n_sizes = std::size(sizes), types = 4;

struct Case {
  OwnQuery query{};
  OwnArgs args{};
  Array x, y;
  Moved moved;
  std::string description;
};

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    const auto type = static_cast<sxt_value_type>(SXT_F32 + static_cast<int>(i % types));
    const std::int64_t n = sizes[i / types % n_sizes];
    c->x = Array(type, n, random);
    c->y = Array(type, n);
    c->x.poison_guards();  // a read beyond the ends gets NaN
    c->y.poison(0, n);     // an element that is not written stays NaN
    c->query.q = {head<OwnQuery>(KIND_OWN), 1, 0, type};
    c->query.n = n;
    c->args = {head<OwnArgs>(KIND_OWN), n, c->x.data(), c->y.data()};
    c->description = std::string(value_name(type)) + ", n = " + std::to_string(n);
    *out = {sizeof *out, c->description.c_str(), &c->query.q, nullptr, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

// Three additions and an exact product: each result is within 3 units of the last place of the largest term.
sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
  Verdict verdict(error, message);
  const double bound = 3 * epsilon(want.y.type());  // operands are below 1
  for (std::int64_t i = 0; i < want.y.size(); ++i) verdict.check("y", i, got.y.at(i), want.y.at(i), bound);
  if (!got.y.guard_intact()) verdict.fail("the kernel wrote beyond the ends of y");
  return SXT_OK;
}

// Into a device's memory and back, for kernels of other devices.
sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return move_owner<Case>(moved, exec, to_device, [](Case &c, Move &move) {
    move.array(c.x).array(c.y);
    move.point(c.args.x).point(c.args.y);
  });
}

}  // namespace

const sxt_kernel own_reference = [] {
  sxt_kernel k = new_kernel(KIND_OWN, "@KERNEL@.reference", "cpu", "smoothing by its formula", run_reference);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.prepare = prepare;
  k.release = destroy<sxt_value_type>;
  return k;
}();

const sxt_kind own_kind = kind_of_cases<Case>(KIND_OWN, "smoothing of a vector",
                                              {&own_reference, types *n_sizes, make_case, compare, move_case});
