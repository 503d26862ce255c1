! SPDX-License-Identifier: BSD-3-Clause
! The part of the C interface of Sextant that is about factorisations of many matrices of one pattern, as Fortran sees it: same
! names, same values, same order as in sextant/cholesky_sets.h. Programs use module sextant.
module sextant_cholesky_sets_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int32_t, c_int64_t, c_null_funptr, c_null_ptr, c_ptr
  implicit none
  public

  integer, parameter, private :: i4 = c_int32_t, i8 = c_int64_t, r8 = c_double

  type, bind(c) :: sxt_cholesky_sets_options
    integer(i8) :: struct_size = 0
    type(c_ptr) :: cancel = c_null_ptr
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: progress_user = c_null_ptr
  end type

  type, bind(c) :: sxt_cholesky_sets_outcomes
    integer(i8) :: struct_size = 0
    type(c_ptr) :: status = c_null_ptr
    type(c_ptr) :: failed_row = c_null_ptr
    type(c_ptr) :: failed_pivot = c_null_ptr
    type(c_ptr) :: changed_pivots = c_null_ptr
    type(c_ptr) :: log_determinant = c_null_ptr
    type(c_ptr) :: sign = c_null_ptr
    type(c_ptr) :: positive = c_null_ptr
    type(c_ptr) :: negative = c_null_ptr
    type(c_ptr) :: zero = c_null_ptr
    type(c_ptr) :: least_pivot = c_null_ptr
    type(c_ptr) :: largest_pivot = c_null_ptr
  end type

  type, bind(c) :: sxt_cholesky_sets_info
    integer(i8) :: struct_size = 0
    integer(i8) :: count = 0
    integer(i8) :: factored = 0
    integer(i8) :: nnz = 0
    integer(i8) :: factor_bytes = 0
    integer(i8) :: host_bytes = 0
    integer(i8) :: device_bytes = 0
    real(r8) :: factor_seconds = 0
    real(r8) :: predicted_factor_seconds = 0
    real(r8) :: predicted_solve_seconds = 0
  end type

  interface
    function sxt_cholesky_sets_create(analysis, count, sets) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: analysis
      integer(i8), value :: count
      type(c_ptr), intent(inout) :: sets
      integer(i4) :: status
    end function

    subroutine sxt_cholesky_sets_options_init(options, struct_size) bind(c)
      import :: sxt_cholesky_sets_options, i8
      type(sxt_cholesky_sets_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    function sxt_cholesky_sets_factor(sets, first, count, nnz, values, stride, options) bind(c) result(status)
      import :: sxt_cholesky_sets_options, c_ptr, i4, i8
      type(c_ptr), value :: sets
      integer(i8), value :: first
      integer(i8), value :: count
      integer(i8), value :: nnz
      type(c_ptr), value :: values
      integer(i8), value :: stride
      type(sxt_cholesky_sets_options), intent(in) :: options
      integer(i4) :: status
    end function

    function sxt_cholesky_sets_solve(sets, first, count, n, n_rhs, b, ldb, stride_b, x, ldx, stride_x, options) bind(c) &
      result(status)
      import :: sxt_cholesky_sets_options, c_ptr, i4, i8
      type(c_ptr), value :: sets
      integer(i8), value :: first
      integer(i8), value :: count
      integer(i8), value :: n
      integer(i8), value :: n_rhs
      type(c_ptr), value :: b
      integer(i8), value :: ldb
      integer(i8), value :: stride_b
      type(c_ptr), value :: x
      integer(i8), value :: ldx
      integer(i8), value :: stride_x
      type(sxt_cholesky_sets_options), intent(in) :: options
      integer(i4) :: status
    end function

    subroutine sxt_cholesky_sets_outcomes_init(outcomes, struct_size) bind(c)
      import :: sxt_cholesky_sets_outcomes, i8
      type(sxt_cholesky_sets_outcomes), intent(inout) :: outcomes
      integer(i8), value :: struct_size
    end subroutine

    function sxt_cholesky_sets_get_outcomes(sets, first, count, outcomes) bind(c) result(status)
      import :: sxt_cholesky_sets_outcomes, c_ptr, i4, i8
      type(c_ptr), value :: sets
      integer(i8), value :: first
      integer(i8), value :: count
      type(sxt_cholesky_sets_outcomes), intent(in) :: outcomes
      integer(i4) :: status
    end function

    function sxt_cholesky_sets_get_info(sets, info) bind(c) result(status)
      import :: sxt_cholesky_sets_info, c_ptr, i4
      type(c_ptr), value :: sets
      type(sxt_cholesky_sets_info), intent(inout) :: info
      integer(i4) :: status
    end function

    function sxt_cholesky_sets_explain(sets, form, buffer, capacity, length) bind(c) result(status)
      import :: c_ptr, c_char, i4, i8
      type(c_ptr), value :: sets
      integer(i4), value :: form
      character(kind=c_char), intent(inout) :: buffer(*)
      integer(i8), value :: capacity
      integer(i8), intent(inout) :: length
      integer(i4) :: status
    end function

    subroutine sxt_cholesky_sets_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
  end interface
end module sextant_cholesky_sets_c
