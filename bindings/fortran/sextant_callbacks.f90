! SPDX-License-Identifier: BSD-3-Clause
! Procedures of the caller that the library calls: the interfaces they must have, and how C reaches them. Each is given
! the `data` that was set beside it, so that it can find its data: "select type (data)" gives the type. They must not
! use the object of the call they are called from.
module sextant_callbacks
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_funloc, c_int32_t, c_int64_t, c_double, c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_c
  use sextant_objects
  implicit none
  private
  public :: sextant_hooks, set_hooks
  public :: sextant_log_hook, sextant_allocate_hook, sextant_release_hook
  public :: sextant_progress_hook, progress_record, progress_from_c
  public :: sextant_check_hook, check_record, check_from_c

  abstract interface
    ! A line of the log, of level sxt_log_*. It may come from any thread.
    subroutine sextant_log_hook(data, level, message)
      import :: int32
      class(*), pointer, intent(in) :: data
      integer(int32), intent(in) :: level
      character(*), intent(in) :: message
    end subroutine

    ! Host memory of this many bytes at a multiple of alignment; a null address when there is none. From any thread.
    function sextant_allocate_hook(data, bytes, alignment) result(address)
      import :: c_ptr, int64
      class(*), pointer, intent(in) :: data
      integer(int64), intent(in) :: bytes, alignment
      type(c_ptr) :: address
    end function

    ! Frees memory that the other one returned; a null address is ignored.
    subroutine sextant_release_hook(data, address)
      import :: c_ptr
      class(*), pointer, intent(in) :: data
      type(c_ptr), intent(in) :: address
    end subroutine

    ! Called in a solve, on its thread, after an iteration; the first is 0. Set cancel to 1 to end the solve.
    subroutine sextant_progress_hook(data, iteration, relative_residual, cancel)
      import :: int32, int64, real64
      class(*), pointer, intent(in) :: data
      integer(int64), intent(in) :: iteration
      real(real64), intent(in) :: relative_residual
      integer(int32), intent(inout) :: cancel
    end subroutine

    ! A line of a plugin's check: outcome is sxt_check_failed, sxt_check_passed or sxt_check_declined.
    subroutine sextant_check_hook(data, kernel, check, outcome, sentence)
      import :: int32
      class(*), pointer, intent(in) :: data
      character(*), intent(in) :: kernel, check, sentence
      integer(int32), intent(in) :: outcome
    end subroutine
  end interface

  ! The procedures that a context calls. It must outlive every object of the context: make it a module variable with the
  ! attribute target. Procedures that are left alone are not called; allocate and release are set both or neither.
  type :: sextant_hooks
    procedure(sextant_log_hook), pointer, nopass :: log => null()
    integer(int32) :: log_level = sxt_log_warning ! the most talkative level to report
    procedure(sextant_allocate_hook), pointer, nopass :: allocate => null()
    procedure(sextant_release_hook), pointer, nopass :: release => null()
    class(*), pointer :: data => null()
  end type

  ! The procedure that a solve or a check calls, with its data. Each lies in the frame of the call.
  type :: progress_record
    procedure(sextant_progress_hook), pointer, nopass :: call => null()
    class(*), pointer :: data => null()
  end type

  type :: check_record
    procedure(sextant_check_hook), pointer, nopass :: call => null()
    class(*), pointer :: data => null()
  end type

contains

  subroutine set_hooks(hooks, options)
    type(sextant_hooks), intent(in), target :: hooks
    type(sxt_context_options), intent(inout) :: options
    options%log_level = hooks%log_level
    options%log_user = c_loc(hooks)
    options%allocator_user = c_loc(hooks)
    if (associated(hooks%log)) options%log = c_funloc(log_from_c)
    if (associated(hooks%allocate)) options%allocate = c_funloc(allocate_from_c)
    if (associated(hooks%release)) options%release = c_funloc(release_from_c)
  end subroutine

  subroutine log_from_c(user, level, message) bind(c, name='')
    type(c_ptr), value :: user, message
    integer(c_int32_t), value :: level
    type(sextant_hooks), pointer :: hooks
    call c_f_pointer(user, hooks)
    call hooks%log(hooks%data, level, fortran_text(message))
  end subroutine

  function allocate_from_c(user, bytes, alignment) bind(c, name='') result(address)
    type(c_ptr), value :: user
    integer(c_int64_t), value :: bytes, alignment
    type(c_ptr) :: address
    type(sextant_hooks), pointer :: hooks
    call c_f_pointer(user, hooks)
    address = hooks%allocate(hooks%data, bytes, alignment)
  end function

  subroutine release_from_c(user, memory) bind(c, name='')
    type(c_ptr), value :: user, memory
    type(sextant_hooks), pointer :: hooks
    call c_f_pointer(user, hooks)
    call hooks%release(hooks%data, memory)
  end subroutine

  function progress_from_c(user, iteration, relative_residual) bind(c, name='') result(cancel)
    type(c_ptr), value :: user
    integer(c_int64_t), value :: iteration
    real(c_double), value :: relative_residual
    integer(c_int32_t) :: cancel
    type(progress_record), pointer :: record
    call c_f_pointer(user, record)
    cancel = 0
    call record%call(record%data, iteration, relative_residual, cancel)
  end function

  subroutine check_from_c(user, kernel, check, outcome, sentence) bind(c, name='')
    type(c_ptr), value :: user, kernel, check, sentence
    integer(c_int32_t), value :: outcome
    type(check_record), pointer :: record
    call c_f_pointer(user, record)
    call record%call(record%data, fortran_text(kernel), fortran_text(check), outcome, fortran_text(sentence))
  end subroutine
end module sextant_callbacks
