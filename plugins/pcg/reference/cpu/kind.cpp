// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.pcg/1: the problems that every engine must solve, or refuse to solve, and how answers are compared.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "problems.hpp"
#include "reference.hpp"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/sdk/cases.hpp"
#include "sextant/sdk/kernel.hpp"

namespace pcg_reference {
namespace {

namespace plugin = sextant::plugin;

// One case with everything its pointers point to.
struct Case {
  Matrix matrix;
  std::vector<char> values, b, x;  // in the case's value type
  std::vector<Number> initial;     // x on entry
  sxt_pcg_query query{};
  sxt_csr csr{};
  sxt_pcg_args args{};
  plugin::cases::Moved moved;
};

// A case from a description in the list below.
struct Problem {
  Matrix matrix;
  std::vector<Number> b, x;
  sxt_value_type type = SXT_F64;
  double relative_tolerance = 1e-10;
  std::int64_t max_iterations = 1000, replace_every = 0;
};

std::vector<Number> random_vector(std::int64_t n, bool complex, Random &random) {
  std::vector<Number> v(n);
  for (Number &value : v) {
    const double re = random.uniform();
    value = {re, complex ? random.uniform() : 0};
  }
  return v;
}

// A matrix with a random right-hand side and a zero initial guess.
Problem problem(Matrix matrix, Random &random, sxt_value_type type = SXT_F64) {
  Problem p;
  p.b = random_vector(matrix.n, type == SXT_C64 || type == SXT_C128, random);
  p.x.assign(matrix.n, 0);
  p.matrix = std::move(matrix);
  p.type = type;
  if (type == SXT_F32 || type == SXT_C64) p.relative_tolerance = 1e-4;
  return p;
}

struct Entry {
  const char *description;
  Problem (*make)(Random &);
};

const Entry entries[] = {
    {"tridiagonal -1 2 -1, n = 100, f64", [](Random &r) { return problem(tridiagonal(100, 2, -1), r); }},
    {"5-point Laplacian on 15 x 15, f64", [](Random &r) { return problem(five_point(15, 15, 1, 0), r); }},
    {"5-point with coefficients 1 and 1e4 on 12 x 9, f64",
     [](Random &r) { return problem(five_point(12, 9, 1e4, 0), r); }},
    {"random diagonally dominant symmetric, n = 200, f64",
     [](Random &r) { return problem(diagonally_dominant(200, false, r.next()), r); }},
    {"random diagonally dominant Hermitian, n = 150, c128",
     [](Random &r) { return problem(diagonally_dominant(150, true, r.next()), r, SXT_C128); }},
    {"random diagonally dominant Hermitian, n = 90, c64",
     [](Random &r) { return problem(diagonally_dominant(90, true, r.next()), r, SXT_C64); }},
    {"5-point Laplacian on 10 x 10, f32", [](Random &r) { return problem(five_point(10, 10, 1, 0), r, SXT_F32); }},
    {"3 I, n = 50: one iteration", [](Random &r) { return problem(tridiagonal(50, 3, 0), r); }},
    {"n = 1", [](Random &r) { return problem(tridiagonal(1, 4, 0), r); }},
    {"n = 0", [](Random &r) { return problem(tridiagonal(0, 2, -1), r); }},
    {"b = 0",
     [](Random &r) {
       Problem p = problem(tridiagonal(40, 2, -1), r);
       p.b.assign(40, 0);
       return p;
     }},
    {"exact initial guess",
     [](Random &r) {
       Problem p = problem(tridiagonal(40, 2, -1), r);
       for (std::size_t i = 0; i < 40; ++i) p.x[i] = static_cast<double>(i % 7);  // small integers: no rounding
       p.b = p.matrix.multiply(p.x);
       return p;
     }},
    {"warm start",
     [](Random &r) {
       Problem p = problem(five_point(11, 13, 1, 0), r);
       p.x = random_vector(p.matrix.n, false, r);
       return p;
     }},
    {"r replaced every 7 iterations",
     [](Random &r) {
       Problem p = problem(diagonally_dominant(120, false, r.next()), r);
       p.replace_every = 7;
       return p;
     }},
    {"iteration limit 3",
     [](Random &r) {
       Problem p = problem(five_point(15, 15, 1, 0), r);
       p.max_iterations = 3;
       return p;
     }},
    {"indefinite: 5-point Laplacian - I", [](Random &r) { return problem(five_point(10, 10, 1, 1), r); }},
    {"negative definite: p'Ap < 0 in the first iteration",
     [](Random &r) { return problem(tridiagonal(30, -2, 1), r); }},
    {"NaN in b",
     [](Random &r) {
       Problem p = problem(tridiagonal(30, 2, -1), r);
       p.b[17] = std::numeric_limits<double>::quiet_NaN();
       return p;
     }},
};

// Replaces core: accepts an iterate that meets the tolerance.
std::int32_t accept(void *, const void *, std::int64_t, double, double *, sxt_reason *reason) {
  *reason = SXT_REASON_CONVERGED;
  return SXT_CONFIRM_STOP;
}
sxt_reason go_on(void *, std::int64_t, std::int64_t, const double *) { return SXT_REASON_NONE; }

template <class T>
std::vector<char> stored(const std::vector<Number> &from) {
  std::vector<char> bytes(from.size() * sizeof(T));
  for (std::size_t i = 0; i < from.size(); ++i) {
    T value;
    if constexpr (plugin::is_complex<T>)
      value = static_cast<T>(from[i]);
    else
      value = static_cast<T>(from[i].real());
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <class T>
std::vector<Number> loaded(const void *from, std::int64_t n) {
  std::vector<Number> numbers(n);
  for (std::int64_t i = 0; i < n; ++i) numbers[i] = static_cast<Number>(static_cast<const T *>(from)[i]);
  return numbers;
}

std::vector<Number> loaded(sxt_value_type type, const void *from, std::int64_t n) {
  std::vector<Number> numbers;
  plugin::with_value_type(type, [&]<class T>(plugin::Tag<T>) {
    numbers = loaded<T>(from, n);
    return static_cast<sxt_status>(SXT_OK);
  });
  return numbers;
}

double norm(const std::vector<Number> &v) {
  double sum = 0;
  for (const Number &value : v) sum += std::norm(value);
  return std::sqrt(sum);
}

// The query and the CSR view of the case's matrix.
void describe(Case &c, sxt_value_type type) {
  const bool complex = type == SXT_C64 || type == SXT_C128;
  const auto nnz = static_cast<std::int64_t>(c.matrix.col.size());
  const sxt_symmetry symmetry = complex ? SXT_HERMITIAN : SXT_SYMMETRIC;
  c.csr.s = {{sizeof(sxt_csr), SXT_KIND_STORAGE_CSR},
             type,
             SXT_I32,
             SXT_I32,
             SXT_SPACE_HOST,
             symmetry,
             0,
             c.matrix.n,
             c.matrix.n,
             nnz};
  c.csr.row_ptr = c.matrix.row_ptr.data();
  c.csr.col = c.matrix.col.data();
  c.csr.values = c.values.data();

  c.query.m.q = {{sizeof(sxt_pcg_query), SXT_KIND_PCG}, 1, SXT_QUERY_MATRIX, type};
  c.query.m.rows = c.query.m.cols = c.matrix.n;
  c.query.m.nnz = nnz;
  c.query.m.matrix_type = type;
  c.query.m.symmetry = symmetry;
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  if (i >= std::size(entries)) return SXT_E_ARGUMENT;
  return plugin::guard(nullptr, [&] {
    Random random(seed * 1000 + i);
    Problem p = entries[i].make(random);
    auto *c = new Case;
    *out = {sizeof(sxt_case), entries[i].description, &c->query.m.q, &c->csr.s.h, nullptr, &c->args.h, c};
    c->matrix = std::move(p.matrix);
    plugin::with_value_type(p.type, [&]<class T>(plugin::Tag<T>) {
      c->values = stored<T>(c->matrix.values);
      c->b = stored<T>(p.b);
      c->x = stored<T>(p.x);
      return static_cast<sxt_status>(SXT_OK);
    });
    c->initial = loaded(p.type, c->x.data(), c->matrix.n);
    describe(*c, p.type);

    c->args.h = plugin::head<sxt_pcg_args>(SXT_KIND_PCG);
    c->args.n = c->matrix.n;
    c->args.b = c->b.data();
    c->args.x = c->x.data();
    const double size = norm(p.b);
    c->args.tolerance = std::isfinite(size) ? p.relative_tolerance * size : p.relative_tolerance;
    c->args.max_iterations = p.max_iterations;
    c->args.replace_every = p.replace_every;
    c->args.observe = go_on;
    c->args.confirm = accept;
    return static_cast<sxt_status>(SXT_OK);
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return plugin::guard(exec, [&] {
    Case &c = *static_cast<Case *>(moved->owner);
    plugin::cases::Move move(c.moved, exec, to_device);
    move.array(c.b).array(c.x);
    move.point(c.args.b).point(c.args.x);
    return move.finish();
  });
}

// Sets *error beyond every bound, with the reason.
__attribute__((format(printf, 3, 4))) sxt_status wrong(double *error, sxt_message *message, const char *format, ...) {
  *error = std::numeric_limits<double>::infinity();
  if (message && message->text && message->capacity) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message->text, message->capacity, format, arguments);
    va_end(arguments);
  }
  return SXT_OK;
}

// || b - A x || of the case's own numbers, and the rounding that computing it in the value type may have cost.
struct TrueResidual {
  double norm, rounding, epsilon;
};
TrueResidual true_residual(const Case &c, const std::vector<Number> &x) {
  const sxt_value_type type = c.query.m.q.value_type;
  Matrix a = c.matrix;
  a.values = loaded(type, c.values.data(), static_cast<std::int64_t>(a.values.size()));
  const std::vector<Number> b = loaded(type, c.b.data(), a.n), product = a.multiply(x);
  std::vector<Number> r(b.size());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - product[i];

  for (Number &value : a.values) value = std::abs(value);
  std::vector<Number> magnitude(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) magnitude[i] = std::abs(x[i]);
  const bool single = type == SXT_F32 || type == SXT_C64;
  const double epsilon = single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  return {norm(r), epsilon * (norm(b) + norm(a.multiply(magnitude))), epsilon};
}

bool failed(sxt_reason reason) {
  return reason == SXT_REASON_NOT_A_NUMBER || reason == SXT_REASON_A_INDEFINITE || reason == SXT_REASON_M_INDEFINITE ||
         reason == SXT_REASON_BREAKDOWN;
}

sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return plugin::guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    const auto k = static_cast<long long>(got.args.iterations), k_want = static_cast<long long>(want.args.iterations);
    if (got.args.reason != want.args.reason)
      return wrong(error, message, "stopped with reason %d at iteration %lld, expected reason %d at iteration %lld",
                   got.args.reason, k, want.args.reason, k_want);
    // Recurrences round differently: a few iterations apart is equal.
    const long long allowed = failed(want.args.reason) ? 1 : 3 + k_want / 5;
    if (std::llabs(k - k_want) > allowed)
      return wrong(error, message, "%lld iterations, expected %lld within %lld", k, k_want, allowed);

    const std::vector<Number> x = loaded(got.query.m.q.value_type, got.x.data(), got.matrix.n);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!std::isfinite(x[i].real()) || !std::isfinite(x[i].imag()))
        return wrong(error, message, "x[%zu] is not finite after reason %d", i, got.args.reason);
    if (want.args.reason == SXT_REASON_NOT_A_NUMBER && k_want == 0) {
      *error = x == got.initial ? 0 : 2;
      return *error > 1 ? wrong(error, message, "x was changed although b is not finite") : SXT_OK;
    }

    // Accepted: the true residual meets the tolerance. In any case it equals the reported one, up to rounding.
    const TrueResidual residual = true_residual(got, x);
    const double rounding = residual.rounding * static_cast<double>(20 + k);
    const double reported = std::fabs(residual.norm - got.args.residual) /
                            (std::sqrt(residual.epsilon) * residual.norm + rounding + 1e-300);
    const double met =
        got.args.reason == SXT_REASON_CONVERGED ? residual.norm / (1.05 * got.args.tolerance + rounding + 1e-300) : 0;
    *error = std::max(reported, met);
    if (*error > 1)
      return wrong(error, message, "||b - A x|| = %.3e, reported %.3e, tolerance %.3e", residual.norm,
                   got.args.residual, got.args.tolerance);
    return static_cast<sxt_status>(SXT_OK);
  });
}

}  // namespace

const sxt_kind &kind() {
  static const sxt_kind table =
      plugin::cases::kind_of_cases<Case>(SXT_KIND_PCG, "engines of preconditioned conjugate gradients",
                                         {&kernel(), std::size(entries), make_case, compare, move_case});
  return table;
}

}  // namespace pcg_reference
