! SPDX-License-Identifier: BSD-3-Clause
! Matrices from every source and back: compressed columns, files, pointers of 64 bits, the canonical CSR, features.
program test_matrices
  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant
  use checks
  implicit none

  call compressed_columns()
  call mixed_integers()
  call complex_and_back()
  call files()
  call features()
  call adopted()
  call errors_count_from_one()
  call finish()

contains

  ! (1 0 2; 0 3 0), by columns.
  subroutine compressed_columns()
    type(sextant_matrix) :: a
    real(real64) :: y(2)
    integer :: stat
    call a%from_csc([1, 2, 3, 4], [1, 2, 1], [1.0_real64, 3.0_real64, 2.0_real64], rows=2, stat=stat)
    call check_status(stat, sxt_ok, 'from_csc: '//a%error())
    call check(a%rows() == 2 .and. a%cols() == 3 .and. a%nnz() == 3, 'its sizes')
    call sextant_spmv(a, [1.0_real64, 10.0_real64, 100.0_real64], y, stat=stat)
    call check(stat == sxt_ok .and. all(abs(y - [201, 30]) < 1.0e-12_real64), 'its product')
    call a%from_csc([1_int64, 2_int64], [1_int64], [1.0_real32, 2.0_real32], stat=stat)
    call check_status(stat, sxt_e_dimension, 'values that are too many')
    call check_text(a%error(), 'col_ptr ends after entry 1', 'the sentence is about columns')
  end subroutine

  subroutine mixed_integers()
    type(sextant_matrix) :: a
    real(real64) :: y(2)
    integer :: stat
    call a%from_csr([1_int64, 2_int64, 3_int64], [1_int32, 2_int32], [5.0_real64, 7.0_real64], stat=stat)
    call check_status(stat, sxt_ok, 'pointers of 64 bits, columns of 32: '//a%error())
    call sextant_spmv(a, [1.0_real64, 1.0_real64], y, stat=stat)
    call check(all(abs(y - [5, 7]) < 1.0e-12_real64), 'its product')
  end subroutine

  subroutine complex_and_back()
    type(sextant_matrix) :: a
    integer(int32), allocatable :: row_ptr(:), col(:)
    integer(int64), allocatable :: wide_ptr(:), wide_col(:)
    complex(real64), allocatable :: values(:)
    real(real64), allocatable :: wrong(:)
    type(c_ptr) :: at_ptr, at_col, at_values
    integer(int32), pointer :: lent(:)
    complex(real64), parameter :: i = (0.0_real64, 1.0_real64)
    integer :: stat
    ! The lower triangle of (2 i; -i 2), columns in descending order.
    call a%from_coo(2, [2, 2, 1], [2, 1, 1], [(2.0_real64, 0.0_real64), -i, (2.0_real64, 0.0_real64)], &
                    symmetry=sxt_hermitian, triangle=sxt_lower, stat=stat)
    call check_status(stat, sxt_ok, 'a Hermitian matrix: '//a%error())
    call a%get_csr(row_ptr, col, values, stat)
    call check_status(stat, sxt_ok, 'get_csr: '//a%error())
    call check(all(row_ptr == [1, 3, 5]) .and. all(col == [1, 2, 1, 2]), 'pointers and columns count from 1')
    call check(all(abs(values - [(2.0_real64, 0.0_real64), i, -i, (2.0_real64, 0.0_real64)]) <= 0), 'both triangles')
    call a%get_csr(wide_ptr, wide_col, values, stat)
    call check(stat == sxt_ok .and. all(wide_ptr == [1, 3, 5]) .and. all(wide_col == [1, 2, 1, 2]), 'in 64 bits, too')
    call a%get_csr(row_ptr, col, wrong, stat)
    call check_status(stat, sxt_e_type, 'values of another type')
    call a%get_csr(at_ptr, at_col, at_values, stat)
    call check(stat == sxt_ok .and. c_associated(at_values), 'addresses')
    call c_f_pointer(at_ptr, lent, [3])
    call check(all(lent == [0, 2, 4]), 'what is lent counts from 0')
    call check(a%bytes() > 0, 'a matrix takes memory')
  end subroutine

  subroutine files()
    type(sextant_matrix) :: a
    integer :: unit, stat
    open (newunit=unit, file='fortran_test.mtx', action='write', status='replace')
    write (unit, '(a)') '%%MatrixMarket matrix coordinate real symmetric', '2 2 3', '1 1 2.0', '2 1 -1.0', '2 2 2.0'
    close (unit)
    call a%from_file('fortran_test.mtx', stat=stat)
    call check_status(stat, sxt_ok, 'from_file: '//a%error())
    call check(a%rows() == 2 .and. a%nnz() == 4 .and. a%value_type() == sxt_f64, 'what the file has')
    call a%from_file('fortran_test.mtx', value_type=sxt_c64, stat=stat)
    call check(stat == sxt_ok .and. a%value_type() == sxt_c64, 'in another type')
    call a%from_file('no_such_file.mtx', stat=stat)
    call check_status(stat, sxt_e_file_read, 'a file that is not there')
    call check_text(a%error(), 'no_such_file.mtx', 'the sentence has its name')
    call check(a%value_type() == sxt_c64, 'the old content stays')
    open (newunit=unit, file='fortran_test.mtx', status='old')
    close (unit, status='delete')
  end subroutine

  subroutine features()
    type(sextant_matrix) :: a
    real(real64) :: number
    integer :: stat, i
    logical :: found
    call a%from_csr([1, 3, 4], [1, 2, 2], [1.0_real64, 2.0_real64, 3.0_real64], stat=stat)
    call a%feature('row_nnz_max', number, stat)
    call check(stat == sxt_ok .and. abs(number - 2) <= 0, 'the longest row has 2 entries')
    call a%feature('row_nnz_mix', number, stat)
    call check_status(stat, sxt_e_unknown_name, 'a misspelt feature')
    call check_text(a%error(), 'row_nnz_max', 'the sentence has the nearest name')
    found = .false.
    i = 1
    do while (len(sextant_feature_name(i)) > 0)
      if (sextant_feature_name(i) == 'row_nnz_max') found = .true.
      i = i + 1
    end do
    call check(found, 'names of features count from 1')
  end subroutine

  subroutine adopted()
    type(sextant_matrix) :: a
    type(sextant_matrix_settings) :: settings
    integer(int32), target :: row_ptr(3) = [0, 1, 2], col(2) = [0, 1]
    real(real64), target :: values(2) = [3.0_real64, 4.0_real64]
    real(real64) :: y(2)
    integer :: stat
    settings%adopt = .true.
    call a%from_csr(row_ptr, col, values, zero_based=.true., settings=settings, stat=stat)
    call check_status(stat, sxt_ok, 'arrays that are adopted: '//a%error())
    call sextant_spmv(a, [1.0_real64, 1.0_real64], y, stat=stat)
    call check(all(abs(y - [3, 4]) <= 0), 'its product')
    call a%destroy()
  end subroutine

  subroutine errors_count_from_one()
    type(sextant_matrix) :: a
    integer :: stat
    call a%from_csr([1, 2, 3], [1, 5], [1.0_real64, 1.0_real64], stat=stat)
    call check_status(stat, sxt_e_index, 'a column that is out of range')
    call check_text(a%error(), '5', 'the sentence has the column as the caller counts')
    call check(index(a%error(), 'from 0') == 0, 'and does not count from 0')
  end subroutine
end program test_matrices
