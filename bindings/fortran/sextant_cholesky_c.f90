! SPDX-License-Identifier: BSD-3-Clause
! The part of the C interface of Sextant that is about sparse Cholesky factorisations, as Fortran sees it: same names, same
! values, same order as in sextant/cholesky.h. Programs use module sextant.
module sextant_cholesky_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int32_t, c_int64_t, c_null_ptr, c_ptr
  implicit none
  public

  integer, parameter, private :: i4 = c_int32_t, i8 = c_int64_t, r8 = c_double

  type, bind(c) :: sxt_analysis_options
    integer(i8) :: struct_size = 0
    type(c_ptr) :: order = c_null_ptr
    type(c_ptr) :: permutation = c_null_ptr
    type(c_ptr) :: scheduler = c_null_ptr
    integer(i4) :: factorization = 0
    integer(i4) :: pivot_policy = 0
    real(r8) :: pivot_tolerance = 0
    real(r8) :: pivot_value = 0
    integer(i8) :: amalgamation = 0
    integer(i8) :: block = 0
    type(c_ptr) :: schur_rows = c_null_ptr
    integer(i8) :: n_schur = 0
    real(r8) :: expected_factors = 0
    real(r8) :: expected_solves = 0
    integer(i8) :: expected_rhs = 0
    real(r8) :: symmetry_tolerance = 0
    integer(i4) :: check_symmetry = 0
    integer(i4) :: factor_precision = 0
    integer(i8) :: memory_limit = 0
  end type

  type, bind(c) :: sxt_analysis_info
    integer(i8) :: struct_size = 0
    integer(i8) :: n = 0
    integer(i8) :: nnz_a = 0
    integer(i8) :: nnz_l = 0
    integer(i8) :: stored_values = 0
    integer(i8) :: supernodes = 0
    integer(i8) :: largest_front = 0
    real(r8) :: flops = 0
    integer(i8) :: factor_bytes = 0
    integer(i8) :: host_bytes = 0
    integer(i8) :: device_bytes = 0
    real(r8) :: analysis_seconds = 0
    real(r8) :: predicted_factor_seconds = 0
    real(r8) :: predicted_solve_seconds = 0
    integer(i8) :: amalgamation = 0
    integer(i8) :: block = 0
    integer(i4) :: factor_type = 0
    integer(i4) :: reserved0 = 0
  end type

  type, bind(c) :: sxt_factor_options
    integer(i8) :: struct_size = 0
    type(c_ptr) :: cancel = c_null_ptr
  end type

  type, bind(c) :: sxt_cholesky_solve_options
    integer(i8) :: struct_size = 0
    integer(i4) :: step = 0
    integer(i4) :: refine_steps = 0
    real(r8) :: refine_tolerance = 0
    type(c_ptr) :: cancel = c_null_ptr
  end type

  type, bind(c) :: sxt_cholesky_solve_report
    integer(i8) :: struct_size = 0
    integer(i4) :: refined = 0
    integer(i4) :: repeated = 0
    real(r8) :: residual = 0
    real(r8) :: residual_bound = 0
    real(r8) :: solve_seconds = 0
    real(r8) :: predicted_seconds = 0
  end type

  type, bind(c) :: sxt_cholesky_info
    integer(i8) :: struct_size = 0
    integer(i4) :: factored = 0
    integer(i4) :: factor_type = 0
    real(r8) :: log_determinant = 0
    integer(i4) :: sign = 0
    integer(i4) :: repeated = 0
    integer(i8) :: positive = 0
    integer(i8) :: negative = 0
    integer(i8) :: zero = 0
    real(r8) :: least_pivot = 0
    real(r8) :: largest_pivot = 0
    integer(i8) :: changed_pivots = 0
    integer(i8) :: failed_row = 0
    real(r8) :: failed_pivot = 0
    real(r8) :: factor_seconds = 0
    real(r8) :: predicted_factor_seconds = 0
  end type

  interface
    subroutine sxt_analysis_options_init(options, struct_size) bind(c)
      import :: sxt_analysis_options, i8
      type(sxt_analysis_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    function sxt_analysis_create(a, options, analysis) bind(c) result(status)
      import :: sxt_analysis_options, c_ptr, i4
      type(c_ptr), value :: a
      type(sxt_analysis_options), intent(in) :: options
      type(c_ptr), intent(inout) :: analysis
      integer(i4) :: status
    end function

    function sxt_analysis_get_info(analysis, info) bind(c) result(status)
      import :: sxt_analysis_info, c_ptr, i4
      type(c_ptr), value :: analysis
      type(sxt_analysis_info), intent(inout) :: info
      integer(i4) :: status
    end function

    function sxt_analysis_get_order(analysis, n, permutation) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: analysis
      integer(i8), value :: n
      integer(i8), intent(inout) :: permutation(*)
      integer(i4) :: status
    end function

    function sxt_analysis_get_method(analysis, buffer, capacity, length) bind(c) result(status)
      import :: c_ptr, c_char, i4, i8
      type(c_ptr), value :: analysis
      character(kind=c_char), intent(inout) :: buffer(*)
      integer(i8), value :: capacity
      integer(i8), intent(inout) :: length
      integer(i4) :: status
    end function

    function sxt_analysis_save(analysis, path) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: analysis
      type(c_ptr), value :: path
      integer(i4) :: status
    end function

    function sxt_analysis_load(a, path, options, analysis) bind(c) result(status)
      import :: sxt_analysis_options, c_ptr, i4
      type(c_ptr), value :: a
      type(c_ptr), value :: path
      type(sxt_analysis_options), intent(in) :: options
      type(c_ptr), intent(inout) :: analysis
      integer(i4) :: status
    end function

    function sxt_analysis_explain(analysis, form, buffer, capacity, length) bind(c) result(status)
      import :: c_ptr, c_char, i4, i8
      type(c_ptr), value :: analysis
      integer(i4), value :: form
      character(kind=c_char), intent(inout) :: buffer(*)
      integer(i8), value :: capacity
      integer(i8), intent(inout) :: length
      integer(i4) :: status
    end function

    subroutine sxt_analysis_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine

    function sxt_cholesky_create(analysis, cholesky) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: analysis
      type(c_ptr), intent(inout) :: cholesky
      integer(i4) :: status
    end function

    subroutine sxt_factor_options_init(options, struct_size) bind(c)
      import :: sxt_factor_options, i8
      type(sxt_factor_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    function sxt_cholesky_factor(cholesky, a, options) bind(c) result(status)
      import :: sxt_factor_options, c_ptr, i4
      type(c_ptr), value :: cholesky
      type(c_ptr), value :: a
      type(sxt_factor_options), intent(in) :: options
      integer(i4) :: status
    end function

    subroutine sxt_cholesky_solve_options_init(options, struct_size) bind(c)
      import :: sxt_cholesky_solve_options, i8
      type(sxt_cholesky_solve_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    function sxt_cholesky_solve(cholesky, n, n_rhs, b, ldb, x, ldx, options, report) bind(c) result(status)
      import :: sxt_cholesky_solve_options, sxt_cholesky_solve_report, c_ptr, i4, i8
      type(c_ptr), value :: cholesky
      integer(i8), value :: n
      integer(i8), value :: n_rhs
      type(c_ptr), value :: b
      integer(i8), value :: ldb
      type(c_ptr), value :: x
      integer(i8), value :: ldx
      type(sxt_cholesky_solve_options), intent(in) :: options
      type(sxt_cholesky_solve_report), intent(inout) :: report
      integer(i4) :: status
    end function

    function sxt_cholesky_get_info(cholesky, info) bind(c) result(status)
      import :: sxt_cholesky_info, c_ptr, i4
      type(c_ptr), value :: cholesky
      type(sxt_cholesky_info), intent(inout) :: info
      integer(i4) :: status
    end function

    function sxt_cholesky_changed_pivots(cholesky, capacity, rows, count) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: cholesky
      integer(i8), value :: capacity
      integer(i8), intent(inout) :: rows(*)
      integer(i8), intent(inout) :: count
      integer(i4) :: status
    end function

    function sxt_cholesky_diagonal(cholesky, n, pivots) bind(c) result(status)
      import :: c_ptr, i4, i8, r8
      type(c_ptr), value :: cholesky
      integer(i8), value :: n
      real(r8), intent(inout) :: pivots(*)
      integer(i4) :: status
    end function

    function sxt_cholesky_rcond(cholesky, rcond) bind(c) result(status)
      import :: c_ptr, i4, r8
      type(c_ptr), value :: cholesky
      real(r8), intent(inout) :: rcond
      integer(i4) :: status
    end function

    function sxt_cholesky_schur(cholesky, n_schur, schur, ld) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: cholesky
      integer(i8), value :: n_schur
      type(c_ptr), value :: schur
      integer(i8), value :: ld
      integer(i4) :: status
    end function

    function sxt_cholesky_inverse(cholesky, count, rows, cols, values) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: cholesky
      integer(i8), value :: count
      integer(i8), intent(in) :: rows(*)
      integer(i8), intent(in) :: cols(*)
      type(c_ptr), value :: values
      integer(i4) :: status
    end function

    subroutine sxt_cholesky_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
  end interface
end module sextant_cholesky_c
