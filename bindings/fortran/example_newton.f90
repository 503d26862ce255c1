! SPDX-License-Identifier: BSD-3-Clause
! A nonlinear problem by Newton's method: -u'' in two dimensions + u**3 = f on a square, the force f applied in equal parts.
! The matrix of each step has one pattern, so it is analysed once, and each step only factors new values and solves.
! example_newton [LOADS]
program example_newton
  use, intrinsic :: iso_fortran_env, only: real64
  use sextant
  implicit none

  integer, parameter :: side = 60, n = side**2
  real(real64), parameter :: force = 0.01_real64

  type(sextant_matrix) :: a
  type(sextant_analysis) :: analysis
  type(sextant_analysis_settings) :: settings
  type(sextant_cholesky) :: cholesky
  integer :: row_ptr(n + 1), col(5*n - 4*side), middle(n)   ! middle(i): where the diagonal of row i stands
  real(real64) :: laplace(5*n - 4*side), values(5*n - 4*side), u(n), step(n)
  integer :: loads, load, steps, total, stat
  character(20) :: argument

  loads = 4
  call get_command_argument(1, argument)
  if (len_trim(argument) > 0) read (argument, *) loads

  call assemble()
  call a%from_csr(row_ptr, col, laplace, symmetry=sxt_symmetric, stat=stat)
  if (stat /= sxt_ok) call give_up(a%error())
  settings%expected_factors = 5*loads              ! so many steps: a better order may pay
  call analysis%create(a, settings, stat)
  if (stat /= sxt_ok) call give_up(analysis%error())
  call cholesky%create(analysis, stat)
  if (stat /= sxt_ok) call give_up(cholesky%error())

  u = 0
  total = 0
  do load = 1, loads
    call newton(force*load/loads, steps)
    total = total + steps
  end do
  print '(i0, a, i0, a, f8.6, a)', loads, ' loads, ', total, ' steps, u = ', u(n/2 + side/2 + 1), ' in the middle'

contains

  subroutine give_up(sentence)
    character(*), intent(in) :: sentence
    print '(a)', sentence
    error stop
  end subroutine

  ! u for one force, from that of the one before.
  subroutine newton(f, taken)
    real(real64), intent(in) :: f
    integer, intent(out) :: taken
    do taken = 0, 19
      step = residual(f)
      if (maxval(abs(step)) <= 1.0e-14_real64) return
      values = laplace
      values(middle) = values(middle) + 3*u**2
      call a%update_values(values, stat)
      if (stat /= sxt_ok) call give_up(a%error())
      call cholesky%factor(stat=stat)                   ! no analysis, no allocation
      if (stat /= sxt_ok) call give_up(cholesky%error())
      call cholesky%solve(step, stat=stat)
      if (stat /= sxt_ok) call give_up(cholesky%error())
      u = u + step
    end do
    call give_up('Newton''s method does not end')
  end subroutine

  ! f - A u - u**3
  function residual(f) result(r)
    real(real64), intent(in) :: f
    real(real64) :: r(n)
    integer :: row
    do row = 1, n
      r(row) = f - u(row)**3 - dot_product(laplace(row_ptr(row):row_ptr(row + 1) - 1), &
                                           u(col(row_ptr(row):row_ptr(row + 1) - 1)))
    end do
  end function

  ! The five-point Laplacian in rows, counted from 1.
  subroutine assemble()
    integer :: row, k
    k = 0
    do row = 1, n
      row_ptr(row) = k + 1
      if (row > side) call add(k, row - side, -1.0_real64)
      if (mod(row, side) /= 1) call add(k, row - 1, -1.0_real64)
      middle(row) = k + 1
      call add(k, row, 4.0_real64)
      if (mod(row, side) /= 0) call add(k, row + 1, -1.0_real64)
      if (row <= n - side) call add(k, row + side, -1.0_real64)
    end do
    row_ptr(n + 1) = k + 1
  end subroutine

  subroutine add(k, column, value)
    integer, intent(inout) :: k
    integer, intent(in) :: column
    real(real64), intent(in) :: value
    k = k + 1
    col(k) = column
    laplace(k) = value
  end subroutine
end program example_newton
