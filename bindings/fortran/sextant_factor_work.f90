! SPDX-License-Identifier: BSD-3-Clause
! What the procedures of sextant_analysis and sextant_cholesky share, whatever the types of their arguments.
module sextant_factor_work
  use, intrinsic :: iso_c_binding, only: c_char, c_loc, c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_c
  use sextant_cholesky_c
  use sextant_objects
  use sextant_matrix_work, only: type_of_matrix, maker_of_matrix
  use sextant_matrices
  use sextant_sheets
  implicit none
  private
  public :: sextant_analysis_settings, sextant_analysis_info
  public :: sextant_cholesky_options, sextant_cholesky_report, sextant_cholesky_info
  public :: analysis_base, make_analysis, save_analysis, analysis_info_of, order_of, explain_analysis
  public :: cholesky_base, make_factor, factor_values, solve_here, solve_told, factor_info_of, changed_rows_of
  public :: diagonal_of, rcond_of, schur_of, inverse_of, shape_of_analysis, type_of_analysis, maker_of_analysis

  ! What is known and wanted of a factorisation; every member has the library's default. Rows count as A's indices do: from
  ! 1 unless the matrix was made with zero_based.
  type :: sextant_analysis_settings
    character(:), allocatable :: order            ! 'metis', 'amd', ...; default: a grid's, else by predicted seconds
    integer(int64), allocatable :: permutation(:) ! permutation(k) is the row eliminated k-th; not with order
    character(:), allocatable :: scheduler        ! this kernel alone; default: the model chooses
    integer(int32) :: factorization = sxt_llh     ! sxt_ldlh: also quasi-definite matrices
    integer(int32) :: pivot_policy = sxt_pivot_fail ! sxt_pivot_perturb, sxt_pivot_replace: what becomes of small pivots
    real(real64) :: pivot_tolerance = 0           ! a pivot no larger than this is small
    real(real64) :: pivot_value = 0               ! what it becomes; 0: machine epsilon times the largest entry of A
    integer(int64) :: amalgamation = 0            ! supernodes narrower than this may be joined; 0: the model chooses
    integer(int64) :: block = 0                   ! columns of a block column, at most; 0: the model chooses
    integer(int64), allocatable :: schur_rows(:)  ! rows left unfactored: a Schur complement
    real(real64) :: expected_factors = 1          ! how often each will be run, for the choice
    real(real64) :: expected_solves = 1
    integer(int64) :: expected_rhs = 1            ! right-hand sides of a solve
    real(real64) :: symmetry_tolerance = 0        ! |a_ij - conj(a_ji)| / sqrt(a_ii a_jj) that counts as equal; 0: rounding
    logical :: check_symmetry = .true.            ! .false.: trust the caller; of two mirror images one is read
    integer(int32) :: factor_precision = sxt_precision_working ! sxt_precision_single, _auto, _rounded: solves are refined
    integer(int64) :: memory_limit = 0            ! bytes of the device's memory for a factor; 0: what is there
  end type

  ! What an analysis found and predicts. Members are those of sxt_analysis_info.
  type :: sextant_analysis_info
    integer(int64) :: n = 0, nnz_a = 0
    integer(int64) :: nnz_l = 0                   ! entries of L, its diagonal included
    integer(int64) :: stored_values = 0           ! numbers that a factor takes, zeros that were added included
    integer(int64) :: supernodes = 0, largest_front = 0 ! largest_front: rows of the largest one
    real(real64) :: flops = 0                     ! of a factorisation in real arithmetic
    integer(int64) :: factor_bytes = 0            ! of a factor
    integer(int64) :: host_bytes = 0, device_bytes = 0 ! of all that one sextant_cholesky takes
    real(real64) :: analysis_seconds = 0          ! measured
    real(real64) :: predicted_factor_seconds = 0, predicted_solve_seconds = 0
    integer(int64) :: amalgamation = 0, block = 0
    integer(int32) :: factor_type = 0             ! sxt_f64, ...: of the numbers of a factor
  end type

  ! What may differ from solve to solve.
  type :: sextant_cholesky_options
    integer(int32) :: step = sxt_step_all         ! sxt_step_forward, sxt_step_diagonal, sxt_step_backward: a part of a solve
    integer(int32) :: refine_steps = 0            ! of iterative refinement at most; whole solves only
    real(real64) :: refine_tolerance = 0          ! relative residual at which a column stops; 0: machine epsilon
    integer(int32), pointer :: cancel => null()   ! a flag that another thread sets to 1 to cancel; a volatile target
  end type

  ! What a solve did.
  type :: sextant_cholesky_report
    integer(int32) :: refined = 0                 ! refinement steps taken
    logical :: repeated = .false.                 ! .true.: the factor was made again in the working precision
    real(real64) :: residual = 0                  ! |b - A x| / |b| of the worst column; NaN where nothing was refined
    real(real64) :: residual_bound = 0            ! the exact one is within it
    real(real64) :: solve_seconds = 0, predicted_seconds = 0
    character(:), allocatable :: message          ! a sentence when stat is not sxt_ok; '' otherwise
  end type

  ! What a factor says of A. Where there is none, only the members about failures and predictions mean anything.
  type :: sextant_cholesky_info
    logical :: factored = .false.                 ! .true.: there is a factor
    integer(int32) :: factor_type = 0             ! of its numbers: sxt_f32 or sxt_c64: what follows has about 7 digits
    logical :: repeated = .false.                 ! .true.: single precision did not serve
    real(real64) :: log_determinant = 0           ! of |det A|; of the factored part where there is a Schur complement
    integer(int32) :: sign = 0                    ! of det A
    integer(int64) :: positive = 0, negative = 0, zero = 0 ! eigenvalues of A of each sign
    real(real64) :: least_pivot = 0, largest_pivot = 0 ! by size
    integer(int64) :: changed_pivots = 0          ! by the pivot policy
    integer(int64) :: failed_row = -1             ! of the last factorisation that failed, counted as A's indices; -1: none did
    real(real64) :: failed_pivot = 0
    real(real64) :: factor_seconds = 0, predicted_factor_seconds = 0
  end type

  character(*), parameter :: type_of_analysis = 'sextant_analysis', maker_of_analysis = 'create or load'
  character(*), parameter :: type_of_factor = 'sextant_cholesky', maker_of_factor = 'create'

  type, extends(sextant_object) :: analysis_base
    private
    integer(int64) :: n = 0
    integer(int32) :: type = 0
  contains
    procedure :: method ! name = analysis%method(): the order's; '' when nothing was analysed
  end type

  type, extends(sextant_object) :: cholesky_base
    private
    integer(int64) :: n = 0
    integer(int32) :: type = 0
  contains
    procedure :: value_type ! of the matrix: sxt_f32, ...
  end type

