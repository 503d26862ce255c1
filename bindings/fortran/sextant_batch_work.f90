! SPDX-License-Identifier: BSD-3-Clause
! Common parts of the procedures of sextant_hermitian, independent of the types of their arguments.
module sextant_batch_work
  use, intrinsic :: iso_c_binding, only: c_char, c_loc, c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use sextant_c
  use sextant_hermitian_c
  use sextant_objects
  use sextant_contexts
  implicit none
  private
  public :: sextant_hermitian_settings, sextant_hermitian_answers, sextant_hermitian_report, report_from_c
  public :: batch_base, cube, cube_of, factoring, solving, both, create_batch, run, run_set, report_of, explain_batch

  ! Properties of the systems and wishes for them; every member has the library's default.
  type :: sextant_hermitian_settings
    integer(int32) :: definiteness = sxt_definite ! sxt_indefinite: pivoted; sxt_try_definite: pivoted where Cholesky fails
    logical :: upper = .false.                    ! .true.: the upper triangles are read
    logical :: equilibrate = .false.              ! rows and columns scaled by powers of two; calls of solve_all only
    integer(int32) :: refine_steps = 0                   ! of iterative refinement at most; calls of solve_all only
    real(real64) :: refine_tolerance = 0          ! backward error at which a system stops refining; 0: machine epsilon
    real(real64), allocatable :: shifts(:)        ! A + shifts(1) I is factored, further ones where that fails
    logical :: relative_shifts = .false.          ! .true.: multiples of the mean of a system's diagonal
    integer(int32), allocatable :: orders(:)      ! of each system; default: all n
    integer(int64) :: workspace_limit = 0         ! bytes; 0: what is needed
    integer(int32) :: shortcuts = 0               ! sum of sxt_shortcut_*: solve_all then leaves no factor where one is taken
    character(:), allocatable :: kernel           ! only this kernel; default: the model chooses
    real(real64) :: expected_runs = 1             ! how often, for the choice of kernels
    logical :: may_spoil = .false.                ! .true.: the other triangles may be overwritten
    ! Of sets that are described by addresses:
    integer(int32) :: space = sxt_space_host      ! where their arrays lie
    logical :: pointer_array = .false.            ! .true.: an address for each system
    logical :: leading_vary = .false.             ! .true.: a leading dimension for each system
  end type

  ! The outcome of each system. Members are allocated by the call; info(i) = 0 says that system i was solved.
  type :: sextant_hermitian_answers
    integer(int8), allocatable :: active(:)       ! allocated by the caller, who sets 0 for systems to be left alone; a call
                                                  ! leaves 1 where info is 0. Not allocated: all are active
    integer(int32), allocatable :: info(:)        ! 0; k > 0: leading minor k is not positive; sxt_info_*
    integer(int32), allocatable :: pivots(:, :)   ! of systems that are not definite, for later solves
    integer(int32), allocatable :: inertia(:, :)  ! positive, negative, zero eigenvalues: (3, systems)
    real(real64), allocatable :: residual(:)      ! backward error of the solution
    real(real64), allocatable :: rcond(:)         ! reciprocal condition number, estimated
    real(real64), allocatable :: shift(:)         ! the shift in force
    integer(int8), allocatable :: shortcut(:)     ! 1 where a shortcut solved the system: no factor stands. With shortcuts
                                                  ! solve_all gives this, and no inertia and rcond, which ask for factors
  end type

  ! What was chosen, predicted and used. Members are those of sxt_hermitian_report; names are '' where none was chosen.
  type :: sextant_hermitian_report
    character(:), allocatable :: factor_kernel, solve_kernel, factor_solve_kernel
    character(:), allocatable :: pivoting_kernel ! of the systems that are not definite, when definite ones are tried first
    real(real64) :: predicted_factor_s = 0, predicted_solve_s = 0, predicted_factor_solve_s = 0
    integer(int64) :: workspace_bytes = 0        ! that the calls so far allocated beside the set
    integer(int64) :: piece = 0                  ! systems worked on at once in the last call
    real(real64) :: flops = 0                    ! of factoring a set once and solving
    integer(int64) :: kernel_bytes = 0           ! most that kernels keep beside the set and the workspace
    character(:), allocatable :: toeplitz_kernel, mixed_kernel, butterfly_kernel
  end type

  type, extends(sextant_object) :: batch_base
    private
    integer(int32) :: value_type = 0, shortcuts = 0
    integer(int64) :: n = 0, batch = 0, n_rhs = 0
    logical :: by_addresses = .false.
  contains
    procedure, nopass :: new_set ! set = systems%new_set(): nothing in it yet
  end type

  integer, parameter :: factoring = 1, solving = 2, both = 3

  ! An array of rank three for C.
  type :: cube
    type(c_ptr) :: address = c_null_ptr
    integer(int64) :: extents(3) = 0
    integer(int32) :: type = 0
  end type

  ! An array of rank three as C sees it; valid as long as the actual argument.
  interface cube_of
    module procedure cube_r32, cube_r64, cube_c32, cube_c64
  end interface

