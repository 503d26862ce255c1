! SPDX-License-Identifier: BSD-3-Clause
! The lowest frequencies of a membrane: all eigenvalues of A below a bound, A the five-point Laplacian of a rectangle. Each
! factorisation A - shift I = L D L^H counts the eigenvalues below its shift (Sylvester's law of inertia), so that none is
! missed, and serves one step of inverse iteration. One pattern: analysed once, factored again for each shift.
program example_eigen
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use sextant
  implicit none

  integer, parameter :: width = 40, height = 25, n = width*height
  real(real64), parameter :: bound = 0.11_real64

  type(sextant_matrix) :: a
  type(sextant_analysis) :: analysis
  type(sextant_analysis_settings) :: settings
  type(sextant_cholesky) :: cholesky
  integer :: row_ptr(n + 1), col(3*n - width - height), stat   ! the lower triangle of A
  real(real64) :: laplace(3*n - width - height), x(n), low, high, middle, value, residual
  integer(int64) :: count, k, below, found
  logical :: right

  call assemble()
  call a%from_csr(row_ptr, col, laplace, symmetry=sxt_symmetric, triangle=sxt_lower, stat=stat)
  if (stat /= sxt_ok) call give_up(a%error())
  settings%factorization = sxt_ldlh              ! A - shift I is indefinite
  settings%pivot_policy = sxt_pivot_perturb      ! a shift may be an eigenvalue
  settings%expected_factors = 100                ! a better order may pay
  call analysis%create(a, settings, stat)
  if (stat /= sxt_ok) call give_up(analysis%error())
  call cholesky%create(analysis, stat)
  if (stat /= sxt_ok) call give_up(cholesky%error())

  count = eigenvalues_below(bound)
  print '(i0, a, f4.2)', count, ' eigenvalues below ', bound
  right = count > 0
  low = 0
  do k = 1, count
    high = bound                                 ! halved until one eigenvalue lies between low and high
    below = count
    do while (below > k)
      middle = (low + high)/2
      found = eigenvalues_below(middle)
      if (found >= k) then
        high = middle
        below = found
      else
        low = middle
      end if
    end do
    call find_eigenpair()
    print '(i2, f16.12, a, es8.1)', k, value, '  residual', residual
    right = right .and. value > low .and. value < high .and. residual < 1.0e-10_real64 .and. &
            distance(value) < 1.0e-10_real64
    low = high
  end do
  if (.not. right) call give_up('an eigenvalue is wrong')

contains

  subroutine give_up(sentence)
    character(*), intent(in) :: sentence
    print '(a)', sentence
    error stop
  end subroutine

  ! Factors A - shift I. D has as many negative pivots as A has eigenvalues below the shift.
  function eigenvalues_below(shift) result(number)
    real(real64), intent(in) :: shift
    integer(int64) :: number
    type(sextant_cholesky_info) :: info
    real(real64) :: values(size(laplace))
    values = laplace
    values(row_ptr(2:) - 1) = values(row_ptr(2:) - 1) - shift  ! the diagonal ends each row
    call a%update_values(values, stat)
    if (stat /= sxt_ok) call give_up(a%error())
    call cholesky%factor(stat=stat)                   ! no analysis, no allocation
    if (stat /= sxt_ok) call give_up(cholesky%error())
    call cholesky%info(info, stat)
    if (stat /= sxt_ok) call give_up(cholesky%error())
    number = info%negative
  end function

  ! The one eigenvalue between low and high, and x, its eigenvector of length 1. Inverse iteration whose shift is the Rayleigh
  ! quotient, or the middle while that lies outside.
  subroutine find_eigenpair()
    real(real64) :: shift, y(n)
    integer(int64) :: unused
    integer :: i, iteration
    x = [(1 + sin(1.7_real64*i), i=1, n)]        ! not orthogonal to any eigenvector
    shift = (low + high)/2
    do iteration = 1, 40
      unused = eigenvalues_below(shift)
      call cholesky%solve(x, stat=stat)
      if (stat /= sxt_ok) call give_up(cholesky%error())
      x = x/norm2(x)
      y = product_of(x)
      value = dot_product(x, y)
      residual = norm2(y - value*x)
      if (residual < 1.0e-12_real64) exit
      shift = merge(value, (low + high)/2, value > low .and. value < high)
    end do
  end subroutine

  ! A v by the triangle.
  function product_of(v) result(y)
    real(real64), intent(in) :: v(n)
    real(real64) :: y(n)
    integer :: row, place
    y = 0
    do row = 1, n
      do place = row_ptr(row), row_ptr(row + 1) - 1
        y(row) = y(row) + laplace(place)*v(col(place))
        if (col(place) < row) y(col(place)) = y(col(place)) + laplace(place)*v(row)
      end do
    end do
  end function

  ! To the nearest of the numbers that the eigenvalues are known to be.
  function distance(number) result(least)
    real(real64), intent(in) :: number
    real(real64) :: least
    real(real64), parameter :: pi = acos(-1.0_real64)
    integer :: i, j
    least = huge(least)
    do i = 1, width
      do j = 1, height
        least = min(least, abs(4 - 2*cos(pi*i/(width + 1)) - 2*cos(pi*j/(height + 1)) - number))
      end do
    end do
  end function

  subroutine assemble()
    integer :: row, place
    place = 1
    do row = 1, n
      row_ptr(row) = place
      if (row > width) call add(place, row - width, -1.0_real64)
      if (mod(row, width) /= 1) call add(place, row - 1, -1.0_real64)
      call add(place, row, 4.0_real64)
    end do
    row_ptr(n + 1) = place
  end subroutine

  subroutine add(place, column, entry)
    integer, intent(inout) :: place
    integer, intent(in) :: column
    real(real64), intent(in) :: entry
    col(place) = column
    laplace(place) = entry
    place = place + 1
  end subroutine
end program example_eigen
