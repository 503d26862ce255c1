! SPDX-License-Identifier: BSD-3-Clause
! The three calls, on CSR and COO arrays, with new values, warm starts and everything the report promises.
program test_solve
  use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant
  use checks
  implicit none

  integer, parameter :: side = 20, n = side**2
  integer(int32), allocatable :: row_ptr(:), col(:)
  real(real64), allocatable :: values(:)
  real(real64) :: b(n), exact(n)
  integer :: i

  call laplacian_csr(side, 0.0_real64, row_ptr, col, values)
  exact = [(sin(real(i, real64)), i=1, n)]
  b = csr_product(row_ptr, col, values, exact)

  call three_calls()
  call coordinates()
  call one_triangle()
  call new_values()
  call warm_start()
  call histories()
  call strided_arrays()
  call explanations()
  call blocks()
  call addresses()
  deallocate(row_ptr, col, values)
  call finish()

contains

  real(real64) function relative_residual(x, rhs, entries)
    real(real64), intent(in) :: x(:), rhs(:), entries(:)
    relative_residual = norm2(rhs - csr_product(row_ptr, col, entries, x))/norm2(rhs)
  end function

  subroutine three_calls()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    real(real64) :: x(n)
    integer :: stat
    x = 1.0e30_real64 ! must not be read without warm_start
    call a%from_csr(row_ptr, col, values, stat=stat)
    call check_status(stat, sxt_ok, 'from_csr')
    call check(a%rows() == n .and. a%cols() == n .and. a%nnz() == size(values), 'sizes of the matrix')
    call check(a%value_type() == sxt_f64, 'value type of the matrix')
    call solver%create(a, stat)
    call check_status(stat, sxt_ok, 'create: '//solver%error())
    call solver%solve(b, x, report, stat)
    call check_status(stat, sxt_ok, 'solve: '//report%message)
    call check(relative_residual(x, b, values) <= 1.0e-8_real64, 'the true residual meets the default tolerance')
    call check(maxval(abs(x - exact)) < 1.0e-5_real64, 'the solution is the one b was made of')
    call check(report%converged .and. report%reason == sxt_reason_converged, 'reason is converged')
    call check(report%iterations > 1 .and. report%iterations <= n, 'a believable number of iterations')
    call check(report%products >= report%iterations, 'products are counted')
    call check(abs(report%rhs_norm - norm2(b)) < 1.0e-10_real64*norm2(b), 'rhs_norm is the norm of b')
    call check(abs(report%true_relative_residual - relative_residual(x, b, values)) < 1.0e-12_real64, &
               'the reported residual is the true one')
    call check(report%solve_seconds > 0, 'the solve took time')
    call check(len(report%message) == 0, 'no message after a success')
  end subroutine

  ! Three columns, one of which needs no iteration; the answers are those of single solves.
  subroutine blocks()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: report, reports(3), few(2)
    type(sextant_solve_options) :: options
    real(real64) :: rhs(n, 3), x(n, 3), other(3, n), alone(n)
    integer :: stat, j
    rhs(:, 1) = b
    rhs(:, 2) = 0
    rhs(:, 3) = [(cos(0.01_real64*i**2), i=1, n)]
    x = 1.0e30_real64
    other = 0
    call set_up(a, solver)
    call solver%solve(rhs, x, options, reports, stat)
    call check_status(stat, sxt_ok, 'block: '//reports(1)%message)
    do j = 1, 3
      call solver%solve(rhs(:, j), alone, report, stat)
      call check(all(abs(alone - x(:, j)) <= 0), 'a column is solved as if it were alone')
      call check(reports(j)%iterations == report%iterations .and. reports(j)%converged, 'and reported so')
    end do
    call check(reports(2)%iterations == 0, 'each column stops on its own')

    options%max_iterations = 2
    call solver%solve(rhs, x, options, reports, stat)
    call check_status(stat, sxt_not_converged, 'a block with a limit')
    call check(len(reports(2)%message) == 0, 'b = 0 is solved all the same')
    call check_text(reports(3)%message, 'iteration 2', 'the others say where they stopped')
    call solver%solve(rhs, x, options, few, stat)
    call check_status(stat, sxt_e_dimension, 'too few reports')
    call check_text(few(1)%message, 'reports', 'which the sentence names')
    call solver%solve(rhs, other, options, reports, stat)
    call check_status(stat, sxt_e_dimension, 'columns of another length')
    call check_text(reports(1)%message, 'those of x', 'which the sentence names')
  end subroutine

  subroutine addresses()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    type(sextant_solve_options) :: options
    real(real64), target :: rhs(n), x(n)
    integer :: stat
    rhs = b
    call set_up(a, solver)
    call solver%solve(c_loc(rhs), c_loc(x), n, options, report, stat)
    call check_status(stat, sxt_ok, 'solve at addresses: '//report%message)
    call check(relative_residual(x, b, values) <= 1.0e-8_real64, 'residual at addresses')
    call solver%solve(c_null_ptr, c_loc(x), n, options, report, stat)
    call check_status(stat, sxt_e_argument, 'a null address')
    call solver%solve(c_loc(rhs), c_loc(x), n - 1, options, report, stat)
    call check_status(stat, sxt_e_dimension, 'a wrong length')
  end subroutine

  ! The same matrix as coordinates, backwards, with each diagonal entry in two halves that are summed.
  ! The matrix, and a solver for it.
  subroutine set_up(a, solver)
    type(sextant_matrix), intent(inout) :: a
    type(sextant_pcg), intent(inout) :: solver
    integer :: stat
    call a%from_csr(row_ptr, col, values, stat=stat)
    call check_status(stat, sxt_ok, 'from_csr: '//a%error())
    call solver%create(a, stat)
    call check_status(stat, sxt_ok, 'create: '//solver%error())
  end subroutine

  subroutine coordinates()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    integer(int32) :: rows(size(col) + n), cols(size(col) + n)
    real(real64) :: entries(size(col) + n), x(n)
    integer :: stat, row, k, m
    m = 0
    do row = n, 1, -1
      do k = row_ptr(row + 1) - 1, row_ptr(row), -1
        m = m + 1
        rows(m) = row
        cols(m) = col(k)
        entries(m) = values(k)
        if (col(k) /= row) cycle
        entries(m) = 0.5_real64*values(k)
        m = m + 1
        rows(m) = row
        cols(m) = row
        entries(m) = 0.5_real64*values(k)
      end do
    end do
    call a%from_coo(n, rows, cols, entries, stat=stat)
    call check_status(stat, sxt_ok, 'from_coo: '//a%error())
    call check(a%nnz() == size(col), 'duplicates are summed')
    call solver%create(a, stat)
    call solver%solve(b, x, report, stat)
    call check_status(stat, sxt_ok, 'solve from coordinates')
    call check(relative_residual(x, b, values) <= 1.0e-8_real64, 'residual from coordinates')

    call a%from_coo(n, rows, cols, entries, refuse_duplicates=.true., stat=stat)
    call check_status(stat, sxt_e_duplicate, 'duplicates refused')
    call check(len(a%error()) > 0, 'a duplicate has a sentence')
    call check(a%is_made(), 'the old matrix is kept when a new one fails')
  end subroutine

  subroutine one_triangle()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    integer(int32) :: rows(size(col))
    integer(int32), allocatable :: lower_row(:), lower_col(:)
    real(real64) :: x(n)
    integer :: stat, row
    do row = 1, n
      rows(row_ptr(row):row_ptr(row + 1) - 1) = row
    end do
    lower_row = pack(rows, col <= rows)
    lower_col = pack(col, col <= rows)
    call a%from_coo(n, lower_row, lower_col, pack(values, col <= rows), symmetry=sxt_symmetric, triangle=sxt_lower, &
                    stat=stat)
    call check_status(stat, sxt_ok, 'one triangle: '//a%error())
    call check(a%nnz() == size(col), 'both triangles are counted')
    call solver%create(a, stat)
    call solver%solve(b, x, report, stat)
    call check_status(stat, sxt_ok, 'solve from one triangle')
    call check(relative_residual(x, b, values) <= 1.0e-8_real64, 'residual from one triangle')
  end subroutine

  subroutine new_values()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    real(real64) :: x(n)
    real(real64), allocatable :: other(:)
    integer :: stat
    call set_up(a, solver)
    call solver%solve(b, x, report, stat)
    other = 3*values
    call a%update_values(other, stat)
    call check_status(stat, sxt_ok, 'update_values: '//a%error())
    call solver%solve(b, x, report, stat)
    call check_status(stat, sxt_ok, 'solve after update')
    call check(relative_residual(x, b, other) <= 1.0e-8_real64, 'the solver took the new values')

    call a%update_values(other(2:), stat)
    call check_status(stat, sxt_e_dimension, 'one value too few')
    call check(len(a%error()) > 0, 'a wrong number of values has a sentence')
    call a%update_values(real(other), stat)
    call check_status(stat, sxt_e_type, 'values of another type')
    call check_text(a%error(), 'f32', 'the sentence names the type given')
    call solver%solve(b, x, report, stat)
    call check(relative_residual(x, b, other) <= 1.0e-8_real64, 'after a refused update the old values stay')
  end subroutine

  subroutine warm_start()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: cold, warm
    type(sextant_solve_options) :: options
    real(real64) :: x(n)
    integer :: stat
    call set_up(a, solver)
    call solver%solve(b, x, cold, stat)
    options%warm_start = .true.
    call solver%solve(b, x, options, warm, stat)
    call check_status(stat, sxt_ok, 'warm start')
    call check(warm%iterations < cold%iterations/2, 'starting from the solution saves iterations')

    options%warm_start = .false.
    options%max_iterations = 2
    call solver%solve(b, x, options, warm, stat)
    call check_status(stat, sxt_not_converged, 'two iterations are too few')
    call check(warm%reason == sxt_reason_iteration_limit, 'reason is the iteration limit')
    call check(sextant_reason_name(warm%reason) == 'iteration-limit', 'the reason has a name')
    call check(.not. warm%converged .and. len(warm%message) > 0, 'not converged, and the message says why')
  end subroutine

  subroutine histories()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    type(sextant_solve_options) :: options
    real(real64) :: x(n)
    integer :: stat
    call set_up(a, solver)
    options%history_capacity = 5
    call solver%solve(b, x, options, report, stat)
    call check_status(stat, sxt_ok, 'solve with history')
    call check(allocated(report%history), 'a history was kept')
    if (.not. allocated(report%history)) return
    call check(size(report%history) == 5, 'as long as there was room')
    call check(all(report%history > 0), 'of residual norms')
    options%history_capacity = huge(options%history_capacity)/64
    call solver%solve(b, x, options, report, stat)
    call check_status(stat, sxt_e_memory, 'no memory for a history')
    call check_text(report%message, 'history', 'which the sentence names')
  end subroutine

  ! Sections with stride travel by copy; the result must come back.
  subroutine strided_arrays()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    real(real64) :: wide(2, n)
    integer :: stat
    call set_up(a, solver)
    wide(1, :) = b
    wide(2, :) = 0
    call solver%solve(wide(1, :), wide(2, :), report, stat)
    call check_status(stat, sxt_ok, 'solve on strided arrays')
    call check(relative_residual(wide(2, :), b, values) <= 1.0e-8_real64, 'the result came back')
  end subroutine

  subroutine explanations()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_options) :: options
    character(:), allocatable :: text
    integer :: stat
    call a%from_csr(row_ptr, col, values, stat=stat)
    options%preconditioner = 'jacobi'
    options%recurrence = 'classical'
    call solver%create(a, options, stat)
    call check_status(stat, sxt_ok, 'create with options: '//solver%error())
    call solver%explain(text, stat)
    call check_status(stat, sxt_ok, 'explain')
    call check_text(text, 'jacobi', 'explain names the preconditioner')
    call check_text(text, 'spmv', 'explain names the product kernel')
    call check(index(text, achar(0)) == 0, 'no zero byte in the text')
    call solver%explain_json(text, stat)
    call check_status(stat, sxt_ok, 'explain_json')
    call check(text(1:1) == '{', 'JSON begins with a brace')
    call check(scan(trim(text), '}', back=.true.) > 1, 'and is complete')
    call check(len(sextant_version()) >= 5, 'the library has a version')
  end subroutine
end program test_solve
