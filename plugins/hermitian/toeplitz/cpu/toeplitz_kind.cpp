// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.hermitian_toeplitz/1: sets in which every third system is a well conditioned Toeplitz matrix, one of the
// others differs from one in a single entry, and the recursion breaks down on the third.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "hermitian_toeplitz.hpp"
#include "sextant/sdk/cases.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

struct Shape {
  std::int32_t definiteness;
  std::int64_t batch, n, n_rhs;
  sxt_triangle triangle;
  bool pointers, vary, mask;
  std::int64_t padding;
};
constexpr std::int32_t D = SXT_HERMITIAN_DEFINITE, I = SXT_HERMITIAN_INDEFINITE, T = SXT_HERMITIAN_TRY_DEFINITE;
const Shape shapes[] = {
    {D, 0, 4, 1, SXT_LOWER, false, false, false, 0},   {D, 3, 0, 1, SXT_UPPER, false, false, false, 1},
    {D, 4, 1, 2, SXT_LOWER, false, false, false, 0},   {I, 4, 2, 1, SXT_UPPER, false, false, false, 0},
    {D, 6, 3, 1, SXT_LOWER, true, false, false, 2},    {D, 9, 17, 2, SXT_UPPER, false, false, true, 0},
    {I, 7, 33, 3, SXT_LOWER, true, true, true, 1},     {T, 6, 64, 1, SXT_LOWER, false, false, false, 0},
    {D, 6, 65, 1, SXT_UPPER, true, true, false, 3},    {D, 300, 5, 1, SXT_LOWER, false, false, false, 0},
    {D, 3, 300, 2, SXT_LOWER, false, false, false, 1}, {I, 3, 257, 1, SXT_UPPER, false, false, false, 0},
};
constexpr std::uint64_t n_shapes = std::size(shapes), types = 4;

struct Case {
  Shape shape{};
  std::vector<std::int32_t> orders, orders_device, info, expected;
  std::vector<std::int64_t> lda, ldb, a_at, b_at;
  std::vector<std::uint8_t> active;
  std::vector<void *> a_pointers, b_pointers;
  Array a, b, a_before, b_before;
  sxt_hermitian_query query{};
  sxt_hermitian_args args{};
  Moved moved;
  std::string description;

  bool is_active(std::int64_t s) const { return active.empty() || active[s] != 0; }
  bool held(std::int64_t i, std::int64_t j) const { return shape.triangle == SXT_LOWER ? i >= j : i <= j; }
  void set_pointers();
};

void Case::set_pointers() {
  a_pointers.clear(), b_pointers.clear();
  const auto bytes = static_cast<std::int64_t>(value_bytes(a.type()));
  for (std::int64_t s = 0; s < shape.batch; ++s) {
    a_pointers.push_back(static_cast<char *>(a.data()) + a_at[s] * bytes);
    b_pointers.push_back(static_cast<char *>(b.data()) + b_at[s] * bytes);
  }
  args.a = shape.pointers ? nullptr : a.data();
  args.a_array = shape.pointers ? a_pointers.data() : nullptr;
  args.b = shape.pointers ? nullptr : b.data();
  args.b_array = shape.pointers ? b_pointers.data() : nullptr;
  args.orders_device = shape.vary ? orders_device.data() : nullptr;
  args.lda_each = shape.pointers ? lda.data() : nullptr;
  args.ldb_each = shape.pointers ? ldb.data() : nullptr;
  args.active = active.empty() ? nullptr : active.data();
  args.info = info.data();
}

