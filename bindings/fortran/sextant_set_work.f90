! SPDX-License-Identifier: BSD-3-Clause
! What the procedures of sextant_cholesky_sets share, whatever the types of their arguments.
module sextant_set_work
  use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_cholesky_sets_c
  use sextant_objects
  use sextant_factor_work, only: analysis_base, type_of_analysis, maker_of_analysis, shape_of_analysis
  implicit none
  private
  public :: sextant_set_outcomes, sextant_sets_info, set_block, block_of
  public :: sets_base, make_sets, factor_sets, solve_sets, outcomes_of, sets_info_of, explain_sets

  ! How the last factorisation of each set ended, and what the factors say of themselves: an element for each set.
  type :: sextant_set_outcomes
    integer(int32), allocatable :: status(:)         ! sxt_ok: it has a factor; sxt_e_state: none was made; else why it failed
    integer(int64), allocatable :: failed_row(:)     ! counted as A's indices are; -1: none did
    real(real64), allocatable :: failed_pivot(:)
    integer(int64), allocatable :: changed_pivots(:) ! by the pivot policy
    real(real64), allocatable :: log_determinant(:)  ! of |det A|; NaN without a factor
    integer(int32), allocatable :: sign(:)           ! of det A
    integer(int64), allocatable :: positive(:), negative(:), zero(:) ! eigenvalues of A of each sign
    real(real64), allocatable :: least_pivot(:), largest_pivot(:)
  end type

  ! What the sets take, and took.
  type :: sextant_sets_info
    integer(int64) :: count = 0, factored = 0        ! sets; those that have a factor
    integer(int64) :: nnz = 0                        ! values of a set
    integer(int64) :: factor_bytes = 0               ! of all factors
    integer(int64) :: host_bytes = 0, device_bytes = 0 ! of all that the object takes
    real(real64) :: factor_seconds = 0               ! of the last call that factored
    real(real64) :: predicted_factor_seconds = 0, predicted_solve_seconds = 0 ! of all sets
  end type

  ! Columns of several sets as C sees them: side by side, those of a set together.
  type :: set_block
    type(c_ptr) :: address = c_null_ptr
    integer(int64) :: rows = 0, columns = 0, sets = 0 ! columns: of each set
    integer(int32) :: type = 0                        ! sxt_f32, ...
  end type

  ! Valid as long as the actual argument, which must be a target and contiguous.
  interface block_of
    module procedure block_2_r32, block_2_r64, block_2_c32, block_2_c64, &
                     block_3_r32, block_3_r64, block_3_c32, block_3_c64
  end interface

  character(*), parameter :: type_of_sets = 'sextant_cholesky_sets', maker_of_sets = 'create'

  type, extends(sextant_object) :: sets_base
    private
    integer(int64) :: n = 0, sets = 0
    integer(int32) :: type = 0
  end type

