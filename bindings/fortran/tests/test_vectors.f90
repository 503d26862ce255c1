! SPDX-License-Identifier: BSD-3-Clause
! Vectors, products and reductions in the four types, with known answers.
program test_vectors
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant
  use checks
  implicit none

  call real_vectors()
  call complex_vectors()
  call single_precision()
  call wrapped()
  call indices()
  call several_dots()
  call products()
  call solved_where_they_lie()
  call refused()
  call finish()

contains

  subroutine real_vectors()
    type(sextant_vector) :: x, y, w
    real(real64) :: answer, values(4)
    integer :: stat
    integer(int64) :: at
    call x%create(4, sxt_f64, stat=stat)
    call check_status(stat, sxt_ok, 'create: '//x%error())
    call check(x%length() == 4 .and. x%value_type() == sxt_f64, 'length and type')
    call y%create(4, sxt_f64, stat=stat)
    call w%create(4, sxt_f64, stat=stat)
    call x%read(values, stat)
    call check(stat == sxt_ok .and. all(abs(values) <= 0), 'a new vector holds zeros')
    call x%write([1.0_real64, -2.0_real64, 3.0_real64, -4.0_real64], stat)
    call check_status(stat, sxt_ok, 'write')
    call sextant_fill(1.0_real64, y, stat)
    call sextant_axpy(2.0_real64, x, y, stat)               ! 3 -3 7 -7
    call sextant_scale(0.5_real64, y, stat)                 ! 1.5 -1.5 3.5 -3.5
    call sextant_axpby(1.0_real64, x, 2.0_real64, y, stat)  ! 4 -5 10 -11
    call sextant_waxpby(1.0_real64, x, -1.0_real64, y, w, stat)
    call check_status(stat, sxt_ok, 'waxpby')
    call w%read(values, stat)
    call check(all(abs(values - [-3, 3, -7, 7]) < 1.0e-14_real64), 'fill, axpy, scale, axpby, waxpby')
    call sextant_multiply(x, y, w, stat)
    call w%read(values, stat)
    call check(all(abs(values - [4, 10, 30, 44]) < 1.0e-14_real64), 'multiply')
    call sextant_copy(x, w, stat)
    call sextant_sum(w, answer, stat)
    call check(abs(answer + 2) < 1.0e-14_real64, 'copy and sum')
    call sextant_dot(x, y, answer, stat)
    call check(abs(answer - 88) < 1.0e-13_real64, 'dot')
    call sextant_nrm2(x, answer, stat)
    call check(abs(answer - sqrt(30.0_real64)) < 1.0e-14_real64, 'nrm2')
    call sextant_asum(x, answer, stat)
    call check(abs(answer - 10) < 1.0e-14_real64, 'asum')
    call sextant_amax(x, answer, stat)
    call check(abs(answer - 4) < 1.0e-14_real64, 'amax')
    call sextant_iamax(x, at, stat)
    call check(stat == sxt_ok .and. at == 4, 'iamax counts from 1')
    call sextant_min(x, answer, stat)
    call check(abs(answer + 4) < 1.0e-14_real64, 'min')
    call sextant_max(x, answer, stat)
    call check(abs(answer - 3) < 1.0e-14_real64, 'max')
  end subroutine

  subroutine complex_vectors()
    type(sextant_vector) :: x, y
    complex(real64) :: answer, values(2)
    real(real64) :: norm
    integer :: stat
    call x%create(2, sxt_c128, stat=stat)
    call y%create(2, sxt_c128, stat=stat)
    call x%write([(1.0_real64, 2.0_real64), (3.0_real64, -1.0_real64)], stat)
    call y%write([(0.0_real64, 1.0_real64), (1.0_real64, 0.0_real64)], stat)
    call sextant_dot(x, y, answer, stat)
    call check(abs(answer - (1.0_real64, 0.0_real64)) < 1.0e-14_real64, 'dot does not conjugate')
    call sextant_dotc(x, y, answer, stat)
    call check(abs(answer - (5.0_real64, 2.0_real64)) < 1.0e-14_real64, 'dotc conjugates x')
    call sextant_nrm2(x, norm, stat)
    call check(abs(norm - sqrt(15.0_real64)) < 1.0e-14_real64, 'the norm of a complex vector is real')
    call sextant_axpy((0.0_real64, 1.0_real64), y, x, stat)
    call sextant_scale(2.0_real64, x, stat)
    call x%read(values, stat)
    call check(abs(values(1) - (0.0_real64, 4.0_real64)) < 1.0e-14_real64, 'complex axpy, real scale')
    call sextant_sum(x, norm, stat)
    call check_status(stat, sxt_e_type, 'a complex sum into a real variable')
  end subroutine

  ! Every type has its scalars: real ones of any kind are converted.
  subroutine single_precision()
    type(sextant_vector) :: x, z
    real(real32) :: values(3)
    complex(real32) :: complex_values(2), complex_sum
    real(real64) :: answer
    integer :: stat
    call x%create(3, sxt_f32, stat=stat)
    call sextant_fill(1.5_real64, x, stat)
    call sextant_scale(2.0_real32, x, stat)
    call x%read(values, stat)
    call check(stat == sxt_ok .and. all(abs(values - 3) <= 0), 'f32 with scalars of two kinds')
    call sextant_sum(x, answer, stat)
    call check(abs(answer - 9) <= 0, 'its sum in a variable of another kind')
    call z%create(2, sxt_c64, stat=stat)
    call sextant_fill((1.0_real32, 1.0_real32), z, stat)
    call z%read(complex_values, stat)
    call sextant_sum(z, complex_sum, stat)
    call check(abs(complex_sum - (2.0_real32, 2.0_real32)) <= 0, 'c64')
    call sextant_sum(z, answer, stat)
    call check_status(stat, sxt_e_type, 'a c64 sum into a real variable')
  end subroutine

  subroutine wrapped()
    type(sextant_vector) :: x, y
    real(real64), target :: memory(3), other(3)
    integer :: stat
    memory = 1
    call x%wrap(memory, stat=stat)
    call check_status(stat, sxt_ok, 'wrap: '//x%error())
    call sextant_scale(3.0_real64, x, stat)
    call check(all(abs(memory - 3) <= 0), 'a wrapped array is worked on where it lies')
    call y%wrap(c_loc(other), 3, sxt_f64, sxt_space_host, stat=stat)
    call sextant_copy(x, y, stat)
    call check(stat == sxt_ok .and. all(abs(other - 3) <= 0), 'an address, too')
  end subroutine

  subroutine indices()
    type(sextant_vector) :: x, y
    real(real64) :: values(3), five(5)
    character(:), allocatable :: message
    integer :: stat
    integer(int32), target :: from_zero(3)
    call x%create(5, sxt_f64, stat=stat)
    call y%create(3, sxt_f64, stat=stat)
    call x%write([10.0_real64, 20.0_real64, 30.0_real64, 40.0_real64, 50.0_real64], stat)
    call sextant_gather(x, [5, 1, 3], y, stat)
    call y%read(values, stat)
    call check(all(abs(values - [50, 10, 30]) <= 0), 'gather by indices from 1')
    call sextant_scatter(y, [1_int64, 2_int64, 3_int64], x, stat)
    call x%read(five, stat)
    call check(all(abs(five - [50, 10, 30, 40, 50]) <= 0), 'scatter by 64-bit indices from 1')
    from_zero = [4, 3, 0]
    call sextant_gather(x, c_loc(from_zero), sxt_i32, y, stat)
    call y%read(values, stat)
    call check(all(abs(values - [50, 40, 50]) <= 0), 'an address has indices from 0')
    call sextant_gather(x, [5, 6, 3], y, stat, message)
    call check_status(stat, sxt_e_index, 'an index that is out of range')
    call check_text(message, 'index(2) is 6, outside 1 to 5', 'the sentence counts from 1')
    call sextant_gather(x, [1, 2], y, stat, message)
    call check_status(stat, sxt_e_dimension, 'an index array that is too short')
    call check_text(message, '2 elements', 'the sentence says how long it is')
  end subroutine

  subroutine several_dots()
    type(sextant_vector) :: x(2), y(2)
    real(real64) :: answers(2)
    complex(real64) :: complex_answers(2)
    character(:), allocatable :: message
    integer :: stat, i
    do i = 1, 2
      call x(i)%create(100, sxt_f64, stat=stat)
      call y(i)%create(100, sxt_f64, stat=stat)
      call sextant_fill(real(i, real64), x(i), stat)
      call sextant_fill(2.0_real64, y(i), stat)
    end do
    call sextant_multidot(x, y, answers, stat)
    call check(stat == sxt_ok .and. all(abs(answers - [200, 400]) < 1.0e-12_real64), 'multidot')
    call sextant_multidot(x, y, complex_answers, stat)
    call check(all(abs(complex_answers - [200, 400]) < 1.0e-12_real64), 'multidot into complex variables')
    call y(2)%create(99, sxt_f64, stat=stat)
    call sextant_multidot(x, y, answers, stat, message)
    call check_status(stat, sxt_e_dimension, 'a vector that is too short')
    call check_text(message, 'y(2)', 'the sentence names it as Fortran counts')
  end subroutine

  ! A = (1 2 0; 0 3 4): not square, so that rows and columns cannot be confused.
  subroutine products()
    type(sextant_matrix) :: a
    type(sextant_vector) :: x, y
    real(real64) :: in(3), out(2), back(3), columns(3, 2), images(2, 2)
    character(:), allocatable :: message
    integer :: stat
    call a%from_csr([1, 3, 5], [1, 2, 2, 3], [1.0_real64, 2.0_real64, 3.0_real64, 4.0_real64], cols=3, stat=stat)
    in = [1, 10, 100]
    call sextant_spmv(a, in, out, stat=stat)
    call check(stat == sxt_ok .and. all(abs(out - [21, 430]) < 1.0e-12_real64), 'y = A x')
    call sextant_spmv(a, in, out, alpha=2.0_real64, beta=-1.0_real64, stat=stat)
    call check(all(abs(out - [21, 430]) < 1.0e-12_real64), 'y = 2 A x - y')
    call sextant_spmv(a, [1.0_real64, 2.0_real64], back, op=sxt_transpose, stat=stat)
    call check(all(abs(back - [1, 8, 8]) < 1.0e-12_real64), 'the transpose')
    columns(:, 1) = in
    columns(:, 2) = 1
    call sextant_spmv(a, columns, images, stat=stat)
    call check(all(abs(images(:, 1) - [21, 430]) < 1.0e-12_real64) .and. all(abs(images(:, 2) - [3, 7]) < 1.0e-12_real64), &
               'columns')
    call x%create(3, sxt_f64, stat=stat)
    call y%create(2, sxt_f64, stat=stat)
    call x%write(in, stat)
    call sextant_spmv(a, x, y, stat=stat)
    call sextant_spmv(a, x, y, alpha=1.0_real64, beta=1.0_real64, stat=stat)
    call y%read(out, stat)
    call check(all(abs(out - [42, 860]) < 1.0e-12_real64), 'vectors')
    call sextant_spmv(a, in(1:2), out, stat=stat, message=message)
    call check_status(stat, sxt_e_dimension, 'an x that is too short')
    call check_text(message, 'x has 2 rows', 'the sentence says how long it is')
  end subroutine

  subroutine solved_where_they_lie()
    integer(int32), allocatable :: row_ptr(:), col(:)
    real(real64), allocatable :: values(:)
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_vector) :: b, x
    type(sextant_report) :: report
    real(real64) :: norm
    integer :: stat
    call laplacian_csr(10, 0.0_real64, row_ptr, col, values)
    call a%from_csr(row_ptr, col, values, stat=stat)
    call solver%create(a, stat)
    call b%create(100, sxt_f64, stat=stat)
    call x%create(100, sxt_f64, stat=stat)
    call sextant_fill(1.0_real64, b, stat)
    call solver%solve(b, x, report, stat)
    call check_status(stat, sxt_ok, 'a solve of vectors: '//report%message)
    call sextant_spmv(a, x, b, alpha=1.0_real64, beta=-1.0_real64, stat=stat)
    call sextant_nrm2(b, norm, stat)
    call check(norm < 1.0e-7_real64, 'its true residual')
  end subroutine

  subroutine refused()
    type(sextant_vector) :: x, y, empty
    character(:), allocatable :: message
    real(real64) :: values(3)
    integer :: stat
    call x%create(3, sxt_f64, stat=stat)
    call y%create(2, sxt_f64, stat=stat)
    call sextant_axpy(1.0_real64, x, y, stat, message)
    call check_status(stat, sxt_e_dimension, 'lengths that differ')
    call check(len(message) > 0, 'the sentence, by argument')
    call check(sextant_last_error() == message, 'and by asking')
    call sextant_fill((1.0_real64, 1.0_real64), x, stat, message)
    call check_status(stat, sxt_e_type, 'a complex scalar for a real vector')
    call check_text(message, 'alpha', 'the sentence names it')
    call sextant_fill(1.0_real64, empty, stat)
    call check(stat < 0, 'a vector that is not made')
    call x%read(values(1:2), stat)
    call check_status(stat, sxt_e_dimension, 'an array that is too short')
    call check_text(x%error(), '2 elements', 'the sentence says how long it is')
    call empty%read(values, stat)
    call check_status(stat, sxt_e_state, 'reading nothing')
    call sextant_fill(1.0_real64, x, stat, message)
    call check(stat == sxt_ok .and. len(message) == 0, 'no sentence after a success')
  end subroutine
end program test_vectors
