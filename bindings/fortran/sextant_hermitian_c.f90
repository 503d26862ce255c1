! SPDX-License-Identifier: BSD-3-Clause
! The part of the C interface of Sextant for batches of Hermitian systems, in Fortran: same names, same values, same
! order as in sextant/sextant.h. Programs use module sextant.
module sextant_hermitian_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int32_t, c_int64_t, c_null_ptr, c_ptr
  implicit none
  public

  integer, parameter, private :: i4 = c_int32_t, i8 = c_int64_t, r8 = c_double

  type, bind(c) :: sxt_hermitian_options
    integer(i8) :: struct_size = 0
    integer(i4) :: value_type = 0
    integer(i4) :: triangle = 0
    integer(i4) :: definiteness = 0
    integer(i4) :: space = 0
    integer(i8) :: batch = 0
    integer(i8) :: n = 0
    type(c_ptr) :: orders = c_null_ptr
    integer(i8) :: n_rhs = 0
    integer(i4) :: pointer_array = 0
    integer(i4) :: leading_vary = 0
    integer(i4) :: equilibrate = 0
    integer(i4) :: refine_steps = 0
    real(r8) :: refine_tolerance = 0
    type(c_ptr) :: shifts = c_null_ptr
    integer(i8) :: n_shifts = 0
    integer(i4) :: shift_relative = 0
    integer(i4) :: may_spoil = 0
    integer(i8) :: workspace_limit = 0
    real(r8) :: expected_runs = 0
    type(c_ptr) :: kernel = c_null_ptr
    integer(i4) :: shortcuts = 0
    integer(i4) :: reserved0 = 0
  end type

  type, bind(c) :: sxt_hermitian_set
    integer(i8) :: struct_size = 0
    type(c_ptr) :: a = c_null_ptr
    integer(i8) :: lda = 0
    integer(i8) :: stride_a = 0
    type(c_ptr) :: a_array = c_null_ptr
    type(c_ptr) :: lda_each = c_null_ptr
    type(c_ptr) :: factor = c_null_ptr
    type(c_ptr) :: factor_array = c_null_ptr
    type(c_ptr) :: b = c_null_ptr
    integer(i8) :: ldb = 0
    integer(i8) :: stride_b = 0
    type(c_ptr) :: b_array = c_null_ptr
    type(c_ptr) :: ldb_each = c_null_ptr
    type(c_ptr) :: x = c_null_ptr
    type(c_ptr) :: x_array = c_null_ptr
    integer(i8) :: n_rhs = 0
    type(c_ptr) :: active = c_null_ptr
    type(c_ptr) :: active_out = c_null_ptr
    type(c_ptr) :: info = c_null_ptr
    type(c_ptr) :: pivots = c_null_ptr
    integer(i8) :: stride_pivots = 0
    type(c_ptr) :: scale = c_null_ptr
    type(c_ptr) :: residual = c_null_ptr
    type(c_ptr) :: rcond = c_null_ptr
    type(c_ptr) :: shift = c_null_ptr
    type(c_ptr) :: inertia = c_null_ptr
    type(c_ptr) :: stream = c_null_ptr
    type(c_ptr) :: shortcut = c_null_ptr
  end type

  type, bind(c) :: sxt_hermitian_report
    integer(i8) :: struct_size = 0
    type(c_ptr) :: factor_kernel = c_null_ptr
    type(c_ptr) :: solve_kernel = c_null_ptr
    type(c_ptr) :: factor_solve_kernel = c_null_ptr
    type(c_ptr) :: pivoting_kernel = c_null_ptr
    real(r8) :: predicted_factor_s = 0
    real(r8) :: predicted_solve_s = 0
    real(r8) :: predicted_factor_solve_s = 0
    integer(i8) :: workspace_bytes = 0
    integer(i8) :: piece = 0
    real(r8) :: flops = 0
    integer(i8) :: kernel_bytes = 0
    type(c_ptr) :: toeplitz_kernel = c_null_ptr
    type(c_ptr) :: mixed_kernel = c_null_ptr
    type(c_ptr) :: butterfly_kernel = c_null_ptr
  end type

  interface
    subroutine sxt_hermitian_options_init(options, struct_size) bind(c)
      import :: sxt_hermitian_options, i8
      type(sxt_hermitian_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    subroutine sxt_hermitian_set_init(set, struct_size) bind(c)
      import :: sxt_hermitian_set, i8
      type(sxt_hermitian_set), intent(inout) :: set
      integer(i8), value :: struct_size
    end subroutine

    function sxt_hermitian_create(context, options, hermitian) bind(c) result(status)
      import :: sxt_hermitian_options, c_ptr, i4
      type(c_ptr), value :: context
      type(sxt_hermitian_options), intent(in) :: options
      type(c_ptr), intent(inout) :: hermitian
      integer(i4) :: status
    end function

    function sxt_hermitian_factor(hermitian, set) bind(c) result(status)
      import :: sxt_hermitian_set, c_ptr, i4
      type(c_ptr), value :: hermitian
      type(sxt_hermitian_set), intent(in) :: set
      integer(i4) :: status
    end function

    function sxt_hermitian_solve(hermitian, set) bind(c) result(status)
      import :: sxt_hermitian_set, c_ptr, i4
      type(c_ptr), value :: hermitian
      type(sxt_hermitian_set), intent(in) :: set
      integer(i4) :: status
    end function

    function sxt_hermitian_factor_solve(hermitian, set) bind(c) result(status)
      import :: sxt_hermitian_set, c_ptr, i4
      type(c_ptr), value :: hermitian
      type(sxt_hermitian_set), intent(in) :: set
      integer(i4) :: status
    end function

    function sxt_hermitian_get_report(hermitian, report) bind(c) result(status)
      import :: sxt_hermitian_report, c_ptr, i4
      type(c_ptr), value :: hermitian
      type(sxt_hermitian_report), intent(inout) :: report
      integer(i4) :: status
    end function

    function sxt_hermitian_explain(hermitian, form, buffer, capacity, length) bind(c) result(status)
      import :: c_ptr, c_char, i4, i8
      type(c_ptr), value :: hermitian
      integer(i4), value :: form
      character(kind=c_char), intent(inout) :: buffer(*)
      integer(i8), value :: capacity
      integer(i8), intent(inout) :: length
      integer(i4) :: status
    end function

    subroutine sxt_hermitian_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
  end interface
end module sextant_hermitian_c
