! SPDX-License-Identifier: BSD-3-Clause
! The part of the C interface of Sextant that is about several devices and ranks, as Fortran sees it: same names, same values,
! same order as in sextant/world.h. Programs use module sextant. Rows, members and ranks count from 0 here, as in C.
module sextant_world_c
  use, intrinsic :: iso_c_binding, only: c_double, c_funptr, c_int32_t, c_int64_t, c_null_funptr, c_null_ptr, c_ptr
  use sextant_c, only: sxt_matrix_options
  implicit none
  public

  integer, parameter, private :: i4 = c_int32_t, i8 = c_int64_t, r8 = c_double

  type, bind(c) :: sxt_message_part
    type(c_ptr) :: data = c_null_ptr
    integer(i8) :: bytes = 0
    integer(i4) :: rank = 0
    integer(i4) :: reserved0 = 0
  end type

  type, bind(c) :: sxt_comm
    integer(i8) :: struct_size = 0
    type(c_ptr) :: user = c_null_ptr
    integer(i4) :: rank = 0
    integer(i4) :: size = 0
    type(c_funptr) :: gather = c_null_funptr
    type(c_funptr) :: exchange = c_null_funptr
    type(c_funptr) :: wait = c_null_funptr
    type(c_funptr) :: abort = c_null_funptr
  end type

  type, bind(c) :: sxt_world_options
    integer(i8) :: struct_size = 0
    real(r8) :: time_limit = 0
  end type

  type, bind(c) :: sxt_world_info
    integer(i8) :: struct_size = 0
    integer(i4) :: rank = 0
    integer(i4) :: ranks = 0
    integer(i4) :: members = 0
    integer(i4) :: first_member = 0
    integer(i4) :: own = 0
    integer(i4) :: ended = 0
  end type

  type, bind(c) :: sxt_partition_options
    integer(i8) :: struct_size = 0
    type(c_ptr) :: method = c_null_ptr
  end type

  type, bind(c) :: sxt_member_report
    integer(i8) :: struct_size = 0
    integer(i8) :: rows = 0
    integer(i8) :: own_entries = 0
    integer(i8) :: boundary_entries = 0
    integer(i8) :: boundary_rows = 0
    integer(i8) :: halo_received = 0
    integer(i8) :: halo_sent = 0
    real(r8) :: product_seconds = 0
    real(r8) :: exchange_seconds = 0
    real(r8) :: waiting_seconds = 0
  end type

  interface
    function sxt_comm_threads_create(size, threads) bind(c) result(status)
      import :: c_ptr, i4
      integer(i4), value :: size
      type(c_ptr), intent(inout) :: threads
      integer(i4) :: status
    end function

    function sxt_comm_threads_get(threads, rank, comm) bind(c) result(status)
      import :: sxt_comm, c_ptr, i4
      type(c_ptr), value :: threads
      integer(i4), value :: rank
      type(sxt_comm), intent(inout) :: comm
      integer(i4) :: status
    end function

    subroutine sxt_comm_threads_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine

    subroutine sxt_world_options_init(options, struct_size) bind(c)
      import :: sxt_world_options, i8
      type(sxt_world_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    function sxt_world_create(n, contexts, comm, options, world) bind(c) result(status)
      import :: sxt_world_options, c_ptr, i4
      integer(i4), value :: n
      type(c_ptr), intent(in) :: contexts(*)
      type(c_ptr), value :: comm
      type(sxt_world_options), intent(in) :: options
      type(c_ptr), intent(inout) :: world
      integer(i4) :: status
    end function

    subroutine sxt_world_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine

    function sxt_world_get_info(world, info) bind(c) result(status)
      import :: sxt_world_info, c_ptr, i4
      type(c_ptr), value :: world
      type(sxt_world_info), intent(inout) :: info
      integer(i4) :: status
    end function

    function sxt_rows_plan(world, rows, begin) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: world
      integer(i8), value :: rows
      integer(i8), intent(inout) :: begin(*)
      integer(i4) :: status
    end function

    function sxt_matrix_from_csr_rows(world, rows, cols, row_begin, row_count, row_ptr, col, values, options, matrix) &
      bind(c) result(status)
      import :: sxt_matrix_options, c_ptr, i4, i8
      type(c_ptr), value :: world, row_ptr, col, values
      integer(i8), value :: rows, cols, row_begin, row_count
      type(sxt_matrix_options), intent(in) :: options
      type(c_ptr), intent(inout) :: matrix
      integer(i4) :: status
    end function

    function sxt_matrix_from_coo_rows(world, rows, cols, row_begin, row_count, nnz, row, col, values, options, matrix) &
      bind(c) result(status)
      import :: sxt_matrix_options, c_ptr, i4, i8
      type(c_ptr), value :: world, row, col, values
      integer(i8), value :: rows, cols, row_begin, row_count, nnz
      type(sxt_matrix_options), intent(in) :: options
      type(c_ptr), intent(inout) :: matrix
      integer(i4) :: status
    end function

    subroutine sxt_partition_options_init(options, struct_size) bind(c)
      import :: sxt_partition_options, i8
      type(sxt_partition_options), intent(inout) :: options
      integer(i8), value :: struct_size
    end subroutine

    function sxt_matrix_split(world, whole, options, matrix) bind(c) result(status)
      import :: sxt_partition_options, c_ptr, i4
      type(c_ptr), value :: world, whole
      type(sxt_partition_options), intent(in) :: options
      type(c_ptr), intent(inout) :: matrix
      integer(i4) :: status
    end function

    function sxt_matrix_rows(matrix, begin) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: matrix
      integer(i8), intent(inout) :: begin(*)
      integer(i4) :: status
    end function

    function sxt_matrix_order(matrix, order) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: matrix
      integer(i8), intent(inout) :: order(*)
      integer(i4) :: status
    end function

    function sxt_world_vector_create(world, lengths, type, vector) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: world
      integer(i8), intent(in) :: lengths(*)
      integer(i4), value :: type
      type(c_ptr), intent(inout) :: vector
      integer(i4) :: status
    end function

    function sxt_world_vector_wrap(world, lengths, type, spaces, data, vector) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: world
      integer(i8), intent(in) :: lengths(*)
      integer(i4), value :: type
      integer(i4), intent(in) :: spaces(*)
      type(c_ptr), intent(in) :: data(*)
      type(c_ptr), intent(inout) :: vector
      integer(i4) :: status
    end function

    function sxt_pcg_get_member(pcg, member, report) bind(c) result(status)
      import :: sxt_member_report, c_ptr, i4
      type(c_ptr), value :: pcg
      integer(i4), value :: member
      type(sxt_member_report), intent(inout) :: report
      integer(i4) :: status
    end function
  end interface
end module sextant_world_c
