! SPDX-License-Identifier: BSD-3-Clause
! Several devices and ranks as one: worlds, and the matrices and vectors that are divided among their members. What was made here
! is used by the procedures of sextant_matrix, sextant_vector and sextant_pcg. Rows, columns and members count from 1.
! stat is of 32 bits here.
module sextant_worlds
  use, intrinsic :: iso_c_binding, only: c_char, c_loc, c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_vectors_c, only: sxt_vector_destroy
  use sextant_world_c
  use sextant_objects
  use sextant_contexts
  use sextant_matrix_work, only: keep_matrix, matrix_base, options_of, sextant_matrix_settings
  use sextant_vector_work, only: keep_vector, vector_base
  implicit none
  private
  public :: sextant_world, sextant_thread_comm, sextant_member_report, sextant_pcg_member, sxt_comm

  character(*), parameter :: type_of_world = 'sextant_world', maker_of_world = 'create'

  ! What a member of this process has of a set-up's matrix, and what its last solve took.
  type :: sextant_member_report
    integer(int64) :: rows = 0             ! that it owns
    integer(int64) :: own_entries = 0      ! in columns that it owns
    integer(int64) :: boundary_entries = 0 ! in columns of others
    integer(int64) :: boundary_rows = 0    ! that have such entries
    integer(int64) :: halo_received = 0    ! values of x that a product fetches from others
    integer(int64) :: halo_sent = 0        ! and gives to them
    real(real64) :: product_seconds = 0, exchange_seconds = 0, waiting_seconds = 0
  end type

  ! A communicator whose ranks are threads of this process.
  type, extends(sextant_object) :: sextant_thread_comm
  contains
    ! call threads%create(size, stat)
    procedure :: create => create_threads
    ! call threads%rank(r, comm, stat): that of rank r, from 0 as in MPI, for world%create
    procedure :: rank => comm_of_rank
  end type

  type, extends(sextant_object) :: sextant_world
  contains
    ! call w%create(contexts [, comm, time_limit], stat)
    !   contexts: those of this process, in order. comm: type(sxt_comm), of sextant_thread_comm or made in C by
    !   sxt_comm_mpi_create; default: this process is the whole world. time_limit: seconds of a wait for other ranks.
    ! call w%matrix_from_csr_rows(a, rows, first, last, row_ptr, col, values [, symmetry, settings], stat)
    !   Rows first to last of a square matrix of so many rows, with global columns; first = last + 1: none.
    ! call w%matrix_from_coo_rows(a, rows, first, last, row, col, values [, symmetry, settings], stat)
    !   Entries of any rows, summed where their rows belong; rows first to last are this process's.
    ! call w%split(a, whole [, method], stat)
    !   A matrix of one context, divided among the members of a world of one process.
    ! call w%order_of(a, order, stat)
    !   order(k): the caller's number of this process's k-th row, which methods rcm and metis of split change.
    ! call w%rows_of(a, begin, stat), call w%plan_rows(rows, begin, stat)
    !   Member m has, or should have, rows begin(m) to begin(m + 1) - 1; begin has members + 1 elements.
    ! call w%vector(v, lengths, value_type, stat)
    !   Zeros; lengths(i) of them with this process's i-th member.
    ! call w%wrap(v, lengths, value_type, spaces, addresses, stat)
    !   The same of memory at addresses(i), type(c_ptr), in space spaces(i).
    procedure :: create => create_world
    procedure :: rank         ! of this process, from 0 as in MPI; -1 when the world is not made
    procedure :: ranks
    procedure :: members      ! of all processes
    procedure :: first_member ! of this process, from 1
    procedure :: own          ! members of this process
    procedure :: ended        ! true when a communicator failed or a rank did not answer
    procedure :: split, rows_of, order_of, plan_rows, vector, wrap
    generic :: matrix_from_csr_rows => csr_rows_i32, csr_rows_i64
    generic :: matrix_from_coo_rows => coo_rows_i32, coo_rows_i64
    procedure, private :: csr_rows_i32, csr_rows_i64, coo_rows_i32, coo_rows_i64
  end type

