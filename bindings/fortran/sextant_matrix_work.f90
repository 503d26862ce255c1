! SPDX-License-Identifier: BSD-3-Clause
! Common parts of the procedures of sextant_matrix, independent of the types of their arguments: checks that C cannot
! make, and the calls. Indices in arrays count from 1 unless the caller says zero_based.
module sextant_matrix_work
  use, intrinsic :: iso_c_binding, only: c_char, c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_c
  use sextant_objects
  use sextant_contexts
  implicit none
  private
  public :: matrix_base, sextant_matrix_settings, square, type_of_matrix, maker_of_matrix
  public :: options_of, from_compressed, from_coordinates, from_path, update, feature_of, canonical_csr, csr_of
  public :: compressed_rows, compressed_columns, keep_matrix

  character(*), parameter :: type_of_matrix = 'sextant_matrix', maker_of_matrix = 'from_csr, from_csc, from_coo or from_file'
  integer, parameter :: compressed_rows = 1, compressed_columns = 2

  ! Marks an optional number of columns that was not given.
  integer(int64), parameter :: square = -huge(0_int64)

  ! Rarely used settings for a new matrix.
  type :: sextant_matrix_settings
    logical :: keep_order = .true.   ! updates take values in the order of the arrays; .false.: in canonical order, row by
                                     ! row with columns ascending, which costs no memory
    logical :: check_finite = .true. ! a NaN or infinity is sxt_e_not_finite; .false.: not checked
    logical :: adopt = .false.       ! from_csr of zero_based canonical arrays alone: they are used where they lie, so they
                                     ! must be contiguous targets that outlive the matrix unchanged
    real(real64) :: symmetry_tolerance = 0 ! tolerance of a stated diagonal, over the magnitudes summed there; 0: rounding
    real(real64) :: most_rows_per_byte = 0 ! from_file: more rows for each byte of the file are refused; 0: 1000, negative: none
  end type

  ! The canonical CSR that C lends: zero-based, of the types in info.
  type :: canonical_csr
    type(c_ptr) :: row_ptr = c_null_ptr, col = c_null_ptr, values = c_null_ptr
    type(sxt_matrix_info) :: info
  end type

  type, extends(sextant_object) :: matrix_base
    private
    type(sxt_matrix_info) :: info
    integer(int64), public :: members_of_world = 0 ! 0: it is of one context
  contains
    procedure :: rows       ! number of rows; 0 when the matrix is not made
    procedure :: cols
    procedure :: nnz        ! entries of both triangles, duplicates summed
    procedure :: value_type ! sxt_f32, sxt_f64, sxt_c64 or sxt_c128; 0 when the matrix is not made
    procedure :: bytes      ! of all storages it holds now
  end type

