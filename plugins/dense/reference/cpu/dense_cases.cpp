// SPDX-License-Identifier: BSD-3-Clause
// How conformance cases are made. Diagonals dominate, so that triangles are well conditioned and factors have entries
// of the size of one.
#include "dense_cases.hpp"

#include <cmath>
#include <limits>

namespace sextant_dense {
namespace {

// Rows and columns of one role for each item; made of random numbers, with poison above the diagonal of triangles.
struct Extent {
  std::int64_t rows, cols;
};

template <class F>
void make_matrices(Matrices &out, std::int64_t count, std::int64_t padding, sxt_value_type type, Random &random,
                   F &&extent) {
  std::int64_t size = 0;
  for (std::int64_t g = 0; g < count; ++g) {
    const Extent e = extent(g);
    out.rows.push_back(e.rows), out.cols.push_back(e.cols), out.at.push_back(size);
    out.ld.push_back(std::max<std::int64_t>(1, e.rows + padding));
    size += out.ld.back() * e.cols;
  }
  out.values = Array(type, size, random);
}

// The diagonal of a triangle that dominates; `spread` of both signs.
void make_triangles(Matrices &a, bool spread, Random &random) {
  for (std::size_t g = 0; g < a.at.size(); ++g)
    for (std::int64_t j = 0; j < a.cols[g]; ++j) {
      const double sign = spread && random.symmetric() < 0 ? -1 : 1;
      a.values.set(a.at[g] + j + j * a.ld[g], sign * (static_cast<double>(a.cols[g]) + 2 + random.symmetric()));
      for (std::int64_t i = 0; i < j; ++i) a.values.set(a.at[g] + i + j * a.ld[g], Array::poison_value());
    }
}

// A column whose pivot fails or is changed, in every second item.
void add_flaw(Case &c, Random &random) {
  for (std::size_t g = 0; g < c.a.at.size(); g += 2) {
    const std::int64_t n = c.a.cols[g];
    if (n == 0) continue;
    const std::int64_t j = random.below(n);
    const auto diagonal = c.a.at[g] + j + j * c.a.ld[g];
    if (c.shape.flaw == Flaw::not_definite) c.a.values.set(diagonal, -3.0);
    if (c.shape.flaw == Flaw::not_finite) c.a.values.set(diagonal, std::numeric_limits<double>::quiet_NaN());
    if (c.shape.flaw == Flaw::small_pivot) {  // a column on its own, so that its pivot is known
      for (std::int64_t i = j + 1; i < n; ++i) c.a.values.set(c.a.at[g] + i + j * c.a.ld[g], 0);
      for (std::int64_t k = 0; k < j; ++k) c.a.values.set(c.a.at[g] + j + k * c.a.ld[g], 0);
      c.a.values.set(diagonal, g % 4 ? 1e-6 : -1e-6);
    }
  }
}

double flops_of(const Case &c) {
  const double each = multiply_add_flops(c.type);
  double sum = 0;
  for (std::size_t g = 0; g < c.n.size(); ++g) {
    const double m = c.m[g], n = c.n[g], k = c.k[g];
    switch (c.shape.operation) {
      case SXT_DENSE_POTRF:
      case SXT_DENSE_LDLH: sum += n * n * n / 6; break;
      case SXT_DENSE_TRSM: sum += m * n * n / 2; break;
      case SXT_DENSE_SYRK:
      case SXT_DENSE_GEMMT: sum += n * n * k / 2; break;
      case SXT_DENSE_FORWARD:
      case SXT_DENSE_BACKWARD: sum += m * m * n / 2; break;
      default: sum += m * n * k;
    }
  }
  return each * sum;
}

void make_operands(Case &c, Random &random) {
  const Shape &s = c.shape;
  const auto matrices = [&](Matrices &out, auto extent) {
    make_matrices(out, s.count, s.padding, c.type, random, extent);
  };
  const auto m = [&](std::int64_t g) { return std::int64_t{c.m[g]}; };
  const auto n = [&](std::int64_t g) { return std::int64_t{c.n[g]}; };
  const auto k = [&](std::int64_t g) { return std::int64_t{c.k[g]}; };
  switch (s.operation) {
    case SXT_DENSE_POTRF:
    case SXT_DENSE_LDLH: matrices(c.a, [&](std::int64_t g) { return Extent{n(g), n(g)}; }); break;
    case SXT_DENSE_TRSM:
      matrices(c.a, [&](std::int64_t g) { return Extent{n(g), n(g)}; });
      matrices(c.b, [&](std::int64_t g) { return Extent{m(g), n(g)}; });
      break;
    case SXT_DENSE_SYRK:
    case SXT_DENSE_GEMMT:
      matrices(c.a, [&](std::int64_t g) { return Extent{n(g), k(g)}; });
      if (s.operation == SXT_DENSE_GEMMT) c.b = c.a;  // so that the result is Hermitian
      matrices(c.c, [&](std::int64_t g) { return Extent{n(g), n(g)}; });
      break;
    case SXT_DENSE_GEMM:
      matrices(c.a, [&](std::int64_t g) { return Extent{m(g), k(g)}; });
      matrices(c.b, [&](std::int64_t g) { return Extent{n(g), k(g)}; });
      matrices(c.c, [&](std::int64_t g) { return Extent{m(g), n(g)}; });
      break;
    case SXT_DENSE_FORWARD:
    case SXT_DENSE_BACKWARD:
      matrices(c.a, [&](std::int64_t g) { return Extent{m(g), m(g)}; });
      matrices(c.b, [&](std::int64_t g) { return Extent{m(g), n(g)}; });
      break;
    default: {
      const bool adjoint = s.operation == SXT_DENSE_PRODUCT_H;
      matrices(c.a, [&](std::int64_t g) { return adjoint ? Extent{k(g), m(g)} : Extent{m(g), k(g)}; });
      matrices(c.b, [&](std::int64_t g) { return Extent{k(g), n(g)}; });
      matrices(c.c, [&](std::int64_t g) { return Extent{m(g), n(g)}; });
    }
  }
}

// D's entries are 0.5 to 1.5 in size; its numbers lie in a row with a distance of their own.
void make_weights(Case &c, Random &random) {
  const bool solves = c.shape.operation == SXT_DENSE_TRSM;
  make_matrices(c.d, c.shape.count, 2, c.type, random,
                [&](std::int64_t g) { return Extent{1, std::int64_t{solves ? c.n[g] : c.k[g]}}; });
  for (std::int64_t i = 0; i < c.d.values.size(); ++i) {
    const double value = random.symmetric();
    c.d.values.set(i, value < 0 ? value - 0.5 : value + 0.5);
  }
}

bool has_triangle(std::int32_t operation) {
  return factors(operation) || operation == SXT_DENSE_TRSM || operation == SXT_DENSE_FORWARD ||
         operation == SXT_DENSE_BACKWARD;
}

void make_args(Case &c) {
  sxt_dense_args &args = c.args;
  args.h = head<sxt_dense_args>(SXT_KIND_DENSE);
  args.operation = c.shape.operation;
  args.value_type = c.type;
  args.count = c.shape.count;
  args.unit = c.shape.unit;
  args.pivot_policy = c.shape.policy;
  args.pivot_tolerance = c.shape.flaw == Flaw::small_pivot ? 1e-3 : 0;
  args.pivot_value = 0.5;
  c.set_pointers();
  c.query.q = {head<sxt_dense_query>(SXT_KIND_DENSE), 1, 0, c.type};
  c.query.operation = c.shape.operation;
  c.query.count = c.shape.count;
  c.query.max_m = c.shape.m, c.query.max_n = c.shape.n, c.query.max_k = c.shape.k;
  c.query.flops = flops_of(c);
}

}  // namespace

void Case::set_pointers() {
  for (Matrices *x : {&a, &b, &c, &d}) {
    x->pointers.resize(x->at.size());
    for (std::size_t g = 0; g < x->at.size(); ++g)
      x->pointers[g] =
          static_cast<char *>(x->values.data()) + x->at[g] * static_cast<std::int64_t>(value_bytes(type));
  }
  marks_pointers.resize(marks_at.size());
  for (std::size_t g = 0; g < marks_at.size(); ++g) marks_pointers[g] = marks.data() + marks_at[g];
  args.m = m.data(), args.n = n.data(), args.k = k.data(), args.info = info.data();
  args.a = a.pointers.data(), args.lda = a.ld.data();
  args.b = b.empty() ? nullptr : b.pointers.data(), args.ldb = b.empty() ? nullptr : b.ld.data();
  args.c = c.empty() ? nullptr : c.pointers.data(), args.ldc = c.empty() ? nullptr : c.ld.data();
  args.d = d.empty() ? nullptr : d.pointers.data(), args.incd = d.empty() ? nullptr : d.ld.data();
  args.changed = marks_at.empty() ? nullptr : marks_pointers.data();
}

void make(const Shape &shape, sxt_value_type type, Random &random, Case &out) {
  out.shape = shape;
  out.type = type;
  const auto size = [&](std::int64_t most, std::int64_t g) {
    return static_cast<std::int32_t>(g + 1 == shape.count ? most : random.below(most + 1));
  };
  for (std::int64_t g = 0; g < shape.count; ++g) {
    out.m.push_back(size(shape.m, g)), out.n.push_back(size(shape.n, g)), out.k.push_back(size(shape.k, g));
    out.info.push_back(-7);
    if (!factors(shape.operation)) continue;
    out.marks_at.push_back(static_cast<std::int64_t>(out.marks.size()));
    out.marks.resize(out.marks.size() + static_cast<std::size_t>(out.n.back()));
  }
  out.marks.resize(out.marks.size() + 8, 0);
  make_operands(out, random);
  if (has_triangle(shape.operation)) make_triangles(out.a, shape.operation == SXT_DENSE_LDLH, random);
  if (shape.unit)  // what counts as ones is not read, and the rest is small
    for (std::size_t g = 0; g < out.a.at.size(); ++g)
      for (std::int64_t j = 0; j < out.a.cols[g]; ++j)
        for (std::int64_t i = j; i < out.a.rows[g]; ++i) {
          const std::int64_t place = out.a.at[g] + i + j * out.a.ld[g];
          const Wide value = out.a.values.at(place) / static_cast<double>(out.a.rows[g] + 2);
          out.a.values.set(place, i == j ? Array::poison_value() : value);
        }
  if (out.lower_result() && !factors(shape.operation))  // Hermitian
    for (std::size_t g = 0; g < out.c.at.size(); ++g)
      for (std::int64_t j = 0; j < out.c.cols[g]; ++j) {
        const std::int64_t place = out.c.at[g] + j + j * out.c.ld[g];
        out.c.values.set(place, out.c.values.at(place).real());
      }
  if (shape.weighted) make_weights(out, random);
  if (shape.flaw != Flaw::none) add_flaw(out, random);
  make_args(out);
}

}  // namespace sextant_dense