// System s of the case: its form depends only on s.
void fill_system(Case &c, std::int64_t s, Random &random) {
  const std::int64_t n = c.orders[s], ld = c.lda[s];
  const bool complex = complex_type(c.a.type()), breaks_down = s % 3 == 2 && n > 0;
  // Entries fall off like 0.6^k: the condition number is below 16 at any order.
  std::vector<Wide> t(static_cast<std::size_t>(n));
  const double turn = complex ? 0.3 + 0.1 * static_cast<double>(s % 5) : 0, sign = c.shape.definiteness == D ? 1 : -1;
  for (std::int64_t k = 0; k < n; ++k)
    t[k] = sign * std::polar(std::pow(0.6, static_cast<double>(k)), turn * static_cast<double>(k));
  if (breaks_down) t[0] = 0;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      if (!c.held(i, j)) continue;
      const Wide value = i >= j ? t[i - j] : std::conj(t[j - i]);
      c.a.set(c.a_at[s] + i + j * ld, i == j ? Wide(value.real(), random.symmetric()) : value);
    }
  const bool spoilt = s % 3 == 1 && n > 1;
  if (spoilt) {  // the last entry of the diagonal, or one beside it
    const std::int64_t i = n - 1, j = s % 2 || n < 3 ? n - 1 : n - 2;
    const std::int64_t at = c.a_at[s] + (c.shape.triangle == SXT_LOWER ? i + j * ld : j + i * ld);
    c.a.set(at, c.a.at(at) + 0.125);
  }
  c.expected.push_back(!c.is_active(s) ? SXT_HERMITIAN_NOT_ACTIVE
                       : spoilt        ? SXT_HERMITIAN_NOT_TOEPLITZ
                       : breaks_down   ? SXT_HERMITIAN_NOT_ACCURATE
                                       : 0);
  for (std::int64_t r = 0; r < c.shape.n_rhs; ++r)
    for (std::int64_t i = 0; i < n; ++i) c.b.set(c.b_at[s] + i + r * c.ldb[s], c.b.random_value(random));
}

void set_sizes(Case &c, sxt_value_type type) {
  const Shape &shape = c.shape;
  std::int64_t a_size = 0, b_size = 0;
  for (std::int64_t s = 0; s < shape.batch; ++s) {
    const std::int64_t n = shape.vary ? (s * 11 + 5) % (shape.n + 1) : shape.n;
    c.orders.push_back(static_cast<std::int32_t>(n));
    c.lda.push_back(std::max<std::int64_t>(1, shape.n + shape.padding));
    c.ldb.push_back(std::max<std::int64_t>(1, shape.n + shape.padding));
    c.a_at.push_back(a_size);
    c.b_at.push_back(b_size);
    a_size += c.lda.back() * shape.n + shape.padding;
    b_size += c.ldb.back() * shape.n_rhs + shape.padding;
    c.active.push_back(!(shape.mask && s % 4 == 3));
  }
  if (!shape.mask) c.active.clear();
  c.a = Array(type, a_size);
  c.b = Array(type, b_size);
  c.orders_device = c.orders;
  c.info.assign(static_cast<std::size_t>(shape.batch), 77);
}