contains

  subroutine create_threads(self, size, stat)
    class(sextant_thread_comm), intent(inout) :: self
    integer, intent(in) :: size
    integer(int32), intent(out) :: stat
    type(c_ptr) :: handle
    handle = c_null_ptr
    call conclude(self, sxt_comm_threads_create(int(size, int32), handle), stat)
    if (stat == sxt_ok) call adopt(self, handle, sxt_comm_threads_destroy)
  end subroutine

  subroutine comm_of_rank(self, rank, comm, stat)
    class(sextant_thread_comm), intent(inout) :: self
    integer, intent(in) :: rank
    type(sxt_comm), intent(out) :: comm
    integer(int32), intent(out) :: stat
    if (.not. usable(self, 'sextant_thread_comm', 'create', stat)) return
    comm%struct_size = c_sizeof(comm)
    call conclude(self, sxt_comm_threads_get(self%c_handle(), int(rank, int32), comm), stat)
  end subroutine

  subroutine create_world(self, contexts, comm, time_limit, stat)
    class(sextant_world), intent(inout) :: self
    type(sextant_context), intent(in) :: contexts(:)
    type(sxt_comm), intent(in), optional, target :: comm
    real(real64), intent(in), optional :: time_limit
    integer(int32), intent(out) :: stat
    type(sxt_world_options) :: options
    type(c_ptr) :: handles(size(contexts)), handle, its
    integer :: i
    do i = 1, size(contexts)
      handles(i) = contexts(i)%c_handle()
    end do
    call sxt_world_options_init(options, int(c_sizeof(options), int64))
    if (present(time_limit)) options%time_limit = time_limit
    its = c_null_ptr
    if (present(comm)) its = c_loc(comm)
    handle = c_null_ptr
    call conclude(self, sxt_world_create(int(size(contexts), int32), handles, its, options, handle), stat)
    if (stat == sxt_ok) call adopt(self, handle, sxt_world_destroy)
  end subroutine

  ! ---- what is known of it -------------------------------------------------------------------------------------------

  function info_of(self) result(info)
    class(sextant_world), intent(in) :: self
    type(sxt_world_info) :: info
    info%rank = -1
    info%struct_size = c_sizeof(info)
    if (.not. self%is_made()) return
    if (sxt_world_get_info(self%c_handle(), info) /= sxt_ok) info%rank = -1
  end function

  integer(int32) function rank(self)
    class(sextant_world), intent(in) :: self
    type(sxt_world_info) :: info
    info = info_of(self)
    rank = info%rank
  end function

  integer(int32) function ranks(self)
    class(sextant_world), intent(in) :: self
    type(sxt_world_info) :: info
    info = info_of(self)
    ranks = info%ranks
  end function

  integer(int32) function members(self)
    class(sextant_world), intent(in) :: self
    type(sxt_world_info) :: info
    info = info_of(self)
    members = info%members
  end function

  integer(int32) function first_member(self)
    class(sextant_world), intent(in) :: self
    type(sxt_world_info) :: info
    info = info_of(self)
    first_member = info%first_member + 1
  end function

  integer(int32) function own(self)
    class(sextant_world), intent(in) :: self
    type(sxt_world_info) :: info
    info = info_of(self)
    own = info%own
  end function

  logical function ended(self)
    class(sextant_world), intent(in) :: self
    type(sxt_world_info) :: info
    info = info_of(self)
    ended = info%ended /= 0
  end function

  ! ---- matrices ------------------------------------------------------------------------------------------------------

  subroutine csr_rows_i32(self, a, rows, first, last, row_ptr, col, values, symmetry, settings, stat)
    class(sextant_world), intent(inout) :: self
    class(matrix_base), intent(inout) :: a
    integer(int32), intent(in) :: rows, first, last
    integer(int32), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real64), intent(in), contiguous, target :: values(:)
    integer(int32), intent(in), optional :: symmetry
    type(sextant_matrix_settings), intent(in), optional :: settings
    integer(int32), intent(out) :: stat
    call csr_rows(self, a, int([rows, first, last], int64), view(row_ptr), view(col), view(values), symmetry, settings, stat)
  end subroutine

  subroutine csr_rows_i64(self, a, rows, first, last, row_ptr, col, values, symmetry, settings, stat)
    class(sextant_world), intent(inout) :: self
    class(matrix_base), intent(inout) :: a
    integer(int64), intent(in) :: rows, first, last
    integer(int64), intent(in), contiguous, target :: row_ptr(:), col(:)
    real(real64), intent(in), contiguous, target :: values(:)
    integer(int32), intent(in), optional :: symmetry
    type(sextant_matrix_settings), intent(in), optional :: settings
    integer(int32), intent(out) :: stat
    call csr_rows(self, a, [rows, first, last], view(row_ptr), view(col), view(values), symmetry, settings, stat)
  end subroutine

  ! C cannot know how long the arrays are.
  subroutine csr_rows(self, a, rows, row_ptr, col, values, symmetry, settings, stat)
    class(sextant_world), intent(inout) :: self
    class(matrix_base), intent(inout) :: a
    integer(int64), intent(in) :: rows(3)
    type(array_view), intent(in) :: row_ptr, col, values
    integer(int32), intent(in), optional :: symmetry
    type(sextant_matrix_settings), intent(in), optional :: settings
    integer(int32), intent(out) :: stat
    type(sxt_matrix_options) :: options
    type(c_ptr) :: handle
    integer(int64) :: entries
    if (.not. usable(self, type_of_world, maker_of_world, stat)) return
    if (row_ptr%count /= max(0_int64, rows(3) - rows(2) + 1) + 1) then
      call refuse(self, sxt_e_dimension, 'row_ptr must have one element more than there are rows first to last', stat)
      return
    end if
    entries = last_entry(row_ptr) - 1
    if (col%count < entries .or. values%count < entries) then
      call refuse(self, sxt_e_dimension, 'row_ptr ends at entry '//decimal(entries)//', but col or values are shorter', stat)
      return
    end if
    options = options_of(row_ptr, col, values, settings)
    if (present(symmetry)) options%symmetry = symmetry
    handle = c_null_ptr
    call conclude(self, sxt_matrix_from_csr_rows(self%c_handle(), rows(1), rows(1), rows(2) - 1, row_ptr%count - 1, &
                                                 row_ptr%address, col%address, values%address, options, handle), stat)
    if (stat == sxt_ok) call keep_matrix(a, handle, stat)
    if (stat == sxt_ok) a%members_of_world = self%members()
  end subroutine

  subroutine coo_rows_i32(self, a, rows, first, last, row, col, values, symmetry, settings, stat)
    class(sextant_world), intent(inout) :: self
    class(matrix_base), intent(inout) :: a
    integer(int32), intent(in) :: rows, first, last
    integer(int32), intent(in), contiguous, target :: row(:), col(:)
    real(real64), intent(in), contiguous, target :: values(:)
    integer(int32), intent(in), optional :: symmetry
    type(sextant_matrix_settings), intent(in), optional :: settings
    integer(int32), intent(out) :: stat
    call coo_rows(self, a, int([rows, first, last], int64), view(row), view(col), view(values), symmetry, settings, stat)
  end subroutine

  subroutine coo_rows_i64(self, a, rows, first, last, row, col, values, symmetry, settings, stat)
    class(sextant_world), intent(inout) :: self
    class(matrix_base), intent(inout) :: a
    integer(int64), intent(in) :: rows, first, last
    integer(int64), intent(in), contiguous, target :: row(:), col(:)
    real(real64), intent(in), contiguous, target :: values(:)
    integer(int32), intent(in), optional :: symmetry
    type(sextant_matrix_settings), intent(in), optional :: settings
    integer(int32), intent(out) :: stat
    call coo_rows(self, a, [rows, first, last], view(row), view(col), view(values), symmetry, settings, stat)
  end subroutine

  subroutine coo_rows(self, a, rows, row, col, values, symmetry, settings, stat)
    class(sextant_world), intent(inout) :: self
    class(matrix_base), intent(inout) :: a
    integer(int64), intent(in) :: rows(3)
    type(array_view), intent(in) :: row, col, values
    integer(int32), intent(in), optional :: symmetry
    type(sextant_matrix_settings), intent(in), optional :: settings
    integer(int32), intent(out) :: stat
    type(sxt_matrix_options) :: options
    type(c_ptr) :: handle
    if (.not. usable(self, type_of_world, maker_of_world, stat)) return
    if (row%count /= values%count .or. col%count /= values%count) then
      call refuse(self, sxt_e_dimension, 'row, col and values must be of one length', stat)
      return
    end if
    options = options_of(row, col, values, settings)
    if (present(symmetry)) options%symmetry = symmetry
    handle = c_null_ptr
    call conclude(self, sxt_matrix_from_coo_rows(self%c_handle(), rows(1), rows(1), rows(2) - 1, &
                                                 max(0_int64, rows(3) - rows(2) + 1), values%count, row%address, &
                                                 col%address, values%address, options, handle), stat)
    if (stat == sxt_ok) call keep_matrix(a, handle, stat)
    if (stat == sxt_ok) a%members_of_world = self%members()
  end subroutine

  subroutine split(self, a, whole, method, stat)
    class(sextant_world), intent(inout) :: self
    class(matrix_base), intent(inout) :: a
    class(matrix_base), intent(in) :: whole
    character(*), intent(in), optional :: method
    integer(int32), intent(out) :: stat
    type(sxt_partition_options) :: options
    character(kind=c_char), allocatable, target :: name(:)
    type(c_ptr) :: handle
    if (.not. usable(self, type_of_world, maker_of_world, stat)) return
    call sxt_partition_options_init(options, int(c_sizeof(options), int64))
    call c_text(method, name, options%method)
    handle = c_null_ptr
    call conclude(self, sxt_matrix_split(self%c_handle(), whole%c_handle(), options, handle), stat)
    if (stat == sxt_ok) call keep_matrix(a, handle, stat)
    if (stat == sxt_ok) a%members_of_world = self%members()
  end subroutine

  subroutine rows_of(self, a, begin, stat)
    class(sextant_world), intent(inout) :: self
    class(matrix_base), intent(in) :: a
    integer(int64), intent(out) :: begin(:)
    integer(int32), intent(out) :: stat
    if (.not. room_for_members(self, begin, stat)) return
    if (a%members_of_world /= 0 .and. a%members_of_world /= self%members()) then
      call refuse(self, sxt_e_argument, 'the matrix belongs to another world', stat)
      return
    end if
    call conclude(self, sxt_matrix_rows(a%c_handle(), begin), stat)
    if (stat == sxt_ok) begin = begin + 1
  end subroutine

  ! order(k): the caller's number of the k-th row of this process, of as many as its vectors hold.
  subroutine order_of(self, a, order, stat)
    class(sextant_world), intent(inout) :: self
    class(matrix_base), intent(in) :: a
    integer(int64), intent(inout) :: order(:)
    integer(int32), intent(out) :: stat
    integer(int64), allocatable :: begin(:)
    integer(int64) :: own
    type(sxt_world_info) :: known
    allocate(begin(self%members() + 1))
    call self%rows_of(a, begin, stat)
    if (stat /= sxt_ok) return
    known%struct_size = int(c_sizeof(known), int64)
    call conclude(self, sxt_world_get_info(self%c_handle(), known), stat)
    if (stat /= sxt_ok) return
    own = begin(known%first_member + known%own + 1) - begin(known%first_member + 1)
    if (size(order, kind=int64) < own) then
      call refuse(self, sxt_e_dimension, 'order is shorter than the rows of this process', stat)
      return
    end if
    call conclude(self, sxt_matrix_order(a%c_handle(), order), stat)
    if (stat == sxt_ok) order(1:own) = order(1:own) + 1
  end subroutine

  subroutine plan_rows(self, rows, begin, stat)
    class(sextant_world), intent(inout) :: self
    integer(int64), intent(in) :: rows
    integer(int64), intent(out) :: begin(:)
    integer(int32), intent(out) :: stat
    if (.not. room_for_members(self, begin, stat)) return
    call conclude(self, sxt_rows_plan(self%c_handle(), rows, begin), stat)
    if (stat == sxt_ok) begin = begin + 1
  end subroutine

  function room_for_members(self, begin, stat) result(enough)
    class(sextant_world), intent(inout) :: self
    integer(int64), intent(inout) :: begin(:)
    integer(int32), intent(out) :: stat
    logical :: enough
    begin = 0
    enough = usable(self, type_of_world, maker_of_world, stat)
    if (.not. enough) return
    enough = size(begin) == self%members() + 1
    if (.not. enough) call refuse(self, sxt_e_dimension, 'begin must have one element more than the world has members', stat)
  end function

  ! ---- vectors and solvers -------------------------------------------------------------------------------------------

  function fits_members(self, count, stat) result(fits)
    class(sextant_world), intent(inout) :: self
    integer, intent(in) :: count
    integer(int32), intent(out) :: stat
    logical :: fits
    fits = usable(self, type_of_world, maker_of_world, stat)
    if (.not. fits) return
    fits = count == self%own()
    if (.not. fits) call refuse(self, sxt_e_dimension, 'lengths must have an element for each member of this process', stat)
  end function

  subroutine vector(self, v, lengths, value_type, stat)
    class(sextant_world), intent(inout) :: self
    class(vector_base), intent(inout) :: v
    integer(int64), intent(in) :: lengths(:)
    integer(int32), intent(in) :: value_type
    integer(int32), intent(out) :: stat
    type(c_ptr) :: handle
    if (.not. fits_members(self, size(lengths), stat)) return
    handle = c_null_ptr
    call conclude(self, sxt_world_vector_create(self%c_handle(), lengths, value_type, handle), stat)
    if (stat == sxt_ok) call keep_vector(v, handle, value_type)
  end subroutine

  subroutine wrap(self, v, lengths, value_type, spaces, addresses, stat)
    class(sextant_world), intent(inout) :: self
    class(vector_base), intent(inout) :: v
    integer(int64), intent(in) :: lengths(:)
    integer(int32), intent(in) :: value_type, spaces(:)
    type(c_ptr), intent(in) :: addresses(:)
    integer(int32), intent(out) :: stat
    type(c_ptr) :: handle
    if (.not. fits_members(self, min(size(lengths), size(spaces), size(addresses)), stat)) return
    handle = c_null_ptr
    call conclude(self, sxt_world_vector_wrap(self%c_handle(), lengths, value_type, spaces, addresses, handle), stat)
    if (stat == sxt_ok) call keep_vector(v, handle, value_type)
  end subroutine

  ! Of the member of this process with this number, from 1, in a solver's matrix. stat alone tells why there is none.
  subroutine sextant_pcg_member(solver, member, report, stat)
    class(sextant_object), intent(in) :: solver
    integer, intent(in) :: member
    type(sextant_member_report), intent(out) :: report
    integer(int32), intent(out) :: stat
    type(sxt_member_report) :: c
    c%struct_size = c_sizeof(c)
    stat = sxt_pcg_get_member(solver%c_handle(), int(member - 1, int32), c)
    if (stat /= sxt_ok) return
    report = sextant_member_report(c%rows, c%own_entries, c%boundary_entries, c%boundary_rows, c%halo_received, &
                                   c%halo_sent, c%product_seconds, c%exchange_seconds, c%waiting_seconds)
  end subroutine
end module sextant_worlds