contains

  pure function rows(self)
    class(matrix_base), intent(in) :: self
    integer(int64) :: rows
    rows = merge(self%info%rows, 0_int64, self%is_made())
  end function

  pure function cols(self)
    class(matrix_base), intent(in) :: self
    integer(int64) :: cols
    cols = merge(self%info%cols, 0_int64, self%is_made())
  end function

  pure function nnz(self)
    class(matrix_base), intent(in) :: self
    integer(int64) :: nnz
    nnz = merge(self%info%nnz, 0_int64, self%is_made())
  end function

  pure function value_type(self) result(type)
    class(matrix_base), intent(in) :: self
    integer(int32) :: type
    type = merge(self%info%value_type, 0_int32, self%is_made())
  end function

  function bytes(self)
    class(matrix_base), intent(in) :: self
    integer(int64) :: bytes
    type(sxt_matrix_info) :: now
    bytes = 0
    now%struct_size = c_sizeof(now)
    if (.not. self%is_made()) return
    if (sxt_matrix_get_info(self%c_handle(), now) == sxt_ok) bytes = now%bytes
  end function

  ! The options of C for arrays of these types.
  function options_of(pointers, indices, values, settings) result(options)
    type(array_view), intent(in) :: pointers, indices, values
    type(sextant_matrix_settings), intent(in), optional :: settings
    type(sxt_matrix_options) :: options
    call sxt_matrix_options_init(options, int(c_sizeof(options), int64))
    options%value_type = values%type
    options%index_type = indices%type
    options%offset_type = pointers%type
    options%index_base = 1
    call apply(settings, options)
  end function

  subroutine apply(settings, options)
    type(sextant_matrix_settings), intent(in), optional :: settings
    type(sxt_matrix_options), intent(inout) :: options
    if (.not. present(settings)) return
    options%keep_order = merge(1_int32, 0_int32, settings%keep_order)
    options%check_finite = merge(1_int32, 0_int32, settings%check_finite)
    options%ownership = merge(sxt_adopt, sxt_copy_arrays, settings%adopt)
    options%symmetry_tolerance = settings%symmetry_tolerance
    options%most_rows_per_byte = settings%most_rows_per_byte
  end subroutine

  ! Rows (or columns) from their pointers. C cannot know how long the arrays are, so that is checked here.
  subroutine from_compressed(self, what, pointers, indices, values, other, options, context, stat)
    class(matrix_base), intent(inout) :: self
    integer, intent(in) :: what
    type(array_view), intent(in) :: pointers, indices, values
    integer(int64), intent(in) :: other
    type(sxt_matrix_options), intent(in) :: options
    type(sextant_context), intent(in), optional :: context
    integer(int32), intent(out) :: stat
    type(c_ptr) :: handle, home
    integer(int64) :: along, across, entries
    character(7) :: pointers_name
    character(3) :: indices_name

    pointers_name = merge('row_ptr', 'col_ptr', what == compressed_rows)
    indices_name = merge('col', 'row', what == compressed_rows)
    along = pointers%count - 1
    if (along < 0) then
      call refuse(self, sxt_e_dimension, pointers_name//' is empty: it must have one element more than there are '// &
                  trim(merge('rows   ', 'columns', what == compressed_rows)), stat)
      return
    end if
    entries = last_entry(pointers) - options%index_base
    if (indices%count /= entries .or. values%count /= entries) then
      call refuse(self, sxt_e_dimension, pointers_name//' ends after entry '//decimal(entries)//', but '//indices_name// &
                  ' has '//decimal(indices%count)//' elements and values has '//decimal(values%count), stat)
      return
    end if

    call context_handle(self, context, home, stat)
    if (stat /= sxt_ok) return
    handle = c_null_ptr
    across = merge(along, other, other == square)
    if (what == compressed_rows) then
      call conclude(self, sxt_matrix_from_csr(home, along, across, pointers%address, indices%address, values%address, &
                                              options, handle), stat)
    else
      call conclude(self, sxt_matrix_from_csc(home, across, along, pointers%address, indices%address, values%address, &
                                              options, handle), stat)
    end if
    if (stat == sxt_ok) call keep_matrix(self, handle, stat)
  end subroutine

  subroutine from_coordinates(self, rows, row, col, values, cols, options, context, stat)
    class(matrix_base), intent(inout) :: self
    integer(int64), intent(in) :: rows, cols
    type(array_view), intent(in) :: row, col, values
    type(sxt_matrix_options), intent(in) :: options
    type(sextant_context), intent(in), optional :: context
    integer(int32), intent(out) :: stat
    type(c_ptr) :: handle, home
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
    if (stat == sxt_ok) call keep_matrix(self, handle, stat)
  end subroutine

  ! type: sxt_f32, ...; 0: as in the file.
  subroutine from_path(self, path, type, refuse_duplicates, settings, context, stat)
    class(matrix_base), intent(inout) :: self
    character(*), intent(in) :: path
    integer(int32), intent(in) :: type, refuse_duplicates
    type(sextant_matrix_settings), intent(in), optional :: settings
    type(sextant_context), intent(in), optional :: context
    integer(int32), intent(out) :: stat
    type(sxt_matrix_options) :: options
    character(kind=c_char), allocatable, target :: path_c(:)
    type(c_ptr) :: handle, home, path_at
    call context_handle(self, context, home, stat)
    if (stat /= sxt_ok) return
    call sxt_matrix_options_init(options, int(c_sizeof(options), int64))
    options%value_type = type
    options%duplicates = refuse_duplicates
    call apply(settings, options)
    call c_text(path, path_c, path_at)
    handle = c_null_ptr
    call conclude(self, sxt_matrix_from_file(home, path_at, options, handle), stat)
    if (stat == sxt_ok) call keep_matrix(self, handle, stat)
  end subroutine

  ! The new matrix takes the place of the old one, and its sizes are noted.
  subroutine keep_matrix(self, handle, stat)
    class(matrix_base), intent(inout) :: self
    type(c_ptr), intent(in) :: handle
    integer(int32), intent(out) :: stat
    call adopt(self, handle, sxt_matrix_destroy)
    self%info%struct_size = c_sizeof(self%info)
    call conclude(self, sxt_matrix_get_info(handle, self%info), stat)
  end subroutine

  subroutine update(self, values, stat)
    class(matrix_base), intent(inout) :: self
    type(array_view), intent(in) :: values
    integer(int32), intent(out) :: stat
    if (.not. usable(self, type_of_matrix, maker_of_matrix, stat)) return
    if (values%type /= self%info%value_type) then
      call refuse(self, sxt_e_type, 'the new values are '//type_name(values%type)//', the matrix was made of '// &
                  type_name(self%info%value_type), stat)
    else
      call conclude(self, sxt_matrix_update_values(self%c_handle(), values%address, values%count), stat)
    end if
  end subroutine

  subroutine feature_of(self, name, number, stat)
    class(matrix_base), intent(inout) :: self
    character(*), intent(in) :: name
    real(real64), intent(out) :: number
    integer(int32), intent(out) :: stat
    character(kind=c_char), allocatable, target :: name_c(:)
    type(c_ptr) :: name_at
    number = 0
    if (.not. usable(self, type_of_matrix, maker_of_matrix, stat)) return
    call c_text(name, name_c, name_at)
    call conclude(self, sxt_matrix_feature(self%c_handle(), name_at, number), stat)
  end subroutine

  ! type: that of the array for the values; 0: any.
  subroutine csr_of(self, type, lent, stat)
    class(matrix_base), intent(inout) :: self
    integer(int32), intent(in) :: type
    type(canonical_csr), intent(inout) :: lent
    integer(int32), intent(out) :: stat
    if (.not. usable(self, type_of_matrix, maker_of_matrix, stat)) return
    if (type /= 0 .and. type /= self%info%value_type) then
      call refuse(self, sxt_e_type, 'values is '//type_name(type)//', the matrix was made of '// &
                  type_name(self%info%value_type), stat)
      return
    end if
    lent%info = self%info
    call conclude(self, sxt_matrix_get_csr(self%c_handle(), lent%row_ptr, lent%col, lent%values), stat)
  end subroutine
end module sextant_matrix_work
