// SPDX-License-Identifier: BSD-3-Clause
// The third party's kind: its reference kernel, its conformance cases, and how answers are compared.
#include <cstdint>
#include <memory>

#include "sextant/sdk/cases.hpp"
#include "sextant/sdk/describe.hpp"
#include "smooth.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

constexpr std::int64_t sizes[] = {1, 2, 3, 64, 1000};
constexpr std::uint64_t n_cases = std::size(sizes) * 3;

// Directly from the formula, with its own buffer.
sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  return guard(exec, [&] {
    const auto &args = as<SmoothArgs>(head);
    std::vector<double> from(args.x, args.x + args.n);
    for (std::int64_t pass = 0; pass < args.passes; ++pass) {
      for (std::int64_t i = 0; i < args.n; ++i)
        args.y[i] = ((i > 0 ? from[i - 1] : 0) + 2 * from[i] + (i + 1 < args.n ? from[i + 1] : 0)) / 4;
      from.assign(args.y, args.y + args.n);
    }
    return SXT_OK;
  });
}

struct Case {
  std::vector<double> x, y;
  SmoothQuery query{};
  SmoothArgs args{};
  char description[64];
};

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    const std::int64_t n = sizes[i % std::size(sizes)], passes = 1 + static_cast<std::int64_t>(i / std::size(sizes));
    for (std::int64_t k = 0; k < n; ++k) c->x.push_back(random.symmetric());
    c->y.resize(n);
    c->query = {{head<SmoothQuery>(KIND_SMOOTH), 1, 0, SXT_F64}, n, passes};
    c->args = {head<SmoothArgs>(KIND_SMOOTH), n, passes, c->x.data(), c->y.data()};
    std::snprintf(c->description, sizeof c->description, "n = %lld, %lld passes", (long long)n, (long long)passes);
    *out = {sizeof(sxt_case), c->description, &c->query.q, nullptr, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
  Verdict verdict(error, message);
  for (std::size_t i = 0; i < want.y.size(); ++i)
    verdict.check("y", static_cast<std::int64_t>(i), got.y[i], want.y[i],
                  8 * static_cast<double>(want.args.passes) * 0x1p-52);
  return SXT_OK;
}

const sxt_kernel reference = [] {
  sxt_kernel k = new_kernel(KIND_SMOOTH, "smooth.reference.cpu", "cpu", "the formula", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_REFERENCE;
  k.value_types = type_bit(SXT_F64);
  return k;
}();

const sxt_kind kind = kind_of_cases<Case>(KIND_SMOOTH, "weighted means of neighbours",
                                          {&reference, n_cases, make_case, compare, nullptr});

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&reference, &kind>("hard-smooth-kind", out);
}
