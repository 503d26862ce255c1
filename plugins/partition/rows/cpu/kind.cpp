// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.partition/1: bands, grids, stars and scattered entries, for 1 to 7 members of equal and unequal rates. An
// answer passes that names every row once, gives each member consecutive places, and of the work no more than its share
// and the largest row, or that of one member which has all. Divisions of equal quality need not be equal.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "rows.hpp"
#include "sextant/sdk/cases.hpp"

namespace sextant::partition_rows {

namespace {

using namespace plugin;
using namespace plugin::cases;

constexpr std::int64_t guard_value = -77;
constexpr std::uint64_t shapes = 6, member_counts = 4;
// A part may be so much larger than its share, beside its largest row: k-way partitioning trades balance for cuts.
constexpr double slack = 1.35;

struct Case {
  Matrix matrix;
  std::vector<std::int64_t> wide_ptr, wide_col, along, order, begin;
  std::vector<double> rate;
  sxt_partition_query query{};
  sxt_partition_args args{};
  char description[120];
};

Pattern empty(std::int64_t n) { return {n, n, std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(n))}; }

Pattern band(std::int64_t n, std::int64_t width) {
  Pattern out = empty(n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = std::max<std::int64_t>(0, i - width); j <= std::min(n - 1, i + width); ++j)
      out.row[static_cast<std::size_t>(i)].push_back(j);
  return out;
}

Pattern grid(std::int64_t side) {
  Pattern out = empty(side * side);
  for (std::int64_t i = 0; i < side * side; ++i)
    for (const std::int64_t step : {-side, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, side}) {
      const bool wraps = (step == -1 && i % side == 0) || (step == 1 && i % side == side - 1);
      if (!wraps && i + step >= 0 && i + step < side * side) out.row[static_cast<std::size_t>(i)].push_back(i + step);
    }
  return out;
}

Pattern star(std::int64_t n) {
  Pattern out = empty(n);
  for (std::int64_t j = 0; j < n; ++j) out.row[0].push_back(j);
  for (std::int64_t i = 1; i < n; ++i) out.row[static_cast<std::size_t>(i)] = {0, i};
  return out;
}

Pattern shape(std::uint64_t i, const char *&what) {
  switch (i) {
    case 0: return what = "a band", band(301, 3);
    case 1: return what = "a grid of 24 x 24", grid(24);
    case 2: return what = "a star", star(120);
    case 3: return what = "rows without entries", empty(50);
    case 4: return what = "one row", band(1, 0);
    default: return what = "no row", empty(0);
  }
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    const char *what = "";
    const Pattern pattern = shape(i % shapes, what);
    const auto members = static_cast<std::int32_t>(1 + 2 * (i / shapes % member_counts));
    c->matrix = Matrix(pattern, SXT_F64, random);
    const sxt_csr &csr = c->matrix.csr();
    c->along.resize(static_cast<std::size_t>(csr.s.rows));
    for (std::size_t k = 0; k < c->along.size(); ++k)
      c->along[k] = csr.s.rows - 1 - static_cast<std::int64_t>(k);  // an order like any other
    c->order.assign(c->along.size() + 1, guard_value);
    c->begin.assign(static_cast<std::size_t>(members) + 2, guard_value);
    for (std::int32_t m = 0; m < members; ++m) c->rate.push_back(i % 2 ? 1e9 : 1e9 * (1 + m));
    c->query.m = c->matrix.query(SXT_KIND_PARTITION, sizeof c->query, SXT_F64);
    c->query.members = members;
    c->query.value_s = 1e-9;
    c->query.most_rate = c->rate.back();
    for (const double rate : c->rate) c->query.rate += rate;
    const bool wide = i / (shapes * member_counts) % 2 == 1;
    c->wide_ptr.assign(c->matrix.row_ptr().begin(), c->matrix.row_ptr().end());
    c->wide_col.assign(c->matrix.col().begin(), c->matrix.col().end());
    c->args = {head<sxt_partition_args>(SXT_KIND_PARTITION),
               csr.s.rows,
               wide ? SXT_I64 : SXT_I32,
               wide ? SXT_I64 : SXT_I32,
               wide ? static_cast<const void *>(c->wide_ptr.data()) : csr.row_ptr,
               wide ? static_cast<const void *>(c->wide_col.data()) : csr.col,
               c->along.data(),
               members,
               0,
               c->rate.data(),
               12,
               20,
               c->order.data(),
               c->begin.data()};
    std::snprintf(c->description, sizeof c->description, "%s for %d members%s", what, members, wide ? ", 64-bit" : "");
    *out = {sizeof(sxt_case), c->description, &c->query.m.q, &csr.s.h, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

const char *fault_of(const Case &c) {
  const auto n = static_cast<std::size_t>(c.args.n), members = static_cast<std::size_t>(c.args.members);
  if (c.order.back() != guard_value || c.begin.back() != guard_value) return "it wrote beyond its answer";
  std::vector<char> met(n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    const std::int64_t row = c.order[k];
    if (row < 0 || row >= c.args.n || met[static_cast<std::size_t>(row)]) return "a row is missing, or named twice";
    met[static_cast<std::size_t>(row)] = 1;
  }
  if (c.begin[0] != 0 || c.begin[members] != c.args.n) return "members do not cover the rows";
  double all = 0, largest = 0, rates = 0;
  for (std::size_t row = 0; row < n; ++row) {
    const double work = partition::work_of(c.args, static_cast<std::int64_t>(row));
    all += work, largest = std::max(largest, work);
  }
  for (const double rate : c.rate) rates += rate;
  for (std::size_t m = 0; m < members; ++m) {
    if (c.begin[m] > c.begin[m + 1]) return "a member ends before it begins";
    if (c.begin[m + 1] - c.begin[m] == c.args.n) continue;  // one has all
    double work = 0;
    for (std::int64_t k = c.begin[m]; k < c.begin[m + 1]; ++k)
      work += partition::work_of(c.args, c.order[static_cast<std::size_t>(k)]);
    if (work > slack * all * c.rate[m] / rates + 2 * largest) return "a member has far more than its share";
  }
  return nullptr;
}

sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    Verdict verdict(error, message);
    if (const char *fault = fault_of(got))
      verdict.fail(fault);
    else if (got.order != want.order || got.begin != want.begin)
      *error = 0.5;  // another division, as good
    return SXT_OK;
  });
}

// Patterns and answers lie on the host, on whichever device the kernel is chosen for.
sxt_status stay(sxt_case *, const sxt_exec *, std::int32_t) { return SXT_OK; }

}  // namespace

const sxt_kind kind = kind_of_cases<Case>(SXT_KIND_PARTITION, "rows of a matrix divided among the members of a world",
                                          {&contiguous, 2 * shapes *member_counts, make_case, compare, stay});

}  // namespace sextant::partition_rows
