! SPDX-License-Identifier: BSD-3-Clause
! Conjugate gradients: set up once for a matrix, solve as often as wanted, read why each solve ended.
module sextant_solvers
  use, intrinsic :: iso_c_binding, only: c_char, c_loc, c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_objects
  use sextant_matrices
  use sextant_reports
  implicit none
  private
  public :: sextant_options, sextant_solve_options, sextant_report, sextant_pcg
  public :: sextant_version, sextant_status_name, sextant_status_text, sextant_reason_name, sextant_reason_text

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
    ! call solver%solve(b, x, options, reports, stat)
    !   The same for the columns of b(:, :) and x(:, :), which are independent: each stops on its own and has a report.
    !   stat is sxt_not_converged when any column did not converge. Keeps no history.
    generic :: solve => block_r32, block_r64, block_c32, block_c64
    ! call solver%solve(b, x, n, options, report, stat)
    !   The same with addresses (type(c_ptr)) of n values of the matrix's type, in host memory or the device's.
    generic :: solve => solve_at
    ! call solver%explain(text, stat)        what was chosen for each part, what else was considered, and why not
    ! call solver%explain_json(text, stat)   the same for programs
    procedure :: explain
    procedure :: explain_json
    procedure, private :: create_default, create_with
    procedure, private :: solve_r32, solve_r64, solve_c32, solve_c64
    procedure, private :: solve_with_r32, solve_with_r64, solve_with_c32, solve_with_c64
    procedure, private :: block_r32, block_r64, block_c32, block_c64, solve_at
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

    call clear(report)
    ! C sees addresses only, so types and the length of x are checked here. The length of b is compared with A in C.
    stat = obstacle(self, b, x)
    if (stat /= sxt_ok) then
      report%message = obstacle_text(self, b, x)
      return
    end if

    call solve_numbers_of(options, c)
    history_length = 0
    ! Nothing is allocated in a solve that keeps no history and converges: a time loop needs no more memory than its first step.
    if (options%history_capacity > 0) then
      allocate(history(options%history_capacity), stat=stat)
      if (stat /= 0) then
        stat = sxt_e_memory
        report%message = 'there is no memory for a history of '//decimal(options%history_capacity)//' iterations'
        return
      end if
      c%history = c_loc(history)
      c%history_capacity = size(history, kind=int64)
      c%history_length = c_loc(history_length)
    end if

    done%struct_size = c_sizeof(done)
    stat = sxt_pcg_solve_array(self%c_handle(), b%count, b%address, x%address, c, done)
    call fill(report, done)
    if (stat < 0) report%message = fortran_text(sxt_last_error(c_null_ptr))
    if (stat > 0) report%message = end_text(done)
    if (allocated(history)) report%history = history(:min(history_length, size(history, kind=int64)))
  end subroutine

  ! b and x: the whole arrays, of columns with `rows` and `x_rows` elements.
  subroutine solve_block(self, b, x, rows, x_rows, options, reports, stat)
    class(sextant_pcg), intent(in) :: self
    type(array_view), intent(in) :: b, x
    integer(int64), intent(in) :: rows, x_rows
    type(sextant_solve_options), intent(in) :: options
    type(sextant_report), intent(inout) :: reports(:)
    integer, intent(out) :: stat
    type(sxt_solve_options) :: c
    type(sxt_pcg_report), allocatable :: done(:)
    integer :: j

    do j = 1, size(reports)
      call clear(reports(j))
    end do
    stat = obstacle(self, b, x)
    if (stat == sxt_ok .and. (b%count /= rows*size(reports) .or. x_rows /= rows)) stat = sxt_e_dimension
    if (stat /= sxt_ok) then
      if (size(reports) > 0) reports(1)%message = obstacle_text(self, b, x)
      if (size(reports) > 0 .and. x_rows /= rows) &
        reports(1)%message = 'columns of b have '//decimal(rows)//' elements, those of x '//decimal(x_rows)
      return
    end if
    call solve_numbers_of(options, c)
    allocate(done(size(reports)), stat=stat)
    if (stat /= 0) then
      stat = sxt_e_memory
      return
    end if
    do j = 1, size(done)
      done(j)%struct_size = c_sizeof(done(j))
    end do
    stat = sxt_pcg_solve_block(self%c_handle(), rows, size(done, kind=int64), b%address, rows, x%address, rows, c, done)
    do j = 1, size(done)
      call fill(reports(j), done(j))
      if (stat < 0) reports(j)%message = fortran_text(sxt_last_error(c_null_ptr))
      if (stat >= 0 .and. done(j)%reason /= sxt_reason_converged) reports(j)%message = end_text(done(j))
    end do
  end subroutine

  function end_text(done) result(text)
    type(sxt_pcg_report), intent(in) :: done
    character(:), allocatable :: text
    text = sextant_reason_text(done%reason)//' (iteration '//decimal(done%iterations)//')'
  end function

  ! Why C cannot be called with these arrays; sxt_ok when it can.
  pure function obstacle(self, b, x) result(stat)
    class(sextant_pcg), intent(in) :: self
    type(array_view), intent(in) :: b, x
    integer :: stat
    stat = sxt_ok
    if (b%count /= x%count) stat = sxt_e_dimension
    if (b%type /= self%value_type) stat = sxt_e_type
    if (.not. self%is_made()) stat = sxt_e_state
  end function

  ! The sentence to it.
  function obstacle_text(self, b, x) result(text)
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
    else
      text = 'there must be as many reports as b has columns'
    end if
  end function

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
    text = ''
    if (.not. self%is_made()) then
      call refuse(self, sxt_e_state, unusable('sextant_pcg', 'create'), stat)
      return
    end if
    call explanation(self, sxt_pcg_explain, form, text, stat)
  end subroutine

  ! ---- one procedure a type of values: each only says which; the rest is the same text -------------------------------

  subroutine solve_r32(self, b, x, report, stat)
    real(real32), intent(in), contiguous, target :: b(:)
    real(real32), intent(inout), contiguous, target :: x(:)
    type(sextant_solve_options) :: options
    include 'pcg_solve.inc'
  end subroutine

  subroutine solve_with_r32(self, b, x, options, report, stat)
    real(real32), intent(in), contiguous, target :: b(:)
    real(real32), intent(inout), contiguous, target :: x(:)
    type(sextant_solve_options), intent(in) :: options
    include 'pcg_solve.inc'
  end subroutine

  subroutine block_r32(self, b, x, options, reports, stat)
    integer(int32), parameter :: type = sxt_f32
    real(real32), intent(in), contiguous, target :: b(:, :)
    real(real32), intent(inout), contiguous, target :: x(:, :)
    include 'pcg_block.inc'
  end subroutine

  subroutine solve_r64(self, b, x, report, stat)
    real(real64), intent(in), contiguous, target :: b(:)
    real(real64), intent(inout), contiguous, target :: x(:)
    type(sextant_solve_options) :: options
    include 'pcg_solve.inc'
  end subroutine

  subroutine solve_with_r64(self, b, x, options, report, stat)
    real(real64), intent(in), contiguous, target :: b(:)
    real(real64), intent(inout), contiguous, target :: x(:)
    type(sextant_solve_options), intent(in) :: options
    include 'pcg_solve.inc'
  end subroutine

  subroutine block_r64(self, b, x, options, reports, stat)
    integer(int32), parameter :: type = sxt_f64
    real(real64), intent(in), contiguous, target :: b(:, :)
    real(real64), intent(inout), contiguous, target :: x(:, :)
    include 'pcg_block.inc'
  end subroutine

  subroutine solve_c32(self, b, x, report, stat)
    complex(real32), intent(in), contiguous, target :: b(:)
    complex(real32), intent(inout), contiguous, target :: x(:)
    type(sextant_solve_options) :: options
    include 'pcg_solve.inc'
  end subroutine

  subroutine solve_with_c32(self, b, x, options, report, stat)
    complex(real32), intent(in), contiguous, target :: b(:)
    complex(real32), intent(inout), contiguous, target :: x(:)
    type(sextant_solve_options), intent(in) :: options
    include 'pcg_solve.inc'
  end subroutine

  subroutine block_c32(self, b, x, options, reports, stat)
    integer(int32), parameter :: type = sxt_c64
    complex(real32), intent(in), contiguous, target :: b(:, :)
    complex(real32), intent(inout), contiguous, target :: x(:, :)
    include 'pcg_block.inc'
  end subroutine

  subroutine solve_c64(self, b, x, report, stat)
    complex(real64), intent(in), contiguous, target :: b(:)
    complex(real64), intent(inout), contiguous, target :: x(:)
    type(sextant_solve_options) :: options
    include 'pcg_solve.inc'
  end subroutine

  subroutine solve_with_c64(self, b, x, options, report, stat)
    complex(real64), intent(in), contiguous, target :: b(:)
    complex(real64), intent(inout), contiguous, target :: x(:)
    type(sextant_solve_options), intent(in) :: options
    include 'pcg_solve.inc'
  end subroutine

  subroutine block_c64(self, b, x, options, reports, stat)
    integer(int32), parameter :: type = sxt_c128
    complex(real64), intent(in), contiguous, target :: b(:, :)
    complex(real64), intent(inout), contiguous, target :: x(:, :)
    include 'pcg_block.inc'
  end subroutine

  subroutine solve_at(self, b, x, n, options, report, stat)
    class(sextant_pcg), intent(in) :: self
    type(c_ptr), intent(in) :: b, x
    integer, intent(in) :: n
    type(sextant_solve_options), intent(in) :: options
    type(sextant_report), intent(inout) :: report
    integer, intent(out) :: stat
    call solve_views(self, array_view(b, int(n, int64), self%value_type), array_view(x, int(n, int64), self%value_type), &
                     options, report, stat)
  end subroutine
end module sextant_solvers
