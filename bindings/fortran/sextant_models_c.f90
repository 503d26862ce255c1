! SPDX-License-Identifier: BSD-3-Clause
! The part of the C interface of Sextant for the models of its kernels, in Fortran: calibration, verification, decision
! trees. The names and the order of sextant/sextant.h. Programs use module sextant.
module sextant_models_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int32_t, c_int64_t, c_null_ptr, c_ptr
  implicit none
  public

  integer, parameter, private :: i4 = c_int32_t, i8 = c_int64_t, r8 = c_double

  ! The c_funptr have no initial value: with one gfortran 12 cannot read the modules that use this type.
  type, bind(c) :: sxt_calibrate_options
    integer(i8) :: struct_size = 0
    integer(i4) :: quick = 0
    integer(i4) :: reserved0 = 0
    real(r8) :: seconds = 0
    type(c_ptr) :: kind = c_null_ptr
    type(c_ptr) :: path = c_null_ptr
    type(c_funptr) :: progress
    type(c_ptr) :: progress_user = c_null_ptr
    type(c_funptr) :: model
    type(c_ptr) :: model_user = c_null_ptr
    type(c_funptr) :: sample
    type(c_ptr) :: sample_user = c_null_ptr
  end type

  type, bind(c) :: sxt_model_info
    integer(i8) :: struct_size = 0
    type(c_ptr) :: kernel = c_null_ptr
    integer(i4) :: vector_type = 0
    integer(i4) :: matrix_type = 0
    integer(i8) :: version = 0
    integer(i8) :: model_class = 0
    integer(i8) :: samples = 0
    real(r8) :: power = 0
    integer(i4) :: breakpoints = 0
    integer(i4) :: reserved0 = 0
    real(r8) :: median_error = 0
    real(r8) :: p90_error = 0
    real(r8) :: scatter = 0
    real(r8) :: setup_factor = 0
    integer(i8) :: setup_samples = 0
  end type

  type, bind(c) :: sxt_model_sample
    integer(i8) :: struct_size = 0
    type(c_ptr) :: kernel = c_null_ptr
    integer(i4) :: vector_type = 0
    integer(i4) :: matrix_type = 0
    integer(i8) :: version = 0
    integer(i8) :: model_class = 0
    real(r8) :: working_set_bytes = 0
    real(r8) :: measured_s = 0
    real(r8) :: fitted_s = 0
    type(c_ptr) :: launch = c_null_ptr
    integer(i8) :: family = 0
    real(r8) :: rows = 0
    real(r8) :: entries = 0
    integer(i8) :: n_terms = 0
    type(c_ptr) :: term_names = c_null_ptr
    type(c_ptr) :: terms = c_null_ptr
  end type

  type, bind(c) :: sxt_verify_options
    integer(i8) :: struct_size = 0
    real(r8) :: applies = 0
    real(r8) :: candidate_seconds = 0
    integer(i4) :: op = 0
    integer(i4) :: references = 0
  end type

  type, bind(c) :: sxt_verify_line
    integer(i8) :: struct_size = 0
    integer(i8) :: matrix = 0
    type(c_ptr) :: kernel = c_null_ptr
    type(c_ptr) :: format = c_null_ptr
    integer(i8) :: launch(4) = 0
    real(r8) :: predicted_setup_s = 0
    real(r8) :: predicted_run_s = 0
    real(r8) :: rel_error = 0
    real(r8) :: measured_setup_s = 0
    real(r8) :: measured_run_s = 0
    real(r8) :: noise = 0
    real(r8) :: select_s = 0
    integer(i4) :: repeats = 0
    integer(i4) :: chosen = 0
    integer(i4) :: estimated = 0
    integer(i4) :: reserved0 = 0
  end type

  type, bind(c) :: sxt_verify_summary
    integer(i8) :: struct_size = 0
    integer(i8) :: matrices = 0
    integer(i8) :: candidates = 0
    real(r8) :: median_relative_error = 0
    real(r8) :: p90_relative_error = 0
    real(r8) :: top1_accuracy = 0
    real(r8) :: regret_geomean = 0
    real(r8) :: regret_p95 = 0
    real(r8) :: regret_max = 0
    real(r8) :: noise_median = 0
    real(r8) :: race_top1_accuracy(2) = 0
    real(r8) :: race_regret_geomean(2) = 0
    real(r8) :: race_regret_p95(2) = 0
    real(r8) :: race_price(2) = 0
  end type

  interface
    subroutine sxt_calibrate_options_init(options, struct_size) bind(c)
      import :: sxt_calibrate_options, i8
      type(sxt_calibrate_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    function sxt_calibrate(context, options, path, capacity, length) bind(c) result(status)
      import :: sxt_calibrate_options, c_char, c_ptr, i4, i8
      type(c_ptr), value :: context
      type(sxt_calibrate_options), intent(in) :: options
      character(kind=c_char), intent(inout) :: path(*)
      integer(i8), value :: capacity
      integer(i8), intent(inout) :: length
      integer(i4) :: status
    end function

    subroutine sxt_verify_options_init(options, struct_size) bind(c)
      import :: sxt_verify_options, i8
      type(sxt_verify_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    ! line: int32_t (*)(void *user, const sxt_verify_line *line)
    function sxt_verify_model(matrix, options, line, user) bind(c) result(status)
      import :: sxt_verify_options, c_funptr, c_ptr, i4
      type(c_ptr), value :: matrix, user
      type(sxt_verify_options), intent(in) :: options
      type(c_funptr), value :: line
      integer(i4) :: status
    end function

    function sxt_verify_summarise(lines, count, applies, summary) bind(c) result(status)
      import :: sxt_verify_line, sxt_verify_summary, i4, i8, r8
      type(sxt_verify_line), intent(in) :: lines(*)
      integer(i8), value :: count
      real(r8), value :: applies
      type(sxt_verify_summary), intent(inout) :: summary
      integer(i4) :: status
    end function

    function sxt_decision_tree(context, operation, type, form, buffer, capacity, length) bind(c) result(status)
      import :: c_char, c_ptr, i4, i8
      type(c_ptr), value :: context, operation
      integer(i4), value :: type, form
      character(kind=c_char), intent(inout) :: buffer(*)
      integer(i8), value :: capacity
      integer(i8), intent(inout) :: length
      integer(i4) :: status
    end function

    function sxt_decision_tree_operation(i) bind(c) result(text)
      import :: c_ptr, i8
      integer(i8), value :: i
      type(c_ptr) :: text
    end function
  end interface
end module sextant_models_c
