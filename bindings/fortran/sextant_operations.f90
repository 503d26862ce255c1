! SPDX-License-Identifier: BSD-3-Clause
! Operations on vectors, named as in C. stat is required; message, where it is given, is
! a sentence when stat is not sxt_ok, else empty. Operands have one type and belong to one context.

! stat of 32 bits.
module sextant_operations_narrow
  use, intrinsic :: iso_c_binding, only: c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_vectors_c
  use sextant_objects
  use sextant_vectors
  use sextant_operation_work
  implicit none
  private
  public :: sextant_copy, sextant_multiply, sextant_fill, sextant_scale, sextant_axpy, sextant_axpby, sextant_waxpby, &
            sextant_gather, sextant_scatter

  integer, parameter :: sk = int32

  ! call sextant_copy(x, y, stat): y = x
  interface sextant_copy
    module procedure copy_vectors
  end interface
  ! call sextant_multiply(x, y, w, stat): w = x*y, element by element
  interface sextant_multiply
    module procedure multiply_vectors
  end interface
  ! call sextant_fill(alpha, y, stat): y = alpha. alpha is real or complex; it is converted to the type of y.
  interface sextant_fill
    module procedure fill_r32, fill_r64, fill_c32, fill_c64
  end interface
  ! call sextant_scale(alpha, y, stat): y = alpha*y
  interface sextant_scale
    module procedure scale_r32, scale_r64, scale_c32, scale_c64
  end interface
  ! call sextant_axpy(alpha, x, y, stat): y = y + alpha*x
  interface sextant_axpy
    module procedure axpy_r32, axpy_r64, axpy_c32, axpy_c64
  end interface
  ! call sextant_axpby(alpha, x, beta, y, stat): y = alpha*x + beta*y
  interface sextant_axpby
    module procedure axpby_r32, axpby_r64, axpby_c32, axpby_c64
  end interface
  ! call sextant_waxpby(alpha, x, beta, y, w, stat): w = alpha*x + beta*y
  interface sextant_waxpby
    module procedure waxpby_r32, waxpby_r64, waxpby_c32, waxpby_c64
  end interface
  ! call sextant_gather(x, index, y, stat): y(i) = x(index(i)); an index array counts from 1, for contexts of the CPU
  ! call sextant_gather(x, index, index_type, y, stat): the same with the address (type(c_ptr)) of sxt_i32 or sxt_i64
  !   indices in the context's memory, which count from 0
  interface sextant_gather
    module procedure gather_int32, gather_int64, gather_at
  end interface
  ! call sextant_scatter(x, index, y, stat): y(index(i)) = x(i), for distinct indices; else as sextant_gather
  interface sextant_scatter
    module procedure scatter_int32, scatter_int64, scatter_at
  end interface

contains
  include 'operations.inc'
end module sextant_operations_narrow

! And of 64, as compilers make default integers with -fdefault-integer-8 or -i8.
module sextant_operations_wide
  use, intrinsic :: iso_c_binding, only: c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_vectors_c
  use sextant_objects
  use sextant_vectors
  use sextant_operation_work
  implicit none
  private
  public :: sextant_copy, sextant_multiply, sextant_fill, sextant_scale, sextant_axpy, sextant_axpby, sextant_waxpby, &
            sextant_gather, sextant_scatter

  integer, parameter :: sk = int64

  interface sextant_copy
    module procedure copy_vectors
  end interface
  interface sextant_multiply
    module procedure multiply_vectors
  end interface
  interface sextant_fill
    module procedure fill_r32, fill_r64, fill_c32, fill_c64
  end interface
  interface sextant_scale
    module procedure scale_r32, scale_r64, scale_c32, scale_c64
  end interface
  interface sextant_axpy
    module procedure axpy_r32, axpy_r64, axpy_c32, axpy_c64
  end interface
  interface sextant_axpby
    module procedure axpby_r32, axpby_r64, axpby_c32, axpby_c64
  end interface
  interface sextant_waxpby
    module procedure waxpby_r32, waxpby_r64, waxpby_c32, waxpby_c64
  end interface
  interface sextant_gather
    module procedure gather_int32, gather_int64, gather_at
  end interface
  interface sextant_scatter
    module procedure scatter_int32, scatter_int64, scatter_at
  end interface

contains
  include 'operations.inc'
end module sextant_operations_wide
