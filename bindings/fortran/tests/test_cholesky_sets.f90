! SPDX-License-Identifier: BSD-3-Clause
! Sets of values on one pattern in all four types: solved by columns and by sheets, some of the sets, sets that fail, calls that
! are cancelled or refused.
program test_cholesky_sets
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant
  use checks
  use factor_problem
  implicit none

  integer, parameter :: sets_count = 4
  integer(int32), target, save :: flag

  call make_problem()
  call complex_double()
  call complex_single()
  call real_double()
  call real_single()
  call failing_set()
  call wrong_calls()
  call finish()

contains

  ! Set s holds the matrix times s.
  subroutine complex_double()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky_sets) :: sets
    type(sextant_sets_info) :: info
    complex(real64), target :: many(size(values), sets_count), b(n, n_rhs, sets_count), x(n, n_rhs, sets_count)
    complex(real64), target :: column(n, 2)
    character(:), allocatable :: text
    integer :: stat, s
    call a%from_csr(row_ptr, col, values, stat=stat)
    call analysis%create(a, stat=stat)
    call sets%create(analysis, sets_count, stat)
    call check_status(stat, sxt_ok, 'create: '//sets%error())
    do s = 1, sets_count
      many(:, s) = s*values
      b(:, :, s) = s*rhs
    end do
    call sets%factor(many, stat=stat)
    call check_status(stat, sxt_ok, 'factor c128: '//sets%error())
    x = 0
    call sets%solve(b, x, stat=stat)
    call check_status(stat, sxt_ok, 'solve c128: '//sets%error())
    do s = 1, sets_count
      call check(maxval(abs(x(:, :, s) - solution)) <= 1.0e-12_real64, 'c128: the solutions')
    end do
    call sets%solve(b, stat=stat)
    call check_status(stat, sxt_ok, 'solve in place: '//sets%error())
    call check(maxval(abs(b - x)) <= 0, 'the same in place')
    column(:, 1) = 3*rhs(:, 2)
    column(:, 2) = 4*rhs(:, 2)
    call sets%solve(column, first=3, stat=stat)
    call check_status(stat, sxt_ok, 'solve two sets: '//sets%error())
    call check(maxval(abs(column(:, 1) - solution(:, 2))) <= 1.0e-12_real64, 'the third set')
    call check(maxval(abs(column(:, 2) - solution(:, 2))) <= 1.0e-12_real64, 'the fourth set')
    call sets%info(info, stat)
    call check_status(stat, sxt_ok, 'info: '//sets%error())
    call check(info%count == sets_count .and. info%factored == sets_count, 'all have factors')
    call check(info%nnz == size(values), 'values of a set')
    call check(info%factor_bytes > 0 .and. info%host_bytes >= info%factor_bytes, 'their bytes')
    call check(info%predicted_factor_seconds > 0 .and. info%predicted_solve_seconds > 0, 'their predictions')
    call sets%explain(text, stat)
    call check(stat == sxt_ok .and. index(text, 'in one call of cholesky.') > 0, 'the explanation')
    call sets%explain_json(text, stat)
    call check(stat == sxt_ok .and. index(text, '{') == 1, 'the explanation for programs')
  end subroutine

  subroutine complex_single()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky_sets) :: sets
    complex(real32), target :: many(size(col), 2), b(n, 2), x(n, 2), sheets(n, 2, 2)
    integer :: stat
    many(:, 1) = cmplx(values, kind=real32)
    many(:, 2) = 2*many(:, 1)
    call a%from_csr(row_ptr, col, many(:, 1), stat=stat)
    call analysis%create(a, stat=stat)
    call sets%create(analysis, 2, stat)
    call sets%factor(many, stat=stat)
    call check_status(stat, sxt_ok, 'factor: '//sets%error())
    b = 1
    call sets%solve(b, x, stat=stat)
    call check_status(stat, sxt_ok, 'solve: '//sets%error())
    call check(maxval(abs(x(:, 1) - 2*x(:, 2))) <= 1.0e-3_real32*maxval(abs(x)), 'complex_single: half of it')
    sheets = 1
    call sets%solve(sheets, stat=stat)
    call check_status(stat, sxt_ok, 'solve in place: '//sets%error())
    call check(maxval(abs(sheets(:, 2, 1) - x(:, 1))) <= 1.0e-3_real32*maxval(abs(x)), 'complex_single: the second column')
    call check(maxval(abs(sheets(:, 1, 2) - x(:, 2))) <= 1.0e-3_real32*maxval(abs(x)), 'complex_single: the second set')
    call sets%solve(sheets, sheets, stat=stat)
    call check_status(stat, sxt_ok, 'solve again: '//sets%error())
    call sets%solve(b, stat=stat)
    call check(maxval(abs(b - x)) <= 1.0e-3_real32*maxval(abs(x)), 'complex_single: in place')
  end subroutine

  subroutine real_double()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky_sets) :: sets
    real(real64), target :: many(size(col), 2), b(n, 2), x(n, 2), sheets(n, 2, 2)
    integer :: stat
    many(:, 1) = laplacian
    many(:, 2) = 2*many(:, 1)
    call a%from_csr(row_ptr, col, many(:, 1), stat=stat)
    call analysis%create(a, stat=stat)
    call sets%create(analysis, 2, stat)
    call sets%factor(many, stat=stat)
    call check_status(stat, sxt_ok, 'factor: '//sets%error())
    b = 1
    call sets%solve(b, x, stat=stat)
    call check_status(stat, sxt_ok, 'solve: '//sets%error())
    call check(maxval(abs(x(:, 1) - 2*x(:, 2))) <= 1.0e-12_real64*maxval(abs(x)), 'real_double: half of it')
    sheets = 1
    call sets%solve(sheets, stat=stat)
    call check_status(stat, sxt_ok, 'solve in place: '//sets%error())
    call check(maxval(abs(sheets(:, 2, 1) - x(:, 1))) <= 1.0e-12_real64*maxval(abs(x)), 'real_double: the second column')
    call check(maxval(abs(sheets(:, 1, 2) - x(:, 2))) <= 1.0e-12_real64*maxval(abs(x)), 'real_double: the second set')
    call sets%solve(sheets, sheets, stat=stat)
    call check_status(stat, sxt_ok, 'solve again: '//sets%error())
    call sets%solve(b, stat=stat)
    call check(maxval(abs(b - x)) <= 1.0e-12_real64*maxval(abs(x)), 'real_double: in place')
  end subroutine

  subroutine real_single()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky_sets) :: sets
    real(real32), target :: many(size(col), 2), b(n, 2), x(n, 2), sheets(n, 2, 2)
    integer :: stat
    many(:, 1) = real(laplacian, real32)
    many(:, 2) = 2*many(:, 1)
    call a%from_csr(row_ptr, col, many(:, 1), stat=stat)
    call analysis%create(a, stat=stat)
    call sets%create(analysis, 2, stat)
    call sets%factor(many, stat=stat)
    call check_status(stat, sxt_ok, 'factor: '//sets%error())
    b = 1
    call sets%solve(b, x, stat=stat)
    call check_status(stat, sxt_ok, 'solve: '//sets%error())
    call check(maxval(abs(x(:, 1) - 2*x(:, 2))) <= 1.0e-3_real32*maxval(abs(x)), 'real_single: half of it')
    sheets = 1
    call sets%solve(sheets, stat=stat)
    call check_status(stat, sxt_ok, 'solve in place: '//sets%error())
    call check(maxval(abs(sheets(:, 2, 1) - x(:, 1))) <= 1.0e-3_real32*maxval(abs(x)), 'real_single: the second column')
    call check(maxval(abs(sheets(:, 1, 2) - x(:, 2))) <= 1.0e-3_real32*maxval(abs(x)), 'real_single: the second set')
    call sets%solve(sheets, sheets, stat=stat)
    call check_status(stat, sxt_ok, 'solve again: '//sets%error())
    call sets%solve(b, stat=stat)
    call check(maxval(abs(b - x)) <= 1.0e-3_real32*maxval(abs(x)), 'real_single: in place')
  end subroutine

  subroutine failing_set()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis
    type(sextant_cholesky_sets) :: sets
    type(sextant_set_outcomes) :: outcomes
    real(real64), target :: many(size(col), 3), x(n, 3)
    integer(int32), pointer :: cancel
    integer :: stat, s
    do s = 1, 3
      many(:, s) = laplacian
    end do
    call a%from_csr(row_ptr, col, laplacian, stat=stat)
    call analysis%create(a, stat=stat)
    call sets%create(analysis, 3, stat)
    many(row_ptr(7):row_ptr(8) - 1, 2) = merge(-9.0_real64, many(row_ptr(7):row_ptr(8) - 1, 2), &
                                               col(row_ptr(7):row_ptr(8) - 1) == 7)
    call sets%factor(many, stat=stat)
    call check_status(stat, sxt_e_not_positive_definite, 'a set that is not definite')
    call check(index(sets%error(), 'row 7 (counting from 1)') > 0, 'its row: '//sets%error())
    call sets%outcomes(outcomes, stat)
    call check_status(stat, sxt_ok, 'outcomes: '//sets%error())
    call check(all(outcomes%status == [sxt_ok, sxt_e_not_positive_definite, sxt_ok]), 'the statuses')
    call check(all(outcomes%failed_row == [-1_int64, 7_int64, -1_int64]), 'the row that failed')
    call check(outcomes%failed_pivot(2) < 0 .and. outcomes%changed_pivots(1) == 0, 'its pivot')
    call check(all(outcomes%positive == [n, 0, n]) .and. all(outcomes%negative == 0) .and. all(outcomes%zero == 0), &
               'the inertia')
    call check(outcomes%sign(1) == 1 .and. outcomes%least_pivot(3) > 0 .and. &
               outcomes%largest_pivot(3) >= outcomes%least_pivot(3), 'the pivots')
    call check(abs(outcomes%log_determinant(1) - outcomes%log_determinant(3)) <= 0, 'the determinants')
    x = 1
    call sets%solve(x, stat=stat)
    call check_status(stat, sxt_ok, 'solve: '//sets%error())
    call check(all(ieee_is_nan(x(:, 2))) .and. all(abs(x(:, 1) - x(:, 3)) <= 0), 'the others are solved')
    call sets%factor(many(:, 3:3), first=2, stat=stat)
    call check_status(stat, sxt_ok, 'factor one: '//sets%error())
    cancel => flag
    flag = 1
    call sets%factor(many, cancel=cancel, stat=stat)
    call check_status(stat, sxt_not_converged, 'a factorisation that is cancelled')
    call check(index(sets%error(), 'cancelled') > 0, 'its sentence: '//sets%error())
    flag = 0
    call sets%factor(many(:, 1:1), cancel=cancel, stat=stat)
    call check_status(stat, sxt_ok, 'one that is not: '//sets%error())
    flag = 1
    call sets%solve(x(:, 1:1), cancel=cancel, stat=stat)
    call check_status(stat, sxt_not_converged, 'a solve that is cancelled')
  end subroutine

  subroutine wrong_calls()
    type(sextant_matrix) :: a
    type(sextant_analysis) :: analysis, nothing
    type(sextant_cholesky_sets) :: sets
    type(sextant_set_outcomes) :: outcomes
    type(sextant_sets_info) :: info
    real(real64), target :: many(size(col), 2), x(n, 2), long(n + 1, 2), y(n, 1)
    real(real32), target :: narrow(size(col), 2), short(n, 2)
    character(:), allocatable :: text
    integer :: stat
    call sets%create(nothing, 2, stat)
    call check_status(stat, sxt_e_state, 'of nothing')
    call sets%factor(many, stat=stat)
    call check_status(stat, sxt_e_state, 'factor without create')
    call sets%solve(x, stat=stat)
    call check_status(stat, sxt_e_state, 'solve without create')
    call sets%outcomes(outcomes, stat)
    call check_status(stat, sxt_e_state, 'outcomes without create')
    call sets%info(info, stat)
    call check_status(stat, sxt_e_state, 'info without create')
    call sets%explain(text, stat)
    call check_status(stat, sxt_e_state, 'explain without create')
    call a%from_csr(row_ptr, col, laplacian, stat=stat)
    call analysis%create(a, stat=stat)
    call sets%create(analysis, 0, stat)
    call check_status(stat, sxt_e_argument, 'no sets')
    call sets%create(analysis, 2, stat)
    call check_status(stat, sxt_ok, 'two sets: '//sets%error())
    narrow = 1
    call sets%factor(narrow, stat=stat)
    call check_status(stat, sxt_e_type, 'values of another type')
    many(:, 1) = laplacian
    many(:, 2) = laplacian
    call sets%factor(many(2:, :), stat=stat)
    call check_status(stat, sxt_e_dimension, 'too few values')
    call sets%factor(many, first=2, stat=stat)
    call check_status(stat, sxt_e_index, 'sets that there are not')
    call sets%factor(many, first=0, stat=stat)
    call check_status(stat, sxt_e_index, 'a set 0')
    call sets%factor(many, stat=stat)
    call check_status(stat, sxt_ok, 'factor: '//sets%error())
    short = 1
    call sets%solve(short, stat=stat)
    call check_status(stat, sxt_e_type, 'right-hand sides of another type')
    long = 1
    call sets%solve(long, stat=stat)
    call check_status(stat, sxt_e_dimension, 'right-hand sides that are too long')
    x = 1
    call sets%solve(x, y, stat=stat)
    call check_status(stat, sxt_e_dimension, 'another number of sets')
  end subroutine
end program test_cholesky_sets
