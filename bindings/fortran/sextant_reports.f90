! SPDX-License-Identifier: BSD-3-Clause
! Options and reports of conjugate gradients, and their forms in C.
module sextant_reports
  use, intrinsic :: iso_c_binding, only: c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_c
  use sextant_callbacks
  implicit none
  private
  public :: sextant_options, sextant_solve_options, sextant_report
  public :: numbers_of, solve_numbers_of, clear, fill

  ! A member left at this value takes the library's default.
  real(real64), parameter :: default = -1

  ! Options of a set-up. Names left unset (or blank) are chosen by predicted time to solution.
  type :: sextant_options
    character(:), allocatable :: preconditioner     ! 'none', 'jacobi', or what a plugin offers
    character(:), allocatable :: recurrence         ! 'classical', 'chronopoulos-gear', 'predict-recompute'
    character(:), allocatable :: engine             ! kernel that drives the loop
    character(:), allocatable :: format             ! storage of the matrix: 'csr', ...
    real(real64) :: rtol = default                  ! stop when |b - A x| <= max(rtol |b|, atol); default 1e-8, real32: 1e-5
    real(real64) :: atol = default                  ! default 0
    logical :: max_norm = .false.                   ! .true.: measured in the maximum norm, not the 2-norm
    logical :: check_symmetry = .true.              ! .false.: trust that the matrix is symmetric or Hermitian
    real(real64) :: symmetry_tolerance = default    ! |a_ij - conj(a_ji)| / sqrt(a_ii a_jj) that counts as equal; default: rounding
    integer(int64) :: max_iterations = 0            ! 0: 10 n, at least 1000
    real(real64) :: divergence_limit = default      ! diverged when |r| exceeds this many times |r0|; default 1e8
    integer(int64) :: stagnation_window = -1        ! stagnated after this many iterations without progress; default 10000
    real(real64) :: time_limit = default            ! seconds of one solve; default: none
    real(real64) :: expected_solves = default       ! expected number of solves: weighs set-up against speed
    real(real64) :: expected_iterations = default   ! default: estimated
    integer(int32) :: probe = 0                     ! iterations of the probe at most; 0: by its cost, negative: none
    integer(int32) :: reorder = 0                   ! other order of the rows: 0: if predicted faster, negative: never, positive: always
    integer(int64) :: null_space_size = 0           ! vectors that the matrix turns into 0, 32 at most; 0: it is definite
    type(c_ptr) :: null_space = c_null_ptr          ! their values, one vector after the other, in the matrix's type, in host
                                                    ! memory, copied; left alone, with a size of 1: equal values
  end type

  ! Options of one solve.
  type :: sextant_solve_options
    logical :: warm_start = .false.        ! .true.: x holds a first guess, as in a time loop; .false.: start from zero
    real(real64) :: rtol = default         ! these four: default as set up
    real(real64) :: atol = default
    integer(int64) :: max_iterations = 0
    real(real64) :: time_limit = default
    integer(int64) :: history_capacity = 0 ! keep the residual norms of this many iterations in report%history
    procedure(sextant_progress_hook), pointer, nopass :: progress => null() ! called after iterations; can cancel
    class(*), pointer :: progress_data => null()          ! what it is given
    integer(int32), pointer :: cancel => null()           ! a flag that another thread sets to 1 to cancel; a volatile target
  end type

  ! The report of a solve.
  type :: sextant_report
    logical :: converged = .false.               ! the true residual b - A x met the tolerance
    integer(int32) :: reason = sxt_reason_none   ! sxt_reason_*: why it ended
    integer(int64) :: iterations = 0             ! for a failure: the iteration it was found in
    real(real64) :: rhs_norm = 0                 ! |b| and |b - A x|, computed from the x returned
    real(real64) :: residual_norm = 0
    real(real64) :: true_relative_residual = 0   ! their ratio; residual_norm when b = 0
    real(real64) :: recursive_residual = 0       ! the recurrence's own residual
    integer(int64) :: confirmations = 0          ! true residuals computed
    integer(int64) :: replacements = 0           ! residuals replaced by true ones
    integer(int64) :: products = 0               ! products with A
    integer(int64) :: reductions = 0             ! results waited for
    real(real64) :: setup_seconds = 0            ! measured
    real(real64) :: solve_seconds = 0
    real(real64) :: predicted_setup_seconds = 0  ! by the model, for the iterations it took
    real(real64) :: predicted_solve_seconds = 0
    real(real64) :: predicted_iterations = 0     ! the iterations that the set-up assumed
    integer(int64) :: probe_iterations = 0       ! of the probe that estimated them; 0: assumed
    real(real64) :: probe_seconds = 0            ! its part of setup_seconds
    integer(int64) :: launches = 0               ! launches on a device; 0: not counted
    real(real64) :: null_space_norm = 0          ! the part left out of b, which lies in the null space
    real(real64) :: iteration_seconds = 0        ! of solve_seconds: an iteration, and a true residual, each of one
    real(real64) :: residual_seconds = 0
    real(real64) :: predicted_iteration_seconds = 0
    real(real64) :: predicted_residual_seconds = 0
    real(real64) :: residual_bound = 0           ! the exact norm of the residual is within it of residual_norm
    real(real64) :: rounding_limit = 0           ! rounding the exact solution may leave such a residual
    real(real64), allocatable :: history(:)      ! recursive residual norms from iteration 0, when asked for
    character(:), allocatable :: message         ! a sentence when stat is not sxt_ok; '' otherwise
  end type

