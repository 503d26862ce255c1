! SPDX-License-Identifier: BSD-3-Clause
! Sparse matrices from CSR and COO arrays: 32- or 64-bit indices, four value types, one-based unless told otherwise.
module sextant_matrices
  use, intrinsic :: iso_c_binding, only: c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_objects
  use sextant_contexts
  implicit none
  private
  public :: sextant_matrix

  type, extends(sextant_object) :: sextant_matrix
    private
    type(sxt_matrix_info) :: info
  contains
    ! call a%from_csr(row_ptr, col, values [, cols, symmetry, triangle, zero_based, refuse_duplicates, context], stat)
    !   Compressed rows: row i holds entries row_ptr(i) to row_ptr(i+1) - 1 of col and values, in any order. The arrays
    !   are copied and may be freed or changed afterwards.
    !     cols               number of columns; default: square
    !     symmetry           sxt_general (default), sxt_symmetric, sxt_hermitian, sxt_skew
    !     triangle           part the arrays hold when not general: sxt_full (default), sxt_lower, sxt_upper
    !     zero_based         .true.: indices and row_ptr count from 0; default: from 1
    !     refuse_duplicates  .true.: an entry given twice is sxt_e_duplicate; default: they are summed
    !     context            where to make it; default: one made at first use
    generic :: from_csr => csr_i32_r32, csr_i32_r64, csr_i32_c32, csr_i32_c64, csr_i64_r32, csr_i64_r64, csr_i64_c32, &
                           csr_i64_c64
    ! call a%from_coo(rows, row, col, values [, cols, ...as above], stat)
    !   Coordinates: entry k is values(k) at row(k), col(k), in any order. rows is of the kind of the indices.
    generic :: from_coo => coo_i32_r32, coo_i32_r64, coo_i32_c32, coo_i32_c64, coo_i64_r32, coo_i64_r64, coo_i64_c32, &
                           coo_i64_c64
    ! call a%update_values(values, stat)
    !   New values on the same pattern, in the order of the arrays it was made from. Solvers made from this matrix take
    !   them at their next solve. After an error the old values stay.
    generic :: update_values => update_r32, update_r64, update_c32, update_c64
    procedure :: rows       ! number of rows; 0 when the matrix is not made
    procedure :: cols
    procedure :: nnz        ! entries of both triangles, duplicates summed
    procedure :: value_type ! sxt_f32, sxt_f64, sxt_c64 or sxt_c128; 0 when the matrix is not made
    procedure, private :: csr_i32_r32, csr_i32_r64, csr_i32_c32, csr_i32_c64
    procedure, private :: csr_i64_r32, csr_i64_r64, csr_i64_c32, csr_i64_c64
    procedure, private :: coo_i32_r32, coo_i32_r64, coo_i32_c32, coo_i32_c64
    procedure, private :: coo_i64_r32, coo_i64_r64, coo_i64_c32, coo_i64_c64
    procedure, private :: update_r32, update_r64, update_c32, update_c64
  end type

  ! Stands for an optional number of columns that was not given.
  integer(int64), parameter :: square = -huge(0_int64)

