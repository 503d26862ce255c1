! SPDX-License-Identifier: BSD-3-Clause
! How well a temperature field is known. It is a Gaussian field on a grid: each point is tied to its neighbours, and some
! points are measured. Its precision matrix Q, the inverse of the covariance, is sparse. The most likely field solves
! Q x = b; the likelihood of a model needs log det Q; the variances are the diagonal of Q^-1, which is dense. Selected
! inversion finds them without the rest of Q^-1. A small dense computation confirms the numbers.
program example_covariance
  use, intrinsic :: iso_fortran_env, only: real64
  use sextant
  implicit none

  integer, parameter :: side = 16, n = side**2      ! points
  integer, parameter :: every = 5                   ! each fifth point in both directions is measured
  real(real64), parameter :: tie = 4                ! 1 / variance of the difference of two neighbours
  real(real64), parameter :: prior = 0.01_real64    ! 1 / variance of a point, were it alone
  real(real64), parameter :: sensor = 25            ! 1 / variance of a measurement

  type(sextant_matrix) :: q
  type(sextant_analysis) :: analysis
  type(sextant_cholesky) :: cholesky
  type(sextant_cholesky_info) :: info
  integer :: row(3*n), col(3*n), points(n), entries, measured, i, stat
  real(real64) :: values(3*n), field(n), variances(n), dense(n, n), log_determinant

  call make_precision()
  call q%from_coo(n, row(:entries), col(:entries), values(:entries), symmetry=sxt_symmetric, triangle=sxt_lower, stat=stat)
  if (stat /= sxt_ok) call give_up(q%error())
  call analysis%create(q, stat=stat)
  if (stat /= sxt_ok) call give_up(analysis%error())
  call cholesky%create(analysis, stat)
  if (stat /= sxt_ok) call give_up(cholesky%error())
  call cholesky%factor(stat=stat)
  if (stat /= sxt_ok) call give_up(cholesky%error())

  call cholesky%solve(field, stat=stat)                        ! in place
  if (stat /= sxt_ok) call give_up(cholesky%error())
  call cholesky%info(info, stat)
  if (stat /= sxt_ok) call give_up(cholesky%error())
  points = [(i, i=1, n)]
  call cholesky%inverse(points, points, variances, stat)       ! entries (i, i) of the inverse
  if (stat /= sxt_ok) call give_up(cholesky%error())

  call confirm()
  print '(i0, a, i0, a)', n, ' points, ', measured, ' of them measured'
  print '(a, f8.2, a, f8.2, a)', 'the field lies between ', minval(field), ' and ', maxval(field), ' degrees'
  print '(a, f8.2, a, f8.2, a)', 'and is known to within  ', sqrt(minval(variances)), ' to  ', sqrt(maxval(variances)), &
    ' degrees'
  print '(a, f12.4)', 'log det Q = ', info%log_determinant

contains

  subroutine give_up(sentence)
    character(*), intent(in) :: sentence
    print '(a)', sentence
    error stop
  end subroutine

  ! The lower triangle of Q, as triples that count from 1, and the right-hand side of the most likely field.
  subroutine make_precision()
    integer :: x, y, point
    real(real64) :: diagonal
    entries = 0
    measured = 0
    field = 0
    do y = 1, side
      do x = 1, side
        point = x + (y - 1)*side
        diagonal = prior + tie*(count([x > 1, x < side, y > 1, y < side]))
        if (mod(x, every) == 0 .and. mod(y, every) == 0) then
          measured = measured + 1
          diagonal = diagonal + sensor
          field(point) = sensor*(15 + 0.5_real64*x - 0.25_real64*y) ! what the sensor says
        end if
        if (y > 1) call add(point, point - side, -tie)
        if (x > 1) call add(point, point - 1, -tie)
        call add(point, point, diagonal)
      end do
    end do
  end subroutine

  subroutine add(i, j, value)
    integer, intent(in) :: i, j
    real(real64), intent(in) :: value
    entries = entries + 1
    row(entries) = i
    col(entries) = j
    values(entries) = value
  end subroutine

  ! The same with the whole of Q: L L^T, the determinant, and the columns of L^-1, whose squares add to the variances.
  subroutine confirm()
    real(real64) :: exact(n)
    integer :: j, k
    dense = 0
    do k = 1, entries
      dense(row(k), col(k)) = values(k)
    end do
    log_determinant = 0
    do j = 1, n
      dense(j, j) = sqrt(dense(j, j))
      log_determinant = log_determinant + 2*log(dense(j, j))
      dense(j + 1:, j) = dense(j + 1:, j)/dense(j, j)
      do k = j + 1, n
        dense(k:, k) = dense(k:, k) - dense(k:, j)*dense(k, j)
      end do
    end do
    do j = 1, n
      exact(j) = sum(lower_solve(j)**2)
    end do
    if (abs(info%log_determinant - log_determinant) > 1.0e-9_real64*abs(log_determinant)) error stop 'wrong determinant'
    if (maxval(abs(variances - exact)/exact) > 1.0e-9_real64) error stop 'wrong variances'
  end subroutine

  ! Column j of L^-1.
  function lower_solve(j) result(v)
    integer, intent(in) :: j
    real(real64) :: v(n)
    integer :: k
    v = 0
    v(j) = 1
    do k = j, n
      v(k) = v(k)/dense(k, k)
      v(k + 1:) = v(k + 1:) - dense(k + 1:, k)*v(k)
    end do
  end function
end program
