! SPDX-License-Identifier: BSD-3-Clause
! First use of the default context from many threads at once, then one solver and one factor shared by them.
program test_threads
  use, intrinsic :: iso_fortran_env, only: int32, real64
  use sextant
  use checks
  implicit none

  integer, parameter :: side = 16, n = side**2, jobs = 8
  integer(int32), allocatable :: row_ptr(:), col(:)
  real(real64), allocatable :: values(:)
  type(sextant_matrix) :: matrices(jobs)
  type(sextant_pcg) :: solver
  type(sextant_report) :: reports(jobs)
  type(sextant_analysis) :: analysis
  type(sextant_cholesky) :: cholesky
  type(sextant_cholesky_report) :: done(jobs)
  real(real64) :: b(n, jobs), x(n, jobs)
  integer :: made(jobs), solved(jobs), created, i

  call laplacian_csr(side, 0.0_real64, row_ptr, col, values)
  call random_seed(put=[(i, i=1, 64)])
  call random_number(b)
  x = 0

  !$omp parallel do num_threads(jobs) schedule(static, 1)
  do i = 1, jobs
    call matrices(i)%from_csr(row_ptr, col, values, stat=made(i))
  end do
  !$omp end parallel do
  call check(all(made == sxt_ok), 'every thread made its matrix')

  call solver%create(matrices(1), created)
  call check_status(created, sxt_ok, 'create: '//solver%error())
  !$omp parallel do num_threads(jobs) schedule(static, 1)
  do i = 1, jobs
    call solver%solve(b(:, i), x(:, i), reports(i), solved(i))
  end do
  !$omp end parallel do
  call check(all(solved == sxt_ok), 'every thread solved')
  do i = 1, jobs
    call check(norm2(b(:, i) - csr_product(row_ptr, col, values, x(:, i))) <= 1.0e-8_real64*norm2(b(:, i)), &
               'each has its own answer')
  end do

  call analysis%create(matrices(1), stat=created)
  call check_status(created, sxt_ok, 'analysis: '//analysis%error())
  call cholesky%create(analysis, created)
  call cholesky%factor(stat=created)
  call check_status(created, sxt_ok, 'factor: '//cholesky%error())
  x = 0
  !$omp parallel do num_threads(jobs) schedule(static, 1)
  do i = 1, jobs
    if (mod(i, 2) == 0) then
      call cholesky%solve(b(:, i), x(:, i), report=done(i), stat=solved(i))
    else ! one that is refused beside those that are not
      call cholesky%solve(b(:n - 1, i), x(:n - 1, i), report=done(i), stat=solved(i))
    end if
  end do
  !$omp end parallel do
  do i = 1, jobs, 2
    call check(solved(i) == sxt_e_dimension .and. len(done(i)%message) > 0, 'each has its own error')
    call check(solved(i + 1) == sxt_ok .and. done(i + 1)%message == '', 'and none where all went well')
    call check(norm2(b(:, i + 1) - csr_product(row_ptr, col, values, x(:, i + 1))) <= 1.0e-12_real64*norm2(b(:, i + 1)), &
               'each has its own answer of the factor')
  end do
  deallocate(row_ptr, col, values)
  call finish()
end program test_threads
