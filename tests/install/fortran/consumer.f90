! SPDX-License-Identifier: BSD-3-Clause
! A program outside the tree: the three calls on a second difference, whose solution is 1 everywhere.
program consumer
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use sextant
  implicit none
  integer, parameter :: n = 50
  integer :: row(3*n - 2), col(3*n - 2), i, j, k, stat
  real(real64) :: values(3*n - 2), b(n), x(n)
  type(sextant_matrix) :: a
  type(sextant_pcg) :: solver
  type(sextant_report) :: report
  type(sextant_vector) :: v
  real(real64) :: largest

  k = 0
  do i = 1, n
    do j = max(1, i - 1), min(n, i + 1)
      k = k + 1
      row(k) = i
      col(k) = j
      values(k) = merge(2.0_real64, -1.0_real64, i == j)
    end do
  end do
  b = 0
  b([1, n]) = 1
  x = 0

  call a%from_coo(n, row, col, values, stat=stat)
  if (stat /= sxt_ok) call give_up(a%error())
  call solver%create(a, stat)
  if (stat /= sxt_ok) call give_up(solver%error())
  call solver%solve(b, x, report, stat)
  if (stat /= sxt_ok) call give_up(report%message)
  print '(2a, i0, a)', sextant_reason_name(report%reason), ' after ', report%iterations, ' iterations'
  if (maxval(abs(x - 1)) > 1.0e-6_real64) call give_up('the solution is wrong')
  call v%create(n, sxt_f64, stat=stat)
  if (stat == sxt_ok) call v%write(x, stat)
  if (stat /= sxt_ok) call give_up(v%error())
  call sextant_amax(v, largest, stat)
  if (stat /= sxt_ok .or. abs(largest - 1) > 1.0e-6_real64) call give_up('the largest element is wrong')

contains

  subroutine give_up(message)
    character(*), intent(in) :: message
    write (error_unit, '(a)') message
    stop 1
  end subroutine
end program consumer
