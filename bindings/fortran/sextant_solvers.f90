! SPDX-License-Identifier: BSD-3-Clause
! Conjugate gradients: set up once for a matrix, solve as often as wanted, read why each solve ended.
module sextant_solvers
  use, intrinsic :: iso_c_binding, only: c_char, c_loc, c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_objects
  use sextant_matrices
  implicit none
  private
  public :: sextant_options, sextant_solve_options, sextant_report, sextant_pcg
  public :: sextant_version, sextant_status_name, sextant_status_text, sextant_reason_name, sextant_reason_text

  ! A member left at this value takes the library's default.
  real(real64), parameter :: default = -1

  ! How to set a solver up. Names left unset (or blank) are chosen by predicted time to solution.
  type :: sextant_options
    character(:), allocatable :: preconditioner     ! 'none', 'jacobi', or what a plugin offers
    character(:), allocatable :: recurrence         ! 'classical', 'chronopoulos-gear', 'predict-recompute'
    character(:), allocatable :: engine             ! kernel that drives the loop
    character(:), allocatable :: format             ! storage of the matrix: 'csr', ...
    real(real64) :: rtol = default                  ! stop when |b - A x| <= max(rtol |b|, atol); default 1e-8
    real(real64) :: atol = default                  ! default 0
    logical :: max_norm = .false.                   ! .true.: measured in the maximum norm, not the 2-norm
    logical :: check_symmetry = .true.              ! .false.: trust that the matrix is symmetric or Hermitian
    integer(int64) :: max_iterations = 0            ! 0: 10 n, at least 1000
    real(real64) :: divergence_limit = default      ! diverged when |r| exceeds this many times |r0|; default 1e8
    integer(int64) :: stagnation_window = -1        ! stagnated after so many iterations without progress; default 10000
    real(real64) :: time_limit = default            ! seconds of one solve; default: none
    real(real64) :: expected_solves = default       ! how often the set-up will be used: weighs set-up against speed
    real(real64) :: expected_iterations = default   ! default: estimated
  end type

  ! What may differ from solve to solve.
  type :: sextant_solve_options
    logical :: warm_start = .false.        ! .true.: x holds a first guess, as in a time loop; .false.: start from zero
    real(real64) :: rtol = default         ! these four: default as set up
    real(real64) :: atol = default
    integer(int64) :: max_iterations = 0
    real(real64) :: time_limit = default
    integer(int64) :: history_capacity = 0 ! keep the residual norms of so many iterations in report%history
  end type

  ! What a solve did.
  type :: sextant_report
    logical :: converged = .false.               ! the true residual b - A x met the tolerance
    integer(int32) :: reason = sxt_reason_none   ! sxt_reason_*: why it ended
    integer(int64) :: iterations = 0             ! for a failure: the iteration it was found in
    real(real64) :: rhs_norm = 0                 ! |b| and |b - A x|, computed from the x returned
    real(real64) :: residual_norm = 0
    real(real64) :: true_relative_residual = 0   ! their ratio; residual_norm when b = 0
    real(real64) :: recursive_residual = 0       ! what the recurrence believed
    integer(int64) :: confirmations = 0          ! true residuals computed
    integer(int64) :: replacements = 0           ! residuals replaced by true ones
    integer(int64) :: products = 0               ! times A was applied
    integer(int64) :: reductions = 0             ! results waited for
    real(real64) :: setup_seconds = 0            ! measured
    real(real64) :: solve_seconds = 0
    real(real64) :: predicted_setup_seconds = 0  ! by the model, for the iterations it took
    real(real64) :: predicted_solve_seconds = 0
    real(real64), allocatable :: history(:)      ! recursive residual norms from iteration 0, when asked for
    character(:), allocatable :: message         ! a sentence when stat is not sxt_ok; '' otherwise
  end type

  type, extends(sextant_object) :: sextant_pcg
    private
    integer(int32) :: value_type = 0
  contains
    ! call solver%create(a, stat)
    ! call solver%create(a, options, stat)
    !   Checks the matrix, chooses preconditioner, storage, kernels and recurrence, and builds them. The solver keeps
    !   what it needs of the matrix alive. sxt_e_not_square, sxt_e_not_symmetric, sxt_e_diagonal, ...
    generic :: create => create_default, create_with
    ! call solver%solve(b, x, report, stat)
    ! call solver%solve(b, x, options, report, stat)
    !   Solves A x = b. stat is sxt_ok only when the true residual met the tolerance. When it is sxt_not_converged,
    !   report has the reason and x the last good iterate. Errors leave x alone; their sentence is in report%message.
    !   Several threads may solve with one solver at a time, each with its own b, x and report.
    generic :: solve => solve_r32, solve_r64, solve_c32, solve_c64, solve_with_r32, solve_with_r64, solve_with_c32, &
                        solve_with_c64
    ! call solver%explain(text, stat)        what was chosen for each part, what else was considered, and why not
    ! call solver%explain_json(text, stat)   the same for programs
    procedure :: explain
    procedure :: explain_json
    procedure, private :: create_default, create_with
    procedure, private :: solve_r32, solve_r64, solve_c32, solve_c64
    procedure, private :: solve_with_r32, solve_with_r64, solve_with_c32, solve_with_c64
  end type

