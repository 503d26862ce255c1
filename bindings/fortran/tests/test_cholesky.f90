! SPDX-License-Identifier: BSD-3-Clause
! Sparse Cholesky in all four types: both factorisations, new values, rows that fail, parts of a solve, what a factor says,
! saved analyses, calls that are refused. Results are compared with dense arithmetic of the test's own.
program test_cholesky
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant
  use checks
  implicit none

  integer, parameter :: side = 6, n = side**2, n_rhs = 3
  integer(int32), allocatable :: row_ptr(:), col(:)
  real(real64), allocatable :: laplacian(:)
  complex(real64), allocatable :: values(:)
  complex(real64) :: dense(n, n), inverse(n, n), solution(n, n_rhs), rhs(n, n_rhs)
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
  call facts()
  call changed()
  call complement()
  call own_order()
  call saved()
  call cancelled()
  call wrong_calls()
  call wrong_shapes()
  call finish()

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
    call check(report%residual <= 1.0e-15_real64 .and. report%residual_bound >= 0, 'their residual')
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
    call check(report%residual <= 1.0e-6_real64, 'f32: its residual')
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
      where (col == i .and. [(k_row(stat), stat=1, size(col))] == i) bad = -3
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

  ! The row of an entry.
  function k_row(k) result(row)
    integer, intent(in) :: k
    integer :: row
    row = count(row_ptr <= k)
  end function

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

  subroutine facts()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    type(sextant_analysis_info) :: sizes
    type(sextant_cholesky_info) :: info
    real(real64), allocatable :: pivots(:)
    real(real64) :: number, exact
    complex(real64) :: entries(size(values))
    character(:), allocatable :: text
    integer :: stat, i
    call start(a, analysis, cholesky)
    call analysis%info(sizes, stat)
    call check_status(stat, sxt_ok, 'info of the analysis: '//analysis%error())
    call check(sizes%n == n .and. sizes%nnz_l >= (a%nnz() + n)/2 .and. sizes%stored_values >= sizes%nnz_l, 'its sizes')
    call check(sizes%flops > 0 .and. sizes%factor_bytes >= 16*sizes%nnz_l .and. sizes%predicted_factor_seconds > 0, &
               'its predictions')
    call analysis%explain(text, stat)
    call check_text(text, analysis%method(), 'the explanation has the method')
    call analysis%explain_json(text, stat)
    call check(stat == sxt_ok .and. text(1:1) == '{', 'and so has the one for programs')

    call cholesky%info(info, stat)
    call check(info%factored .and. info%positive == n .and. info%sign == 1, 'all eigenvalues are positive')
    call cholesky%diagonal(pivots, stat)
    call check_status(stat, sxt_ok, 'diagonal: '//cholesky%error())
    call check(size(pivots) == n .and. abs(sum(log(pivots)) - info%log_determinant) <= 1.0e-11_real64, 'the determinant')
    call check(abs(minval(pivots) - info%least_pivot) <= 0 .and. abs(maxval(pivots) - info%largest_pivot) <= 0, 'pivots')
    call cholesky%rcond(number, stat)
    call check_status(stat, sxt_ok, 'rcond: '//cholesky%error())
    exact = 1/maxval(sum(abs(dense), 1))/maxval(sum(abs(inverse), 1))
    call check(number >= exact*(1 - 1.0e-9_real64) .and. number <= 3*exact, 'it is near the exact one')

    call cholesky%inverse([(k_row(i), i=1, size(col))], col, entries, stat)
    call check_status(stat, sxt_ok, 'inverse: '//cholesky%error())
    call check(all([(abs(entries(i) - inverse(k_row(i), col(i))) <= 1.0e-13_real64, i=1, size(col))]), 'its entries')
    call cholesky%inverse([1_int64], [int(n, int64)], entries(:1), stat)
    if (stat /= sxt_ok) then ! no entry of L in this order
      call check_status(stat, sxt_e_index, 'an entry that there is not')
    else
      call check(abs(entries(1) - inverse(1, n)) <= 1.0e-13_real64, 'a far entry')
    end if
    call cholesky%inverse([n + 1], [1], entries(:1), stat)
    call check_status(stat, sxt_e_index, 'an entry outside of the matrix')
  end subroutine

  ! Pivots of 0 are replaced, and the rows are named.
  subroutine changed()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    type(sextant_analysis_settings) :: settings
    integer, allocatable :: rows(:)
    integer(int64), allocatable :: wide_rows(:)
    real(real64), allocatable :: pivots(:)
    integer :: stat
    call a%from_csr([1, 2, 3, 4, 5], [1, 2, 3, 4], [1.0_real64, 0.0_real64, 2.0_real64, 0.0_real64], stat=stat)
    settings%factorization = sxt_ldlh
    settings%pivot_policy = sxt_pivot_replace
    settings%pivot_value = -5
    call analysis%create(a, settings, stat)
    call check_status(stat, sxt_ok, 'a singular matrix: '//analysis%error())
    call cholesky%create(analysis, stat)
    call cholesky%changed_pivots(rows, stat)
    call check_status(stat, sxt_e_state, 'rows before there is a factor')
    call cholesky%factor(stat=stat)
    call check_status(stat, sxt_ok, 'pivots of 0: '//cholesky%error())
    call cholesky%changed_pivots(rows, stat)
    call check(stat == sxt_ok .and. size(rows) == 2, 'two pivots were changed')
    if (size(rows) == 2) call check(minval(rows) == 2 .and. maxval(rows) == 4, 'in rows 2 and 4')
    call cholesky%changed_pivots(wide_rows, stat)
    call check(size(wide_rows) == size(rows), 'the same with 64 bits')
    call cholesky%diagonal(pivots, stat)
    call check(maxval(abs(pivots - [1, -5, 2, -5])) <= 0, 'the pivots by rows')
  end subroutine

  subroutine complement()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    type(sextant_analysis_settings) :: settings
    type(sextant_cholesky_options) :: options
    integer, parameter :: left(2) = [17, 3]
    integer, allocatable :: order(:)
    complex(real64) :: schur(3, 2), exact(2, 2), x(n), some(2)
    integer :: stat, i
    settings%schur_rows = left
    call start(a, analysis, cholesky, settings)
    exact = inverted(inverse(left, left))
    schur = 99
    call cholesky%schur(schur, stat)
    call check_status(stat, sxt_ok, 'schur: '//cholesky%error())
    call check(maxval(abs(schur(:2, :) - exact)) <= 1.0e-12_real64, 'the complement')
    call check(all(abs(schur(3, :) - 99) <= 0), 'and nothing below it')
    call cholesky%schur(schur(:, :1), stat)
    call check_status(stat, sxt_e_dimension, 'a complement of another size')

    call analysis%order(order, stat)
    call check(all([(any(order(n - 1:) == left(i)), i=1, 2)]), 'its rows come last')
    x = rhs(:, 1)
    call cholesky%solve(x, stat=stat)
    call check_status(stat, sxt_e_state, 'a whole solve')
    options%step = sxt_step_forward
    call cholesky%solve(x, options, stat)
    some = x(n - 1:)
    if (order(n) == left(1)) some = x(n:n - 1:-1)
    some = matmul(inverse(left, left), some)
    if (order(n) == left(1)) some = some(2:1:-1)
    x(n - 1:) = some
    options%step = sxt_step_diagonal
    call cholesky%solve(x, options, stat)
    options%step = sxt_step_backward
    call cholesky%solve(x, options, stat)
    call check_status(stat, sxt_ok, 'by parts: '//cholesky%error())
    call check(maxval(abs(x - solution(:, 1))) <= 1.0e-12_real64, 'the solution by parts')
    settings%schur_rows = [3, n + 1]
    call analysis%create(a, settings, stat)
    call check_status(stat, sxt_e_argument, 'a row that there is not')
    call check_text(analysis%error(), 'options%schur_rows(2) is '//number(n + 1), 'named as Fortran writes it')
    call check(analysis%is_made(), 'the analysis stays as it was')
  end subroutine

  function number(i) result(text)
    integer, intent(in) :: i
    character(:), allocatable :: text
    character(12) :: digits
    write (digits, '(i0)') i
    text = trim(digits)
  end function

  ! Rows in the caller's order, counted as he counts.
  subroutine own_order()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_analysis_settings) :: settings
    integer, allocatable :: order(:)
    integer(int64), allocatable :: wide(:)
    integer :: stat, base, i
    do base = 0, 1
      call a%from_csr(row_ptr - 1 + base, col - 1 + base, values, zero_based=base == 0, stat=stat)
      settings%permutation = [(i, i=n - 1 + base, base, -1)]
      call analysis%create(a, settings, stat)
      call check_status(stat, sxt_ok, 'an order of the caller: '//analysis%error())
      call analysis%order(order, stat)
      call check_status(stat, sxt_ok, 'order: '//analysis%error())
      call check(size(order) == n .and. all([(any(order == i), i=base, n - 1 + base)]), 'each row once')
      call analysis%order(wide, stat)
      call check(all(wide == order), 'the same with 64 bits')
    end do
    settings%permutation(1) = settings%permutation(2)
    call analysis%create(a, settings, stat)
    call check_status(stat, sxt_e_argument, 'a row twice')
    call check_text(analysis%error(), 'options%permutation(2)', 'which is named')
    settings%permutation = [1, 2]
    call analysis%create(a, settings, stat)
    call check_status(stat, sxt_e_dimension, 'too short an order')
    call check_text(analysis%error(), 'settings%permutation has 2', 'which is told')
    deallocate(settings%permutation)
    settings%order = 'no such order'
    call analysis%create(a, settings, stat)
    call check_status(stat, sxt_e_unknown_name, 'an order that there is not')
  end subroutine

  subroutine saved()
    character(*), parameter :: path = 'test_cholesky.analysis'
    type(sextant_matrix) :: a, smaller
    type(sextant_analysis) :: analysis, loaded
    type(sextant_cholesky) :: cholesky
    integer, allocatable :: order(:), again(:)
    integer :: stat, unit
    call start(a, analysis, cholesky)
    call analysis%save(path, stat)
    call check_status(stat, sxt_ok, 'save: '//analysis%error())
    call loaded%load(a, path, stat=stat)
    call check_status(stat, sxt_ok, 'load: '//loaded%error())
    call analysis%order(order, stat)
    call loaded%order(again, stat)
    call check(stat == sxt_ok .and. all(order == again), 'the order is the same')
    call cholesky%create(loaded, stat)
    call cholesky%factor(stat=stat)
    call check_status(stat, sxt_ok, 'factor what was loaded: '//cholesky%error())
    call smaller%from_csr([1, 2], [1], [(1.0_real64, 0.0_real64)], stat=stat)
    call loaded%load(smaller, path, stat=stat)
    call check_status(stat, sxt_e_plan, 'load for another pattern')
    open (newunit=unit, file=path, status='replace')
    write (unit, '(a)') 'not an analysis'
    close (unit)
    call loaded%load(a, path, stat=stat)
    call check_status(stat, sxt_e_plan, 'load a damaged file')
    open (newunit=unit, file=path)
    close (unit, status='delete')
    call loaded%load(a, path, stat=stat)
    call check_status(stat, sxt_e_file_read, 'load a file that there is not')
    call check_text(loaded%error(), path, 'which is named')
    call analysis%save('no such folder/analysis', stat)
    call check_status(stat, sxt_e_file_write, 'save where that cannot be')
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
