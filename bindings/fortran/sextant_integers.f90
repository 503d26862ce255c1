! SPDX-License-Identifier: BSD-3-Clause
! Index arrays between the two ways to count: those of C from 0, those of Fortran from 1.
module sextant_integers
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use sextant_constants
  implicit none
  private
  public :: one_based

  ! call one_based(address, type, array): array(i) = element i at the address, of type sxt_i32 or sxt_i64, plus 1
  interface one_based
    module procedure one_based_i32, one_based_i64
  end interface

contains

  subroutine one_based_i32(address, type, array)
    type(c_ptr), intent(in) :: address
    integer(int32), intent(in) :: type
    integer(int32), intent(out) :: array(:)
    integer(int32), pointer :: narrow(:)
    integer(int64), pointer :: wide(:)
    if (type == sxt_i32) then
      call c_f_pointer(address, narrow, [size(array, kind=int64)])
      array = narrow + 1_int32
    else
      call c_f_pointer(address, wide, [size(array, kind=int64)])
      array = int(wide + 1_int64, int32)
    end if
  end subroutine

  subroutine one_based_i64(address, type, array)
    type(c_ptr), intent(in) :: address
    integer(int32), intent(in) :: type
    integer(int64), intent(out) :: array(:)
    integer(int32), pointer :: narrow(:)
    integer(int64), pointer :: wide(:)
    if (type == sxt_i32) then
      call c_f_pointer(address, narrow, [size(array, kind=int64)])
      array = int(narrow, int64) + 1_int64
    else
      call c_f_pointer(address, wide, [size(array, kind=int64)])
      array = wide + 1_int64
    end if
  end subroutine
end module sextant_integers
