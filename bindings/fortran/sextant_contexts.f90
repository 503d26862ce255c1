! SPDX-License-Identifier: BSD-3-Clause
! Contexts: a device with its threads, machine profile and plugins. A default one serves every call that names none.
module sextant_context_work
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_funloc, c_funptr, c_loc, c_null_funptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use sextant_c
  use sextant_kernels_c
  use sextant_models_c
  use sextant_objects
  use sextant_callbacks
  implicit none
  private
  public :: type_of_context, clamped, open_context, describe_context, force_kernel, plan_to_file, plan_from_file
  public :: tree_of_context, check_one_plugin

  character(*), parameter :: type_of_context = 'sextant_context'

contains

  ! A number that does not fit stays one that C refuses or cuts itself.
  pure function clamped(number) result(narrow)
    integer(int64), intent(in) :: number
    integer(int32) :: narrow
    narrow = int(max(-int(huge(narrow), int64), min(int(huge(narrow), int64), number)), int32)
  end function

  subroutine open_context(self, options, device, profile, plugin_path, stat)
    class(sextant_object), intent(inout) :: self
    type(sxt_context_options), intent(inout) :: options
    character(*), intent(in), optional :: device, profile, plugin_path
    integer(int32), intent(out) :: stat
    character(kind=c_char), allocatable, target :: device_c(:), profile_c(:), path_c(:)
    type(c_ptr), target :: paths(1)
    type(c_ptr) :: handle
    call c_text(device, device_c, options%device)
    call c_text(profile, profile_c, options%profile_path)
    call c_text(plugin_path, path_c, paths(1))
    if (c_associated(paths(1))) then
      options%plugin_paths = c_loc(paths)
      options%n_plugin_paths = 1
    end if
    handle = c_null_ptr
    call conclude(self, sxt_context_create(options, handle), stat)
    if (stat == sxt_ok) then
      call adopt(self, handle, sxt_context_destroy)
    else
      call sxt_context_destroy(handle)
    end if
  end subroutine

  subroutine describe_context(self, text, stat)
    class(sextant_object), intent(inout) :: self
    character(:), allocatable, intent(inout) :: text
    integer(int32), intent(out) :: stat
    integer(int64) :: length, needed
    text = ''
    if (.not. usable(self, type_of_context, 'create', stat)) return
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

  subroutine tree_of_context(self, operation, type, form, text, stat)
    class(sextant_object), intent(inout) :: self
    character(*), intent(in) :: operation
    integer(int32), intent(in) :: type, form
    character(:), allocatable, intent(inout) :: text
    integer(int32), intent(out) :: stat
    character(kind=c_char), allocatable, target :: operation_c(:)
    type(c_ptr) :: name
    integer(int64) :: length, needed
    text = ''
    if (.not. usable(self, type_of_context, 'create', stat)) return
    call c_text(operation, operation_c, name)
    needed = 4000
    do
      length = needed
      deallocate(text)
      allocate(character(length + 1) :: text)
      call conclude(self, sxt_decision_tree(self%c_handle(), name, type, form, text, length + 1, needed), stat)
      if (stat /= sxt_ok) needed = 0
      if (needed <= length) exit
    end do
    text = text(:needed)
  end subroutine

  subroutine force_kernel(self, kind, kernel, stat)
    class(sextant_object), intent(inout) :: self
    character(*), intent(in) :: kind, kernel
    integer(int32), intent(out) :: stat
    character(kind=c_char), allocatable, target :: kind_c(:), kernel_c(:)
    type(c_ptr) :: kind_at, kernel_at
    if (.not. usable(self, type_of_context, 'create', stat)) return
    call c_text(kind, kind_c, kind_at)
    call c_text(kernel, kernel_c, kernel_at)
    call conclude(self, sxt_context_force(self%c_handle(), kind_at, kernel_at), stat)
  end subroutine

  subroutine plan_to_file(self, path, stat)
    class(sextant_object), intent(inout) :: self
    character(*), intent(in) :: path
    integer(int32), intent(out) :: stat
    character(kind=c_char), allocatable, target :: path_c(:)
    type(c_ptr) :: path_at
    if (.not. usable(self, type_of_context, 'create', stat)) return
    call c_text(path, path_c, path_at)
    call conclude(self, sxt_plan_save(self%c_handle(), path_at), stat)
  end subroutine

  subroutine plan_from_file(self, path, required, stat)
    class(sextant_object), intent(inout) :: self
    character(*), intent(in) :: path
    integer(int32), intent(in) :: required
    integer(int32), intent(out) :: stat
    character(kind=c_char), allocatable, target :: path_c(:)
    type(c_ptr) :: path_at
    if (.not. usable(self, type_of_context, 'create', stat)) return
    call c_text(path, path_c, path_at)
    call conclude(self, sxt_plan_load(self%c_handle(), path_at, required), stat)
  end subroutine

  subroutine check_one_plugin(self, path, stamp, record, stat)
    class(sextant_object), intent(inout) :: self
    character(*), intent(in) :: path
    integer(int32), intent(in) :: stamp
    type(check_record), intent(in), target :: record
    integer(int32), intent(out) :: stat
    character(kind=c_char), allocatable, target :: path_c(:)
    type(c_ptr) :: path_at
    type(c_funptr) :: line
    if (.not. usable(self, type_of_context, 'create', stat)) return
    call c_text(path, path_c, path_at)
    line = c_null_funptr
    if (associated(record%call)) line = c_funloc(check_from_c)
    call conclude(self, sxt_plugin_check(self%c_handle(), path_at, stamp, line, c_loc(record)), stat)
  end subroutine
