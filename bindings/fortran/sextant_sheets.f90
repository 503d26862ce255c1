! SPDX-License-Identifier: BSD-3-Clause
! Arrays of values of rank one and two as C sees them: columns of equal length that lie side by side.
module sextant_sheets
  use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_objects
  implicit none
  private
  public :: sheet, sheet_of

  type :: sheet
    type(c_ptr) :: address = c_null_ptr
    integer(int64) :: rows = 0, columns = 0 ! rows: from one column to the next, too
    integer(int32) :: type = 0              ! sxt_f32, ...
  end type

  ! Valid as long as the actual argument, which must be a target and contiguous.
  interface sheet_of
    module procedure column_r32, column_r64, column_c32, column_c64, columns_r32, columns_r64, columns_c32, columns_c64
  end interface

contains

  function column_r32(array) result(seen)
    real(real32), intent(in), contiguous, target :: array(:)
    type(sheet) :: seen
    seen = sheet(c_loc(nothing), size(array, kind=int64), 1_int64, sxt_f32)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1))
  end function

  function columns_r32(array) result(seen)
    real(real32), intent(in), contiguous, target :: array(:, :)
    type(sheet) :: seen
    seen = sheet(c_loc(nothing), size(array, 1, kind=int64), size(array, 2, kind=int64), sxt_f32)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1))
  end function

  function column_r64(array) result(seen)
    real(real64), intent(in), contiguous, target :: array(:)
    type(sheet) :: seen
    seen = sheet(c_loc(nothing), size(array, kind=int64), 1_int64, sxt_f64)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1))
  end function

  function columns_r64(array) result(seen)
    real(real64), intent(in), contiguous, target :: array(:, :)
    type(sheet) :: seen
    seen = sheet(c_loc(nothing), size(array, 1, kind=int64), size(array, 2, kind=int64), sxt_f64)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1))
  end function

  function column_c32(array) result(seen)
    complex(real32), intent(in), contiguous, target :: array(:)
    type(sheet) :: seen
    seen = sheet(c_loc(nothing), size(array, kind=int64), 1_int64, sxt_c64)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1))
  end function

  function columns_c32(array) result(seen)
    complex(real32), intent(in), contiguous, target :: array(:, :)
    type(sheet) :: seen
    seen = sheet(c_loc(nothing), size(array, 1, kind=int64), size(array, 2, kind=int64), sxt_c64)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1))
  end function

  function column_c64(array) result(seen)
    complex(real64), intent(in), contiguous, target :: array(:)
    type(sheet) :: seen
    seen = sheet(c_loc(nothing), size(array, kind=int64), 1_int64, sxt_c128)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1))
  end function

  function columns_c64(array) result(seen)
    complex(real64), intent(in), contiguous, target :: array(:, :)
    type(sheet) :: seen
    seen = sheet(c_loc(nothing), size(array, 1, kind=int64), size(array, 2, kind=int64), sxt_c128)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1))
  end function
end module sextant_sheets
