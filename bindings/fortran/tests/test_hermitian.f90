! SPDX-License-Identifier: BSD-3-Clause
! Batches of Hermitian systems in all four types: factor, solve, both at once, failures of single systems, wrong shapes.
program test_hermitian
  use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use sextant
  use checks
  implicit none

  integer, parameter :: n = 11, batch = 6, n_rhs = 2
  integer :: i, j, k
  complex(real64) :: matrix(n, n, batch), solution(n, n_rhs, batch), rhs(n, n_rhs, batch)

  call make_systems()
  call complex_double()
  call complex_single()
  call real_double()
  call real_single()
  call indefinite()
  call one_fails()
  call shifts()
  call nothing_solved()
  call mixed_orders()
  call toeplitz()
  call masks()
  call addresses()
  call wrong_calls()
  call finish()

contains

  ! Hermitian, diagonally dominant, with solutions that are known.
  subroutine make_systems()
    do k = 1, batch
      do j = 1, n
        do i = j + 1, n
          matrix(i, j, k) = cmplx(sin(1.0_real64*i*j + k), cos(1.0_real64*i + j*k), real64)
          matrix(j, i, k) = conjg(matrix(i, j, k))
        end do
        matrix(j, j, k) = 3*n + k
        solution(j, 1, k) = cmplx(j, k, real64)
        solution(j, 2, k) = cmplx(1, -j, real64)
      end do
      rhs(:, :, k) = matmul(matrix(:, :, k), solution(:, :, k))
    end do
  end subroutine

  subroutine expect_answers(answers, limit, what)
    type(sextant_hermitian_answers), intent(in) :: answers
    real(real64), intent(in) :: limit
    character(*), intent(in) :: what
    call check(all(answers%info == 0), what//': all systems are solved')
    if (allocated(answers%residual)) call check(all(answers%residual >= 0 .and. answers%residual <= limit), &
                                                what//': residuals are small')
    if (allocated(answers%rcond)) call check(all(answers%rcond > 0.05 .and. answers%rcond <= 1), what//': rcond')
  end subroutine

  ! A handle for all systems in double precision.
  subroutine create_c128(systems, settings)
    type(sextant_hermitian), intent(inout) :: systems
    type(sextant_hermitian_settings), intent(in), optional :: settings
    integer :: stat
    call systems%create(n, batch, sxt_c128, n_rhs, settings, stat=stat)
    call check_status(stat, sxt_ok, 'create c128: '//systems%error())
  end subroutine

  ! The same, and copies of the systems that a test may change.
  subroutine start_c128(systems, a, b)
    type(sextant_hermitian), intent(inout) :: systems
    complex(real64), intent(out) :: a(:, :, :), b(:, :, :)
    call create_c128(systems)
    a = matrix
    b = rhs
  end subroutine

  subroutine complex_double()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_answers) :: answers
    complex(real64) :: a(n + 1, n, batch), b(n, n_rhs, batch)
    integer :: stat
    call create_c128(systems)
    a = (99, 99)
    a(:n, :, :) = matrix
    b = rhs
    call systems%solve_all(a, b, answers, stat)
    call check_status(stat, sxt_ok, 'solve_all c128: '//systems%error())
    call expect_answers(answers, 1.0e-14_real64, 'c128')
    call check(maxval(abs(b - solution)) <= 1.0e-12_real64, 'c128: the solutions')
    call check(all(abs(a(n + 1, :, :) - (99, 99)) <= 0), 'c128: the padding is untouched')
    call check(all(answers%inertia(1, :) == n), 'c128: all eigenvalues are positive')
    a(:n, :, :) = matrix
    b = rhs
    call systems%factor(a, answers, stat)
    call check_status(stat, sxt_ok, 'factor c128: '//systems%error())
    call systems%solve(a, b, answers, stat)
    call check_status(stat, sxt_ok, 'solve c128: '//systems%error())
    call check(maxval(abs(b - solution)) <= 1.0e-12_real64, 'c128: the solutions of solve')
  end subroutine

  subroutine complex_single()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_answers) :: answers
    complex(real32) :: a(n, n, batch), b(n, n_rhs, batch)
    integer :: stat
    call systems%create(n, batch, sxt_c64, n_rhs, stat=stat)
    a = cmplx(matrix, kind=real32)
    b = cmplx(rhs, kind=real32)
    call systems%solve_all(a, b, answers, stat)
    call check_status(stat, sxt_ok, 'solve_all c64: '//systems%error())
    call expect_answers(answers, 1.0e-6_real64, 'c64')
    call check(maxval(abs(cmplx(b, kind=real64) - solution)) <= 1.0e-4_real64, 'c64: the solutions')
  end subroutine

  subroutine real_double()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_answers) :: answers
    type(sextant_hermitian_settings) :: settings
    real(real64) :: a(n, n, batch), b(n, 1, batch)
    integer :: stat
    settings%upper = .true.
    settings%equilibrate = .true.
    settings%refine_steps = 2
    call systems%create(n, batch, sxt_f64, 1, settings, stat=stat)
    call check_status(stat, sxt_ok, 'create f64: '//systems%error())
    a = real(matrix, real64)
    do k = 1, batch
      b(:, 1, k) = matmul(a(:, :, k), real(solution(:, 1, k), real64))
    end do
    call systems%solve_all(a, b, answers, stat)
    call check_status(stat, sxt_ok, 'solve_all f64: '//systems%error())
    call expect_answers(answers, 1.0e-15_real64, 'f64')
    call check(maxval(abs(b(:, 1, :) - real(solution(:, 1, :), real64))) <= 1.0e-12_real64, 'f64: the solutions')
  end subroutine

  subroutine real_single()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_answers) :: answers
    real(real32) :: a(n, n, batch), b(n, 1, batch)
    integer :: stat
    call systems%create(n, batch, sxt_f32, 1, stat=stat)
    a = real(matrix, real32)
    do k = 1, batch
      b(:, 1, k) = sum(a(:, :, k), 2)
    end do
    call systems%solve_all(a, b, answers, stat)
    call check_status(stat, sxt_ok, 'solve_all f32: '//systems%error())
    call expect_answers(answers, 1.0e-6_real64, 'f32')
    call check(maxval(abs(b - 1)) <= 1.0e-4_real32, 'f32: the solutions')
  end subroutine

  ! Half of the diagonal negative: pivoted, with the pivots kept from factor to solve.
  subroutine indefinite()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_answers) :: answers
    type(sextant_hermitian_settings) :: settings
    complex(real64) :: a(n, n, batch), b(n, n_rhs, batch)
    integer :: stat
    a = matrix
    do i = 2, n, 2
      a(i, i, 2:) = -a(i, i, 2:) ! the first system stays definite
    end do
    do k = 1, batch
      b(:, :, k) = matmul(a(:, :, k), solution(:, :, k))
    end do
    settings%definiteness = sxt_try_definite
    call create_c128(systems, settings)
    call systems%factor(a, answers, stat)
    call check_status(stat, sxt_ok, 'factor indefinite: '//systems%error())
    call check(all(answers%pivots(:, 1) == 0), 'the definite system has no pivots')
    call check(all(answers%pivots(:, 2:) /= 0), 'the others have')
    call check(all(answers%inertia(:, 1) == [n, 0, 0]), 'inertia of the definite system')
    call check(all(answers%inertia(:, 2) == [6, 5, 0]), 'inertia of an indefinite system')
    call systems%solve(a, b, answers, stat)
    call check_status(stat, sxt_ok, 'solve indefinite: '//systems%error())
    call check(maxval(abs(b - solution)) <= 1.0e-11_real64, 'indefinite: the solutions')
  end subroutine

  subroutine one_fails()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_answers) :: answers
    complex(real64) :: a(n, n, batch), b(n, n_rhs, batch)
    integer :: stat
    call start_c128(systems, a, b)
    a(4, 4, 3) = -1
    call systems%solve_all(a, b, answers, stat)
    call check_status(stat, sxt_ok, 'a call with a system that fails: '//systems%error())
    call check(all(answers%info == [0, 0, 4, 0, 0, 0]), 'the leading minor of one system')
    b(:, :, 3) = solution(:, :, 3)
    call check(maxval(abs(b - solution)) <= 1.0e-12_real64, 'its neighbours are solved')
  end subroutine

  subroutine shifts()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_answers) :: answers
    type(sextant_hermitian_settings) :: settings
    real(real64) :: a(2, 2, 2), b(2, 1, 2)
    integer :: stat
    a(:, :, 1) = reshape([1.0_real64, 0.0_real64, 0.0_real64, 3.0_real64], [2, 2])
    a(:, :, 2) = reshape([-1.0_real64, 0.0_real64, 0.0_real64, 2.0_real64], [2, 2])
    b = 4
    settings%shifts = [1.0_real64, 2.0_real64]
    call systems%create(2, 2, sxt_f64, 1, settings, stat=stat)
    call systems%solve_all(a, b, answers, stat)
    call check_status(stat, sxt_ok, 'shifts: '//systems%error())
    call check(all(abs(answers%shift - [1, 2]) <= 0), 'the second system took the second shift')
    call check(all(abs(b(:, 1, 1) - [2, 1]) <= 1.0e-14_real64), 'with the first shift')
    call check(all(abs(b(:, 1, 2) - [4, 1]) <= 1.0e-14_real64), 'with the second shift')
  end subroutine

  ! A description without right-hand sides: factors and condition numbers.
  subroutine nothing_solved()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_answers) :: answers
    complex(real64) :: a(n, n, batch)
    integer :: stat
    call systems%create(n, batch, sxt_c128, 0, stat=stat)
    a = matrix
    call systems%factor(a, answers, stat)
    call check_status(stat, sxt_ok, 'factor without right-hand sides: '//systems%error())
    call expect_answers(answers, 0.0_real64, 'without right-hand sides')
  end subroutine

  subroutine mixed_orders()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_answers) :: answers
    type(sextant_hermitian_settings) :: settings
    complex(real64) :: a(n, n, batch), b(n, n_rhs, batch)
    integer :: stat
    settings%orders = [3_int32, 0_int32, 11_int32, 5_int32, 1_int32, 8_int32]
    call create_c128(systems, settings)
    a = matrix
    b = rhs
    do k = 1, batch
      i = settings%orders(k)
      b(:i, :, k) = matmul(matrix(:i, :i, k), solution(:i, :, k))
    end do
    call systems%solve_all(a, b, answers, stat)
    call check_status(stat, sxt_ok, 'mixed orders: '//systems%error())
    do k = 1, batch
      i = settings%orders(k)
      call check(maxval([0.0_real64, abs(b(:i, :, k) - solution(:i, :, k))]) <= 1.0e-12_real64, 'mixed orders: solutions')
      call check(all(abs(b(i + 1:, :, k) - rhs(i + 1:, :, k)) <= 0), 'mixed orders: what lies below is untouched')
    end do
  end subroutine

  ! Every second system is made a Toeplitz matrix; each is solved, and the answers say which leave no factor.
  subroutine toeplitz()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_settings) :: settings
    type(sextant_hermitian_answers) :: answers
    complex(real64) :: a(n, n, batch), b(n, n_rhs, batch)
    integer :: stat
    a = matrix
    b = rhs
    do k = 1, batch, 2
      do j = 1, n
        do i = 1, n
          a(i, j, k) = 0.5_real64**abs(i - j)*exp(cmplx(0, 0.3_real64*(i - j), real64))
        end do
      end do
      b(:, :, k) = matmul(a(:, :, k), solution(:, :, k))
    end do
    settings%shortcuts = sxt_shortcut_toeplitz + sxt_shortcut_always
    call create_c128(systems, settings)
    call systems%solve_all(a, b, answers, stat)
    call check_status(stat, sxt_ok, 'solve_all with a shortcut: '//systems%error())
    call check(maxval(abs(b - solution)) <= 1.0e-12_real64, 'Toeplitz systems and others: the solutions')
    call check(all(answers%shortcut(1::2) == 1) .and. all(answers%shortcut(2::2) == 0), 'which were Toeplitz')
    call check(.not. allocated(answers%inertia), 'no factor, no inertia')
  end subroutine

  ! A mask is passed in, and returned with the systems that were solved.
  subroutine masks()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_answers) :: answers
    complex(real64) :: a(n, n, batch), b(n, n_rhs, batch)
    integer :: stat
    call start_c128(systems, a, b)
    a(2, 2, 5) = -1
    answers%active = [1_int8, 0_int8, 1_int8, 1_int8, 1_int8, 0_int8]
    call systems%solve_all(a, b, answers, stat)
    call check_status(stat, sxt_ok, 'a masked call: '//systems%error())
    call check(all(answers%active == [1, 0, 1, 1, 0, 0]), 'what was solved')
    call check(all(answers%info == [0, sxt_info_not_active, 0, 0, 2, sxt_info_not_active]), 'infos of a masked call')
    call check(all(abs(b(:, :, 2) - rhs(:, :, 2)) <= 0), 'what is switched off is untouched')
    call check(maxval(abs(b(:, :, 1) - solution(:, :, 1))) <= 1.0e-12_real64, 'what is not is solved')
    answers%active = [1_int8]
    call systems%solve_all(a, b, answers, stat)
    call check_status(stat, sxt_e_dimension, 'a mask that is too short')
    call check_text(systems%error(), 'answers%active has 1 elements', 'which is named')
  end subroutine

  ! Separate systems, each with its own order and leading dimension; copies, so that the input stays.
  subroutine addresses()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_settings) :: settings
    type(sextant_hermitian_answers) :: answers
    type(sxt_hermitian_set) :: set
    type(sxt_hermitian_report) :: done
    complex(real64), target :: one(3, 3), two(5, 4), factors(20, 2), b(4, 2), x(4, 2)
    type(c_ptr), target :: where_a(2), where_f(2), where_b(2), where_x(2)
    integer(int64), target :: leading(2), leading_b(2)
    integer(int32), target :: info(2)
    character(:), allocatable :: text
    integer :: stat
    one = matrix(:3, :3, 1)
    two = 0
    two(:4, :) = matrix(:4, :4, 2)
    b = 0
    b(:3, 1) = matmul(one, solution(:3, 1, 1))
    b(:, 2) = matmul(two(:4, :), solution(:4, 1, 2))
    x = 7
    where_a = [c_loc(one(1, 1)), c_loc(two(1, 1))]
    where_f = [c_loc(factors(1, 1)), c_loc(factors(1, 2))]
    where_b = [c_loc(b(1, 1)), c_loc(b(1, 2))]
    where_x = [c_loc(x(1, 1)), c_loc(x(1, 2))]
    leading = [3_int64, 5_int64]
    leading_b = [4_int64, 4_int64]
    settings%orders = [3_int32, 4_int32]
    settings%pointer_array = .true.
    settings%leading_vary = .true.
    settings%refine_steps = 3
    settings%refine_tolerance = 1.0e-15_real64
    call systems%create(4, 2, sxt_c128, 1, settings, stat=stat)
    call check_status(stat, sxt_ok, 'create for addresses: '//systems%error())
    set = systems%new_set()
    set%a_array = c_loc(where_a)
    set%factor_array = c_loc(where_f)
    set%b_array = c_loc(where_b)
    set%x_array = c_loc(where_x)
    set%lda_each = c_loc(leading)
    set%ldb_each = c_loc(leading_b)
    set%info = c_loc(info)
    call systems%solve_all(set, stat)
    call check_status(stat, sxt_ok, 'solve_all by addresses: '//systems%error())
    call check(all(info == 0), 'both are solved')
    call check(maxval(abs(x(:3, 1) - solution(:3, 1, 1))) <= 1.0e-12_real64, 'the first solution')
    call check(maxval(abs(x(:, 2) - solution(:4, 1, 2))) <= 1.0e-12_real64, 'the second solution')
    call check(all(abs(one - matrix(:3, :3, 1)) <= 0) .and. abs(x(4, 1) - 7) <= 0, 'the rest is untouched')
    call systems%report(done, stat)
    call check_status(stat, sxt_ok, 'a report: '//systems%error())
    call check(done%workspace_bytes >= 0 .and. done%piece == 2 .and. done%flops > 0, 'what it says')
    call systems%explain(text, stat)
    call check_text(text, 'hermitian.', 'the kernel that was chosen')
    ! Such systems are not slices of one array; and NULL is not an address.
    call systems%factor(matrix, answers, stat)
    call check_status(stat, sxt_e_dimension, 'slices where addresses were described')
    where_a(1) = c_null_ptr
    call systems%solve_all(set, stat)
    call check(stat == sxt_ok .and. info(1) == sxt_info_pointer .and. info(2) == 0, 'an address that is NULL')
  end subroutine

  subroutine wrong_calls()
    type(sextant_hermitian) :: systems
    type(sextant_hermitian_answers) :: answers
    type(sextant_hermitian_settings) :: settings
    complex(real64) :: a(n, n, batch), b(n, n_rhs, batch), short(n - 1, n, batch)
    real(real64) :: other(n, n, batch)
    integer :: stat
    call systems%factor(a, answers, stat)
    call check_status(stat, sxt_e_state, 'nothing was described')
    call systems%create(n, batch, sxt_c128, -1, stat=stat)
    call check_status(stat, sxt_e_argument, 'a negative number of right-hand sides')
    call check_text(systems%error(), 'n_rhs', 'which is named')
    settings%orders = [1_int32]
    call systems%create(n, batch, sxt_c128, n_rhs, settings, stat=stat)
    call check_status(stat, sxt_e_dimension, 'too few orders')
    call start_c128(systems, a, b)
    short = 0
    other = 0
    call systems%factor(short, answers, stat)
    call check_status(stat, sxt_e_dimension, 'too few rows')
    call check_text(systems%error(), 'a has the shape (10, 11, 6)', 'which is told')
    call systems%factor(other, answers, stat)
    call check_status(stat, sxt_e_type, 'another type')
    call systems%solve(a, b, answers, stat)
    call check_status(stat, sxt_e_dimension, 'a solve before anything was factored')
    call systems%solve_all(a, b, answers, stat)
    call check_status(stat, sxt_ok, 'the object is usable after all that: '//systems%error())
  end subroutine
end program
