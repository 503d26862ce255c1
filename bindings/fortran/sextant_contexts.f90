! SPDX-License-Identifier: BSD-3-Clause
! Contexts: a device with its threads, machine profile and plugins. One serves everybody who does not ask for his own.
module sextant_contexts
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_funloc, c_int32_t, c_loc, c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use sextant_c
  use sextant_objects
  implicit none
  private
  public :: sextant_context, context_handle

  type, extends(sextant_object) :: sextant_context
  contains
    procedure :: create
    procedure :: describe
  end type

  ! The default context: made at first use, kept until the program ends. pthread_once lets one thread make it while
  ! the others wait, so first uses may come from several threads at once. A failure stands: it is not tried again.
  integer(c_int32_t), save :: once = 0
  type(c_ptr), save :: default_handle = c_null_ptr
  integer(int32), save :: default_status = sxt_ok
  character(:), allocatable, save :: default_message

contains

  ! Opens a device. All arguments but stat are optional:
  !   device         'cpu', 'cuda' or 'auto' (default: the first of cuda, cpu that is there)
  !   ordinal        which of several, from 0
  !   threads        CPU threads; default: all that the process may use
  !   profile        file with the coefficients of this machine; default: $SEXTANT_PROFILE, else analytic ones
  !   plugin_path    a further plugin file or directory, trusted because it is named here
  !   deterministic  .true.: equal bits for equal input, whatever the threads
  subroutine create(self, device, ordinal, threads, profile, plugin_path, deterministic, stat)
    class(sextant_context), intent(inout) :: self
    character(*), intent(in), optional :: device, profile, plugin_path
    integer, intent(in), optional :: ordinal, threads
    logical, intent(in), optional :: deterministic
    integer, intent(out) :: stat
    type(sxt_context_options) :: options
    character(kind=c_char), allocatable, target :: device_c(:), profile_c(:), path_c(:)
    type(c_ptr), target :: paths(1)
    type(c_ptr) :: handle

    call sxt_context_options_init(options, int(c_sizeof(options), int64))
    call c_text(device, device_c, options%device)
    call c_text(profile, profile_c, options%profile_path)
    call c_text(plugin_path, path_c, paths(1))
    if (c_associated(paths(1))) then
      options%plugin_paths = c_loc(paths)
      options%n_plugin_paths = 1
    end if
    if (present(ordinal)) options%device_ordinal = int(ordinal, int32)
    if (present(threads)) options%threads = int(threads, int32)
    if (present(deterministic)) options%deterministic = merge(1_int32, 0_int32, deterministic)

    handle = c_null_ptr
    call conclude(self, sxt_context_create(options, handle), stat)
    if (stat == sxt_ok) then
      call adopt(self, handle, sxt_context_destroy)
    else
      call sxt_context_destroy(handle)
    end if
  end subroutine

  ! The device in words: kind, name, threads, memory and the bandwidths the model uses.
  subroutine describe(self, text, stat)
    class(sextant_context), intent(inout) :: self
    character(:), allocatable, intent(out) :: text
    integer, intent(out) :: stat
    integer(int64) :: length, needed
    text = ''
    if (.not. self%is_made()) then
      call refuse(self, sxt_e_state, unusable('sextant_context', 'create'), stat)
      return
    end if
    ! C cuts what does not fit and says how long the whole is, so at most two rounds are needed.
    needed = 1000
    do
      length = needed
      deallocate(text)
      allocate(character(length + 1) :: text)
      call conclude(self, sxt_context_describe(self%c_handle(), text, length + 1, needed), stat)
      if (stat /= sxt_ok) needed = 0
      if (needed <= length) exit
    end do
    text = text(:needed)
  end subroutine

  ! The C context to make something in: the one given, else the default. On failure stat and the object's error say why.
  subroutine context_handle(object, context, handle, stat)
    class(sextant_object), intent(inout) :: object
    type(sextant_context), intent(in), optional :: context
    type(c_ptr), intent(out) :: handle
    integer, intent(out) :: stat
    integer(int32) :: unused
    stat = sxt_ok
    if (present(context)) then
      handle = context%c_handle()
      if (.not. c_associated(handle)) call refuse(object, sxt_e_state, unusable('sextant_context', 'create'), stat)
      return
    end if
    unused = c_pthread_once(once, c_funloc(make_default))
    handle = default_handle
    if (default_status /= sxt_ok) call refuse(object, default_status, default_message, stat)
  end subroutine

  subroutine make_default() bind(c, name='')
    type(sxt_context_options) :: options
    call sxt_context_options_init(options, int(c_sizeof(options), int64))
    default_status = sxt_context_create(options, default_handle)
    if (default_status /= sxt_ok) default_message = 'no default context: '//fortran_text(sxt_last_error(c_null_ptr))
  end subroutine
end module sextant_contexts