contains

  ! ---- analyses ------------------------------------------------------------------------------------------------------

  ! From a file where there is a path, else by a search.
  subroutine make_analysis(self, a, path, settings, stat)
    class(analysis_base), intent(inout) :: self
    type(sextant_matrix), intent(in) :: a
    character(*), intent(in), optional :: path
    type(sextant_analysis_settings), intent(in), optional, target :: settings
    integer(int32), intent(out) :: stat
    type(sxt_analysis_options) :: c
    type(c_ptr) :: handle, path_at
    character(kind=c_char), allocatable, target :: order(:), scheduler(:), path_c(:)
    if (.not. a%is_made()) then
      call refuse(self, sxt_e_state, unusable(type_of_matrix, maker_of_matrix), stat)
      return
    end if
    call sxt_analysis_options_init(c, int(c_sizeof(c), int64))
    if (present(settings)) then
      call take_rows(self, settings, a%rows(), c, stat)
      if (stat /= sxt_ok) return
      call take_numbers(settings, c)
      call c_text(settings%order, order, c%order)
      call c_text(settings%scheduler, scheduler, c%scheduler)
    end if
    handle = c_null_ptr
    if (present(path)) then
      call c_text(path, path_c, path_at)
      call conclude(self, sxt_analysis_load(a%c_handle(), path_at, c, handle), stat)
    else
      call conclude(self, sxt_analysis_create(a%c_handle(), c, handle), stat)
    end if
    if (stat /= sxt_ok) return
    call adopt(self, handle, sxt_analysis_destroy)
    self%n = a%rows()
    self%type = a%value_type()
  end subroutine

  ! C cannot know how long the arrays are.
  subroutine take_rows(self, settings, n, c, stat)
    class(analysis_base), intent(inout) :: self
    type(sextant_analysis_settings), intent(in), target :: settings
    integer(int64), intent(in) :: n
    type(sxt_analysis_options), intent(inout) :: c
    integer(int32), intent(out) :: stat
    stat = sxt_ok
    if (allocated(settings%permutation)) then
      if (size(settings%permutation, kind=int64) /= n) then
        call refuse(self, sxt_e_dimension, 'settings%permutation has '// &
                    decimal(size(settings%permutation, kind=int64))//' elements, the matrix '//decimal(n)//' rows', stat)
        return
      end if
      if (n > 0) c%permutation = c_loc(settings%permutation(1))
    end if
    if (.not. allocated(settings%schur_rows)) return
    c%n_schur = size(settings%schur_rows, kind=int64)
    if (c%n_schur > 0) c%schur_rows = c_loc(settings%schur_rows(1))
  end subroutine

  subroutine take_numbers(settings, c)
    type(sextant_analysis_settings), intent(in) :: settings
    type(sxt_analysis_options), intent(inout) :: c
    c%factorization = settings%factorization
    c%pivot_policy = settings%pivot_policy
    c%pivot_tolerance = settings%pivot_tolerance
    c%pivot_value = settings%pivot_value
    c%amalgamation = settings%amalgamation
    c%block = settings%block
    c%expected_factors = settings%expected_factors
    c%expected_solves = settings%expected_solves
    c%expected_rhs = settings%expected_rhs
    c%symmetry_tolerance = settings%symmetry_tolerance
    c%check_symmetry = merge(1_int32, 0_int32, settings%check_symmetry)
    c%factor_precision = settings%factor_precision
    c%memory_limit = settings%memory_limit
  end subroutine

  ! Rows and type of the matrix.
  pure subroutine shape_of_analysis(analysis, n, type)
    class(analysis_base), intent(in) :: analysis
    integer(int64), intent(out) :: n
    integer(int32), intent(out) :: type
    n = analysis%n
    type = analysis%type
  end subroutine

  subroutine save_analysis(self, path, stat)
    class(analysis_base), intent(inout) :: self
    character(*), intent(in) :: path
    integer(int32), intent(out) :: stat
    type(c_ptr) :: path_at
    character(kind=c_char), allocatable, target :: path_c(:)
    if (.not. usable(self, type_of_analysis, maker_of_analysis, stat)) return
    call c_text(path, path_c, path_at)
    call conclude(self, sxt_analysis_save(self%c_handle(), path_at), stat)
  end subroutine

  subroutine analysis_info_of(self, info, stat)
    class(analysis_base), intent(inout) :: self
    type(sextant_analysis_info), intent(out) :: info
    integer(int32), intent(out) :: stat
    type(sxt_analysis_info) :: c
    if (.not. usable(self, type_of_analysis, maker_of_analysis, stat)) return
    c%struct_size = c_sizeof(c)
    call conclude(self, sxt_analysis_get_info(self%c_handle(), c), stat)
    info = sextant_analysis_info(n=c%n, nnz_a=c%nnz_a, nnz_l=c%nnz_l, stored_values=c%stored_values, &
      supernodes=c%supernodes, largest_front=c%largest_front, flops=c%flops, factor_bytes=c%factor_bytes, &
      host_bytes=c%host_bytes, device_bytes=c%device_bytes, analysis_seconds=c%analysis_seconds, &
      predicted_factor_seconds=c%predicted_factor_seconds, predicted_solve_seconds=c%predicted_solve_seconds, &
      amalgamation=c%amalgamation, block=c%block, factor_type=c%factor_type)
  end subroutine

  subroutine order_of(self, permutation, stat)
    class(analysis_base), intent(inout) :: self
    integer(int64), allocatable, intent(inout) :: permutation(:)
    integer(int32), intent(out) :: stat
    if (.not. usable(self, type_of_analysis, maker_of_analysis, stat)) return
    allocate(permutation(self%n), stat=stat)
    if (stat /= 0) then
      call refuse(self, sxt_e_memory, 'there is no memory for an order of '//decimal(self%n)//' rows', stat)
      return
    end if
    call conclude(self, sxt_analysis_get_order(self%c_handle(), self%n, permutation), stat)
  end subroutine

  function method(self) result(name)
    class(analysis_base), intent(in) :: self
    character(:), allocatable :: name
    integer(int64) :: length, needed
    name = ''
    needed = 60
    do while (self%is_made())
      length = needed
      deallocate(name)
      allocate(character(length + 1) :: name)
      if (sxt_analysis_get_method(self%c_handle(), name, length + 1, needed) /= sxt_ok) needed = 0
      if (needed > length) cycle
      name = name(:needed)
      exit
    end do
  end function

  subroutine explain_analysis(self, form, text, stat)
    class(analysis_base), intent(inout) :: self
    integer(int32), intent(in) :: form
    character(:), allocatable, intent(inout) :: text
    integer(int32), intent(out) :: stat
    text = ''
    if (usable(self, type_of_analysis, maker_of_analysis, stat)) &
      call explanation(self, sxt_analysis_explain, form, text, stat)
  end subroutine

  ! ---- factors -------------------------------------------------------------------------------------------------------

  pure function value_type(self) result(type)
    class(cholesky_base), intent(in) :: self
    integer(int32) :: type
    type = merge(self%type, 0_int32, self%is_made())
  end function

  subroutine make_factor(self, analysis, stat)
    class(cholesky_base), intent(inout) :: self
    class(analysis_base), intent(in) :: analysis
    integer(int32), intent(out) :: stat
    type(c_ptr) :: handle
    if (.not. analysis%is_made()) then
      call refuse(self, sxt_e_state, unusable(type_of_analysis, maker_of_analysis), stat)
      return
    end if
    handle = c_null_ptr
    call conclude(self, sxt_cholesky_create(analysis%c_handle(), handle), stat)
    if (stat /= sxt_ok) return
    call adopt(self, handle, sxt_cholesky_destroy)
    self%n = analysis%n
    self%type = analysis%type
  end subroutine

  ! The present values of the analysed matrix, or of a.
  subroutine factor_values(self, a, cancel, stat)
    class(cholesky_base), intent(inout) :: self
    type(sextant_matrix), intent(in), optional :: a
    integer(int32), pointer, intent(in), optional :: cancel
    integer(int32), intent(out) :: stat
    type(sxt_factor_options) :: c
    type(c_ptr) :: matrix
    integer(int32) :: status
    if (.not. usable(self, type_of_factor, maker_of_factor, stat)) return
    matrix = c_null_ptr
    if (present(a)) then
      if (.not. a%is_made()) then
        call refuse(self, sxt_e_state, unusable(type_of_matrix, maker_of_matrix), stat)
        return
      end if
      matrix = a%c_handle()
    end if
    call sxt_factor_options_init(c, int(c_sizeof(c), int64))
    if (present(cancel)) then
      if (associated(cancel)) c%cancel = c_loc(cancel)
    end if
    status = sxt_cholesky_factor(self%c_handle(), matrix, c)
    call conclude(self, status, stat)
    if (status == sxt_not_converged) call refuse(self, status, last_sentence(), stat) ! cancelled
  end subroutine

  ! The sentence about a failure stays with the object, so this is for one thread at a time.
  subroutine solve_here(self, b, x, options, stat)
    class(cholesky_base), intent(inout) :: self
    type(sheet), intent(in) :: b, x
    type(sextant_cholesky_options), intent(in), optional :: options
    integer(int32), intent(out) :: stat
    type(sxt_cholesky_solve_report) :: done
    integer(int32) :: status
    call solve_sheets(self, b, x, options, done, status)
    call conclude(self, sxt_ok, stat)
    if (status /= sxt_ok) call refuse(self, status, failure(self, b, x, status), stat)
  end subroutine

  ! The sentence goes into the report: any number of threads may solve with one factor. Where all goes well nothing is
  ! allocated by a report that serves again.
  subroutine solve_told(self, b, x, options, report, stat)
    class(cholesky_base), intent(in) :: self
    type(sheet), intent(in) :: b, x
    type(sextant_cholesky_options), intent(in), optional :: options
    type(sextant_cholesky_report), intent(inout) :: report
    integer(int32), intent(out) :: stat
    type(sxt_cholesky_solve_report) :: done
    call solve_sheets(self, b, x, options, done, stat)
    report%refined = done%refined
    report%repeated = done%repeated /= 0
    report%residual = done%residual
    report%residual_bound = done%residual_bound
    report%solve_seconds = done%solve_seconds
    report%predicted_seconds = done%predicted_seconds
    report%message = ''
    if (stat /= sxt_ok) report%message = failure(self, b, x, stat)
  end subroutine

  subroutine solve_sheets(self, b, x, options, done, stat)
    class(cholesky_base), intent(in) :: self
    type(sheet), intent(in) :: b, x
    type(sextant_cholesky_options), intent(in), optional :: options
    type(sxt_cholesky_solve_report), intent(inout) :: done
    integer(int32), intent(out) :: stat
    type(sxt_cholesky_solve_options) :: c
    stat = obstacle(self, b, x)
    if (stat /= sxt_ok) return
    call sxt_cholesky_solve_options_init(c, int(c_sizeof(c), int64))
    if (present(options)) then
      c%step = options%step
      c%refine_steps = options%refine_steps
      c%refine_tolerance = options%refine_tolerance
      if (associated(options%cancel)) c%cancel = c_loc(options%cancel)
    end if
    done%struct_size = c_sizeof(done)
    stat = sxt_cholesky_solve(self%c_handle(), b%rows, b%columns, b%address, max(1_int64, b%rows), x%address, &
                              max(1_int64, x%rows), c, done)
  end subroutine

  ! Why C cannot be called with these arrays; sxt_ok when it can. It compares their columns with A itself.
  pure function obstacle(self, b, x) result(stat)
    class(cholesky_base), intent(in) :: self
    type(sheet), intent(in) :: b, x
    integer(int32) :: stat
    stat = sxt_ok
    if (b%rows /= x%rows .or. b%columns /= x%columns) stat = sxt_e_dimension
    if (b%type /= self%type .or. x%type /= self%type) stat = sxt_e_type
    if (.not. self%is_made()) stat = sxt_e_state
  end function

  ! The sentence to it, or that of the C call that returned stat.
  function failure(self, b, x, stat) result(text)
    class(cholesky_base), intent(in) :: self
    type(sheet), intent(in) :: b, x
    integer(int32), intent(in) :: stat
    character(:), allocatable :: text
    if (obstacle(self, b, x) == sxt_ok) then
      text = last_sentence()
    else if (stat == sxt_e_state) then
      text = unusable(type_of_factor, maker_of_factor)
    else if (stat == sxt_e_type) then
      text = 'b and x are '//type_name(b%type)//', the matrix was made of '//type_name(self%type)
    else
      text = 'b has '//decimal(b%rows)//' rows and '//decimal(b%columns)//' columns, x has '//decimal(x%rows)// &
             ' and '//decimal(x%columns)
    end if
  end function

  ! ---- what a factor says --------------------------------------------------------------------------------------------

  subroutine factor_info_of(self, info, stat)
    class(cholesky_base), intent(inout) :: self
    type(sextant_cholesky_info), intent(out) :: info
    integer(int32), intent(out) :: stat
    type(sxt_cholesky_info) :: c
    if (.not. usable(self, type_of_factor, maker_of_factor, stat)) return
    c%struct_size = c_sizeof(c)
    call conclude(self, sxt_cholesky_get_info(self%c_handle(), c), stat)
    if (stat /= sxt_ok) return
    info = sextant_cholesky_info(factored=c%factored /= 0, factor_type=c%factor_type, repeated=c%repeated /= 0, &
      log_determinant=c%log_determinant, sign=c%sign, &
      positive=c%positive, negative=c%negative, zero=c%zero, least_pivot=c%least_pivot, largest_pivot=c%largest_pivot, &
      changed_pivots=c%changed_pivots, failed_row=c%failed_row, failed_pivot=c%failed_pivot, &
      factor_seconds=c%factor_seconds, predicted_factor_seconds=c%predicted_factor_seconds)
  end subroutine

  subroutine changed_rows_of(self, rows, stat)
    class(cholesky_base), intent(inout) :: self
    integer(int64), allocatable, intent(inout) :: rows(:)
    integer(int32), intent(out) :: stat
    integer(int64) :: count, capacity, none(1)
    if (.not. usable(self, type_of_factor, maker_of_factor, stat)) return
    count = 0
    call conclude(self, sxt_cholesky_changed_pivots(self%c_handle(), 0_int64, none, count), stat)
    if (stat /= sxt_ok) return
    allocate(rows(count), source=-1_int64, stat=stat)
    if (stat /= 0) then
      call refuse(self, sxt_e_memory, 'there is no memory for the numbers of '//decimal(count)//' rows', stat)
      return
    end if
    capacity = count
    call conclude(self, sxt_cholesky_changed_pivots(self%c_handle(), capacity, rows, count), stat)
    rows = pack(rows, rows >= 0) ! the library keeps the numbers of so many rows at most
  end subroutine

  subroutine diagonal_of(self, pivots, stat)
    class(cholesky_base), intent(inout) :: self
    real(real64), allocatable, intent(inout) :: pivots(:)
    integer(int32), intent(out) :: stat
    if (.not. usable(self, type_of_factor, maker_of_factor, stat)) return
    allocate(pivots(self%n), stat=stat)
    if (stat /= 0) then
      call refuse(self, sxt_e_memory, 'there is no memory for '//decimal(self%n)//' pivots', stat)
      return
    end if
    call conclude(self, sxt_cholesky_diagonal(self%c_handle(), self%n, pivots), stat)
    if (stat /= sxt_ok) deallocate(pivots)
  end subroutine

  subroutine rcond_of(self, rcond, stat)
    class(cholesky_base), intent(inout) :: self
    real(real64), intent(inout) :: rcond
    integer(int32), intent(out) :: stat
    rcond = 0
    if (usable(self, type_of_factor, maker_of_factor, stat)) &
      call conclude(self, sxt_cholesky_rcond(self%c_handle(), rcond), stat)
  end subroutine

  subroutine schur_of(self, schur, stat)
    class(cholesky_base), intent(inout) :: self
    type(sheet), intent(in) :: schur
    integer(int32), intent(out) :: stat
    if (.not. usable(self, type_of_factor, maker_of_factor, stat)) return
    if (schur%type /= self%type) then
      call refuse(self, sxt_e_type, 'schur is '//type_name(schur%type)//', the matrix was made of '// &
                  type_name(self%type), stat)
      return
    end if
    call conclude(self, sxt_cholesky_schur(self%c_handle(), schur%columns, schur%address, schur%rows), stat)
  end subroutine

  subroutine inverse_of(self, rows, cols, values, stat)
    class(cholesky_base), intent(inout) :: self
    integer(int64), intent(in) :: rows(:), cols(:)
    type(sheet), intent(in) :: values
    integer(int32), intent(out) :: stat
    if (.not. usable(self, type_of_factor, maker_of_factor, stat)) return
    if (values%type /= self%type) then
      call refuse(self, sxt_e_type, 'values is '//type_name(values%type)//', the matrix was made of '// &
                  type_name(self%type), stat)
    else if (size(rows, kind=int64) /= values%rows .or. size(cols, kind=int64) /= values%rows) then
      call refuse(self, sxt_e_dimension, 'rows has '//decimal(size(rows, kind=int64))//' elements, cols has '// &
                  decimal(size(cols, kind=int64))//' and values has '//decimal(values%rows)// &
                  ': they must have the same number', stat)
    else
      call conclude(self, sxt_cholesky_inverse(self%c_handle(), values%rows, rows, cols, values%address), stat)
    end if
  end subroutine
end module sextant_factor_work
