! SPDX-License-Identifier: BSD-3-Clause
! A sparse Hermitian matrix for tests of factorisations: as arrays, dense, inverted, with solutions that are known.
module factor_problem
  use, intrinsic :: iso_fortran_env, only: int32, real64
  use sextant
  use checks
  implicit none
  public

  integer, parameter :: side = 6, n = side**2, n_rhs = 3
  integer(int32), allocatable, save :: row_ptr(:), col(:)
  real(real64), allocatable, save :: laplacian(:)
  complex(real64), allocatable, save :: values(:)
  complex(real64), save :: dense(n, n), inverse(n, n), solution(n, n_rhs), rhs(n, n_rhs)

contains

  ! The pattern of a five-point Laplacian with entries of size 1 beside a dominant diagonal, as arrays and dense.
  subroutine make_problem()
    integer :: i, k
    call laplacian_csr(side, 0.5_real64, row_ptr, col, laplacian)
    allocate(values(size(col)))
    dense = 0
    do i = 1, n
      do k = row_ptr(i), row_ptr(i + 1) - 1
        values(k) = laplacian(k)*exp(cmplx(0, i - col(k), real64)*min(i, col(k)))
        dense(i, col(k)) = values(k)
      end do
    end do
    inverse = inverted(dense)
    solution(:, 1) = [(cmplx(i, 1, real64), i=1, n)]
    solution(:, 2) = [(cmplx(1, -i, real64), i=1, n)]
    solution(:, 3) = 1
    rhs = matmul(dense, solution)
  end subroutine

  ! By Gauss and Jordan without interchanges: the matrices here need none.
  function inverted(matrix) result(b)
    complex(real64), intent(in) :: matrix(:, :)
    complex(real64) :: b(size(matrix, 1), size(matrix, 1)), a(size(matrix, 1), size(matrix, 1)), pivot
    integer :: i, j
    a = matrix
    b = 0
    do j = 1, size(a, 1)
      b(j, j) = 1
    end do
    do j = 1, size(a, 1)
      pivot = a(j, j)
      a(j, :) = a(j, :)/pivot
      b(j, :) = b(j, :)/pivot
      do i = 1, size(a, 1)
        if (i == j) cycle
        pivot = a(i, j)
        a(i, :) = a(i, :) - pivot*a(j, :)
        b(i, :) = b(i, :) - pivot*b(j, :)
      end do
    end do
  end function

  ! The row of an entry.
  function row_of(k) result(row)
    integer, intent(in) :: k
    integer :: row
    row = count(row_ptr <= k)
  end function

  ! The problem in double precision, analysed and, unless that is left to the test, factored.
  subroutine start(a, analysis, cholesky, settings)
    type(sextant_matrix), intent(inout) :: a
    type(sextant_analysis), intent(inout) :: analysis
    type(sextant_cholesky), intent(inout) :: cholesky
    type(sextant_analysis_settings), intent(in), optional :: settings
    integer :: stat
    call a%from_csr(row_ptr, col, values, stat=stat)
    call check_status(stat, sxt_ok, 'from_csr: '//a%error())
    call analysis%create(a, settings, stat)
    call check_status(stat, sxt_ok, 'analysis: '//analysis%error())
    call cholesky%create(analysis, stat)
    call check_status(stat, sxt_ok, 'create: '//cholesky%error())
    call cholesky%factor(stat=stat)
    call check_status(stat, sxt_ok, 'factor: '//cholesky%error())
  end subroutine
end module factor_problem