void set_query_and_args(Case &c) {
  const Shape &shape = c.shape;
  sxt_hermitian_query &q = c.query;
  q.q = {{sizeof q, SXT_KIND_HERMITIAN_TOEPLITZ}, 1, 0, c.a.type()};
  q.batch = shape.batch, q.n_rhs = shape.n_rhs;
  q.n_min = q.n_max = shape.n;
  for (const double n : c.orders) q.sum_n1 += n, q.sum_n2 += n * n, q.sum_n3 += n * n * n;
  q.phase = SXT_HERMITIAN_FACTOR_SOLVE;
  q.definiteness = shape.definiteness;
  q.pointer_array = q.leading_vary = shape.pointers;
  q.orders_vary = shape.vary;
  q.triangle = shape.triangle;
  sxt_hermitian_args &a = c.args;
  a.h = head<sxt_hermitian_args>(SXT_KIND_HERMITIAN_TOEPLITZ);
  a.phase = q.phase, a.definiteness = q.definiteness, a.value_type = c.a.type(), a.triangle = shape.triangle;
  a.batch = shape.batch, a.n_max = shape.n, a.n_rhs = shape.n_rhs;
  if (shape.vary) a.orders = c.orders.data();
  a.lda = a.ldb = std::max<std::int64_t>(1, shape.n + shape.padding);
  if (shape.batch > 1 && !shape.pointers) a.stride_a = c.a_at[1], a.stride_b = c.b_at[1];
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    c->shape = shapes[i % n_shapes];
    set_sizes(*c, static_cast<sxt_value_type>(1 + i / n_shapes % types));
    for (std::int64_t s = 0; s < c->shape.batch; ++s) fill_system(*c, s, random);
    set_query_and_args(*c);
    c->set_pointers();
    c->a_before = c->a;
    c->b_before = c->b;
    c->description = std::to_string(c->shape.batch) + " systems of " + value_name(c->a.type()) + ", order " +
                     std::to_string(c->shape.n) + ", every third of them Toeplitz";
    *out = {sizeof(sxt_case), c->description.c_str(), &c->query.q, nullptr, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

Wide entry(const Case &c, std::int64_t s, std::int64_t i, std::int64_t j) {
  const bool held = c.held(i, j);
  const Wide value = c.a_before.at(c.a_at[s] + (held ? i + j * c.lda[s] : j + i * c.lda[s]));
  return i == j ? Wide(value.real()) : held ? value : std::conj(value);
}

// b - A x of one system, row by row, against the kind's tolerance.
void check_solution(const Case &c, std::int64_t s, Verdict &verdict) {
  const std::int64_t n = c.orders[s];
  for (std::int64_t r = 0; r < c.shape.n_rhs; ++r) {
    const std::int64_t at = c.b_at[s] + r * c.ldb[s];
    double norm = 0, x_most = 0, b_most = 0;
    std::vector<Wide> product(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      double row = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        product[i] += entry(c, s, i, j) * c.b.at(at + j);
        row += std::abs(entry(c, s, i, j));
      }
      norm = std::max(norm, row);
      x_most = std::max(x_most, std::abs(c.b.at(at + i)));
      b_most = std::max(b_most, std::abs(c.b_before.at(at + i)));
    }
    const double bound = SXT_TOEPLITZ_TOLERANCE * epsilon(c.a.type()) * (norm * x_most + b_most);
    for (std::int64_t i = 0; i < n; ++i) verdict.check("A x", i, product[i], c.b_before.at(at + i), bound);
  }
}

// The infos follow from how the case was made, not from another kernel.
sxt_status compare(const sxt_case *got_case, const sxt_case *, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner);
    Verdict verdict(error, message);
    for (std::int64_t s = 0; s < got.shape.batch; ++s) {
      verdict.check("info", s, static_cast<double>(got.info[s]), static_cast<double>(got.expected[s]), 0);
      if (got.info[s] == 0 && got.expected[s] == 0) check_solution(got, s, verdict);
    }
    for (std::int64_t k = 0; k < got.a.size(); ++k)
      if (magnitude(got.a.at(k) - got.a_before.at(k)) > 0) verdict.fail("a was written");
    for (std::int64_t s = 0; s < got.shape.batch; ++s) {
      const std::int64_t end = s + 1 < got.shape.batch ? got.b_at[s + 1] : got.b.size();
      for (std::int64_t k = got.b_at[s]; k < end; ++k) {
        const std::int64_t i = (k - got.b_at[s]) % got.ldb[s], r = (k - got.b_at[s]) / got.ldb[s];
        if (got.expected[s] == 0 && i < got.orders[s] && r < got.shape.n_rhs) continue;
        if (magnitude(got.b.at(k) - got.b_before.at(k)) > 0)
          verdict.fail("b of a system that was not solved was written");
      }
    }
    if (!got.a.guard_intact() || !got.b.guard_intact()) verdict.fail("the kernel wrote beyond the end of a or b");
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
    move.array(c.a_pointers).array(c.b_pointers).array(c.info).array(c.orders_device).array(c.lda).array(c.ldb);
    move.array(c.active);
    sxt_hermitian_args &a = c.args;
    move.point(a.a).point(a.b).point(a.a_array).point(a.b_array).point(a.info).point(a.orders_device);
    move.point(a.lda_each).point(a.ldb_each).point(a.active);
    const sxt_status status = move.finish();
    if (!to_device) c.set_pointers();
    return status;
  });
}

}  // namespace

namespace sextant::hermitian_toeplitz {

const sxt_kind kind =
    kind_of_cases<Case>(SXT_KIND_HERMITIAN_TOEPLITZ, "solve the Toeplitz systems of a Hermitian set without factoring",
                        {&kernel, n_shapes *types, make_case, compare, move_case});

}  // namespace sextant::hermitian_toeplitz
