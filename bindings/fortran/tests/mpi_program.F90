! SPDX-License-Identifier: BSD-3-Clause
! A program as users write it, in Fortran with MPI: each rank brings its rows of a line of unknowns, solves, and checks its part of the
! answer. Both ways to name a communicator; MPI_COMM_NULL is refused.
program mpi_program
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use mpi_f08
  use sextant
  use sextant_mpi
  implicit none
  integer(int64), parameter :: n = 200
  type(sextant_context) :: contexts(1)
  type(sextant_world) :: world
  type(sextant_matrix) :: a
  type(sextant_vector) :: b, x
  type(sextant_pcg) :: pcg
  type(sextant_report) :: report
  type(sxt_comm) :: comm, other
  integer(int64), allocatable :: ptr(:), col(:)
  real(real64), allocatable :: values(:), answer(:)
  integer(int64) :: first, last, i, k
  integer(int32) :: stat
  integer :: rank, ranks

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call sextant_mpi_comm(MPI_COMM_NULL, other, stat)
  if (stat /= sxt_e_argument) call give_up('MPI_COMM_NULL')
  call sextant_mpi_comm(MPI_COMM_WORLD%mpi_val, other, stat)
  call must(stat, 'communicator by its integer')
  call sextant_mpi_free(other)
  call sextant_mpi_comm(MPI_COMM_WORLD, comm, stat)
  call must(stat, 'communicator')
  call contexts(1)%create(device='cpu', threads=1, stat=stat)
  call must(stat, 'context')
  call world%create(contexts, comm, stat=stat)
  call must(stat, 'world')
  if (world%ranks() /= ranks) call give_up('ranks')

  first = n * rank / ranks + 1
  last = n * (rank + 1) / ranks
  allocate (ptr(last - first + 2), col(3 * (last - first + 1)), values(3 * (last - first + 1)))
  k = 1
  do i = first, last
    ptr(i - first + 1) = k
    if (i > 1) call put(i - 1, -1.0_real64)
    call put(i, 2.1_real64)
    if (i < n) call put(i + 1, -1.0_real64)
  end do
  ptr(last - first + 2) = k
  call world%matrix_from_csr_rows(a, n, first, last, ptr, col(1:k - 1), values(1:k - 1), stat=stat)
  call must(stat, 'matrix')
  call world%vector(b, [last - first + 1], sxt_f64, stat)
  call must(stat, 'b')
  call world%vector(x, [last - first + 1], sxt_f64, stat)
  call must(stat, 'x')
  call sextant_fill(1.0_real64, x, stat)
  call must(stat, 'fill')
  call sextant_spmv(a, x, b, stat=stat)
  call must(stat, 'product')
  call pcg%create(a, stat)
  call must(stat, 'set-up')
  call sextant_fill(0.0_real64, x, stat)
  call pcg%solve(b, x, report, stat)
  call must(stat, 'solve')
  allocate (answer(last - first + 1))
  call x%read(answer, stat)
  call must(stat, 'read')
  if (maxval(abs(answer - 1)) > 1e-6_real64) call give_up('answer')
  call pcg%destroy()
  call a%destroy()
  call b%destroy()
  call x%destroy()
  call world%destroy()
  call sextant_mpi_free(comm)
  if (rank == 0) print '(i0, a)', ranks, ' ranks: solved'
  call MPI_Finalize()

contains

  subroutine put(j, value)
    integer(int64), intent(in) :: j
    real(real64), intent(in) :: value
    col(k) = j
    values(k) = value
    k = k + 1
  end subroutine

  subroutine must(status, what)
    integer(int32), intent(in) :: status
    character(*), intent(in) :: what
    if (status /= sxt_ok) call give_up(what)
  end subroutine

  subroutine give_up(what)
    character(*), intent(in) :: what
    print '(a, i0, 2a)', 'rank ', rank, ' failed: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

end program mpi_program
