! SPDX-License-Identifier: BSD-3-Clause
! Sparse Cholesky in all four types: both factorisations, new values, rows that fail, parts of a solve, calls that are
! cancelled or refused.
program test_cholesky
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant
  use checks
  use factor_problem
  implicit none

  integer(int32), target, save :: flag

  call make_problem()
  call complex_double()
  call complex_single()
  call real_double()
  call real_single()
  call quasi_definite()
  call new_values()
  call failing_row()
  call parts()
  call cancelled()
  call wrong_calls()
  call wrong_shapes()
  call finish()

contains

  subroutine complex_double()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    type(sextant_cholesky_options) :: options
    type(sextant_cholesky_report) :: report
    complex(real64), target :: b(n, n_rhs), x(n, n_rhs)
    integer :: stat
    call start(a, analysis, cholesky)
    b = rhs
    x = 0
    call cholesky%solve(b, x, stat=stat)
    call check_status(stat, sxt_ok, 'solve c128: '//cholesky%error())
    call check(maxval(abs(x - solution)) <= 1.0e-12_real64, 'c128: the solutions')
    options%refine_steps = 3
    x = 0
    call cholesky%solve(b, x, options, report, stat)
    call check_status(stat, sxt_ok, 'refined solve: '//report%message)
    call check(maxval(abs(x - solution)) <= 1.0e-13_real64, 'the refined solutions')
    call check(report%residual <= 2.0e-15_real64 .and. report%residual_bound >= 0, 'their residual')
    call check(report%refined <= 3 .and. report%solve_seconds > 0 .and. report%predicted_seconds > 0, 'their report')
    call check(report%message == '', 'without a sentence')
    call cholesky%solve(b, stat=stat)
    call check_status(stat, sxt_ok, 'solve in place: '//cholesky%error())
    call check(maxval(abs(b - solution)) <= 1.0e-12_real64, 'the solutions in place')
    x(:, 1) = 0
    call cholesky%solve(rhs(:, 1), x(:, 1), report=report, stat=stat)
    call check_status(stat, sxt_ok, 'solve one: '//report%message)
    call check(maxval(abs(x(:, 1) - solution(:, 1))) <= 1.0e-12_real64, 'the one solution')
    call check(.not. report%residual >= 0, 'no residual without refinement')
    b = rhs
    call cholesky%solve(c_loc(b), c_loc(b), n, n_rhs, report=report, stat=stat)
    call check_status(stat, sxt_ok, 'solve at addresses: '//report%message)
    call check(maxval(abs(b - solution)) <= 1.0e-12_real64, 'the solutions at addresses')
  end subroutine

  subroutine complex_single()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    type(sextant_cholesky_report) :: report
    complex(real32) :: x(n, n_rhs), y(n), s(0, 0), some(2)
    integer :: stat
    call a%from_csr(row_ptr, col, cmplx(values, kind=real32), stat=stat)
    call analysis%create(a, stat=stat)
    call cholesky%create(analysis, stat)
    call cholesky%factor(stat=stat)
    call check_status(stat, sxt_ok, 'factor c64: '//cholesky%error())
    x = cmplx(rhs, kind=real32)
    call cholesky%solve(x, report=report, stat=stat)
    call check_status(stat, sxt_ok, 'solve c64: '//report%message)
    call check(maxval(abs(cmplx(x, kind=real64) - solution)) <= 1.0e-3_real64, 'c64: the solutions')
    call cholesky%solve(cmplx(rhs(:, 2), kind=real32), y, stat=stat)
    call check(stat == sxt_ok .and. maxval(abs(cmplx(y, kind=real64) - solution(:, 2))) <= 1.0e-3_real64, 'c64: one')
    call cholesky%inverse([1, 2], [2, 1], some, stat)
    call check(stat == sxt_ok .and. abs(some(1) - cmplx(inverse(1, 2), kind=real32)) <= 1.0e-5, 'c64: the inverse')
    call check(abs(some(1) - conjg(some(2))) <= 0, 'c64: which is Hermitian')
    call cholesky%schur(s, stat)
    call check_status(stat, sxt_ok, 'no complement: '//cholesky%error())
  end subroutine

  subroutine real_double()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    real(real64) :: b(n, 2), x(n, 2), y(n)
    integer :: stat, j
    call a%from_csr(row_ptr, col, laplacian, symmetry=sxt_symmetric, stat=stat)
    call analysis%create(a, stat=stat)
    call cholesky%create(analysis, stat)
    call cholesky%factor(stat=stat)
    call check_status(stat, sxt_ok, 'factor f64: '//cholesky%error())
    do j = 1, 2
      b(:, j) = csr_product(row_ptr, col, laplacian, real(solution(:, j), real64))
    end do
    call cholesky%solve(b, x, stat=stat)
    call check_status(stat, sxt_ok, 'solve f64: '//cholesky%error())
    call check(maxval(abs(x - real(solution(:, :2), real64))) <= 1.0e-12_real64, 'f64: the solutions')
    y = b(:, 2)
    call cholesky%solve(y, stat=stat)
    call check(stat == sxt_ok .and. maxval(abs(y - 1)) <= 1.0e-12_real64, 'f64: one in place')
  end subroutine

  subroutine real_single()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    type(sextant_cholesky_options) :: options
    type(sextant_cholesky_report) :: report
    real(real32) :: b(n), x(n)
    integer :: stat
    call a%from_csr(row_ptr, col, real(laplacian, real32), symmetry=sxt_symmetric, stat=stat)
    call analysis%create(a, stat=stat)
    call cholesky%create(analysis, stat)
    call cholesky%factor(stat=stat)
    call check_status(stat, sxt_ok, 'factor f32: '//cholesky%error())
    b = real(csr_product(row_ptr, col, laplacian, real(solution(:, 1), real64)), real32)
    options%refine_steps = 2
    call cholesky%solve(b, x, options, report, stat)
    call check_status(stat, sxt_ok, 'solve f32: '//report%message)
    call check(maxval(abs(x - real(solution(:, 1)))) <= 1.0e-4, 'f32: the solution')
    call check(report%residual <= 2.0e-6_real64, 'f32: its residual')
  end subroutine

  ! [H B; B^H -G]: the second half of the diagonal is negative.
  subroutine quasi_definite()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    type(sextant_analysis_settings) :: settings
    type(sextant_cholesky_info) :: info
    complex(real64) :: changed(size(values)), matrix(n, n), x(n)
    integer :: stat, i, k
    matrix = 0
    do i = 1, n
      do k = row_ptr(i), row_ptr(i + 1) - 1
        changed(k) = values(k)
        if (i > n/2 .and. col(k) > n/2) changed(k) = -values(k)
        matrix(i, col(k)) = changed(k)
      end do
    end do
    call a%from_csr(row_ptr, col, changed, stat=stat)
    settings%factorization = sxt_ldlh
    settings%expected_factors = 2
    call analysis%create(a, settings, stat)
    call check_status(stat, sxt_ok, 'analysis for LDLH: '//analysis%error())
    call cholesky%create(analysis, stat)
    call cholesky%factor(stat=stat)
    call check_status(stat, sxt_ok, 'factor LDLH: '//cholesky%error())
    x = matmul(matrix, solution(:, 1))
    call cholesky%solve(x, stat=stat)
    call check(stat == sxt_ok .and. maxval(abs(x - solution(:, 1))) <= 1.0e-11_real64, 'LDLH: the solution')
    call cholesky%info(info, stat)
    call check_status(stat, sxt_ok, 'info LDLH: '//cholesky%error())
    call check(info%positive == n/2 .and. info%negative == n - n/2 .and. info%zero == 0, 'LDLH: the inertia')
    call check(info%sign == merge(1, -1, mod(n - n/2, 2) == 0), 'LDLH: the sign')
  end subroutine

  subroutine new_values()
    type(sextant_matrix) :: a, other, smaller
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    type(sextant_cholesky_options) :: options
    complex(real64) :: x(n)
    integer :: stat
    call start(a, analysis, cholesky)
    call a%update_values(2*values, stat)
    call check_status(stat, sxt_ok, 'new values: '//a%error())
    options%refine_steps = 1
    x = rhs(:, 1)
    call cholesky%solve(x, options, stat)
    call check_status(stat, sxt_e_state, 'refinement with values that are not those of the factor')
    call cholesky%solve(x, stat=stat)
    call check(stat == sxt_ok .and. maxval(abs(x - solution(:, 1))) <= 1.0e-12_real64, 'the factor is still the old one')
    call cholesky%factor(stat=stat)
    call check_status(stat, sxt_ok, 'factor again: '//cholesky%error())
    x = rhs(:, 1)
    call cholesky%solve(x, stat=stat)
    call check(stat == sxt_ok .and. maxval(abs(2*x - solution(:, 1))) <= 1.0e-12_real64, 'the new solution')

    call other%from_csr(row_ptr, col, 4*values, stat=stat)
    call cholesky%factor(other, stat=stat)
    call check_status(stat, sxt_ok, 'factor another matrix: '//cholesky%error())
    x = rhs(:, 1)
    call cholesky%solve(x, stat=stat)
    call check(stat == sxt_ok .and. maxval(abs(4*x - solution(:, 1))) <= 1.0e-12_real64, 'its solution')
    call smaller%from_csr([1, 2], [1], [(1.0_real64, 0.0_real64)], stat=stat)
    call cholesky%factor(smaller, stat=stat)
    call check_status(stat, sxt_e_dimension, 'a matrix of another pattern')
    call check(len(cholesky%error()) > 0, 'with a sentence')
  end subroutine

  ! Row 7 of the program, whether it counts from 1 or from 0.
  subroutine failing_row()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    type(sextant_analysis_settings) :: settings
    type(sextant_cholesky_info) :: info
    complex(real64) :: bad(size(values)), x(n)
    integer :: stat, base, i
    do base = 0, 1
      bad = values
      i = 7 - base + 1
      where (col == i .and. [(row_of(stat), stat=1, size(col))] == i) bad = -3
      call a%from_csr(row_ptr - 1 + base, col - 1 + base, bad, zero_based=base == 0, stat=stat)
      settings%permutation = [(i, i=base, n - 1 + base)]
      call analysis%create(a, settings, stat)
      call check_status(stat, sxt_ok, 'analysis: '//analysis%error())
      call cholesky%create(analysis, stat)
      call cholesky%factor(stat=stat)
      call check_status(stat, sxt_e_not_positive_definite, 'a negative diagonal entry')
      call check_text(cholesky%error(), 'row 7', 'the row is named')
      call cholesky%info(info, stat)
      call check(.not. info%factored .and. info%failed_row == 7 .and. info%failed_pivot < 0, 'info has it')
      x = rhs(:, 1)
      call cholesky%solve(x, stat=stat)
      call check_status(stat, sxt_e_state, 'there is no factor')
      call check_text(cholesky%error(), 'no factor', 'and that is said')
      call a%update_values(values, stat)
      call cholesky%factor(stat=stat)
      call check_status(stat, sxt_ok, 'good values: '//cholesky%error())
      call cholesky%info(info, stat)
      call check(info%factored .and. info%failed_row == -1, 'nothing failed now')
      call cholesky%solve(x, stat=stat)
      call check(stat == sxt_ok .and. maxval(abs(x - solution(:, 1))) <= 1.0e-12_real64, 'and their solution')
    end do
  end subroutine

  subroutine parts()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    type(sextant_analysis_settings) :: settings
    type(sextant_cholesky_options) :: options
    complex(real64) :: x(n)
    integer(int32), parameter :: steps(3) = [sxt_step_forward, sxt_step_diagonal, sxt_step_backward]
    integer :: stat, i, which
    do which = sxt_llh, sxt_ldlh
      settings%factorization = int(which, int32)
      call start(a, analysis, cholesky, settings)
      x = rhs(:, 1)
      do i = 1, size(steps)
        options%step = steps(i)
        call cholesky%solve(x, options, stat)
        call check_status(stat, sxt_ok, 'a step: '//cholesky%error())
      end do
      call check(maxval(abs(x - solution(:, 1))) <= 1.0e-12_real64, 'the steps make a solve')
    end do
    options%step = 9
    call cholesky%solve(x, options, stat)
    call check_status(stat, sxt_e_argument, 'a step that there is not')
    call check_text(cholesky%error(), 'options%step', 'named as Fortran writes it')
  end subroutine

  subroutine cancelled()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    integer(int32), pointer :: cancel
    type(sextant_cholesky_info) :: info
    integer :: stat
    call start(a, analysis, cholesky)
    flag = 1
    cancel => flag
    call cholesky%factor(cancel=cancel, stat=stat)
    call check_status(stat, sxt_not_converged, 'a factorisation that is cancelled')
    call check_text(cholesky%error(), 'cancelled', 'is told')
    call cholesky%info(info, stat)
    call check(.not. info%factored, 'and leaves no factor')
    flag = 0
    call cholesky%factor(cancel=cancel, stat=stat)
    call check_status(stat, sxt_ok, 'the next one works: '//cholesky%error())
  end subroutine

  subroutine wrong_calls()
    type(sextant_matrix) :: a, nothing
    type(sextant_analysis) :: analysis, none
    type(sextant_cholesky) :: cholesky, copy
    type(sextant_analysis_settings) :: settings
    type(sextant_cholesky_report) :: report
    complex(real64) :: x(n)
    integer :: stat
    x = 0
    call none%create(nothing, stat=stat)
    call check_status(stat, sxt_e_state, 'an analysis of nothing')
    call check_text(none%error(), 'sextant_matrix holds nothing', 'which is told')
    call cholesky%create(none, stat)
    call check_status(stat, sxt_e_state, 'a factor of no analysis')
    call check_text(cholesky%error(), 'sextant_analysis holds nothing', 'which is told')
    call check(none%method() == '', 'which has no method')
    call cholesky%factor(stat=stat)
    call check_status(stat, sxt_e_state, 'factor of nothing')
    call start(a, analysis, cholesky)
    copy = cholesky
    call copy%solve(x, report=report, stat=stat)
    call check_status(stat, sxt_e_state, 'a copy is empty')
    call check_text(report%message, 'sextant_cholesky holds nothing', 'which the report tells')
    call cholesky%factor(nothing, stat=stat)
    call check_status(stat, sxt_e_state, 'factor an empty matrix')
    settings%factorization = 7
    call analysis%create(a, settings, stat)
    call check_status(stat, sxt_e_argument, 'a factorisation that there is not')
    call check_text(analysis%error(), 'options%factorization is 7', 'which is told')
    call a%from_csr([1, 2, 3], [1, 2], [1.0_real64, 1.0_real64], cols=3, stat=stat)
    call analysis%create(a, stat=stat)
    call check_status(stat, sxt_e_not_square, 'a matrix that is not square')
    call a%from_csr([1, 3, 4], [1, 2, 2], [2.0_real64, 1.0_real64, 2.0_real64], stat=stat)
    call analysis%create(a, stat=stat)
    call check_status(stat, sxt_e_not_symmetric, 'an entry without its mirror image')
    x = rhs(:, 1)
    call cholesky%solve(x, stat=stat)
    call check_status(stat, sxt_ok, 'the factor is usable after all that: '//cholesky%error())
  end subroutine

  subroutine wrong_shapes()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    type(sextant_cholesky_report) :: report
    complex(real64) :: b(n, 2), x(n, 1), values(2), none(n, 0)
    real(real64) :: other(n), small(1, 1)
    integer :: stat
    call start(a, analysis, cholesky)
    b = 0
    other = 0
    call cholesky%solve(b, x, stat=stat)
    call check_status(stat, sxt_e_dimension, 'fewer columns in x')
    call check_text(cholesky%error(), 'b has 36 rows and 2 columns, x has 36 and 1', 'which is told')
    call cholesky%solve(b(:n - 1, 1), report=report, stat=stat)
    call check_status(stat, sxt_e_dimension, 'too few rows')
    call check_text(report%message, '35', 'which is told')
    call cholesky%solve(other, stat=stat)
    call check_status(stat, sxt_e_type, 'another type')
    call check_text(cholesky%error(), 'f64', 'which is told')
    call cholesky%solve(none, stat=stat)
    call check_status(stat, sxt_ok, 'no right-hand sides: '//cholesky%error())
    call cholesky%schur(small, stat)
    call check_status(stat, sxt_e_type, 'a complement of another type')
    call cholesky%inverse([1], [1], other(:1), stat)
    call check_status(stat, sxt_e_type, 'an inverse of another type')
    call cholesky%inverse([1, 2, 3], [1, 2], values, stat)
    call check_status(stat, sxt_e_dimension, 'entries without a place')
    call check_text(cholesky%error(), 'rows has 3 elements, cols has 2 and values has 2', 'which is told')
  end subroutine
end program
