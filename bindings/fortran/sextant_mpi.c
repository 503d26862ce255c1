/* SPDX-License-Identifier: BSD-3-Clause */
/* The C half of module sextant_mpi: compiled by the program's own mpicc, since MPI's handles and calls differ from one MPI to another.
 * Handles of Fortran are integers in every MPI. */
#include "sextant/mpi.h"

sxt_status sextant_mpi_comm_of(MPI_Fint of, sxt_comm *comm) { return sxt_comm_mpi_create(MPI_Comm_f2c(of), comm); }

void sextant_mpi_comm_free(sxt_comm *comm) { sxt_comm_mpi_destroy(comm); }
