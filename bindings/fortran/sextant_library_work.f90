! SPDX-License-Identifier: BSD-3-Clause
! Information about the library: its version, the sentence of a thread's last error, and the records of loaded plugins.
module sextant_library_work
  use, intrinsic :: iso_c_binding, only: c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use sextant_c
  use sextant_kernels_c
  use sextant_objects
  use sextant_contexts
  implicit none
  private
  public :: sextant_plugin, sextant_kernel, sextant_refusal, get_plugin, get_kernel, get_refusal
  public :: sextant_version, sextant_last_error
  public :: sextant_plugin_count, sextant_kernel_count, sextant_refusal_count

  type :: sextant_plugin
    character(:), allocatable :: name, version, vendor, license, path
    integer(int64) :: kernels = 0
  end type

  type :: sextant_kernel
    character(:), allocatable :: name, kind, device, description, plugin
    integer(int64) :: version = 0
    logical :: deterministic = .false., capturable = .false., reference = .false., quarantined = .false.
  end type

  ! stage: 'device' (there is none of its kind), 'trust', 'open', 'entry', 'abi', 'kind', 'kernel', 'duplicate', 'self-test'
  type :: sextant_refusal
    character(:), allocatable :: path, stage, reason
  end type

contains

  ! Version of the library that is running: '0.1.0'.
  function sextant_version() result(text)
    character(:), allocatable :: text
    text = fortran_text(sxt_version_string())
  end function

  ! The sentence of the calling thread's last error, in the context given or in any; '' when there is none.
  function sextant_last_error(context) result(text)
    type(sextant_context), intent(in), optional :: context
    character(:), allocatable :: text
    type(c_ptr) :: home
    integer(int64) :: length
    character(1) :: none
    home = c_null_ptr
    if (present(context)) home = context%c_handle()
    length = 0
    call sxt_last_error_copy(home, none, 1_int64, length)
    allocate(character(length + 1) :: text)
    call sxt_last_error_copy(home, text, length + 1, length)
    text = text(:length)
  end function

  ! How many records there are. They are numbered from 1.
  function sextant_plugin_count() result(count)
    integer(int64) :: count
    count = sxt_plugin_count()
  end function

  function sextant_kernel_count() result(count)
    integer(int64) :: count
    count = sxt_kernel_count()
  end function

  function sextant_refusal_count() result(count)
    integer(int64) :: count
    count = sxt_refusal_count()
  end function

  ! Record i, from 1. stat: sxt_e_index where there is none.
  subroutine get_plugin(i, plugin, stat)
    integer(int64), intent(in) :: i
    type(sextant_plugin), intent(out) :: plugin
    integer(int32), intent(out) :: stat
    type(sxt_plugin_info) :: info
    info%struct_size = c_sizeof(info)
    stat = sxt_plugin_get(i - 1, info)
    if (stat /= sxt_ok) return
    plugin%name = fortran_text(info%name)
    plugin%version = fortran_text(info%version)
    plugin%vendor = fortran_text(info%vendor)
    plugin%license = fortran_text(info%license)
    plugin%path = fortran_text(info%path)
    plugin%kernels = info%kernels
  end subroutine

  subroutine get_kernel(i, kernel, stat)
    integer(int64), intent(in) :: i
    type(sextant_kernel), intent(out) :: kernel
    integer(int32), intent(out) :: stat
    type(sxt_kernel_info) :: info
    info%struct_size = c_sizeof(info)
    stat = sxt_kernel_get(i - 1, info)
    if (stat /= sxt_ok) return
    kernel%name = fortran_text(info%name)
    kernel%kind = fortran_text(info%kind)
    kernel%device = fortran_text(info%device)
    kernel%description = fortran_text(info%description)
    kernel%plugin = fortran_text(info%plugin)
    kernel%version = info%version
    kernel%deterministic = info%deterministic /= 0
    kernel%capturable = info%capturable /= 0
    kernel%reference = info%reference /= 0
    kernel%quarantined = info%quarantined /= 0
  end subroutine

  subroutine get_refusal(i, refusal, stat)
    integer(int64), intent(in) :: i
    type(sextant_refusal), intent(out) :: refusal
    integer(int32), intent(out) :: stat
    type(sxt_refusal_info) :: info
    info%struct_size = c_sizeof(info)
    stat = sxt_refusal_get(i - 1, info)
    if (stat /= sxt_ok) return
    refusal%path = fortran_text(info%path)
    refusal%stage = fortran_text(info%stage)
    refusal%reason = fortran_text(info%reason)
  end subroutine
end module sextant_library_work
