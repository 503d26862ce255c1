! SPDX-License-Identifier: BSD-3-Clause
! Procedures of the program that the library calls: progress, cancel, log, allocator, and their data.
module callback_procedures
  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_loc, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant
  implicit none

  ! The data that progress and log receive.
  type :: notes
    integer(int64) :: calls = 0, last_iteration = -1, stop_at = -1
    real(real64) :: last_residual = -1
    integer :: lines = 0, level = -1
    logical :: words = .false.
  end type

  integer(int64), save :: allocated_blocks = 0, released_blocks = 0
  logical, save :: refuse_memory = .false.

  interface
    function posix_memalign(address, alignment, bytes) bind(c) result(failed)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), intent(inout) :: address
      integer(c_size_t), value :: alignment, bytes
      integer(c_int) :: failed
    end function
    subroutine c_free(address) bind(c, name='free')
      import :: c_ptr
      type(c_ptr), value :: address
    end subroutine
  end interface

contains

  subroutine progress(data, iteration, relative_residual, cancel)
    class(*), pointer, intent(in) :: data
    integer(int64), intent(in) :: iteration
    real(real64), intent(in) :: relative_residual
    integer(int32), intent(inout) :: cancel
    select type (data)
    type is (notes)
      data%calls = data%calls + 1
      data%last_iteration = iteration
      data%last_residual = relative_residual
      if (data%stop_at >= 0 .and. iteration >= data%stop_at) cancel = 1
    end select
  end subroutine

  subroutine take_line(data, level, message)
    class(*), pointer, intent(in) :: data
    integer(int32), intent(in) :: level
    character(*), intent(in) :: message
    select type (data)
    type is (notes)
      !$omp atomic
      data%lines = data%lines + 1
      data%level = max(data%level, int(level))
      data%words = data%words .or. len(message) > 0
    end select
  end subroutine

  function get_memory(data, bytes, alignment) result(address)
    class(*), pointer, intent(in) :: data
    integer(int64), intent(in) :: bytes, alignment
    type(c_ptr) :: address
    address = c_null_ptr
    if (refuse_memory .or. .not. associated(data)) return
    if (posix_memalign(address, int(max(alignment, 8_int64), c_size_t), int(bytes, c_size_t)) /= 0) address = c_null_ptr
    if (c_associated(address)) allocated_blocks = allocated_blocks + 1
  end function

  subroutine give_back(data, address)
    class(*), pointer, intent(in) :: data
    type(c_ptr), intent(in) :: address
    if (.not. c_associated(address) .or. .not. associated(data)) return
    released_blocks = released_blocks + 1
    call c_free(address)
  end subroutine
end module callback_procedures

program test_callbacks
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant
  use checks
  use callback_procedures
  implicit none

  integer, parameter :: side = 30, n = side**2
  integer(int32), allocatable :: row_ptr(:), col(:)
  real(real64), allocatable :: values(:)
  type(sextant_hooks), target, save :: hooks, memory_hooks
  type(notes), target, save :: logged

  call laplacian_csr(side, 0.0_real64, row_ptr, col, values)
  call progress_is_told()
  call progress_cancels()
  call flag_cancels()
  call columns_tell_too()
  call logs()
  call allocates()
  deallocate(row_ptr, col, values)
  call finish()