end module sextant_context_work

! stat, integers and logicals of 32 bits.
module sextant_contexts_narrow
  use, intrinsic :: iso_c_binding, only: c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_c
  use sextant_objects
  use sextant_callbacks
  use sextant_models
  use sextant_context_work
  implicit none
  private
  public :: sextant_context

  integer, parameter :: sk = int32, lk = int32

  type, extends(sextant_object) :: sextant_context
  contains
    generic :: create => create_narrow
    generic :: describe => describe_narrow
    generic :: set_stream => set_stream_narrow
    generic :: synchronize => synchronize_narrow
    generic :: force => force_narrow
    generic :: save_plan => save_plan_narrow
    generic :: load_plan => load_plan_narrow
    generic :: decision_tree => decision_tree_narrow
    generic :: calibrate => calibrate_narrow
    generic :: check_plugin => check_plugin_narrow
    procedure, private :: create_narrow => create
    procedure, private :: describe_narrow => describe
    procedure, private :: set_stream_narrow => set_stream
    procedure, private :: synchronize_narrow => synchronize
    procedure, private :: force_narrow => force
    procedure, private :: save_plan_narrow => save_plan
    procedure, private :: load_plan_narrow => load_plan
    procedure, private :: decision_tree_narrow => decision_tree
    procedure, private :: calibrate_narrow => calibrate
    procedure, private :: check_plugin_narrow => check_plugin
  end type

contains
  include 'contexts.inc'
end module sextant_contexts_narrow

! And of 64, as compilers make the default ones with -fdefault-integer-8 or -i8.
module sextant_contexts
  use, intrinsic :: iso_c_binding, only: c_associated, c_funloc, c_int32_t, c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_c
  use sextant_objects
  use sextant_callbacks
  use sextant_models
  use sextant_context_work
  use sextant_contexts_narrow, only: narrow_context => sextant_context
  implicit none
  private
  public :: sextant_context, context_handle

  integer, parameter :: sk = int64, lk = int64

  type, extends(narrow_context) :: sextant_context
  contains
    generic :: create => create_wide
    generic :: describe => describe_wide
    generic :: set_stream => set_stream_wide
    generic :: synchronize => synchronize_wide
    generic :: force => force_wide
    generic :: save_plan => save_plan_wide
    generic :: load_plan => load_plan_wide
    generic :: decision_tree => decision_tree_wide
    generic :: calibrate => calibrate_wide
    generic :: check_plugin => check_plugin_wide
    procedure, private :: create_wide => create
    procedure, private :: describe_wide => describe
    procedure, private :: set_stream_wide => set_stream
    procedure, private :: synchronize_wide => synchronize
    procedure, private :: force_wide => force
    procedure, private :: save_plan_wide => save_plan
    procedure, private :: load_plan_wide => load_plan
    procedure, private :: decision_tree_wide => decision_tree
    procedure, private :: calibrate_wide => calibrate
    procedure, private :: check_plugin_wide => check_plugin
  end type

  ! The default context: made at first use, kept until the program ends. pthread_once lets one thread make it while
  ! the others wait, so first uses may come from several threads at once. After a failure it is not tried again.
  integer(c_int32_t), save :: once = 0
  type(c_ptr), save :: default_handle = c_null_ptr
  integer(int32), save :: default_status = sxt_ok
  character(:), allocatable, save :: default_message

contains
  include 'contexts.inc'

  ! The C context for a new object: the given one, else the default. On failure stat and the object's error give the
  ! reason.
  subroutine context_handle(object, context, handle, stat)
    class(sextant_object), intent(inout) :: object
    type(sextant_context), intent(in), optional :: context
    type(c_ptr), intent(out) :: handle
    integer(int32), intent(out) :: stat
    integer(int32) :: unused
    stat = sxt_ok
    if (present(context)) then
      handle = context%c_handle()
      if (.not. c_associated(handle)) call refuse(object, sxt_e_state, unusable(type_of_context, 'create'), stat)
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
