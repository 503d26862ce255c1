// SPDX-License-Identifier: BSD-3-Clause
// The matrix as a set-up takes it in. The caller's own where that will do. Else a copy of its values on the same
// pattern: times a power of two, where they lie so far from 1 that squares would leave the range of the type; and the
// mean of A and its transpose, where rounding has made the two differ. Everything that follows, true residuals too, is
// about that matrix.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "core/base/types.hpp"
#include "core/matrix/assemble_internal.hpp"
#include "core/matrix/symmetric_enough.hpp"
#include "core/pcg/solver.hpp"

namespace sextant {

namespace {

bool is_single(sxt_value_type type) { return type == SXT_F32 || type == SXT_C64; }

// A power of two, in two factors: either alone may lie beyond the range.
template <class Real>
struct Power {
  explicit Power(int exponent)
      : first(std::ldexp(Real{1}, exponent / 2)), second(std::ldexp(Real{1}, exponent - exponent / 2)) {}
  template <class T>
  T operator()(T value) const {
    return value * first * second;
  }
  Real first, second;
};

template <class T, class I, class O>
struct TakenIn {
  TakenIn(const CsrArrays &csr, int exponent, bool average)
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
        const TakenIn<T, typename decltype(index)::type, O> taken(from, exponent, average);
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

// Half of the digits that the type has, and as many more as leave the residual, which is rounded itself, a factor of
// 50 to 80 above what rounding of x makes of it: that is what the condition may cost.
double default_rtol(sxt_value_type type) { return is_single(type) ? 1e-5 : 1e-8; }

int exponent_near(sxt_value_type type, const DiagonalRange &diagonal) {
  const bool single = is_single(type);
  // Up to there squares of products with vectors near 1 keep their digits. And the range of normal numbers.
  const int near = single ? 16 : 100, range = single ? 126 : 1022;
  const int least = std::ilogb(diagonal.least), greatest = std::ilogb(diagonal.greatest);
  if (std::abs(greatest) <= near) return 0;
  // The greatest to 1, but the least stays within the range where both can.
  return std::min(std::max(-greatest, -range - least), range - greatest);
}

bool PcgSolver::compares() const {
  const bool real = callers_->value_type() <= SXT_F64;
  const sxt_symmetry stated = callers_->symmetry();
  const bool hermitian = stated == SXT_HERMITIAN || (stated == SXT_SYMMETRIC && real);
  return settings_.check_symmetry && !(hermitian && callers_->mirrored());
}

// What the caller's values ask for.
PcgSolver::Looked PcgSolver::look_at_values() {
  const CsrArrays &csr = callers_->csr();
  const int threads = callers_->context().threads();
  const SymmetryTolerance tolerance(settings_.symmetry_tolerance, csr.value_type);
  Looked out;
  if (compares()) out.averaged = !check_hermitian(csr, threads, symmetry_work_, tolerance);
  const DiagonalRange diagonal = check_diagonal(csr, threads, tolerance);
  out.made_real = !diagonal.real;
  out.exponent = exponent_near(csr.value_type, diagonal);
  out.diagonal_ratio = diagonal.ratio();
  return out;
}

void PcgSolver::take_in_matrix() {
  Matrix &a = *callers_;
  require(a.rows() == a.cols(), SXT_E_NOT_SQUARE, "the matrix is ", a.rows(), " x ", a.cols(),
          "; conjugate gradients need a square one");
  const Looked looked = look_at_values();
  diagonal_ratio_ = looked.diagonal_ratio;
  exponent_ = looked.exponent;
  averaged_ = looked.averaged;
  made_real_ = looked.made_real;
  symmetry_ = a.symmetry();
  if (compares() && symmetry_ == SXT_GENERAL) symmetry_ = a.value_type() <= SXT_F64 ? SXT_SYMMETRIC : SXT_HERMITIAN;
  const bool copies = exponent_ != 0 || averaged_ || made_real_;
  if (!copies && symmetry_ != a.symmetry()) a.found_symmetry(symmetry_);
  if (copies) base_ = system_ = matrix_ = taken_in_copy(symmetry_);
  note_what_was_taken_in();
}

std::shared_ptr<Matrix> PcgSolver::taken_in_copy(sxt_symmetry symmetry) const {
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
  write_taken_in(from, exponent_, averaged_, context.threads(), csr.values);
  auto copy = std::make_shared<Matrix>(callers_->shared_context(), std::move(shape), callers_->symmetry());
  if (symmetry != callers_->symmetry()) copy->found_symmetry(symmetry);
  copy->share_features(*callers_);
  return copy;
}

void PcgSolver::note_what_was_taken_in() {
  if (averaged_)
    notes_.push_back(
        "A differs from its transpose by rounding: solved with the mean of the two, which residuals are of");
  else if (made_real_)
    notes_.push_back("the diagonal of A has imaginary parts that are rounding: solved, as residuals are, without them");
  if (exponent_ != 0)
    notes_.push_back(text("A is far from 1: solved with 2^", exponent_, " A, which changes no digit"));
}

// After Matrix::update_values, where a copy was taken in.
void PcgSolver::take_in_new_values(const Looked &now) {
  if (!copied()) return;
  exponent_ = now.exponent;
  averaged_ = averaged_ || now.averaged;
  matrix_->rewrite_values([&](Buffer &values) {
    write_taken_in(callers_->csr(), exponent_, averaged_, callers_->context().threads(), values);
  });
}

}  // namespace sextant
