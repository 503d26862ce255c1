! SPDX-License-Identifier: BSD-3-Clause
! Heat spreading in a square plate, implicit in time, as in a simulator: the matrix arrays are assembled once, their
! values change when the time step does, and each solve starts from the last temperature. After the first step nothing
! more is allocated. example_heat [STEPS]
!
!   du/dt = div grad u,  u = 0 on the edge  ->  (I + dt L) u_new = u_old,  L the five-point Laplacian
program example_heat
  use, intrinsic :: iso_fortran_env, only: real64, error_unit
  use sextant
  implicit none

  integer, parameter :: side = 100                ! inner grid points along an edge
  integer, parameter :: n = side**2               ! unknowns
  real(real64), parameter :: h = 1.0_real64 / (side + 1)

  integer :: row_ptr(n + 1), steps, step, stat
  character(20) :: argument
  integer, allocatable :: col(:)
  real(real64), allocatable :: laplacian(:), values(:)
  real(real64) :: u_old(n), u(n), dt

  type(sextant_matrix) :: a
  type(sextant_pcg) :: solver
  type(sextant_options) :: options
  type(sextant_solve_options) :: warm
  type(sextant_report) :: report

  steps = 20
  call get_command_argument(1, argument)
  if (len_trim(argument) > 0) read (argument, *) steps

  ! Set up once: pattern and values for the first, short time step.
  dt = 1.0e-4_real64
  call assemble_laplacian()
  allocate(values(size(laplacian)))
  call implicit_step(dt)
  call a%from_csr(row_ptr, col, values, symmetry=sxt_symmetric, stat=stat)
  call require(stat, a%error())

  options%rtol = 1.0e-10_real64
  options%expected_solves = 100      ! many: a more expensive set-up may be worth it
  call solver%create(a, options, stat)
  call require(stat, solver%error())

  ! A hot spot in the middle.
  u = 0
  u(n/2 + side/2) = 1
  warm%warm_start = .true.

  print '(a)', ' step      dt   iterations   |b - Ax|/|b|      heat'
  do step = 1, steps
    if (mod(step, 5) == 0) then        ! things move slower now: take longer steps
      dt = 1.2_real64*dt
      call implicit_step(dt)
      call a%update_values(values, stat)
      if (stat /= sxt_ok) call require(stat, a%error())
    end if

    u_old = u
    call solver%solve(u_old, u, warm, report, stat)
    if (stat == sxt_not_converged) then
      ! A simulator would now cut the time step and try again.
      write (error_unit, '(3a)') 'not converged: ', sextant_reason_name(report%reason), '; '//report%message
      stop 1
    end if
    call require(stat, report%message)
    print '(i5, es10.1, i10, es17.2, f14.6)', step, dt, report%iterations, report%true_relative_residual, sum(u)
  end do
  deallocate(col, laplacian, values)   ! objects need no such care

contains

  ! Rows of L in CSR form, one-based, both triangles.
  subroutine assemble_laplacian()
    integer :: i, j, k, row
    allocate(col(5*n - 4*side), laplacian(5*n - 4*side))
    k = 0
    do j = 1, side
      do i = 1, side
        row = i + (j - 1)*side
        row_ptr(row) = k + 1
        if (j > 1) call add(k, row - side, -1.0_real64)
        if (i > 1) call add(k, row - 1, -1.0_real64)
        call add(k, row, 4.0_real64)
        if (i < side) call add(k, row + 1, -1.0_real64)
        if (j < side) call add(k, row + side, -1.0_real64)
      end do
    end do
    row_ptr(n + 1) = k + 1
    laplacian = laplacian / h**2
  end subroutine

  subroutine add(k, column, value)
    integer, intent(inout) :: k
    integer, intent(in) :: column
    real(real64), intent(in) :: value
    k = k + 1
    col(k) = column
    laplacian(k) = value
  end subroutine

  ! Values of I + dt L in the order of col.
  subroutine implicit_step(time_step)
    real(real64), intent(in) :: time_step
    integer :: row, k
    do row = 1, n
      do k = row_ptr(row), row_ptr(row + 1) - 1
        values(k) = time_step*laplacian(k)
        if (col(k) == row) values(k) = values(k) + 1
      end do
    end do
  end subroutine

  subroutine require(status, message)
    integer, intent(in) :: status
    character(*), intent(in) :: message
    if (status == sxt_ok) return
    write (error_unit, '(4a)') sextant_status_name(status), ': ', message
    stop 1
  end subroutine
end program example_heat
