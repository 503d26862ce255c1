! SPDX-License-Identifier: BSD-3-Clause
! What an analysis and a factor say, compared with dense arithmetic of the test's own; orders of the caller and saved ones.
program test_cholesky_facts
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use sextant
  use checks
  use factor_problem
  implicit none

  call make_problem()
  call facts()
  call changed()
  call in_single()
  call complement()
  call own_order()
  call saved()
  call finish()

contains

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

    call cholesky%inverse([(row_of(i), i=1, size(col))], col, entries, stat)
    call check_status(stat, sxt_ok, 'inverse: '//cholesky%error())
    call check(all([(abs(entries(i) - inverse(row_of(i), col(i))) <= 1.0e-13_real64, i=1, size(col))]), 'its entries')
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

  ! A factor in single precision, and a solution that has the digits of the working one.
  subroutine in_single()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky) :: cholesky
    type(sextant_analysis_settings) :: settings
    type(sextant_analysis_info) :: sizes
    type(sextant_cholesky_info) :: info
    type(sextant_cholesky_report) :: report
    complex(real64) :: x(n)
    integer :: stat
    settings%factor_precision = sxt_precision_single
    call start(a, analysis, cholesky, settings)
    call analysis%info(sizes, stat)
    call cholesky%info(info, stat)
    call check(sizes%factor_type == sxt_c64 .and. info%factor_type == sxt_c64 .and. .not. info%repeated, 'it is of c64')
    x = rhs(:, 1)
    call cholesky%solve(x, report=report, stat=stat)
    call check_status(stat, sxt_ok, 'a refined solve: '//report%message)
    call check(report%refined >= 1 .and. .not. report%repeated .and. report%residual <= 1.0e-14_real64, 'it was refined')
    call check(maxval(abs(x - matmul(inverse, rhs(:, 1)))) <= 1.0e-12_real64, 'to the working precision')
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

  ! Rows in the caller's order, counted from 1.
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
end program
