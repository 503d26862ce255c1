! SPDX-License-Identifier: BSD-3-Clause
! Worlds from Fortran: two members in this process, matrices by rows, by entries and divided from one, a solve, refusals.
program test_worlds
  use, intrinsic :: iso_c_binding, only: c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant
  use checks
  implicit none
  integer, parameter :: side = 12
  type(sextant_context) :: contexts(2)
  type(sextant_world) :: world
  integer :: stat, i

  do i = 1, 2
    call contexts(i)%create(device='cpu', stat=stat)
    call check_status(stat, sxt_ok, 'context')
  end do
  call refused()
  call world%create(contexts, time_limit=20.0_real64, stat=stat)
  call check_status(stat, sxt_ok, 'world: '//world%error())
  call check(world%rank() == 0 .and. world%ranks() == 1 .and. world%members() == 2 .and. world%own() == 2, 'its sizes')
  call check(world%first_member() == 1 .and. .not. world%ended(), 'its state')
  call solved()
  call wrapped()
  call of_threads()
  call finish()

contains

  subroutine solved()
    integer(int32), allocatable :: row_ptr(:), col(:)
    real(real64), allocatable :: values(:), x(:), b(:)
    type(sextant_matrix) :: by_rows, by_entries, whole, parts
    integer(int64) :: begin(3), order(side * side)
    integer(int32), allocatable :: row(:)
    integer :: k
    call laplacian_csr(side, 0.1_real64, row_ptr, col, values)
    allocate(row(size(col)), x(side * side), b(side * side))
    do k = 1, side * side
      row(row_ptr(k):row_ptr(k + 1) - 1) = int(k, int32)
    end do
    x = [(1 + 0.01_real64 * k, k = 1, size(x))]
    b = csr_product(row_ptr, col, values, x)
    call world%plan_rows(int(side * side, int64), begin, stat)
    call check(stat == sxt_ok .and. begin(1) == 1 .and. begin(3) == side * side + 1, 'planned rows')
    call world%matrix_from_csr_rows(by_rows, side * side, 1, side * side, row_ptr, col, values, stat=stat)
    call check_status(stat, sxt_ok, 'csr rows: '//world%error())
    call check(by_rows%rows() == side * side .and. by_rows%nnz() == size(values), 'its sizes')
    call solves(by_rows, b, x, 'csr rows')
    call world%matrix_from_coo_rows(by_entries, side * side, 1, side * side, row, col, values, stat=stat)
    call check_status(stat, sxt_ok, 'coo rows: '//world%error())
    call solves(by_entries, b, x, 'coo rows')
    call whole%from_csr(row_ptr, col, values, context=contexts(1), stat=stat)
    call world%split(parts, whole, stat=stat)
    call check_status(stat, sxt_ok, 'split: '//world%error())
    call solves(parts, b, x, 'split')
    call world%order_of(parts, order, stat)
    call check(stat == sxt_ok .and. order(1) == 1 .and. order(side * side) == side * side, 'the order of rows')
    call world%split(parts, whole, method='rcm', stat=stat)
    call check_status(stat, sxt_ok, 'split along an order: '//world%error())
    call world%order_of(parts, order, stat)
    call check(stat == sxt_ok .and. sum(order) == sum([(int(k, int64), k = 1, side * side)]), 'each row once')
    call world%order_of(parts, order(:3), stat)
    call check_status(stat, sxt_e_dimension, 'too short an array for the order')
    call world%split(parts, whole, method='contigous', stat=stat)
    call check_status(stat, sxt_e_unknown_name, 'an unknown method')
  end subroutine

  subroutine solves(a, b, x, what)
    type(sextant_matrix), intent(in) :: a
    real(real64), intent(in) :: b(:), x(:)
    character(*), intent(in) :: what
    type(sextant_vector) :: rhs, solution
    type(sextant_pcg) :: solver
    type(sextant_report) :: report
    type(sextant_member_report) :: member
    integer(int64) :: begin(3)
    real(real64) :: found(size(x))
    call world%rows_of(a, begin, stat)
    call check(stat == sxt_ok .and. begin(1) == 1 .and. begin(3) == size(x) + 1, what//': rows')
    call world%vector(rhs, begin(2:3) - begin(1:2), sxt_f64, stat)
    call world%vector(solution, begin(2:3) - begin(1:2), sxt_f64, stat)
    call rhs%write(b, stat)
    call solver%create(a, stat)
    call check_status(stat, sxt_ok, what//': set-up: '//solver%error())
    call solver%solve(rhs, solution, report, stat)
    call check_status(stat, sxt_ok, what//': solve: '//solver%error())
    call solution%read(found, stat)
    call check(maxval(abs(found - x)) < 1.0e-5_real64, what//': the answer')
    call sextant_pcg_member(solver, 2, member, stat)
    call check(stat == sxt_ok .and. member%rows == begin(3) - begin(2) .and. member%halo_received == side, what//': a member')
    call sextant_pcg_member(solver, 3, member, stat)
    call check_status(stat, sxt_e_index, what//': no such member')
  end subroutine

  subroutine wrapped()
    real(real64), target :: first(2), second(1)
    type(sextant_vector) :: v
    real(real64) :: total
    type(c_ptr) :: addresses(2)
    first = [1, 2]
    second = [4]
    addresses = [c_loc(first), c_loc(second)]
    call world%wrap(v, [2_int64, 1_int64], sxt_f64, [sxt_space_host, sxt_space_host], addresses, stat)
    call check_status(stat, sxt_ok, 'wrap: '//world%error())
    call sextant_sum(v, total, stat)
    call check(stat == sxt_ok .and. abs(total - 7) < 1.0e-14_real64, 'the sum over both members')
  end subroutine

  subroutine of_threads()
    type(sextant_thread_comm) :: threads
    type(sextant_world) :: alone
    type(sxt_comm) :: comm
    call threads%create(1, stat)
    call check_status(stat, sxt_ok, 'threads: '//threads%error())
    call threads%rank(1, comm, stat)
    call check_status(stat, sxt_e_index, 'no such rank')
    call threads%rank(0, comm, stat)
    call alone%create(contexts(1:1), comm, stat=stat)
    call check_status(stat, sxt_ok, 'a world with a communicator: '//alone%error())
  end subroutine

  subroutine refused()
    type(sextant_matrix) :: a
    call world%create(contexts, time_limit=-1.0_real64, stat=stat)
    call check_status(stat, sxt_e_argument, 'a time limit that is none')
    call check_text(world%error(), 'time_limit', 'its sentence')
    call world%matrix_from_csr_rows(a, 2, 1, 2, [1, 2, 3], [1, 2], [1.0_real64, 1.0_real64], stat=stat)
    call check_status(stat, sxt_e_state, 'a world that is not made')
  end subroutine
end program test_worlds
