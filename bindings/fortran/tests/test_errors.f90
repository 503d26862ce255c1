! SPDX-License-Identifier: BSD-3-Clause
! Wrong input gets a status and a sentence, objects stay usable, and a copy of an object is empty rather than dangerous.
program test_errors
  use, intrinsic :: iso_fortran_env, only: int32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_quiet_nan, ieee_value
  use sextant
  use checks
  implicit none

  integer, parameter :: side = 8, n = side**2
  integer(int32), allocatable :: row_ptr(:), col(:)
  real(real64), allocatable :: values(:)

  call laplacian_csr(side, 0.0_real64, row_ptr, col, values)
  call wrong_lengths()
  call wrong_matrices()
  call indefinite()
  call wrong_names()
  call contexts()
  call nothing_made()
  call copies()
  deallocate(row_ptr, col, values)
  call finish()

contains

  subroutine wrong_lengths()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    real(real64) :: b(n + 1), x(n + 1)
    integer :: stat
    b = 1
    x = 7
    call a%from_csr(row_ptr, col, values, stat=stat)
    call solver%create(a, stat)
    call check_status(stat, sxt_ok, 'create: '//solver%error())
    call solver%solve(b, x, report, stat)
    call check_status(stat, sxt_e_dimension, 'b and x one too long')
    call check_text(report%message, '65', 'the sentence has the length given')
    call check_text(report%message, '64', 'and the length wanted')
    call solver%solve(b(:n), x, report, stat)
    call check_status(stat, sxt_e_dimension, 'x alone too long')
    call check_text(report%message, 'x has 65', 'the sentence is about x')
    call check(all(abs(x - 7) <= 0), 'x is untouched after an error')
    call check(report%reason == sxt_reason_none, 'nothing ran')
    call solver%solve(b(:n), x(:n), report, stat)
    call check_status(stat, sxt_ok, 'the solver is usable after errors')
    call check(len(report%message) == 0, 'and the message is gone')

    b(3) = ieee_value(b(3), ieee_quiet_nan)
    call solver%solve(b(:n), x(:n), report, stat)
    call check_status(stat, sxt_e_not_finite, 'a NaN in b')
    call check(len(report%message) > 0, 'has a sentence')

    call a%from_csr(row_ptr, col(2:), values, stat=stat)
    call check_status(stat, sxt_e_dimension, 'col shorter than row_ptr says')
    call check_text(a%error(), 'col has 287', 'the sentence is about col')
    call a%from_csr(row_ptr(:0), col, values, stat=stat)
    call check_status(stat, sxt_e_dimension, 'an empty row_ptr')
    call check_text(a%error(), 'row_ptr', 'the sentence is about row_ptr')
    call a%from_coo(n, col, col(2:), values, stat=stat)
    call check_status(stat, sxt_e_dimension, 'row and col of different length')
    call check_text(a%error(), '287', 'the sentence has the lengths')
  end subroutine

  subroutine wrong_matrices()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    integer :: stat
    call a%from_coo(2, [1, 2, 1], [1, 2, 2], [1.0_real64, 1.0_real64, 0.5_real64], stat=stat)
    call solver%create(a, stat)
    call check_status(stat, sxt_e_not_symmetric, 'not symmetric')
    call a%from_coo(2, [1, 2, 3], [1, 2, 2], [1.0_real64, 1.0_real64, 0.5_real64], stat=stat)
    call check_status(stat, sxt_e_index, 'row 3 of 2')
    call check_text(a%error(), '3', 'the sentence names the index')
    call a%from_coo(2, [1, 2], [1, 2], [1.0_real64, 0.0_real64], stat=stat)
    call solver%create(a, stat)
    call check_status(stat, sxt_e_diagonal, 'a zero on the diagonal')
    call check(len(solver%error()) > 0, 'has a sentence')
    call a%from_coo(2, [1, 2], [1, 2], [1.0_real64, ieee_value(1.0_real64, ieee_quiet_nan)], stat=stat)
    call check_status(stat, sxt_e_not_finite, 'a NaN in the matrix')
  end subroutine

  ! Symmetric with a positive diagonal, eigenvalues -1 and 3: only the iteration can find out.
  subroutine indefinite()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    real(real64) :: x(2)
    integer :: stat
    call a%from_csr([1, 3, 5], [1, 2, 1, 2], [1.0_real64, 2.0_real64, 2.0_real64, 1.0_real64], stat=stat)
    call solver%create(a, stat)
    call check_status(stat, sxt_ok, 'create for an indefinite matrix: '//solver%error())
    call solver%solve([1.0_real64, -1.0_real64], x, report, stat)
    call check_status(stat, sxt_not_converged, 'an indefinite matrix')
    call check(report%reason == sxt_reason_a_indefinite, 'has its own reason')
    call check(sextant_reason_name(report%reason) == 'a-indefinite', 'with a name')
    call check_text(report%message, 'not positive definite', 'and a sentence')
    call check(.not. report%converged, 'and is not called converged')
    call check(all(ieee_is_finite(x)), 'x holds numbers')
  end subroutine

  subroutine wrong_names()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_options) :: options
    integer :: stat
    call a%from_csr(row_ptr, col, values, stat=stat)
    options%preconditioner = 'jakobi'
    call solver%create(a, options, stat)
    call check_status(stat, sxt_e_unknown_name, 'a misspelt preconditioner')
    call check_text(solver%error(), 'jacobi', 'the sentence has the nearest name')
    options%preconditioner = '   '
    options%rtol = ieee_value(1.0_real64, ieee_quiet_nan)
    call solver%create(a, options, stat)
    call check_status(stat, sxt_e_argument, 'a tolerance that is no number')
    call check(sextant_status_name(stat) == 'SXT_E_ARGUMENT', 'a status has a name')
    call check(len(sextant_status_text(stat)) > 0, 'and a sentence')
    options%rtol = 1.0e-6_real64
    options%max_iterations = -5
    call solver%create(a, options, stat)
    call check_status(stat, sxt_e_argument, 'a negative limit of iterations')
    call check_text(solver%error(), '-5', 'the sentence has the limit')
    options%max_iterations = 0
    call solver%create(a, options, stat)
    call check_status(stat, sxt_ok, 'a blank name means: choose')
  end subroutine

  subroutine contexts()
    type(sextant_context) :: context, other
    type(sextant_matrix) :: a
    character(:), allocatable :: text
    integer :: stat
    call context%create(device='cpu', threads=1, deterministic=.true., stat=stat)
    call check_status(stat, sxt_ok, 'a context of one thread: '//context%error())
    call context%describe(text, stat)
    call check_status(stat, sxt_ok, 'describe')
    call check_text(text, 'cpu', 'a context describes itself')
    call a%from_csr(row_ptr, col, values, context=context, stat=stat)
    call check_status(stat, sxt_ok, 'a matrix in it')
    call context%destroy()
    call a%update_values(values, stat)
    call check_status(stat, sxt_ok, 'which outlives it')
    call other%create(device='abacus', stat=stat)
    call check(stat < 0 .and. len(other%error()) > 0, 'an unknown device has a sentence')
    call check(.not. other%is_made(), 'and makes nothing')
    call a%from_csr(row_ptr, col, values, context=other, stat=stat)
    call check_status(stat, sxt_e_state, 'a context that was not made')
  end subroutine

  subroutine nothing_made()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    character(:), allocatable :: text
    real(real64) :: x(1)
    integer :: stat
    call a%update_values([1.0_real64], stat)
    call check_status(stat, sxt_e_state, 'update of nothing')
    call check_text(a%error(), 'from_csr', 'the sentence says what to call')
    call solver%create(a, stat)
    call check_status(stat, sxt_e_state, 'a solver for nothing')
    call solver%solve([1.0_real64], x, report, stat)
    call check_status(stat, sxt_e_state, 'a solve with nothing')
    call check_text(report%message, 'create', 'the sentence says what to call')
    call solver%explain(text, stat)
    call check_status(stat, sxt_e_state, 'explain nothing')
    call a%destroy()
    call a%destroy()
    call check(.not. a%is_made() .and. a%rows() == 0, 'destroying nothing does nothing')
  end subroutine

  subroutine copies()
    type :: simulator
      type(sextant_matrix) :: a
      type(sextant_pcg) :: solvers(2)
    end type
    type(simulator) :: one, two
    type(simulator), allocatable :: three
    integer :: stat
    call one%a%from_csr(row_ptr, col, values, stat=stat)
    call one%solvers(2)%create(one%a, stat)
    two = one
    allocate(three, source=one)
    call check(.not. two%a%is_made() .and. .not. two%solvers(2)%is_made(), 'an assigned copy is empty')
    call check(.not. three%a%is_made() .and. .not. three%solvers(2)%is_made(), 'an allocated copy is empty')
    call two%a%update_values(values, stat)
    call check_status(stat, sxt_e_state, 'a copy cannot be used')
    deallocate(three)
    call check(one%a%is_made() .and. one%solvers(2)%is_made(), 'the original is whole')
    one = one
    call check(one%a%is_made(), 'assigning to itself changes nothing')
    call one%a%update_values(values, stat)
    call check_status(stat, sxt_ok, 'the original works')
    call two%a%from_csr(row_ptr, col, values, stat=stat)
    call check_status(stat, sxt_ok, 'a copy can be made anew')
  end subroutine
end program test_errors