contains

  ! The library's defaults, then the caller's settings.
  subroutine numbers_of(options, c)
    type(sextant_options), intent(in) :: options
    type(sxt_pcg_options), intent(inout) :: c
    call sxt_pcg_options_init(c, int(c_sizeof(c), int64))
    call override(c%rtol, options%rtol)
    call override(c%atol, options%atol)
    call override(c%symmetry_tolerance, options%symmetry_tolerance)
    call override(c%divergence_limit, options%divergence_limit)
    call override(c%time_limit, options%time_limit)
    call override(c%expected_solves, options%expected_solves)
    call override(c%expected_iterations, options%expected_iterations)
    c%norm = merge(sxt_norm_max, sxt_norm_2, options%max_norm)
    c%check_symmetry = merge(1_int32, 0_int32, options%check_symmetry)
    if (options%max_iterations /= 0) c%max_iterations = options%max_iterations
    c%probe = options%probe
    c%reorder = options%reorder
    c%null_space = options%null_space
    c%null_space_size = options%null_space_size
    if (options%stagnation_window >= 0) c%stagnation_window = options%stagnation_window
  end subroutine

  subroutine solve_numbers_of(options, c)
    type(sextant_solve_options), intent(in) :: options
    type(sxt_solve_options), intent(inout) :: c
    call sxt_solve_options_init(c, int(c_sizeof(c), int64))
    c%use_initial_guess = merge(1_int32, 0_int32, options%warm_start)
    call override(c%rtol, options%rtol)
    call override(c%atol, options%atol)
    call override(c%time_limit, options%time_limit)
    if (options%max_iterations /= 0) c%max_iterations = options%max_iterations
  end subroutine

  pure subroutine override(value, wish)
    real(real64), intent(inout) :: value
    real(real64), intent(in) :: wish
    if (.not. (wish >= default .and. wish <= default)) value = wish ! a NaN must reach the checks in C
  end subroutine

  ! As new, but for the memory of an empty message: a report that is used again needs none.
  subroutine clear(report)
    type(sextant_report), intent(inout) :: report
    type(sxt_pcg_report) :: nothing
    call fill(report, nothing)
    if (allocated(report%history)) deallocate(report%history)
    report%message = ''
  end subroutine

  subroutine fill(report, done)
    type(sextant_report), intent(inout) :: report
    type(sxt_pcg_report), intent(in) :: done
    report%converged = done%reason == sxt_reason_converged
    report%reason = done%reason
    report%iterations = done%iterations
    report%rhs_norm = done%rhs_norm
    report%residual_norm = done%residual_norm
    report%true_relative_residual = done%true_relative_residual
    report%recursive_residual = done%recursive_residual
    report%confirmations = done%confirmations
    report%replacements = done%replacements
    report%products = done%products
    report%reductions = done%reductions
    report%setup_seconds = done%setup_seconds
    report%solve_seconds = done%solve_seconds
    report%predicted_setup_seconds = done%predicted_setup_seconds
    report%predicted_solve_seconds = done%predicted_solve_seconds
    report%predicted_iterations = done%predicted_iterations
    report%probe_iterations = done%probe_iterations
    report%probe_seconds = done%probe_seconds
    report%launches = done%launches
    report%null_space_norm = done%null_space_norm
    report%iteration_seconds = done%iteration_seconds
    report%residual_seconds = done%residual_seconds
    report%predicted_iteration_seconds = done%predicted_iteration_seconds
    report%predicted_residual_seconds = done%predicted_residual_seconds
    report%residual_bound = done%residual_bound
    report%rounding_limit = done%rounding_limit
  end subroutine
end module sextant_reports