contains

  subroutine set_up(a, solver)
    type(sextant_matrix), intent(inout) :: a
    type(sextant_pcg), intent(inout) :: solver
    type(sextant_options) :: options
    integer :: stat
    call a%from_csr(row_ptr, col, values, stat=stat)
    options%preconditioner = 'jacobi'
    call solver%create(a, options, stat)
    call check_status(stat, sxt_ok, 'set-up: '//solver%error())
  end subroutine

  subroutine progress_is_told()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_solve_options) :: options
    type(sextant_report) :: report
    type(notes), target :: seen
    real(real64) :: b(n), x(n)
    integer :: stat
    call set_up(a, solver)
    b = 1
    options%progress => progress
    options%progress_data => seen
    call solver%solve(b, x, options, report, stat)
    call check_status(stat, sxt_ok, 'a solve that tells: '//report%message)
    call check(seen%calls > 0 .and. seen%last_iteration > 0, 'progress was called')
    call check(seen%last_residual >= 0 .and. seen%last_residual < 1, 'with a relative residual')
  end subroutine

  subroutine progress_cancels()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_solve_options) :: options
    type(sextant_report) :: report
    type(notes), target :: seen
    real(real64) :: b(n), x(n)
    integer :: stat
    call set_up(a, solver)
    b = 1
    seen%stop_at = 3
    options%progress => progress
    options%progress_data => seen
    call solver%solve(b, x, options, report, stat)
    call check_status(stat, sxt_not_converged, 'a solve that is cancelled')
    call check(report%reason == sxt_reason_cancelled, 'and says so')
    call check_text(report%message, 'cancelled', 'in words, too')
  end subroutine

  subroutine flag_cancels()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_solve_options) :: options
    type(sextant_report) :: report
    integer(int32), target, volatile :: flag
    real(real64) :: b(n), x(n)
    integer :: stat
    call set_up(a, solver)
    b = 1
    flag = 1
    options%cancel => flag
    call solver%solve(b, x, options, report, stat)
    call check(stat == sxt_not_converged .and. report%reason == sxt_reason_cancelled, 'a flag that is set cancels')
    flag = 0
    call solver%solve(b, x, options, report, stat)
    call check_status(stat, sxt_ok, 'one that is not set does not')
  end subroutine

  subroutine columns_tell_too()
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    type(sextant_solve_options) :: options
    type(sextant_report) :: reports(2)
    type(notes), target :: seen
    real(real64) :: b(n, 2), x(n, 2)
    integer :: stat
    call set_up(a, solver)
    b(:, 1) = 1
    b(:, 2) = 2
    options%progress => progress
    options%progress_data => seen
    call solver%solve(b, x, options, reports, stat)
    call check(stat == sxt_ok .and. seen%calls > 0, 'a solve of columns tells its progress')
  end subroutine

  subroutine logs()
    type(sextant_context) :: context
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    integer :: stat
    hooks%log => take_line
    hooks%log_level = sxt_log_debug
    hooks%data => logged
    call context%create(device='cpu', hooks=hooks, stat=stat)
    call check_status(stat, sxt_ok, 'a context that logs: '//context%error())
    call context%load_plan('/no/such/plan', stat=stat)
    call check_status(stat, sxt_e_file_read, 'a plan that is not there')
    call a%from_csr(row_ptr, col, values, context=context, stat=stat)
    call solver%create(a, stat)
    call check_status(stat, sxt_ok, 'a set-up in it')
    call check(logged%lines > 0 .and. logged%words .and. logged%level <= sxt_log_debug, 'lines of the log come')
  end subroutine

  subroutine allocates()
    type(sextant_context) :: context
    type(sextant_vector) :: v
    type(notes), target, save :: anything
    integer :: stat
    memory_hooks%allocate => get_memory
    memory_hooks%release => give_back
    memory_hooks%data => anything
    call context%create(device='cpu', hooks=memory_hooks, stat=stat)
    call check_status(stat, sxt_ok, 'a context with an allocator: '//context%error())
    call v%create(100000, sxt_f64, context=context, stat=stat)
    call check(stat == sxt_ok .and. allocated_blocks > 0, 'memory comes from it')
    refuse_memory = .true.
    block
      type(sextant_vector) :: more
      call more%create(1000000, sxt_f64, context=context, stat=stat)
      call check_status(stat, sxt_e_memory, 'no memory is an error')
    end block
    refuse_memory = .false.
    call v%destroy()
    call context%destroy()
    call check(allocated_blocks == released_blocks, 'and all goes back to it')
  end subroutine
end program test_callbacks
