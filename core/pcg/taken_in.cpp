// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/taken_in.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "core/base/types.hpp"
#include "core/context/context.hpp"
#include "core/matrix/assemble_internal.hpp"
#include "core/matrix/symmetric_enough.hpp"
#include "core/pcg/scale.hpp"

namespace sextant {

namespace {

// A diagonal entry that is looked for in its row, on one thread.
constexpr double diagonal_row_s = 10e-9;
// An entry whose mirror image is met (one thread) or looked for (several).
double mirror_entry_s(int threads) { return threads < 4 ? 5e-9 : 15e-9 / threads; }

template <class T, class I, class O>
struct CopiedValues {
  CopiedValues(const CsrArrays &csr, int exponent, bool average)
      : ptr(csr.row_ptr.as<O>()), col(csr.col.as<I>()), from(csr.values.as<T>()), power(exponent), averages(average) {}

  // Of entry k in row i. Mirror images get the same bits; what has none counts as 0, which it was found to be near.
  T value(std::int64_t i, O k) const {
    const std::int64_t j = col[k];
    T own = power(from[k]);
    if (i == j) return T(std::real(own));
    if (!averages) return own;
    const I *const end = col + ptr[j + 1], *const at = std::lower_bound(col + ptr[j], end, static_cast<I>(i));
    if (at == end || *at != i) return T{};
    T other = power(from[at - col]);
    if constexpr (is_complex<T>) other = std::conj(other);
    return (own + other) * static_cast<decltype(std::abs(T{}))>(0.5);
  }
  const O *ptr;
  const I *col;
  const T *from;
  Power<decltype(std::abs(T{}))> power;
  bool averages;
};

void write_taken_in(const CsrArrays &from, int exponent, bool average, int threads, Buffer &to) {
  with_value_type(from.value_type, [&](auto value) {
    with_index_type(from.index_type, [&](auto index) {
      with_index_type(from.offset_type, [&](auto offset) {
        using T = typename decltype(value)::type;
        using O = typename decltype(offset)::type;
        const CopiedValues<T, typename decltype(index)::type, O> taken(from, exponent, average);
        T *const out = to.as<T>();
        detail::parallel_ranges(from.rows, threads, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i)
            for (O k = taken.ptr[i]; k < taken.ptr[i + 1]; ++k) out[k] = taken.value(i, k);
        });
      });
    });
  });
}

}  // namespace

int exponent_near(sxt_value_type type, const DiagonalRange &diagonal) {
  const bool single = is_single(type);
  // Up to there squares of products with vectors near 1 keep their digits. And the range of normal numbers.
  const int near = single ? 16 : 100, range = single ? 126 : 1022;
  const int least = std::ilogb(diagonal.least), greatest = std::ilogb(diagonal.greatest);
  if (std::abs(greatest) <= near) return 0;
  // The greatest to 1, but the least stays within the range where both can.
  return std::min(std::max(-greatest, -range - least), range - greatest);
}

bool ValueLook::compares() const { return settings_.check_symmetry && !callers_.surely_hermitian(); }

Looked ValueLook::look() {
  const CsrArrays &csr = callers_.csr();
  const int threads = callers_.context().threads();
  const SymmetryTolerance tolerance(settings_.symmetry_tolerance, csr.value_type);
  Looked out;
  if (compares()) out.averaged = !check_hermitian(csr, threads, work_, tolerance);
  const DiagonalRange diagonal = check_diagonal(csr, threads, tolerance);
  out.made_real = !diagonal.real;
  out.exponent = exponent_near(csr.value_type, diagonal);
  out.diagonal_ratio = diagonal.ratio();
  return out;
}

double ValueLook::seconds() const {
  const CsrArrays &csr = callers_.csr();
  const int asked = callers_.context().model_threads();
  const auto rows = static_cast<double>(csr.rows), entries = static_cast<double>(csr.nnz);
  const double diagonal_s = rows * diagonal_row_s / detail::useful_threads(asked, csr.rows);
  if (!compares()) return diagonal_s;
  return diagonal_s + entries * mirror_entry_s(detail::useful_threads(asked, csr.nnz));
}

// What the matrix's storages may rely on. A statement stays: it holds for new values, too, where the comparison does
// not.
static sxt_symmetry lasting(const Matrix &matrix, sxt_symmetry found) {
  return matrix.symmetry() == SXT_GENERAL ? found : matrix.symmetry();
}

TakenIn::TakenIn(std::shared_ptr<Matrix> callers, const Looked &looked, bool compared)
    : callers_(std::move(callers)),
      matrix_(callers_),
      symmetry_(callers_->symmetry()),
      compared_(compared),
      now_(looked) {
  // The comparison proved A Hermitian, also where a complex A was stated to be symmetric: all of it is real then.
  const bool real = callers_->value_type() <= SXT_F64;
  if (compared && (symmetry_ == SXT_GENERAL || (!real && symmetry_ == SXT_SYMMETRIC)))
    symmetry_ = real ? SXT_SYMMETRIC : SXT_HERMITIAN;
  if (looked.wants_copy())
    matrix_ = copy();
  else if (compared_)
    callers_->found_symmetry(lasting(*callers_, symmetry_));
}

std::shared_ptr<Matrix> TakenIn::copy() const {
  const CsrArrays &from = callers_->csr();
  const Context &context = callers_->context();
  Assembled shape;
  CsrArrays &csr = shape.csr;
  csr.rows = from.rows;
  csr.cols = from.cols;
  csr.nnz = from.nnz;
  csr.value_type = from.value_type;
  csr.index_type = from.index_type;
  csr.offset_type = from.offset_type;
  csr.row_ptr = Buffer::borrow(from.row_ptr.data(), from.row_ptr.bytes());
  csr.col = Buffer::borrow(from.col.data(), from.col.bytes());
  csr.values = Buffer(from.values.bytes(), context.allocator());
  write_taken_in(from, now_.exponent, now_.averaged, context.threads(), csr.values);
  auto copy = std::make_shared<Matrix>(callers_->shared_context(), std::move(shape), callers_->symmetry());
  if (compared_) copy->found_symmetry(symmetry_);  // it never holds values that were not compared
  copy->share_features(*callers_);
  return copy;
}

void TakenIn::tell(Notes &notes) const {
  if (now_.averaged)
    notes.push_back(
        "A differs from its transpose by rounding: solved with the mean of the two, which residuals are of");
  else if (now_.made_real)
    notes.push_back("the diagonal of A has imaginary parts that are rounding: solved, as residuals are, without them");
  if (now_.exponent != 0)
    notes.push_back(text("A is far from 1: solved with 2^", now_.exponent, " A, which changes no digit"));
}

void TakenIn::take_new_values(const Looked &now) {
  if (compared_ && !now.averaged) callers_->found_symmetry(lasting(*callers_, symmetry_));
  if (!copied()) return;
  now_.exponent = now.exponent;
  now_.averaged = now_.averaged || now.averaged;
  matrix_->rewrite_values(
      [&](Buffer &values) {
        write_taken_in(callers_->csr(), now_.exponent, now_.averaged, callers_->context().threads(), values);
      },
      compared_);
}

}  // namespace sextant
