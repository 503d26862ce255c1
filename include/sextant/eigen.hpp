// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Matrices and vectors of Eigen 3 in calls of sextant/sextant.hpp, without copies on this side: sparse matrices by
/// sextant::matrix_of, dense vectors as arrays, dense column-major matrices as columns.
#ifndef SEXTANT_EIGEN_HPP
#define SEXTANT_EIGEN_HPP

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include "sextant/sextant.hpp"

namespace sextant {
inline namespace cpp {
namespace detail {

// Values that lie in memory as they are, const where the object does not let them be written: Eigen::VectorXd,
// Eigen::Map, Eigen::Ref, a.col(j); no expression that would be evaluated first.
template <class D>
concept EigenMemory = requires(const D &d) {
  []<class E>(const Eigen::DenseBase<E> &) {}(d);
}
&&(int(D::Flags) & int(Eigen::DirectAccessBit)) != 0;
template <class D>
concept EigenVector = EigenMemory<D> && bool(D::IsVectorAtCompileTime);
template <class D>
concept EigenColumns = EigenMemory<D> && !bool(D::IsVectorAtCompileTime) && !bool(D::IsRowMajor);

// data() of a const Map of mutable values gives no mutable pointer, as that of a const vector does not.
template <class D>
using EigenElement = std::remove_pointer_t<decltype(std::declval<D &>().data())>;

}  // namespace detail

/// Vectors of Eigen as arrays. Their values must lie next to each other: SXT_E_ARGUMENT.
template <detail::EigenVector D>
struct array_adaptor<D> {
  /// The values of a vector.
  template <class V>
  static std::span<detail::EigenElement<V>> span(V &vector) {
    detail::require(vector.size() < 2 || vector.innerStride() == 1, SXT_E_ARGUMENT,
                    "the values of an Eigen vector lie ", vector.innerStride(),
                    " apart, but must lie next to each other");
    return {vector.data(), static_cast<std::size_t>(vector.size())};
  }
};

/// Column-major matrices of Eigen as columns. The values of a column must lie next to each other: SXT_E_ARGUMENT.
template <detail::EigenColumns D>
struct array_adaptor<D> {
  /// The columns of a matrix.
  template <class V>
  static columns<detail::EigenElement<V>> columns(V &matrix) {
    detail::require(matrix.rows() < 2 || matrix.innerStride() == 1, SXT_E_ARGUMENT, "the values of a column lie ",
                    matrix.innerStride(), " apart, but must lie next to each other");
    return {matrix.data(), matrix.rows(), matrix.cols(), matrix.cols() < 2 ? matrix.rows() : matrix.outerStride()};
  }
};

/// A sparse matrix of Eigen (SparseMatrix, Map or Ref of it), compressed, of either order. Sextant copies its arrays
/// once, into its own storage; with options.ownership = SXT_ADOPT it uses those of a row-major matrix where they lie.
/// update_values() takes span{m.valuePtr(), m.nonZeros()} of a matrix with this pattern. SXT_E_ARGUMENT where it is not
/// compressed. Not of sparse vectors, which have no outer pointers. [any-thread]
template <class D>
requires(!bool(D::IsVectorAtCompileTime)) Matrix
    matrix_of(const Context &context, const Eigen::SparseCompressedBase<D> &matrix, MatrixOptions options = {}) {
  const D &m = matrix.derived();
  detail::require(m.isCompressed(), SXT_E_ARGUMENT, "the Eigen matrix is not compressed: call makeCompressed() first");
  const auto nnz = static_cast<std::size_t>(m.nonZeros());
  const std::span pointers(m.outerIndexPtr(), static_cast<std::size_t>(m.outerSize()) + 1);
  const std::span indices(m.innerIndexPtr(), nnz);
  const std::span values(m.valuePtr(), nnz);
  if constexpr (D::IsRowMajor) {
    return Matrix::from_csr(context, m.rows(), m.cols(), pointers, indices, values, options);
  } else {
    return Matrix::from_csc(context, m.rows(), m.cols(), pointers, indices, values, options);
  }
}

}  // namespace cpp
}  // namespace sextant
#endif
