! SPDX-License-Identifier: BSD-3-Clause
! The smallest test harness: checks that name what failed, problems to solve, and a non-zero exit when any check failed.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real64
  implicit none
  private
  public :: check, check_status, check_text, finish, laplacian_csr, csr_product

  integer, save :: failed = 0, passed = 0

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) then
      passed = passed + 1
    else
      failed = failed + 1
      write (error_unit, '(2a)') 'FAILED: ', what
    end if
  end subroutine

  subroutine check_status(stat, expected, what)
    integer, intent(in) :: stat
    integer(int32), intent(in) :: expected
    character(*), intent(in) :: what
    call check(stat == expected, what)
    if (stat /= expected) write (error_unit, '(a, i0, a, i0)') '  status ', stat, ', expected ', expected
  end subroutine

  ! A sentence must name the thing it is about.
  subroutine check_text(text, part, what)
    character(*), intent(in) :: text, part, what
    call check(index(text, part) > 0, what)
    if (index(text, part) == 0) write (error_unit, '(5a)') '  no "', part, '" in "', text, '"'
  end subroutine

  ! Call last: a test that checked nothing fails too.
  subroutine finish()
    write (*, '(i0, a, i0, a)') passed, ' checks passed, ', failed, ' failed'
    if (failed > 0 .or. passed == 0) stop 1
  end subroutine

  ! The five-point Laplacian on side x side points plus shift on the diagonal, one-based CSR, both triangles.
  subroutine laplacian_csr(side, shift, row_ptr, col, values)
    integer, intent(in) :: side
    real(real64), intent(in) :: shift
    integer(int32), allocatable, intent(out) :: row_ptr(:), col(:)
    real(real64), allocatable, intent(out) :: values(:)
    integer :: i, j, k, row
    allocate(row_ptr(side**2 + 1), col(5*side**2 - 4*side), values(5*side**2 - 4*side))
    k = 0
    do j = 1, side
      do i = 1, side
        row = i + (j - 1)*side
        row_ptr(row) = k + 1
        if (j > 1) call add(row - side, -1.0_real64)
        if (i > 1) call add(row - 1, -1.0_real64)
        call add(row, 4 + shift)
        if (i < side) call add(row + 1, -1.0_real64)
        if (j < side) call add(row + side, -1.0_real64)
      end do
    end do
    row_ptr(side**2 + 1) = k + 1
  contains
    subroutine add(column, value)
      integer, intent(in) :: column
      real(real64), intent(in) :: value
      k = k + 1
      col(k) = column
      values(k) = value
    end subroutine
  end subroutine

  ! y = A x, computed here so that the library does not check itself.
  function csr_product(row_ptr, col, values, x) result(y)
    integer(int32), intent(in) :: row_ptr(:), col(:)
    real(real64), intent(in) :: values(:), x(:)
    real(real64) :: y(size(row_ptr) - 1)
    integer :: row, k
    y = 0
    do row = 1, size(y)
      do k = row_ptr(row), row_ptr(row + 1) - 1
        y(row) = y(row) + values(k)*x(col(k))
      end do
    end do
  end function
end module checks