contains

  subroutine create_batch(self, n, batch, value_type, n_rhs, settings, context, stat)
    class(batch_base), intent(inout) :: self
    integer(int64), intent(in) :: n, batch, n_rhs
    integer(int32), intent(in) :: value_type
    type(sextant_hermitian_settings), intent(in), optional, target :: settings
    type(sextant_context), intent(in), optional :: context
    integer(int32), intent(out) :: stat
    type(sxt_hermitian_options) :: c
    type(c_ptr) :: home, handle
    character(kind=c_char), allocatable, target :: kernel(:)
    call context_handle(self, context, home, stat)
    if (stat /= sxt_ok) return
    call sxt_hermitian_options_init(c, int(c_sizeof(c), int64))
    c%value_type = value_type
    c%space = sxt_space_host
    c%n = n
    c%batch = batch
    c%n_rhs = n_rhs
    if (present(settings)) then
      if (allocated(settings%orders)) then
        if (size(settings%orders, kind=int64) /= batch) then
          call refuse(self, sxt_e_dimension, 'settings%orders has '//decimal(size(settings%orders, kind=int64))// &
                      ' elements, but there are '//decimal(batch)//' systems', stat)
          return
        end if
        if (batch > 0) c%orders = c_loc(settings%orders(1))
      end if
      call numbers_of(settings, c)
      call c_text(settings%kernel, kernel, c%kernel)
    end if
    handle = c_null_ptr
    call conclude(self, sxt_hermitian_create(home, c, handle), stat)
    if (stat /= sxt_ok) return
    call adopt(self, handle, sxt_hermitian_destroy)
    self%value_type = value_type
    self%n = n
    self%batch = batch
    self%n_rhs = n_rhs
    self%shortcuts = c%shortcuts
    self%by_addresses = c%space /= sxt_space_host .or. c%pointer_array /= 0 .or. c%leading_vary /= 0
  end subroutine

  subroutine numbers_of(settings, c)
    type(sextant_hermitian_settings), intent(in), target :: settings
    type(sxt_hermitian_options), intent(inout) :: c
    c%definiteness = settings%definiteness
    c%triangle = merge(sxt_upper, sxt_lower, settings%upper)
    c%equilibrate = merge(1_int32, 0_int32, settings%equilibrate)
    c%refine_steps = int(settings%refine_steps, int32)
    c%refine_tolerance = settings%refine_tolerance
    c%expected_runs = settings%expected_runs
    c%may_spoil = merge(1_int32, 0_int32, settings%may_spoil)
    c%space = settings%space
    c%pointer_array = merge(1_int32, 0_int32, settings%pointer_array)
    c%leading_vary = merge(1_int32, 0_int32, settings%leading_vary)
    c%shift_relative = merge(1_int32, 0_int32, settings%relative_shifts)
    c%workspace_limit = settings%workspace_limit
    c%shortcuts = settings%shortcuts
    if (.not. allocated(settings%shifts)) return
    c%n_shifts = size(settings%shifts, kind=int64)
    if (c%n_shifts > 0) c%shifts = c_loc(settings%shifts(1))
  end subroutine

  subroutine run(self, phase, a, b, answers, stat)
    class(batch_base), intent(inout) :: self
    integer, intent(in) :: phase
    type(cube), intent(in) :: a, b
    type(sextant_hermitian_answers), intent(inout), target :: answers
    integer(int32), intent(out) :: stat
    type(sxt_hermitian_set) :: set
    integer(int32) :: status
    character(:), allocatable :: problem
    problem = obstacle(self, phase, a, b, answers)
    if (len(problem) > 0) then
      status = sxt_e_dimension
      if (.not. self%is_made()) status = sxt_e_state
      if (self%is_made() .and. a%type /= self%value_type) status = sxt_e_type
      call refuse(self, status, problem, stat)
      return
    end if
    if (phase /= solving) then
      call make_room(self, phase, answers, stat)
      if (stat /= 0) then
        call refuse(self, sxt_e_memory, 'there is no memory for the answers of '//decimal(self%batch)//' systems', stat)
        return
      end if
    end if
    call sxt_hermitian_set_init(set, int(c_sizeof(set), int64))
    set%a = a%address
    set%lda = max(1_int64, a%extents(1))
    set%stride_a = a%extents(1)*a%extents(2)
    set%b = b%address
    set%ldb = max(1_int64, b%extents(1))
    set%stride_b = b%extents(1)*b%extents(2)
    if (phase /= factoring) set%n_rhs = b%extents(2)
    if (self%batch > 0) call point(set, phase, answers)
    if (phase == factoring) call conclude(self, sxt_hermitian_factor(self%c_handle(), set), stat)
    if (phase == solving) call conclude(self, sxt_hermitian_solve(self%c_handle(), set), stat)
    if (phase == both) call conclude(self, sxt_hermitian_factor_solve(self%c_handle(), set), stat)
  end subroutine

  ! stat: not 0 where there was no memory.
  subroutine make_room(self, phase, answers, stat)
    class(batch_base), intent(in) :: self
    integer, intent(in) :: phase
    type(sextant_hermitian_answers), intent(inout) :: answers
    integer(int32), intent(out) :: stat
    integer(int8), allocatable :: active(:)
    call move_alloc(answers%active, active)
    answers = sextant_hermitian_answers()
    call move_alloc(active, answers%active)
    allocate(answers%info(self%batch), answers%pivots(max(1_int64, self%n), self%batch), source=0_int32, stat=stat)
    if (stat == 0) allocate(answers%shift(self%batch), source=0.0_real64, stat=stat)
    if (phase == both .and. self%shortcuts /= 0) then
      if (stat == 0) allocate(answers%shortcut(self%batch), source=0_int8, stat=stat)
    else
      if (stat == 0) allocate(answers%inertia(3, self%batch), source=0_int32, stat=stat)
      if (stat == 0) allocate(answers%rcond(self%batch), source=0.0_real64, stat=stat)
    end if
    if (stat == 0 .and. phase == both) allocate(answers%residual(self%batch), source=0.0_real64, stat=stat)
  end subroutine

  subroutine point(set, phase, answers)
    type(sxt_hermitian_set), intent(inout) :: set
    integer, intent(in) :: phase
    type(sextant_hermitian_answers), intent(in), target :: answers
    if (allocated(answers%active)) then
      set%active = c_loc(answers%active(1))
      set%active_out = set%active
    end if
    set%info = c_loc(answers%info(1))
    set%pivots = c_loc(answers%pivots(1, 1))
    set%stride_pivots = size(answers%pivots, 1, kind=int64)
    if (phase == solving) return
    if (allocated(answers%inertia)) set%inertia = c_loc(answers%inertia(1, 1))
    if (allocated(answers%rcond)) set%rcond = c_loc(answers%rcond(1))
    if (allocated(answers%shortcut)) set%shortcut = c_loc(answers%shortcut(1))
    set%shift = c_loc(answers%shift(1))
    if (phase == both) set%residual = c_loc(answers%residual(1))
  end subroutine

  ! Why C cannot be called with these arrays; '' when it can.
  function obstacle(self, phase, a, b, answers) result(text)
    class(batch_base), intent(in) :: self
    integer, intent(in) :: phase
    type(cube), intent(in) :: a, b
    type(sextant_hermitian_answers), intent(in) :: answers
    character(:), allocatable :: text
    logical :: factored
    text = ''
    factored = allocated(answers%info) .and. allocated(answers%pivots)
    if (factored) factored = size(answers%info, kind=int64) == self%batch .and. &
                             size(answers%pivots, kind=int64) >= self%n*self%batch
    if (.not. self%is_made()) then
      text = unusable('sextant_hermitian', 'create')
    else if (a%type /= self%value_type) then
      text = 'a is '//type_name(a%type)//', the systems were described as '//type_name(self%value_type)
    else if (self%by_addresses) then
      text = 'the settings say space, pointer_array or leading_vary: such sets are described by addresses'
    else if (a%extents(1) < self%n .or. a%extents(2) < self%n .or. a%extents(3) /= self%batch) then
      text = shape_text('a', a, self%n, self%n, self%batch)
    else if (phase /= factoring .and. (b%extents(1) < self%n .or. b%extents(3) /= self%batch)) then
      text = shape_text('b', b, self%n, self%n_rhs, self%batch)
    else if (.not. masks_all(self, answers)) then
      text = 'answers%active has '//decimal(size(answers%active, kind=int64))//' elements, but there are '// &
             decimal(self%batch)//' systems'
    else if (phase == solving .and. .not. factored) then
      text = 'answers are not those that factor left: they hold no info and pivots of these systems'
    end if
  end function

  pure function masks_all(self, answers) result(does)
    class(batch_base), intent(in) :: self
    type(sextant_hermitian_answers), intent(in) :: answers
    logical :: does
    does = .true.
    if (allocated(answers%active)) does = size(answers%active, kind=int64) == self%batch
  end function

  function shape_text(name, found, rows, cols, systems) result(text)
    character(*), intent(in) :: name
    type(cube), intent(in) :: found
    integer(int64), intent(in) :: rows, cols, systems
    character(:), allocatable :: text
    text = name//' has the shape ('//decimal(found%extents(1))//', '//decimal(found%extents(2))//', '// &
           decimal(found%extents(3))//'), expected ('//decimal(rows)//' or more, '//decimal(cols)//', '// &
           decimal(systems)//')'
  end function

  function new_set() result(set)
    type(sxt_hermitian_set) :: set
    call sxt_hermitian_set_init(set, int(c_sizeof(set), int64))
  end function

  subroutine run_set(self, phase, set, stat)
    class(batch_base), intent(inout) :: self
    integer, intent(in) :: phase
    type(sxt_hermitian_set), intent(inout) :: set
    integer(int32), intent(out) :: stat
    if (.not. usable(self, 'sextant_hermitian', 'create', stat)) return
    if (phase == factoring) call conclude(self, sxt_hermitian_factor(self%c_handle(), set), stat)
    if (phase == solving) call conclude(self, sxt_hermitian_solve(self%c_handle(), set), stat)
    if (phase == both) call conclude(self, sxt_hermitian_factor_solve(self%c_handle(), set), stat)
  end subroutine

  subroutine report_of(self, done, stat)
    class(batch_base), intent(inout) :: self
    type(sxt_hermitian_report), intent(inout) :: done
    integer(int32), intent(out) :: stat
    done%struct_size = c_sizeof(done)
    if (usable(self, 'sextant_hermitian', 'create', stat)) &
      call conclude(self, sxt_hermitian_get_report(self%c_handle(), done), stat)
  end subroutine

  function report_from_c(c) result(report)
    type(sxt_hermitian_report), intent(in) :: c
    type(sextant_hermitian_report) :: report
    report%factor_kernel = fortran_text(c%factor_kernel)
    report%solve_kernel = fortran_text(c%solve_kernel)
    report%factor_solve_kernel = fortran_text(c%factor_solve_kernel)
    report%pivoting_kernel = fortran_text(c%pivoting_kernel)
    report%predicted_factor_s = c%predicted_factor_s
    report%predicted_solve_s = c%predicted_solve_s
    report%predicted_factor_solve_s = c%predicted_factor_solve_s
    report%workspace_bytes = c%workspace_bytes
    report%piece = c%piece
    report%flops = c%flops
    report%kernel_bytes = c%kernel_bytes
    report%toeplitz_kernel = fortran_text(c%toeplitz_kernel)
    report%mixed_kernel = fortran_text(c%mixed_kernel)
    report%butterfly_kernel = fortran_text(c%butterfly_kernel)
  end function

  subroutine explain_batch(self, form, text, stat)
    class(batch_base), intent(inout) :: self
    integer(int32), intent(in) :: form
    character(:), allocatable, intent(inout) :: text
    integer(int32), intent(out) :: stat
    text = ''
    if (usable(self, 'sextant_hermitian', 'create', stat)) call explanation(self, sxt_hermitian_explain, form, text, stat)
  end subroutine

  function cube_r32(array) result(seen)
    real(real32), intent(in), contiguous, target :: array(:, :, :)
    type(cube) :: seen
    seen%type = sxt_f32
    seen%extents = shape(array, kind=int64)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1, 1))
  end function

  function cube_r64(array) result(seen)
    real(real64), intent(in), contiguous, target :: array(:, :, :)
    type(cube) :: seen
    seen%type = sxt_f64
    seen%extents = shape(array, kind=int64)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1, 1))
  end function

  function cube_c32(array) result(seen)
    complex(real32), intent(in), contiguous, target :: array(:, :, :)
    type(cube) :: seen
    seen%type = sxt_c64
    seen%extents = shape(array, kind=int64)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1, 1))
  end function

  function cube_c64(array) result(seen)
    complex(real64), intent(in), contiguous, target :: array(:, :, :)
    type(cube) :: seen
    seen%type = sxt_c128
    seen%extents = shape(array, kind=int64)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1, 1))
  end function
end module sextant_batch_work
