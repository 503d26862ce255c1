! SPDX-License-Identifier: BSD-3-Clause
! Products with a sparse matrix. stat is required; message, where it is given, is
! a sentence when stat is not sxt_ok, else empty. Operands have one type and belong to one context.

! stat of 32 bits.
module sextant_products_narrow
  use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_vectors_c
  use sextant_objects
  use sextant_matrices
  use sextant_vectors
  use sextant_operation_work
  implicit none
  private
  public :: sextant_spmv

  integer, parameter :: sk = int32

  ! call sextant_spmv(a, x, y [, alpha, beta, op], stat [, message]): y = alpha op(A) x + beta y. alpha left out is 1, beta 0.
  !   x and y: vectors, arrays, or arrays of columns x(:, :), y(:, :). op: sxt_no_transpose (default), sxt_transpose,
  !   sxt_conjugate_transpose. For vectors alpha and beta are both given or neither.
  interface sextant_spmv
    module procedure spmv_vectors, spmv_vectors_r32, spmv_vectors_r64, spmv_vectors_c32, spmv_vectors_c64, &
                     spmv_arrays_r32, spmv_columns_r32, spmv_arrays_r64, spmv_columns_r64, spmv_arrays_c32, &
                     spmv_columns_c32, spmv_arrays_c64, spmv_columns_c64
  end interface

contains
  include 'products.inc'
end module sextant_products_narrow

! And of 64, as compilers make default integers with -fdefault-integer-8 or -i8.
module sextant_products_wide
  use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_vectors_c
  use sextant_objects
  use sextant_matrices
  use sextant_vectors
  use sextant_operation_work
  implicit none
  private
  public :: sextant_spmv

  integer, parameter :: sk = int64

  interface sextant_spmv
    module procedure spmv_vectors, spmv_vectors_r32, spmv_vectors_r64, spmv_vectors_c32, spmv_vectors_c64, &
                     spmv_arrays_r32, spmv_columns_r32, spmv_arrays_r64, spmv_columns_r64, spmv_arrays_c32, &
                     spmv_columns_c32, spmv_arrays_c64, spmv_columns_c64
  end interface

contains
  include 'products.inc'
end module sextant_products_wide
