! SPDX-License-Identifier: BSD-3-Clause
! Communicators of MPI for worlds. Compile it with sextant_mpi.c by the program's own mpifort and mpicc, beside module sextant:
!   use sextant_mpi
!   call sextant_mpi_comm(MPI_COMM_WORLD, comm, stat)    ! of the integer, or of type(MPI_Comm)
!   call world%create(contexts, comm, stat=stat)
!   ...
!   call world%destroy()
!   call sextant_mpi_free(comm)                          ! before MPI_Finalize
! Both calls are collective over that communicator, which is duplicated. Where the MPI has no module mpi_f08, define
! SEXTANT_NO_MPI_F08 (-DSEXTANT_NO_MPI_F08).
module sextant_mpi
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t
  use, intrinsic :: iso_fortran_env, only: int32
  use sextant, only: sxt_comm
#ifndef SEXTANT_NO_MPI_F08
  use mpi_f08, only: MPI_Comm
#endif
  implicit none
  private
  public :: sextant_mpi_comm, sextant_mpi_free

  ! call sextant_mpi_comm(mpi, comm, stat): comm for world%create. stat: sxt_e_argument for MPI_COMM_NULL, sxt_e_state
  ! before MPI_Init and after MPI_Finalize, sxt_e_comm, sxt_e_memory.
  interface sextant_mpi_comm
    module procedure of_integer
#ifndef SEXTANT_NO_MPI_F08
    module procedure of_type
#endif
  end interface

  interface
    ! An MPI_Fint is a default integer of the compiler that the MPI was built with, which is an int of C.
    function sextant_mpi_comm_of(mpi, comm) bind(c) result(stat)
      import :: c_int, c_int32_t, sxt_comm
      integer(c_int), value :: mpi
      type(sxt_comm), intent(inout) :: comm
      integer(c_int32_t) :: stat
    end function

    subroutine sextant_mpi_comm_free(comm) bind(c)
      import :: sxt_comm
      type(sxt_comm), intent(inout) :: comm
    end subroutine
  end interface

contains

  subroutine of_integer(mpi, comm, stat)
    integer, intent(in) :: mpi
    type(sxt_comm), intent(out) :: comm
    integer(int32), intent(out) :: stat
    stat = sextant_mpi_comm_of(int(mpi, c_int), comm)
  end subroutine

#ifndef SEXTANT_NO_MPI_F08
  subroutine of_type(mpi, comm, stat)
    type(MPI_Comm), intent(in) :: mpi
    type(sxt_comm), intent(out) :: comm
    integer(int32), intent(out) :: stat
    call of_integer(mpi%mpi_val, comm, stat)
  end subroutine
#endif

  ! After the worlds that were made with it.
  subroutine sextant_mpi_free(comm)
    type(sxt_comm), intent(inout) :: comm
    call sextant_mpi_comm_free(comm)
  end subroutine

end module sextant_mpi