contains

  pure function rows(self)
    class(sextant_matrix), intent(in) :: self
    integer(int64) :: rows
    rows = merge(self%info%rows, 0_int64, self%is_made())
  end function

  pure function cols(self)
    class(sextant_matrix), intent(in) :: self
    integer(int64) :: cols
    cols = merge(self%info%cols, 0_int64, self%is_made())
  end function

  pure function nnz(self)
    class(sextant_matrix), intent(in) :: self
    integer(int64) :: nnz
    nnz = merge(self%info%nnz, 0_int64, self%is_made())
  end function

  pure function value_type(self) result(type)
    class(sextant_matrix), intent(in) :: self
    integer(int32) :: type
    type = merge(self%info%value_type, 0_int32, self%is_made())
  end function

  ! ---- the work ------------------------------------------------------------------------------------------------------

  subroutine from_csr(self, row_ptr, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                      context, stat)
    class(sextant_matrix), intent(inout) :: self
    type(array_view), intent(in) :: row_ptr, col, values
    integer(int64), intent(in) :: cols
    integer(int32), intent(in), optional :: symmetry, triangle
    logical, intent(in), optional :: zero_based, refuse_duplicates
    type(sextant_context), intent(in), optional :: context
    integer, intent(out) :: stat
    type(sxt_matrix_options) :: options
    type(c_ptr) :: handle, home
    integer(int64) :: rows, entries

    ! C cannot know how long the arrays are, so that is checked here.
    options = matrix_options(col, values, symmetry, triangle, zero_based, refuse_duplicates)
    rows = row_ptr%count - 1
    if (rows < 0) then
      call refuse(self, sxt_e_dimension, 'row_ptr is empty: it must have one element more than there are rows', stat)
      return
    end if
    entries = last_entry(row_ptr) - options%index_base
    if (col%count /= entries .or. values%count /= entries) then
      call refuse(self, sxt_e_dimension, 'row_ptr ends after entry '//decimal(entries)//', but col has '// &
                  decimal(col%count)//' elements and values has '//decimal(values%count), stat)
      return
    end if

    call context_handle(self, context, home, stat)
    if (stat /= sxt_ok) return
    handle = c_null_ptr
    call conclude(self, sxt_matrix_from_csr(home, rows, merge(rows, cols, cols == square), row_ptr%address, &
                                            col%address, values%address, options, handle), stat)
    if (stat == sxt_ok) call keep(self, handle, stat)
  end subroutine

  subroutine from_coo(self, rows, row, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                      context, stat)
    class(sextant_matrix), intent(inout) :: self
    integer(int64), intent(in) :: rows, cols
    type(array_view), intent(in) :: row, col, values
    integer(int32), intent(in), optional :: symmetry, triangle
    logical, intent(in), optional :: zero_based, refuse_duplicates
    type(sextant_context), intent(in), optional :: context
    integer, intent(out) :: stat
    type(sxt_matrix_options) :: options
    type(c_ptr) :: handle, home

    options = matrix_options(col, values, symmetry, triangle, zero_based, refuse_duplicates)
    if (row%count /= values%count .or. col%count /= values%count) then
      call refuse(self, sxt_e_dimension, 'row has '//decimal(row%count)//' elements, col has '//decimal(col%count)// &
                  ' and values has '//decimal(values%count)//': they must have the same number', stat)
      return
    end if

    call context_handle(self, context, home, stat)
    if (stat /= sxt_ok) return
    handle = c_null_ptr
    call conclude(self, sxt_matrix_from_coo(home, rows, merge(rows, cols, cols == square), values%count, row%address, &
                                            col%address, values%address, options, handle), stat)
    if (stat == sxt_ok) call keep(self, handle, stat)
  end subroutine

  function matrix_options(col, values, symmetry, triangle, zero_based, refuse_duplicates) result(options)
    type(array_view), intent(in) :: col, values
    integer(int32), intent(in), optional :: symmetry, triangle
    logical, intent(in), optional :: zero_based, refuse_duplicates
    type(sxt_matrix_options) :: options
    call sxt_matrix_options_init(options, int(c_sizeof(options), int64))
    options%value_type = values%type
    options%index_type = col%type
    options%index_base = 1
    if (present(symmetry)) options%symmetry = symmetry
    if (present(triangle)) options%triangle = triangle
    if (present(zero_based)) options%index_base = merge(0_int32, 1_int32, zero_based)
    if (present(refuse_duplicates)) then
      if (refuse_duplicates) options%duplicates = sxt_duplicates_refuse
    end if
  end function

  ! The new matrix takes the place of the old one, and its sizes are noted.
  subroutine keep(self, handle, stat)
    class(sextant_matrix), intent(inout) :: self
    type(c_ptr), intent(in) :: handle
    integer, intent(out) :: stat
    call adopt(self, handle, sxt_matrix_destroy)
    self%info%struct_size = c_sizeof(self%info)
    call conclude(self, sxt_matrix_get_info(handle, self%info), stat)
  end subroutine

  subroutine update(self, values, stat)
    class(sextant_matrix), intent(inout) :: self
    type(array_view), intent(in) :: values
    integer, intent(out) :: stat
    if (.not. self%is_made()) then
      call refuse(self, sxt_e_state, unusable('sextant_matrix', 'from_csr or from_coo'), stat)
    else if (values%type /= self%info%value_type) then
      call refuse(self, sxt_e_type, 'the new values are '//type_name(values%type)//', the matrix was made of '// &
                  type_name(self%info%value_type), stat)
    else
      call conclude(self, sxt_matrix_update_values(self%c_handle(), values%address, values%count), stat)
    end if
  end subroutine

  ! ---- one procedure a combination of types: each only says which; the rest is the same text -------------------------

  subroutine csr_i32_r32(self, row_ptr, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int32
    real(real32), intent(in), contiguous, target :: values(:)
    include 'matrix_csr.inc'
  end subroutine

  subroutine csr_i32_r64(self, row_ptr, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int32
    real(real64), intent(in), contiguous, target :: values(:)
    include 'matrix_csr.inc'
  end subroutine

  subroutine csr_i32_c32(self, row_ptr, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int32
    complex(real32), intent(in), contiguous, target :: values(:)
    include 'matrix_csr.inc'
  end subroutine

  subroutine csr_i32_c64(self, row_ptr, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int32
    complex(real64), intent(in), contiguous, target :: values(:)
    include 'matrix_csr.inc'
  end subroutine

  subroutine csr_i64_r32(self, row_ptr, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int64
    real(real32), intent(in), contiguous, target :: values(:)
    include 'matrix_csr.inc'
  end subroutine

  subroutine csr_i64_r64(self, row_ptr, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int64
    real(real64), intent(in), contiguous, target :: values(:)
    include 'matrix_csr.inc'
  end subroutine

  subroutine csr_i64_c32(self, row_ptr, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int64
    complex(real32), intent(in), contiguous, target :: values(:)
    include 'matrix_csr.inc'
  end subroutine

  subroutine csr_i64_c64(self, row_ptr, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int64
    complex(real64), intent(in), contiguous, target :: values(:)
    include 'matrix_csr.inc'
  end subroutine

  subroutine coo_i32_r32(self, rows, row, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int32
    real(real32), intent(in), contiguous, target :: values(:)
    include 'matrix_coo.inc'
  end subroutine

  subroutine coo_i32_r64(self, rows, row, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int32
    real(real64), intent(in), contiguous, target :: values(:)
    include 'matrix_coo.inc'
  end subroutine

  subroutine coo_i32_c32(self, rows, row, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int32
    complex(real32), intent(in), contiguous, target :: values(:)
    include 'matrix_coo.inc'
  end subroutine

  subroutine coo_i32_c64(self, rows, row, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int32
    complex(real64), intent(in), contiguous, target :: values(:)
    include 'matrix_coo.inc'
  end subroutine

  subroutine coo_i64_r32(self, rows, row, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int64
    real(real32), intent(in), contiguous, target :: values(:)
    include 'matrix_coo.inc'
  end subroutine

  subroutine coo_i64_r64(self, rows, row, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int64
    real(real64), intent(in), contiguous, target :: values(:)
    include 'matrix_coo.inc'
  end subroutine

  subroutine coo_i64_c32(self, rows, row, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int64
    complex(real32), intent(in), contiguous, target :: values(:)
    include 'matrix_coo.inc'
  end subroutine

  subroutine coo_i64_c64(self, rows, row, col, values, cols, symmetry, triangle, zero_based, refuse_duplicates, &
                         context, stat)
    integer, parameter :: ik = int64
    complex(real64), intent(in), contiguous, target :: values(:)
    include 'matrix_coo.inc'
  end subroutine

  subroutine update_r32(self, values, stat)
    class(sextant_matrix), intent(inout) :: self
    real(real32), intent(in), contiguous, target :: values(:)
    integer, intent(out) :: stat
    call update(self, view(values), stat)
  end subroutine

  subroutine update_r64(self, values, stat)
    class(sextant_matrix), intent(inout) :: self
    real(real64), intent(in), contiguous, target :: values(:)
    integer, intent(out) :: stat
    call update(self, view(values), stat)
  end subroutine

  subroutine update_c32(self, values, stat)
    class(sextant_matrix), intent(inout) :: self
    complex(real32), intent(in), contiguous, target :: values(:)
    integer, intent(out) :: stat
    call update(self, view(values), stat)
  end subroutine

  subroutine update_c64(self, values, stat)
    class(sextant_matrix), intent(inout) :: self
    complex(real64), intent(in), contiguous, target :: values(:)
    integer, intent(out) :: stat
    call update(self, view(values), stat)
  end subroutine
end module sextant_matrices