contains

  ! ---- words ---------------------------------------------------------------------------------------------------------

  ! Version of the library that is running: '0.1.0'.
  function sextant_version() result(text)
    character(:), allocatable :: text
    text = fortran_text(sxt_version_string())
  end function

  ! 'SXT_E_INDEX' for sxt_e_index, and its general sentence. What happened exactly is in the object's error().
  function sextant_status_name(stat) result(text)
    integer, intent(in) :: stat
    character(:), allocatable :: text
    text = fortran_text(sxt_status_name(int(stat, int32)))
  end function

  function sextant_status_text(stat) result(text)
    integer, intent(in) :: stat
    character(:), allocatable :: text
    text = fortran_text(sxt_status_sentence(int(stat, int32)))
  end function

  ! 'stagnated' for sxt_reason_stagnated, and its sentence.
  function sextant_reason_name(reason) result(text)
    integer(int32), intent(in) :: reason
    character(:), allocatable :: text
    text = fortran_text(sxt_reason_name(reason))
  end function

  function sextant_reason_text(reason) result(text)
    integer(int32), intent(in) :: reason
    character(:), allocatable :: text
    text = fortran_text(sxt_reason_sentence(reason))
  end function

  ! ---- set-up --------------------------------------------------------------------------------------------------------

  subroutine create_default(self, a, stat)
    class(sextant_pcg), intent(inout) :: self
    type(sextant_matrix), intent(in) :: a
    integer, intent(out) :: stat
    type(sextant_options) :: options
    call create_with(self, a, options, stat)
  end subroutine

  subroutine create_with(self, a, options, stat)
    class(sextant_pcg), intent(inout) :: self
    type(sextant_matrix), intent(in) :: a
    type(sextant_options), intent(in) :: options
    integer, intent(out) :: stat
    type(sxt_pcg_options) :: c
    type(c_ptr) :: handle
    character(kind=c_char), allocatable, target :: preconditioner(:), recurrence(:), engine(:), format(:)

    if (.not. a%is_made()) then
      call refuse(self, sxt_e_state, unusable('sextant_matrix', 'from_csr or from_coo'), stat)
      return
    end if
    call numbers_of(options, c)
    call c_text(options%preconditioner, preconditioner, c%preconditioner)
    call c_text(options%recurrence, recurrence, c%recurrence)
    call c_text(options%engine, engine, c%engine)
    call c_text(options%format, format, c%format)

    handle = c_null_ptr
    call conclude(self, sxt_pcg_create(a%c_handle(), c, handle), stat)
    if (stat /= sxt_ok) return
    call adopt(self, handle, sxt_pcg_destroy)
    self%value_type = a%value_type()
  end subroutine

  ! The library's defaults, then what the caller set.
  subroutine numbers_of(options, c)
    type(sextant_options), intent(in) :: options
    type(sxt_pcg_options), intent(inout) :: c
    call sxt_pcg_options_init(c, int(c_sizeof(c), int64))
    call override(c%rtol, options%rtol)
    call override(c%atol, options%atol)
    call override(c%divergence_limit, options%divergence_limit)
    call override(c%time_limit, options%time_limit)
    call override(c%expected_solves, options%expected_solves)
    call override(c%expected_iterations, options%expected_iterations)
    c%norm = merge(sxt_norm_max, sxt_norm_2, options%max_norm)
    c%check_symmetry = merge(1_int32, 0_int32, options%check_symmetry)
    if (options%max_iterations > 0) c%max_iterations = options%max_iterations
    if (options%stagnation_window >= 0) c%stagnation_window = options%stagnation_window
  end subroutine

  pure subroutine override(value, wish)
    real(real64), intent(inout) :: value
    real(real64), intent(in) :: wish
    if (.not. (wish >= default .and. wish <= default)) value = wish ! a NaN must reach the checks in C
  end subroutine

  ! ---- solving -------------------------------------------------------------------------------------------------------

  subroutine solve_views(self, b, x, options, report, stat)
    class(sextant_pcg), intent(in) :: self
    type(array_view), intent(in) :: b, x
    type(sextant_solve_options), intent(in) :: options
    type(sextant_report), intent(inout) :: report
    integer, intent(out) :: stat
    type(sxt_solve_options) :: c
    type(sxt_pcg_report) :: done
    real(real64), allocatable, target :: history(:)
    integer(int64), target :: history_length

    ! C sees addresses only, so types and the length of x are checked here. The length of b is compared with A in C.
    report%message = obstacle(self, b, x)
    stat = sxt_e_dimension
    if (.not. self%is_made()) stat = sxt_e_state
    if (self%is_made() .and. (b%type /= self%value_type)) stat = sxt_e_type
    if (len(report%message) > 0) return

    call sxt_solve_options_init(c, int(c_sizeof(c), int64))
    c%use_initial_guess = merge(1_int32, 0_int32, options%warm_start)
    call override(c%rtol, options%rtol)
    call override(c%atol, options%atol)
    call override(c%time_limit, options%time_limit)
    if (options%max_iterations > 0) c%max_iterations = options%max_iterations
    history_length = 0
    allocate(history(max(0_int64, options%history_capacity)))
    if (size(history) > 0) then
      c%history = c_loc(history)
      c%history_capacity = size(history, kind=int64)
      c%history_length = c_loc(history_length)
    end if

    done%struct_size = c_sizeof(done)
    stat = sxt_pcg_solve_array(self%c_handle(), b%count, b%address, x%address, c, done)
    call fill(report, done)
    if (stat < 0) report%message = fortran_text(sxt_last_error(c_null_ptr))
    if (stat > 0) report%message = sextant_reason_text(done%reason)//' (iteration '//decimal(done%iterations)//')'
    if (size(history) > 0) report%history = history(:min(history_length, size(history, kind=int64)))
  end subroutine

  ! Why C cannot be called with these arrays; '' when it can.
  function obstacle(self, b, x) result(text)
    class(sextant_pcg), intent(in) :: self
    type(array_view), intent(in) :: b, x
    character(:), allocatable :: text
    text = ''
    if (.not. self%is_made()) then
      text = unusable('sextant_pcg', 'create')
    else if (b%type /= self%value_type) then
      text = 'b and x are '//type_name(b%type)//', the matrix was made of '//type_name(self%value_type)
    else if (b%count /= x%count) then
      text = 'b has '//decimal(b%count)//' elements, x has '//decimal(x%count)
    end if
  end function

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
  end subroutine

  ! ---- reasons -------------------------------------------------------------------------------------------------------

  subroutine explain(self, text, stat)
    class(sextant_pcg), intent(inout) :: self
    character(:), allocatable, intent(out) :: text
    integer, intent(out) :: stat
    call explain_as(self, sxt_text, text, stat)
  end subroutine

  subroutine explain_json(self, text, stat)
    class(sextant_pcg), intent(inout) :: self
    character(:), allocatable, intent(out) :: text
    integer, intent(out) :: stat
    call explain_as(self, sxt_json, text, stat)
  end subroutine

  subroutine explain_as(self, form, text, stat)
    class(sextant_pcg), intent(inout) :: self
    integer(int32), intent(in) :: form
    character(:), allocatable, intent(inout) :: text
    integer, intent(out) :: stat
    integer(int64) :: length, needed
    text = ''
    if (.not. self%is_made()) then
      call refuse(self, sxt_e_state, unusable('sextant_pcg', 'create'), stat)
      return
    end if
    ! C cuts what does not fit and says how long the whole is, so at most two rounds are needed.
    needed = 4000
    do
      length = needed
      deallocate(text)
      allocate(character(length + 1) :: text)
      call conclude(self, sxt_pcg_explain(self%c_handle(), form, text, length + 1, needed), stat)
      if (stat /= sxt_ok) needed = 0
      if (needed <= length) exit
    end do
    text = text(:needed)
  end subroutine

  ! ---- one procedure a type of values: each only says which ----------------------------------------------------------

  subroutine solve_r32(self, b, x, report, stat)
    class(sextant_pcg), intent(in) :: self
    real(real32), intent(in), contiguous, target :: b(:)
    real(real32), intent(inout), contiguous, target :: x(:)
    type(sextant_report), intent(out) :: report
    integer, intent(out) :: stat
    type(sextant_solve_options) :: options
    call solve_views(self, view(b), view(x), options, report, stat)
  end subroutine

  subroutine solve_with_r32(self, b, x, options, report, stat)
    class(sextant_pcg), intent(in) :: self
    real(real32), intent(in), contiguous, target :: b(:)
    real(real32), intent(inout), contiguous, target :: x(:)
    type(sextant_solve_options), intent(in) :: options
    type(sextant_report), intent(out) :: report
    integer, intent(out) :: stat
    call solve_views(self, view(b), view(x), options, report, stat)
  end subroutine

  subroutine solve_r64(self, b, x, report, stat)
    class(sextant_pcg), intent(in) :: self
    real(real64), intent(in), contiguous, target :: b(:)
    real(real64), intent(inout), contiguous, target :: x(:)
    type(sextant_report), intent(out) :: report
    integer, intent(out) :: stat
    type(sextant_solve_options) :: options
    call solve_views(self, view(b), view(x), options, report, stat)
  end subroutine

  subroutine solve_with_r64(self, b, x, options, report, stat)
    class(sextant_pcg), intent(in) :: self
    real(real64), intent(in), contiguous, target :: b(:)
    real(real64), intent(inout), contiguous, target :: x(:)
    type(sextant_solve_options), intent(in) :: options
    type(sextant_report), intent(out) :: report
    integer, intent(out) :: stat
    call solve_views(self, view(b), view(x), options, report, stat)
  end subroutine

  subroutine solve_c32(self, b, x, report, stat)
    class(sextant_pcg), intent(in) :: self
    complex(real32), intent(in), contiguous, target :: b(:)
    complex(real32), intent(inout), contiguous, target :: x(:)
    type(sextant_report), intent(out) :: report
    integer, intent(out) :: stat
    type(sextant_solve_options) :: options
    call solve_views(self, view(b), view(x), options, report, stat)
  end subroutine

  subroutine solve_with_c32(self, b, x, options, report, stat)
    class(sextant_pcg), intent(in) :: self
    complex(real32), intent(in), contiguous, target :: b(:)
    complex(real32), intent(inout), contiguous, target :: x(:)
    type(sextant_solve_options), intent(in) :: options
    type(sextant_report), intent(out) :: report
    integer, intent(out) :: stat
    call solve_views(self, view(b), view(x), options, report, stat)
  end subroutine

  subroutine solve_c64(self, b, x, report, stat)
    class(sextant_pcg), intent(in) :: self
    complex(real64), intent(in), contiguous, target :: b(:)
    complex(real64), intent(inout), contiguous, target :: x(:)
    type(sextant_report), intent(out) :: report
    integer, intent(out) :: stat
    type(sextant_solve_options) :: options
    call solve_views(self, view(b), view(x), options, report, stat)
  end subroutine

  subroutine solve_with_c64(self, b, x, options, report, stat)
    class(sextant_pcg), intent(in) :: self
    complex(real64), intent(in), contiguous, target :: b(:)
    complex(real64), intent(inout), contiguous, target :: x(:)
    type(sextant_solve_options), intent(in) :: options
    type(sextant_report), intent(out) :: report
    integer, intent(out) :: stat
    call solve_views(self, view(b), view(x), options, report, stat)
  end subroutine
end module sextant_solvers
