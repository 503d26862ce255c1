! SPDX-License-Identifier: BSD-3-Clause
! A program that states no kinds: compiled unchanged, and with default integers, logicals and reals of 64 bits.
program test_kinds
  use sextant
  implicit none

  integer, parameter :: n = 100
  type(sextant_context) :: context
  type(sextant_matrix) :: a
  type(sextant_pcg) :: solver
  type(sextant_analysis) :: analysis
  type(sextant_analysis_settings) :: settings
  type(sextant_cholesky) :: cholesky
  type(sextant_cholesky_report) :: done
  type(sextant_hermitian) :: systems
  type(sextant_hermitian_answers) :: answers
  type(sextant_options) :: options
  type(sextant_solve_options) :: more
  type(sextant_report) :: report
  type(sextant_vector) :: v
  type(sextant_kernel) :: kernel
  character(:), allocatable :: text
  integer :: row_ptr(n + 1), col(3*n - 2), i, j, k, stat, at, failed
  real :: values(3*n - 2), b(n), x(n), dense(2, 2, 1), rhs(2, 1, 1), norm
  integer, allocatable :: back_ptr(:), back_col(:), order(:)
  real, allocatable :: back(:)

  failed = 0
  k = 0
  do i = 1, n
    row_ptr(i) = k + 1
    do j = max(1, i - 1), min(n, i + 1)
      k = k + 1
      col(k) = j
      values(k) = merge(3.0, -1.0, i == j)
    end do
  end do
  row_ptr(n + 1) = k + 1
  b = 1
  x = 0

  call context%create(device='cpu', threads=1, deterministic=.true., stat=stat)
  call check('context')
  call context%describe(text, stat)
  call check('describe')
  call a%from_csr(row_ptr, col, values, zero_based=.false., refuse_duplicates=.true., context=context, stat=stat)
  call check('from_csr')
  call a%get_csr(back_ptr, back_col, back, stat)
  call check('get_csr')
  if (any(back_ptr /= row_ptr) .or. any(back_col /= col)) stat = -1
  call check('what get_csr gives')
  call a%update_values(values, stat)
  call check('update_values')
  options%rtol = 1e-5
  options%max_iterations = 500
  options%check_symmetry = .true.
  call solver%create(a, options, stat)
  call check('create')
  call solver%solve(b, x, report, stat)
  call check('solve')
  more%warm_start = .true.
  call solver%solve(b, x, more, report, stat)
  call check('a warm start')
  call solver%explain(text, stat)
  call check('explain')
  call sextant_spmv(a, x, b, stat=stat)
  call check('spmv')
  if (maxval(abs(b - 1)) > 1e-3) stat = -1
  call check('the solution')

  settings%permutation = [(i, i=n, 1, -1)]
  call analysis%create(a, settings, stat)
  call check('analysis')
  call analysis%order(order, stat)
  call check('order')
  call cholesky%create(analysis, stat)
  call check('a factor')
  call cholesky%factor(stat=stat)
  call check('factor')
  b = 1
  call cholesky%solve(b, x, report=done, stat=stat)
  call check('solve by a factor')
  call sextant_spmv(a, x, b, stat=stat)
  if (maxval(abs(b - 1)) > 1e-5) stat = -1
  call check('its solution')
  call cholesky%inverse([1], [2], b(:1), stat)
  call check('inverse')

  call v%create(n, sxt_f64, context=context, stat=stat)
  call check('a vector')
  call sextant_fill(2.0, v, stat)
  call check('fill')
  call sextant_nrm2(v, norm, stat)
  call check('nrm2')
  if (abs(norm - 20) > 1e-4) stat = -1
  call check('the norm')
  call sextant_iamax(v, at, stat)
  if (at /= 1) stat = -1
  call check('iamax')
  call sextant_kernel_get(1, kernel, stat)
  call check('records')

  dense(:, :, 1) = reshape([2.0, 1.0, 1.0, 2.0], [2, 2])
  rhs(:, 1, 1) = [3.0, 3.0]
  call systems%create(2, 1, merge(sxt_f64, sxt_f32, kind(norm) == kind(1.0_8)), 1, context=context, stat=stat)
  call check('systems')
  call systems%solve_all(dense, rhs, answers, stat)
  call check('solve_all')
  if (maxval(abs(rhs - 1)) > 1e-5) stat = -1
  call check('their solutions')
  if (sextant_status_name(stat) /= 'SXT_OK') failed = failed + 1
  if (sextant_reason_name(report%reason) /= 'converged') failed = failed + 1
  if (failed > 0) stop 1

contains

  subroutine check(what)
    character(*), intent(in) :: what
    if (stat == sxt_ok) return
    failed = failed + 1
    print '(2a, i0, 2a)', what, ': ', stat, ' ', sextant_last_error()
  end subroutine
end program test_kinds
