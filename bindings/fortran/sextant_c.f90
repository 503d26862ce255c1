! SPDX-License-Identifier: BSD-3-Clause
! The C interface of Sextant in Fortran: structs and functions of libraries, contexts, matrices and conjugate gradients,
! with the names and in the order of sextant/sextant.h and sextant/pcg.h. Other groups have separate modules:
! sextant_vectors_c, sextant_hermitian_c, sextant_kernels_c, sextant_models_c. Programs use module sextant; these
! modules are for calls of C functions. Indices count from 0 here, as in C.
module sextant_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int32_t, c_int64_t, c_null_funptr, c_null_ptr, &
                                         c_ptr, c_size_t
  use sextant_constants
  implicit none
  public

  integer, parameter, private :: i4 = c_int32_t, i8 = c_int64_t, r8 = c_double

  ! Options. Each is filled by its _init function before a member is set.
  type, bind(c) :: sxt_context_options
    integer(i8) :: struct_size = 0
    type(c_ptr) :: device = c_null_ptr
    integer(i4) :: device_ordinal = 0
    integer(i4) :: threads = 0
    type(c_ptr) :: profile_path = c_null_ptr
    type(c_ptr) :: plugin_paths = c_null_ptr
    integer(i8) :: n_plugin_paths = 0
    type(c_funptr) :: log = c_null_funptr
    type(c_ptr) :: log_user = c_null_ptr
    integer(i4) :: log_level = 0
    integer(i4) :: deterministic = 0
    type(c_funptr) :: allocate = c_null_funptr
    type(c_funptr) :: release = c_null_funptr
    type(c_ptr) :: allocator_user = c_null_ptr
    integer(i4) :: race = 0
    integer(i4) :: feedback = 0
    real(r8) :: race_seconds = 0
  end type

  type, bind(c) :: sxt_matrix_options
    integer(i8) :: struct_size = 0
    integer(i4) :: value_type = 0
    integer(i4) :: index_type = 0
    integer(i4) :: offset_type = 0
    integer(i4) :: index_base = 0
    integer(i4) :: symmetry = 0
    integer(i4) :: triangle = 0
    integer(i4) :: duplicates = 0
    integer(i4) :: ownership = 0
    integer(i4) :: keep_order = 0
    integer(i4) :: check_finite = 0
    real(r8) :: most_rows_per_byte = 0
    real(r8) :: symmetry_tolerance = 0
  end type

  type, bind(c) :: sxt_matrix_info
    integer(i8) :: struct_size = 0
    integer(i8) :: rows = 0
    integer(i8) :: cols = 0
    integer(i8) :: nnz = 0
    integer(i4) :: value_type = 0
    integer(i4) :: index_type = 0
    integer(i4) :: offset_type = 0
    integer(i4) :: symmetry = 0
    integer(i8) :: bytes = 0
  end type

  type, bind(c) :: sxt_pcg_options
    integer(i8) :: struct_size = 0
    type(c_ptr) :: preconditioner = c_null_ptr
    type(c_ptr) :: recurrence = c_null_ptr
    type(c_ptr) :: engine = c_null_ptr
    type(c_ptr) :: format = c_null_ptr
    real(r8) :: rtol = 0
    real(r8) :: atol = 0
    integer(i4) :: norm = 0
    integer(i4) :: check_symmetry = 0
    integer(i8) :: max_iterations = 0
    real(r8) :: divergence_limit = 0
    integer(i8) :: stagnation_window = 0
    real(r8) :: time_limit = 0
    real(r8) :: expected_solves = 0
    real(r8) :: expected_iterations = 0
    integer(i4) :: probe = 0
    integer(i4) :: reorder = 0
    type(c_ptr) :: null_space = c_null_ptr
    integer(i8) :: null_space_size = 0
    real(r8) :: symmetry_tolerance = 0
  end type

  type, bind(c) :: sxt_solve_options
    integer(i8) :: struct_size = 0
    integer(i4) :: use_initial_guess = 0
    integer(i4) :: reserved0 = 0
    real(r8) :: rtol = 0
    real(r8) :: atol = 0
    integer(i8) :: max_iterations = 0
    real(r8) :: time_limit = 0
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: progress_user = c_null_ptr
    type(c_ptr) :: cancel = c_null_ptr
    type(c_ptr) :: history = c_null_ptr
    integer(i8) :: history_capacity = 0
    type(c_ptr) :: history_length = c_null_ptr
  end type

  type, bind(c) :: sxt_pcg_report
    integer(i8) :: struct_size = 0
    integer(i4) :: reason = 0
    integer(i4) :: reserved0 = 0
    integer(i8) :: iterations = 0
    real(r8) :: rhs_norm = 0
    real(r8) :: residual_norm = 0
    real(r8) :: true_relative_residual = 0
    real(r8) :: recursive_residual = 0
    integer(i8) :: confirmations = 0
    integer(i8) :: replacements = 0
    integer(i8) :: products = 0
    integer(i8) :: reductions = 0
    real(r8) :: setup_seconds = 0
    real(r8) :: solve_seconds = 0
    real(r8) :: predicted_setup_seconds = 0
    real(r8) :: predicted_solve_seconds = 0
    real(r8) :: predicted_iterations = 0
    integer(i8) :: probe_iterations = 0
    real(r8) :: probe_seconds = 0
    integer(i8) :: launches = 0
    real(r8) :: null_space_norm = 0
    real(r8) :: iteration_seconds = 0
    real(r8) :: residual_seconds = 0
    real(r8) :: predicted_iteration_seconds = 0
    real(r8) :: predicted_residual_seconds = 0
    real(r8) :: residual_bound = 0
    real(r8) :: rounding_limit = 0
  end type

  abstract interface
    ! Every sxt_*_explain.
    function sxt_explain(handle, form, buffer, capacity, length) bind(c) result(status)
      import :: c_ptr, c_char, i4, i8
      type(c_ptr), value :: handle
      integer(i4), value :: form
      character(kind=c_char), intent(inout) :: buffer(*)
      integer(i8), value :: capacity
      integer(i8), intent(inout) :: length
      integer(i4) :: status
    end function

    ! Every sxt_*_destroy: accepts a null pointer and never fails.
    subroutine sxt_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
  end interface

  interface
    subroutine sxt_version(major, minor, patch) bind(c)
      import :: i4
      integer(i4), intent(out) :: major, minor, patch
    end subroutine

    function sxt_version_string() bind(c) result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function

    function sxt_status_name(status) bind(c) result(text)
      import :: c_ptr, i4
      integer(i4), value :: status
      type(c_ptr) :: text
    end function

    function sxt_status_sentence(status) bind(c) result(text)
      import :: c_ptr, i4
      integer(i4), value :: status
      type(c_ptr) :: text
    end function

    function sxt_reason_name(reason) bind(c) result(text)
      import :: c_ptr, i4
      integer(i4), value :: reason
      type(c_ptr) :: text
    end function

    function sxt_reason_sentence(reason) bind(c) result(text)
      import :: c_ptr, i4
      integer(i4), value :: reason
      type(c_ptr) :: text
    end function

    ! The calling thread's last error on a context; on any when the pointer is null.
    function sxt_last_error(context) bind(c) result(text)
      import :: c_ptr
      type(c_ptr), value :: context
      type(c_ptr) :: text
    end function

    subroutine sxt_last_error_copy(context, buffer, capacity, length) bind(c)
      import :: c_ptr, c_char, i8
      type(c_ptr), value :: context
      character(kind=c_char), intent(inout) :: buffer(*)
      integer(i8), value :: capacity
      integer(i8), intent(inout) :: length
    end subroutine

    subroutine sxt_context_options_init(options, struct_size) bind(c)
      import :: sxt_context_options, i8
      type(sxt_context_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    function sxt_context_create(options, context) bind(c) result(status)
      import :: sxt_context_options, c_ptr, i4
      type(sxt_context_options), intent(in) :: options
      type(c_ptr), intent(inout) :: context
      integer(i4) :: status
    end function

    function sxt_context_describe(context, buffer, capacity, length) bind(c) result(status)
      import :: c_ptr, c_char, i4, i8
      type(c_ptr), value :: context
      character(kind=c_char), intent(inout) :: buffer(*)
      integer(i8), value :: capacity
      integer(i8), intent(inout) :: length
      integer(i4) :: status
    end function

    function sxt_context_set_stream(context, stream) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: context, stream
      integer(i4) :: status
    end function

    function sxt_context_synchronize(context) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: context
      integer(i4) :: status
    end function

    function sxt_context_force(context, kind, kernel) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: context, kind, kernel
      integer(i4) :: status
    end function

    function sxt_plan_save(context, path) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: context, path
      integer(i4) :: status
    end function

    function sxt_plan_load(context, path, required) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: context, path
      integer(i4), value :: required
      integer(i4) :: status
    end function

    subroutine sxt_context_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine

    subroutine sxt_matrix_options_init(options, struct_size) bind(c)
      import :: sxt_matrix_options, i8
      type(sxt_matrix_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    function sxt_matrix_from_coo(context, rows, cols, nnz, row, col, values, options, matrix) bind(c) result(status)
      import :: sxt_matrix_options, c_ptr, i4, i8
      type(c_ptr), value :: context, row, col, values
      integer(i8), value :: rows, cols, nnz
      type(sxt_matrix_options), intent(in) :: options
      type(c_ptr), intent(inout) :: matrix
      integer(i4) :: status
    end function

    function sxt_matrix_from_csr(context, rows, cols, row_ptr, col, values, options, matrix) bind(c) result(status)
      import :: sxt_matrix_options, c_ptr, i4, i8
      type(c_ptr), value :: context, row_ptr, col, values
      integer(i8), value :: rows, cols
      type(sxt_matrix_options), intent(in) :: options
      type(c_ptr), intent(inout) :: matrix
      integer(i4) :: status
    end function

    function sxt_matrix_from_csc(context, rows, cols, col_ptr, row, values, options, matrix) bind(c) result(status)
      import :: sxt_matrix_options, c_ptr, i4, i8
      type(c_ptr), value :: context, col_ptr, row, values
      integer(i8), value :: rows, cols
      type(sxt_matrix_options), intent(in) :: options
      type(c_ptr), intent(inout) :: matrix
      integer(i4) :: status
    end function

    function sxt_matrix_from_file(context, path, options, matrix) bind(c) result(status)
      import :: sxt_matrix_options, c_ptr, i4
      type(c_ptr), value :: context, path
      type(sxt_matrix_options), intent(in) :: options
      type(c_ptr), intent(inout) :: matrix
      integer(i4) :: status
    end function

    function sxt_matrix_update_values(matrix, values, count) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: matrix, values
      integer(i8), value :: count
      integer(i4) :: status
    end function

    function sxt_matrix_get_info(matrix, info) bind(c) result(status)
      import :: sxt_matrix_info, c_ptr, i4
      type(c_ptr), value :: matrix
      type(sxt_matrix_info), intent(inout) :: info
      integer(i4) :: status
    end function

    function sxt_matrix_get_csr(matrix, row_ptr, col, values) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: matrix
      type(c_ptr), intent(inout) :: row_ptr, col, values
      integer(i4) :: status
    end function

    function sxt_matrix_feature(matrix, name, value) bind(c) result(status)
      import :: c_ptr, i4, r8
      type(c_ptr), value :: matrix, name
      real(r8), intent(inout) :: value
      integer(i4) :: status
    end function

    function sxt_feature_name(i) bind(c) result(text)
      import :: c_ptr, i8
      integer(i8), value :: i
      type(c_ptr) :: text
    end function

    subroutine sxt_matrix_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine

    subroutine sxt_pcg_options_init(options, struct_size) bind(c)
      import :: sxt_pcg_options, i8
      type(sxt_pcg_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    subroutine sxt_solve_options_init(options, struct_size) bind(c)
      import :: sxt_solve_options, i8
      type(sxt_solve_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    function sxt_pcg_create(a, options, pcg) bind(c) result(status)
      import :: sxt_pcg_options, c_ptr, i4
      type(c_ptr), value :: a
      type(sxt_pcg_options), intent(in) :: options
      type(c_ptr), intent(inout) :: pcg
      integer(i4) :: status
    end function

    function sxt_pcg_solve(pcg, b, x, options, report) bind(c) result(status)
      import :: sxt_solve_options, sxt_pcg_report, c_ptr, i4
      type(c_ptr), value :: pcg, b, x
      type(sxt_solve_options), intent(in) :: options
      type(sxt_pcg_report), intent(inout) :: report
      integer(i4) :: status
    end function

    function sxt_pcg_solve_array(pcg, n, b, x, options, report) bind(c) result(status)
      import :: sxt_solve_options, sxt_pcg_report, c_ptr, i4, i8
      type(c_ptr), value :: pcg, b, x
      integer(i8), value :: n
      type(sxt_solve_options), intent(in) :: options
      type(sxt_pcg_report), intent(inout) :: report
      integer(i4) :: status
    end function

    ! reports: the first of n_rhs
    function sxt_pcg_solve_block(pcg, n, n_rhs, b, ldb, x, ldx, options, reports) bind(c) result(status)
      import :: sxt_solve_options, sxt_pcg_report, c_ptr, i4, i8
      type(c_ptr), value :: pcg, b, x
      integer(i8), value :: n, n_rhs, ldb, ldx
      type(sxt_solve_options), intent(in) :: options
      type(sxt_pcg_report), intent(inout) :: reports(*)
      integer(i4) :: status
    end function

    function sxt_pcg_explain(pcg, form, buffer, capacity, length) bind(c) result(status)
      import :: c_ptr, c_char, i4, i8
      type(c_ptr), value :: pcg
      integer(i4), value :: form
      character(kind=c_char), intent(inout) :: buffer(*)
      integer(i8), value :: capacity
      integer(i8), intent(inout) :: length
      integer(i4) :: status
    end function

    subroutine sxt_pcg_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine

    ! Two of the C library's, that the modules above build on. pthread_once_t is an int that starts at zero.
    function c_strlen(text) bind(c, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function

    function c_pthread_once(control, routine) bind(c, name='pthread_once') result(status)
      import :: c_funptr, i4
      integer(i4), intent(inout) :: control
      type(c_funptr), value :: routine
      integer(i4) :: status
    end function
  end interface
end module sextant_c
