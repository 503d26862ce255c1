! SPDX-License-Identifier: BSD-3-Clause
! The part of the C interface of Sextant for lists of plugins and for any kernel of any kind, in Fortran: the names and
! the order of sextant/sextant.h. Programs use module sextant. Records count from 0 here.
module sextant_kernels_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int32_t, c_int64_t, c_null_ptr, c_ptr
  implicit none
  public

  integer, parameter, private :: i4 = c_int32_t, i8 = c_int64_t, r8 = c_double

  type, bind(c) :: sxt_plugin_info
    integer(i8) :: struct_size = 0
    type(c_ptr) :: name = c_null_ptr
    type(c_ptr) :: version = c_null_ptr
    type(c_ptr) :: vendor = c_null_ptr
    type(c_ptr) :: license = c_null_ptr
    type(c_ptr) :: path = c_null_ptr
    integer(i8) :: kernels = 0
  end type

  type, bind(c) :: sxt_kernel_info
    integer(i8) :: struct_size = 0
    type(c_ptr) :: name = c_null_ptr
    type(c_ptr) :: kind = c_null_ptr
    type(c_ptr) :: device = c_null_ptr
    type(c_ptr) :: description = c_null_ptr
    type(c_ptr) :: plugin = c_null_ptr
    integer(i8) :: version = 0
    integer(i4) :: deterministic = 0
    integer(i4) :: capturable = 0
    integer(i4) :: reference = 0
    integer(i4) :: quarantined = 0
  end type

  type, bind(c) :: sxt_refusal_info
    integer(i8) :: struct_size = 0
    type(c_ptr) :: path = c_null_ptr
    type(c_ptr) :: stage = c_null_ptr
    type(c_ptr) :: reason = c_null_ptr
  end type

  ! How every query, storage and args struct begins: its size, and the kind id that says what follows.
  type, bind(c) :: sxt_head
    integer(i8) :: struct_size = 0
    type(c_ptr) :: kind = c_null_ptr
  end type

  ! How every query begins.
  type, bind(c) :: sxt_query
    type(sxt_head) :: h
    real(r8) :: expected_runs = 0
    integer(i4) :: flags = 0      ! sxt_query_*
    integer(i4) :: value_type = 0 ! of the vectors and the result
  end type

  interface
    function sxt_plugin_count() bind(c) result(count)
      import :: i8
      integer(i8) :: count
    end function

    function sxt_plugin_get(i, info) bind(c) result(status)
      import :: sxt_plugin_info, i4, i8
      integer(i8), value :: i
      type(sxt_plugin_info), intent(inout) :: info
      integer(i4) :: status
    end function

    function sxt_kernel_count() bind(c) result(count)
      import :: i8
      integer(i8) :: count
    end function

    function sxt_kernel_get(i, info) bind(c) result(status)
      import :: sxt_kernel_info, i4, i8
      integer(i8), value :: i
      type(sxt_kernel_info), intent(inout) :: info
      integer(i4) :: status
    end function

    function sxt_refusal_count() bind(c) result(count)
      import :: i8
      integer(i8) :: count
    end function

    function sxt_refusal_get(i, info) bind(c) result(status)
      import :: sxt_refusal_info, i4, i8
      integer(i8), value :: i
      type(sxt_refusal_info), intent(inout) :: info
      integer(i4) :: status
    end function

    ! line: void (*)(void *user, const char *kernel, const char *check, int32_t outcome, const char *sentence)
    function sxt_plugin_check(context, path, stamp, line, user) bind(c) result(status)
      import :: c_funptr, c_ptr, i4
      type(c_ptr), value :: context, path, user
      integer(i4), value :: stamp
      type(c_funptr), value :: line
      integer(i4) :: status
    end function

    ! query: the address of a query of its kind
    function sxt_kernel_select(context, query, matrix, selection) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: context, query, matrix
      type(c_ptr), intent(inout) :: selection
      integer(i4) :: status
    end function

    function sxt_kernel_run(selection, args) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: selection, args
      integer(i4) :: status
    end function

    function sxt_selection_kernel(selection) bind(c) result(text)
      import :: c_ptr
      type(c_ptr), value :: selection
      type(c_ptr) :: text
    end function

    function sxt_selection_cost(selection, setup_seconds, run_seconds) bind(c) result(status)
      import :: c_ptr, i4, r8
      type(c_ptr), value :: selection
      real(r8), intent(inout) :: setup_seconds, run_seconds
      integer(i4) :: status
    end function

    function sxt_selection_explain(selection, form, buffer, capacity, length) bind(c) result(status)
      import :: c_ptr, c_char, i4, i8
      type(c_ptr), value :: selection
      integer(i4), value :: form
      character(kind=c_char), intent(inout) :: buffer(*)
      integer(i8), value :: capacity
      integer(i8), intent(inout) :: length
      integer(i4) :: status
    end function

    ! args: the addresses of count of them
    function sxt_selection_time(selection, args, count, budget_seconds, seconds, noise) bind(c) result(status)
      import :: c_ptr, i4, i8, r8
      type(c_ptr), value :: selection
      type(c_ptr), intent(in) :: args(*)
      integer(i8), value :: count
      real(r8), value :: budget_seconds
      real(r8), intent(inout) :: seconds, noise
      integer(i4) :: status
    end function

    subroutine sxt_selection_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
  end interface
end module sextant_kernels_c
