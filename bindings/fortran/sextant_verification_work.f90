! SPDX-License-Identifier: BSD-3-Clause
! Verification of the models: every candidate for products with a matrix, predicted and measured, and sums over them.
module sextant_verification_work
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_funloc, c_int32_t, c_loc, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_c
  use sextant_models_c
  use sextant_objects
  use sextant_matrices
  implicit none
  private
  public :: sextant_verification, sextant_verify_line, sextant_verify_summary, sextant_verify_hook
  public :: verify_matrix, summarise

  ! One candidate of one matrix. Members are those of sxt_verify_line.
  type :: sextant_verify_line
    integer(int64) :: matrix = 0 ! lines with equal numbers belong to one choice: the caller's to set
    character(:), allocatable :: kernel, format
    integer(int64) :: launch(4) = 0
    real(real64) :: predicted_setup_s = 0, predicted_run_s = 0, rel_error = 0
    real(real64) :: measured_setup_s = 0, measured_run_s = 0
    real(real64) :: noise = 0, select_s = 0
    integer(int32) :: repeats = 0
    logical :: chosen = .false.    ! the library's own choice
    logical :: estimated = .false. ! the kernel has a model
    type(sxt_verify_line), private :: c_line
  end type

  abstract interface
    ! Called for each line as it comes. Set stop_now to 1 to end the measurements.
    subroutine sextant_verify_hook(data, line, stop_now)
      import :: int32, sextant_verify_line
      class(*), pointer, intent(in) :: data
      type(sextant_verify_line), intent(in) :: line
      integer(int32), intent(inout) :: stop_now
    end subroutine
  end interface

  ! How to measure. Members that are not set take the library's default.
  type :: sextant_verification
    real(real64) :: applies = 0           ! products that set-up is spread over; default 1000
    real(real64) :: candidate_seconds = 0 ! to measure one candidate's run for; default 0.05
    integer(int32) :: op = sxt_no_transpose
    logical :: references = .false.       ! .true.: reference kernels are measured too
    procedure(sextant_verify_hook), pointer, nopass :: line => null()
    class(*), pointer :: data => null()
  end type

  ! Sums over lines. Members are those of sxt_verify_summary.
  type :: sextant_verify_summary
    integer(int64) :: matrices = 0, candidates = 0
    real(real64) :: median_relative_error = 0, p90_relative_error = 0, top1_accuracy = 0
    real(real64) :: regret_geomean = 0, regret_p95 = 0, regret_max = 0, noise_median = 0
    real(real64) :: race_top1_accuracy(2) = 0, race_regret_geomean(2) = 0, race_regret_p95(2) = 0, race_price(2) = 0
  end type

  ! The data of a measurement's callback.
  type :: collection
    type(sextant_verification), pointer :: options => null()
    type(sextant_verify_line), allocatable :: lines(:)
  end type

contains

  subroutine verify_matrix(a, options, lines, stat)
    type(sextant_matrix), intent(inout) :: a
    type(sextant_verification), intent(in), target :: options
    type(sextant_verify_line), allocatable, intent(out) :: lines(:)
    integer(int32), intent(out) :: stat
    type(sxt_verify_options) :: c
    type(collection), target :: all
    all%options => options
    allocate(all%lines(0))
    if (usable(a, 'sextant_matrix', 'from_csr, from_csc, from_coo or from_file', stat)) then
      call sxt_verify_options_init(c, int(c_sizeof(c), int64))
      if (options%applies > 0) c%applies = options%applies
      if (options%candidate_seconds > 0) c%candidate_seconds = options%candidate_seconds
      c%op = options%op
      c%references = merge(1_int32, 0_int32, options%references)
      call conclude(a, sxt_verify_model(a%c_handle(), c, c_funloc(line_from_c), c_loc(all)), stat)
    end if
    call move_alloc(all%lines, lines)
  end subroutine

  function line_from_c(user, from) bind(c, name='') result(stop_now)
    type(c_ptr), value :: user
    type(sxt_verify_line), intent(in) :: from
    integer(c_int32_t) :: stop_now
    type(collection), pointer :: all
    type(sextant_verify_line) :: line
    call c_f_pointer(user, all)
    line%kernel = fortran_text(from%kernel)
    line%format = fortran_text(from%format)
    line%matrix = from%matrix
    line%launch = from%launch
    line%predicted_setup_s = from%predicted_setup_s
    line%predicted_run_s = from%predicted_run_s
    line%rel_error = from%rel_error
    line%measured_setup_s = from%measured_setup_s
    line%measured_run_s = from%measured_run_s
    line%noise = from%noise
    line%select_s = from%select_s
    line%repeats = from%repeats
    line%chosen = from%chosen /= 0
    line%estimated = from%estimated /= 0
    line%c_line = from
    all%lines = [all%lines, line]
    stop_now = 0
    if (associated(all%options%line)) call all%options%line(all%options%data, line, stop_now)
  end function

  subroutine summarise(lines, applies, summary, stat)
    type(sextant_verify_line), intent(in) :: lines(:)
    real(real64), intent(in) :: applies
    type(sextant_verify_summary), intent(out) :: summary
    integer(int32), intent(out) :: stat
    type(sxt_verify_line), allocatable :: c_lines(:)
    type(sxt_verify_summary) :: c
    integer :: i
    allocate(c_lines(size(lines)), stat=stat)
    if (stat /= 0) then
      stat = sxt_e_memory
      return
    end if
    do i = 1, size(lines)
      c_lines(i) = lines(i)%c_line
      c_lines(i)%matrix = lines(i)%matrix
    end do
    c%struct_size = c_sizeof(c)
    stat = sxt_verify_summarise(c_lines, size(c_lines, kind=int64), applies, c)
    if (stat /= sxt_ok) return
    summary%matrices = c%matrices
    summary%candidates = c%candidates
    summary%median_relative_error = c%median_relative_error
    summary%p90_relative_error = c%p90_relative_error
    summary%top1_accuracy = c%top1_accuracy
    summary%regret_geomean = c%regret_geomean
    summary%regret_p95 = c%regret_p95
    summary%regret_max = c%regret_max
    summary%noise_median = c%noise_median
    summary%race_top1_accuracy = c%race_top1_accuracy
    summary%race_regret_geomean = c%race_regret_geomean
    summary%race_regret_p95 = c%race_regret_p95
    summary%race_price = c%race_price
  end subroutine
end module sextant_verification_work