contains

  function block_2_r32(array) result(seen)
    real(real32), intent(in), contiguous, target :: array(:, :)
    type(set_block) :: seen
    seen = set_block(c_loc(nothing), size(array, 1, kind=int64), 1_int64, size(array, 2, kind=int64), sxt_f32)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1))
  end function

  function block_2_r64(array) result(seen)
    real(real64), intent(in), contiguous, target :: array(:, :)
    type(set_block) :: seen
    seen = set_block(c_loc(nothing), size(array, 1, kind=int64), 1_int64, size(array, 2, kind=int64), sxt_f64)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1))
  end function

  function block_2_c32(array) result(seen)
    complex(real32), intent(in), contiguous, target :: array(:, :)
    type(set_block) :: seen
    seen = set_block(c_loc(nothing), size(array, 1, kind=int64), 1_int64, size(array, 2, kind=int64), sxt_c64)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1))
  end function

  function block_2_c64(array) result(seen)
    complex(real64), intent(in), contiguous, target :: array(:, :)
    type(set_block) :: seen
    seen = set_block(c_loc(nothing), size(array, 1, kind=int64), 1_int64, size(array, 2, kind=int64), sxt_c128)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1))
  end function

  function block_3_r32(array) result(seen)
    real(real32), intent(in), contiguous, target :: array(:, :, :)
    type(set_block) :: seen
    seen = set_block(c_loc(nothing), size(array, 1, kind=int64), size(array, 2, kind=int64), size(array, 3, kind=int64), sxt_f32)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1, 1))
  end function

  function block_3_r64(array) result(seen)
    real(real64), intent(in), contiguous, target :: array(:, :, :)
    type(set_block) :: seen
    seen = set_block(c_loc(nothing), size(array, 1, kind=int64), size(array, 2, kind=int64), size(array, 3, kind=int64), sxt_f64)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1, 1))
  end function

  function block_3_c32(array) result(seen)
    complex(real32), intent(in), contiguous, target :: array(:, :, :)
    type(set_block) :: seen
    seen = set_block(c_loc(nothing), size(array, 1, kind=int64), size(array, 2, kind=int64), size(array, 3, kind=int64), sxt_c64)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1, 1))
  end function

  function block_3_c64(array) result(seen)
    complex(real64), intent(in), contiguous, target :: array(:, :, :)
    type(set_block) :: seen
    seen = set_block(c_loc(nothing), size(array, 1, kind=int64), size(array, 2, kind=int64), size(array, 3, kind=int64), sxt_c128)
    if (size(array, kind=int64) > 0) seen%address = c_loc(array(1, 1, 1))
  end function

  subroutine make_sets(self, analysis, count, stat)
    class(sets_base), intent(inout) :: self
    class(analysis_base), intent(in) :: analysis
    integer(int64), intent(in) :: count
    integer(int32), intent(out) :: stat
    type(c_ptr) :: handle
    if (.not. analysis%is_made()) then
      call refuse(self, sxt_e_state, unusable(type_of_analysis, maker_of_analysis), stat)
      return
    end if
    handle = c_null_ptr
    call conclude(self, sxt_cholesky_sets_create(analysis%c_handle(), count, handle), stat)
    if (stat /= sxt_ok) return
    call adopt(self, handle, sxt_cholesky_sets_destroy)
    call shape_of_analysis(analysis, self%n, self%type)
    self%sets = count
  end subroutine

  subroutine take_options(cancel, c)
    integer(int32), pointer, intent(in), optional :: cancel
    type(sxt_cholesky_sets_options), intent(inout) :: c
    call sxt_cholesky_sets_options_init(c, int(c_sizeof(c), int64))
    if (.not. present(cancel)) return
    if (associated(cancel)) c%cancel = c_loc(cancel)
  end subroutine

  ! Sets first, first + 1, ..., counted from 1: a column of values for each.
  subroutine factor_sets(self, values, first, cancel, stat)
    class(sets_base), intent(inout) :: self
    type(set_block), intent(in) :: values
    integer(int64), intent(in) :: first
    integer(int32), pointer, intent(in), optional :: cancel
    integer(int32), intent(out) :: stat
    type(sxt_cholesky_sets_options) :: c
    integer(int32) :: status
    if (.not. usable(self, type_of_sets, maker_of_sets, stat)) return
    if (values%type /= self%type) then
      call refuse(self, sxt_e_type, 'values are '//type_name(values%type)//', the matrix was made of '// &
                  type_name(self%type), stat)
      return
    end if
    call take_options(cancel, c)
    status = sxt_cholesky_sets_factor(self%c_handle(), first - 1, values%sets, values%rows, values%address, &
                                      values%rows, c)
    call conclude(self, status, stat)
    if (status == sxt_not_converged) call refuse(self, status, last_sentence(), stat) ! cancelled
  end subroutine

  subroutine solve_sets(self, b, x, first, cancel, stat)
    class(sets_base), intent(inout) :: self
    type(set_block), intent(in) :: b, x
    integer(int64), intent(in) :: first
    integer(int32), pointer, intent(in), optional :: cancel
    integer(int32), intent(out) :: stat
    type(sxt_cholesky_sets_options) :: c
    integer(int64) :: ld
    integer(int32) :: status
    if (.not. usable(self, type_of_sets, maker_of_sets, stat)) return
    if (b%type /= self%type .or. x%type /= self%type) then
      call refuse(self, sxt_e_type, 'b and x are '//type_name(b%type)//', the matrix was made of '// &
                  type_name(self%type), stat)
      return
    end if
    if (b%rows /= x%rows .or. b%columns /= x%columns .or. b%sets /= x%sets) then
      call refuse(self, sxt_e_dimension, 'b has '//decimal(b%rows)//' rows, '//decimal(b%columns)//' columns and '// &
                  decimal(b%sets)//' sets, x has '//decimal(x%rows)//', '//decimal(x%columns)//' and '// &
                  decimal(x%sets), stat)
      return
    end if
    call take_options(cancel, c)
    ld = max(1_int64, b%rows)
    status = sxt_cholesky_sets_solve(self%c_handle(), first - 1, b%sets, b%rows, b%columns, b%address, ld, &
                                     ld * b%columns, x%address, ld, ld * x%columns, c)
    call conclude(self, status, stat)
    if (status == sxt_not_converged) call refuse(self, status, last_sentence(), stat)
  end subroutine

  subroutine outcomes_of(self, outcomes, stat)
    class(sets_base), intent(inout) :: self
    type(sextant_set_outcomes), intent(inout), target :: outcomes
    integer(int32), intent(out) :: stat
    type(sxt_cholesky_sets_outcomes) :: c
    integer(int64) :: n
    integer :: short
    if (.not. usable(self, type_of_sets, maker_of_sets, stat)) return
    n = self%sets
    allocate(outcomes%status(n), outcomes%failed_row(n), outcomes%failed_pivot(n), outcomes%changed_pivots(n), &
             outcomes%log_determinant(n), outcomes%sign(n), outcomes%positive(n), outcomes%negative(n), &
             outcomes%zero(n), outcomes%least_pivot(n), outcomes%largest_pivot(n), stat=short)
    if (short /= 0) then
      call refuse(self, sxt_e_memory, 'there is no memory for the outcomes of '//decimal(n)//' sets', stat)
      return
    end if
    call sxt_cholesky_sets_outcomes_init(c, int(c_sizeof(c), int64))
    c%status = c_loc(outcomes%status(1))
    c%failed_row = c_loc(outcomes%failed_row(1))
    c%failed_pivot = c_loc(outcomes%failed_pivot(1))
    c%changed_pivots = c_loc(outcomes%changed_pivots(1))
    c%log_determinant = c_loc(outcomes%log_determinant(1))
    c%sign = c_loc(outcomes%sign(1))
    c%positive = c_loc(outcomes%positive(1))
    c%negative = c_loc(outcomes%negative(1))
    c%zero = c_loc(outcomes%zero(1))
    c%least_pivot = c_loc(outcomes%least_pivot(1))
    c%largest_pivot = c_loc(outcomes%largest_pivot(1))
    call conclude(self, sxt_cholesky_sets_get_outcomes(self%c_handle(), 0_int64, n, c), stat)
  end subroutine

  subroutine sets_info_of(self, info, stat)
    class(sets_base), intent(inout) :: self
    type(sextant_sets_info), intent(out) :: info
    integer(int32), intent(out) :: stat
    type(sxt_cholesky_sets_info) :: c
    if (.not. usable(self, type_of_sets, maker_of_sets, stat)) return
    c%struct_size = c_sizeof(c)
    call conclude(self, sxt_cholesky_sets_get_info(self%c_handle(), c), stat)
    if (stat /= sxt_ok) return
    info = sextant_sets_info(count=c%count, factored=c%factored, nnz=c%nnz, factor_bytes=c%factor_bytes, &
      host_bytes=c%host_bytes, device_bytes=c%device_bytes, factor_seconds=c%factor_seconds, &
      predicted_factor_seconds=c%predicted_factor_seconds, predicted_solve_seconds=c%predicted_solve_seconds)
  end subroutine

  subroutine explain_sets(self, form, text, stat)
    class(sets_base), intent(inout) :: self
    integer(int32), intent(in) :: form
    character(:), allocatable, intent(inout) :: text
    integer(int32), intent(out) :: stat
    text = ''
    if (usable(self, type_of_sets, maker_of_sets, stat)) &
      call explanation(self, sxt_cholesky_sets_explain, form, text, stat)
  end subroutine
end module sextant_set_work
