! SPDX-License-Identifier: BSD-3-Clause
! Common parts of the procedures of sextant_pcg, independent of the types of their arguments.
module sextant_solver_work
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_funloc, c_loc, c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_c
  use sextant_objects
  use sextant_callbacks
  use sextant_matrix_work, only: type_of_matrix, maker_of_matrix
  use sextant_matrices
  use sextant_vectors
  use sextant_reports
  implicit none
  private
  public :: pcg_base, create_solver, solve_views, solve_vectors, solve_block, explain_as

  type, extends(sextant_object) :: pcg_base
    private
    integer(int32) :: type = 0
  contains
    procedure :: value_type ! of the matrix it was made from: sxt_f32, ...
  end type

contains

  pure function value_type(self) result(type)
    class(pcg_base), intent(in) :: self
    integer(int32) :: type
    type = self%type
  end function

  subroutine create_solver(self, a, options, stat)
    class(pcg_base), intent(inout) :: self
    type(sextant_matrix), intent(in) :: a
    type(sextant_options), intent(in) :: options
    integer(int32), intent(out) :: stat
    type(sxt_pcg_options) :: c
    type(c_ptr) :: handle
    character(kind=c_char), allocatable, target :: preconditioner(:), recurrence(:), engine(:), format(:)

    if (.not. a%is_made()) then
      call refuse(self, sxt_e_state, unusable(type_of_matrix, maker_of_matrix), stat)
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
    self%type = a%value_type()
  end subroutine

  ! ---- solving -------------------------------------------------------------------------------------------------------

  ! The caller's procedure and flag, where there are any.
  subroutine set_progress(options, record, c)
    type(sextant_solve_options), intent(in) :: options
    type(progress_record), intent(inout), target :: record
    type(sxt_solve_options), intent(inout) :: c
    if (associated(options%cancel)) c%cancel = c_loc(options%cancel)
    if (.not. associated(options%progress)) return
    record%call => options%progress
    record%data => options%progress_data
    c%progress = c_funloc(progress_from_c)
    c%progress_user = c_loc(record)
  end subroutine

  subroutine solve_views(self, b, x, options, report, stat)
    class(pcg_base), intent(in) :: self
    type(array_view), intent(in) :: b, x
    type(sextant_solve_options), intent(in) :: options
    type(sextant_report), intent(inout) :: report
    integer(int32), intent(out) :: stat

    call clear(report)
    ! C gets only addresses, so types and the length of x are checked here. The length of b is compared with A in C.
    stat = obstacle(self, b, x)
    if (stat /= sxt_ok) then
      report%message = obstacle_text(self, b, x)
      return
    end if

    call solve_with(self, b, x, c_null_ptr, c_null_ptr, options, report, stat)
  end subroutine

  ! Vectors, whose lengths, types and contexts C compares.
  subroutine solve_vectors(self, b, x, options, report, stat)
    class(pcg_base), intent(in) :: self
    type(sextant_vector), intent(in) :: b
    type(sextant_vector), intent(in) :: x
    type(sextant_solve_options), intent(in) :: options
    type(sextant_report), intent(inout) :: report
    integer(int32), intent(out) :: stat
    call clear(report)
    if (.not. self%is_made()) then
      stat = sxt_e_state
      report%message = unusable('sextant_pcg', 'create')
    else if (.not. (b%is_made() .and. x%is_made())) then
      stat = sxt_e_state
      report%message = unusable('sextant_vector', 'create or wrap')
    else
      call solve_with(self, array_view(), array_view(), b%c_handle(), x%c_handle(), options, report, stat)
    end if
  end subroutine

  ! With arrays, or with the vectors b_vector and x_vector where they are not null.
  subroutine solve_with(self, b, x, b_vector, x_vector, options, report, stat)
    class(pcg_base), intent(in) :: self
    type(array_view), intent(in) :: b, x
    type(c_ptr), intent(in) :: b_vector, x_vector
    type(sextant_solve_options), intent(in) :: options
    type(sextant_report), intent(inout) :: report
    integer(int32), intent(out) :: stat
    type(sxt_solve_options) :: c
    type(sxt_pcg_report) :: done
    type(progress_record), target :: progress
    real(real64), allocatable, target :: history(:)
    integer(int64), target :: history_length

    call solve_numbers_of(options, c)
    call set_progress(options, progress, c)
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
    if (c_associated(b_vector)) then
      stat = sxt_pcg_solve(self%c_handle(), b_vector, x_vector, c, done)
    else
      stat = sxt_pcg_solve_array(self%c_handle(), b%count, b%address, x%address, c, done)
    end if
    call fill(report, done)
    if (stat /= sxt_ok) report%message = last_sentence()
    if (allocated(history)) report%history = history(:min(history_length, size(history, kind=int64)))
  end subroutine

  ! b and x: the whole arrays, of columns with `rows` and `x_rows` elements.
  subroutine solve_block(self, b, x, rows, x_rows, options, reports, stat)
    class(pcg_base), intent(in) :: self
    type(array_view), intent(in) :: b, x
    integer(int64), intent(in) :: rows, x_rows
    type(sextant_solve_options), intent(in) :: options
    type(sextant_report), intent(inout) :: reports(:)
    integer(int32), intent(out) :: stat
    type(sxt_solve_options) :: c
    type(sxt_pcg_report), allocatable :: done(:)
    type(progress_record), target :: progress
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
    call set_progress(options, progress, c)
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
      if (stat < 0) reports(j)%message = last_sentence()
      if (stat >= 0 .and. done(j)%reason /= sxt_reason_converged) reports(j)%message = end_text(done(j))
    end do
  end subroutine

  function end_text(done) result(text)
    type(sxt_pcg_report), intent(in) :: done
    character(:), allocatable :: text
    text = fortran_text(sxt_reason_sentence(done%reason))//' (iteration '//decimal(done%iterations)//')'
  end function

  ! Why C cannot be called with these arrays; sxt_ok when it can.
  pure function obstacle(self, b, x) result(stat)
    class(pcg_base), intent(in) :: self
    type(array_view), intent(in) :: b, x
    integer(int32) :: stat
    stat = sxt_ok
    if (b%count /= x%count) stat = sxt_e_dimension
    if (b%type /= self%type) stat = sxt_e_type
    if (.not. self%is_made()) stat = sxt_e_state
  end function

  ! The sentence to it.
  function obstacle_text(self, b, x) result(text)
    class(pcg_base), intent(in) :: self
    type(array_view), intent(in) :: b, x
    character(:), allocatable :: text
    text = ''
    if (.not. self%is_made()) then
      text = unusable('sextant_pcg', 'create')
    else if (b%type /= self%type) then
      text = 'b and x are '//type_name(b%type)//', the matrix was made of '//type_name(self%type)
    else if (b%count /= x%count) then
      text = 'b has '//decimal(b%count)//' elements, x has '//decimal(x%count)
    else
      text = 'there must be as many reports as b has columns'
    end if
  end function

  ! ---- reasons -------------------------------------------------------------------------------------------------------

  subroutine explain_as(self, form, text, stat)
    class(pcg_base), intent(inout) :: self
    integer(int32), intent(in) :: form
    character(:), allocatable, intent(inout) :: text
    integer(int32), intent(out) :: stat
    text = ''
    if (.not. self%is_made()) then
      call refuse(self, sxt_e_state, unusable('sextant_pcg', 'create'), stat)
      return
    end if
    call explanation(self, sxt_pcg_explain, form, text, stat)
  end subroutine
end module sextant_solver_work
