! SPDX-License-Identifier: BSD-3-Clause
! 32- and 64-bit indices, zero base, single and double precision, real and complex Hermitian.
program test_types
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant
  use checks
  implicit none

  integer, parameter :: side = 12, n = side**2
  integer(int32), allocatable :: row_ptr(:), col(:)
  real(real64), allocatable :: values(:)
  real(real64) :: b(n)
  integer :: i

  call laplacian_csr(side, 0.1_real64, row_ptr, col, values)
  b = [(cos(real(i, real64)), i=1, n)]
  call zero_based()
  call wide_indices()
  call single_precision()
  call hermitian()
  call hermitian_single()
  call rectangular()
  deallocate(row_ptr, col, values)
  call finish()

contains

  subroutine solve_real64(a, what)
    type(sextant_matrix), intent(in) :: a
    character(*), intent(in) :: what
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    real(real64) :: x(n)
    integer :: stat
    x = 0
    call solver%create(a, stat)
    call check_status(stat, sxt_ok, 'create '//what//': '//solver%error())
    call solver%solve(b, x, report, stat)
    call check_status(stat, sxt_ok, 'solve '//what)
    call check(norm2(b - csr_product(row_ptr, col, values, x)) <= 1.0e-8_real64*norm2(b), 'residual '//what)
  end subroutine

  subroutine zero_based()
    type(sextant_matrix) :: a
    integer(int32) :: rows(size(col))
    integer :: stat, row
    call a%from_csr(row_ptr - 1, col - 1, values, zero_based=.true., stat=stat)
    call check_status(stat, sxt_ok, 'zero-based CSR: '//a%error())
    call solve_real64(a, 'zero-based CSR')
    do row = 1, n
      rows(row_ptr(row):row_ptr(row + 1) - 1) = row
    end do
    call a%from_coo(n, rows - 1, col - 1, values, zero_based=.true., stat=stat)
    call check_status(stat, sxt_ok, 'zero-based COO: '//a%error())
    call solve_real64(a, 'zero-based COO')
    ! The same arrays without the argument hold an index 0, which one-based arrays cannot.
    call a%from_coo(n, rows - 1, col - 1, values, stat=stat)
    call check_status(stat, sxt_e_index, 'an index 0 in one-based arrays')
    call check(len(a%error()) > 0, 'a wrong index has a sentence')
  end subroutine

  subroutine wide_indices()
    type(sextant_matrix) :: a
    integer(int64), allocatable :: rows(:), cols(:), ptr(:)
    integer :: stat, row
    allocate(ptr, source=int(row_ptr, int64))
    allocate(cols, source=int(col, int64))
    call a%from_csr(ptr, cols, values, stat=stat)
    call check_status(stat, sxt_ok, 'int64 CSR: '//a%error())
    call solve_real64(a, 'int64 CSR')
    allocate(rows(size(col)))
    do row = 1, n
      rows(row_ptr(row):row_ptr(row + 1) - 1) = row
    end do
    call a%from_coo(int(n, int64), rows, cols, values, stat=stat)
    call check_status(stat, sxt_ok, 'int64 COO: '//a%error())
    call solve_real64(a, 'int64 COO')
  end subroutine

  subroutine single_precision()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_options) :: options
    type(sextant_report) :: report
    real(real32) :: x(n)
    integer :: stat
    x = 0
    call a%from_csr(row_ptr, col, real(values, real32), stat=stat)
    call check(a%value_type() == sxt_f32, 'single precision is kept')
    options%rtol = 1.0e-4_real64
    call solver%create(a, options, stat)
    call check_status(stat, sxt_ok, 'create in single precision: '//solver%error())
    call solver%solve(real(b, real32), x, report, stat)
    call check_status(stat, sxt_ok, 'solve in single precision')
    call check(norm2(b - csr_product(row_ptr, col, values, real(x, real64))) <= 2.0e-4_real64*norm2(b), &
               'residual in single precision')
  end subroutine

  ! A chain with complex couplings: 3 on the diagonal, i above and -i below it; positive definite.
  subroutine chain(ptr, cols, entries)
    integer(int32), allocatable, intent(out) :: ptr(:), cols(:)
    complex(real64), allocatable, intent(out) :: entries(:)
    integer :: row
    ptr = [1]
    cols = [integer(int32) ::]
    entries = [complex(real64) ::]
    do row = 1, n
      if (row > 1) cols = [cols, row - 1]
      if (row > 1) entries = [entries, (0.0_real64, -1.0_real64)]
      cols = [cols, row]
      entries = [entries, (3.0_real64, 0.0_real64)]
      if (row < n) cols = [cols, row + 1]
      if (row < n) entries = [entries, (0.0_real64, 1.0_real64)]
      ptr = [ptr, size(cols) + 1]
    end do
  end subroutine

  ! b = A exact by hand, so that a lost conjugate is detected.
  function chain_product(x) result(y)
    complex(real64), intent(in) :: x(n)
    complex(real64) :: y(n)
    complex(real64), parameter :: i1 = (0.0_real64, 1.0_real64)
    y = 3*x
    y(2:) = y(2:) - i1*x(:n - 1)
    y(:n - 1) = y(:n - 1) + i1*x(2:)
  end function

  subroutine hermitian()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    integer(int32), allocatable :: ptr(:), cols(:)
    complex(real64), allocatable :: entries(:)
    complex(real64) :: exact(n), x(n)
    integer :: stat
    call chain(ptr, cols, entries)
    exact = cmplx(b, b(n:1:-1), real64)
    x = 0
    call a%from_csr(ptr, cols, entries, symmetry=sxt_hermitian, stat=stat)
    call check_status(stat, sxt_ok, 'Hermitian: '//a%error())
    call check(a%value_type() == sxt_c128, 'complex values are kept')
    call solver%create(a, stat)
    call check_status(stat, sxt_ok, 'create Hermitian: '//solver%error())
    call solver%solve(chain_product(exact), x, report, stat)
    call check_status(stat, sxt_ok, 'solve Hermitian')
    call check(maxval(abs(x - exact)) < 1.0e-6_real64, 'solution of the Hermitian system')
    call solver%solve(b, x%re, report, stat)
    call check_status(stat, sxt_e_type, 'a real right-hand side for a complex matrix')
    call check_text(report%message, 'c128', 'the sentence names the type of the matrix')
  end subroutine

  subroutine hermitian_single()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_options) :: options
    type(sextant_report) :: report
    integer(int32), allocatable :: ptr(:), cols(:)
    complex(real64), allocatable :: entries(:)
    complex(real32) :: x(n)
    integer :: stat
    call chain(ptr, cols, entries)
    x = 0
    call a%from_csr(int(ptr, int64), int(cols, int64), cmplx(entries, kind=real32), symmetry=sxt_hermitian, stat=stat)
    call check_status(stat, sxt_ok, 'Hermitian in single precision: '//a%error())
    options%rtol = 1.0e-4_real64
    call solver%create(a, options, stat)
    call solver%solve(cmplx(chain_product(cmplx(b, b, real64)), kind=real32), x, report, stat)
    call check_status(stat, sxt_ok, 'solve Hermitian in single precision')
    call check(maxval(abs(x - cmplx(b, b, real32))) < 1.0e-2, 'solution in single precision')
  end subroutine

  subroutine rectangular()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    integer :: stat
    call a%from_csr([1, 2, 3], [1, 3], [1.0_real64, 1.0_real64], cols=3, stat=stat)
    call check_status(stat, sxt_ok, 'a rectangular matrix')
    call check(a%rows() == 2 .and. a%cols() == 3, 'is 2 by 3')
    call solver%create(a, stat)
    call check_status(stat, sxt_e_not_square, 'but conjugate gradients want a square one')
    call check(len(solver%error()) > 0, 'and say so')
    call check(.not. solver%is_made(), 'no solver is made')
  end subroutine
end program test_types
