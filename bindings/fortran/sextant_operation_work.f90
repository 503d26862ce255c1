! SPDX-License-Identifier: BSD-3-Clause
! Common parts of products, vector operations and reductions: scalars in the type of the vectors, and outcomes of calls.
module sextant_operation_work
  use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_vectors_c
  use sextant_objects
  use sextant_matrices
  use sextant_vectors
  implicit none
  private
  public :: outcome, ended, number, encode, address_of, decode, is_complex
  public :: product_of_vectors, product_of_arrays, product_of_columns, reduce, reduce_two, multidot
  public :: moved_by, indices_fit, name_index

  ! The outcome of a call: its status, and the sentence where the fault was found on this side of the C edge.
  type :: outcome
    integer(int32) :: status = sxt_ok
    character(:), allocatable :: text
  end type

  ! A scalar in each of the four types.
  type :: number
    real(real32) :: f32 = 0
    real(real64) :: f64 = 0
    complex(real32) :: c64 = 0
    complex(real64) :: c128 = 0
  end type

  ! An index that is out of range, in the caller's counting.
  interface name_index
    module procedure name_index_i32, name_index_i64
  end interface

contains

  ! The sentence of a call; '' after a success.
  function ended(how) result(text)
    type(outcome), intent(in) :: how
    character(:), allocatable :: text
    text = ''
    if (how%status == sxt_ok) return
    if (allocated(how%text)) then
      text = how%text
    else
      text = last_sentence()
    end if
  end function

  elemental function is_complex(type) result(is)
    integer(int32), intent(in) :: type
    logical :: is
    is = type == sxt_c64 .or. type == sxt_c128
  end function

  ! value in the vectors' type; a complex number is refused where they are real.
  subroutine encode(name, value, complex_value, type, scalar, how)
    character(*), intent(in) :: name
    complex(real64), intent(in) :: value
    logical, intent(in) :: complex_value
    integer(int32), intent(in) :: type
    type(number), intent(inout) :: scalar
    type(outcome), intent(inout) :: how
    if (complex_value .and. .not. is_complex(type)) then
      how%status = sxt_e_type
      how%text = name//' is complex, the vectors are '//type_name(type)
    end if
    scalar%f64 = real(value, real64)
    scalar%f32 = real(value, real32)
    scalar%c128 = value
    scalar%c64 = cmplx(value, kind=real32)
  end subroutine

  function address_of(scalar, type) result(address)
    type(number), intent(in), target :: scalar
    integer(int32), intent(in) :: type
    type(c_ptr) :: address
    select case (type)
    case (sxt_f32)
      address = c_loc(scalar%f32)
    case (sxt_c64)
      address = c_loc(scalar%c64)
    case (sxt_c128)
      address = c_loc(scalar%c128)
    case default
      address = c_loc(scalar%f64)
    end select
  end function

  pure function decode(scalar, type) result(value)
    type(number), intent(in) :: scalar
    integer(int32), intent(in) :: type
    complex(real64) :: value
    select case (type)
    case (sxt_f32)
      value = cmplx(scalar%f32, kind=real64)
    case (sxt_c64)
      value = cmplx(scalar%c64, kind=real64)
    case (sxt_c128)
      value = scalar%c128
    case default
      value = cmplx(scalar%f64, kind=real64)
    end select
  end function

  ! ---- products ------------------------------------------------------------------------------------------------------

  function product_of_vectors(op, alpha, a, x, beta, y) result(how)
    integer(int32), intent(in) :: op
    type(c_ptr), intent(in) :: alpha, beta
    type(sextant_matrix), intent(in) :: a
    type(sextant_vector), intent(in) :: x, y
    type(outcome) :: how
    how%status = sxt_spmv(op, alpha, a%c_handle(), x%c_handle(), beta, y%c_handle())
  end function

  ! C gets only addresses, so lengths and types of arrays are checked here.
  function product_of_arrays(op, alpha, a, x, beta, y) result(how)
    integer(int32), intent(in) :: op
    type(c_ptr), intent(in) :: alpha, beta
    type(sextant_matrix), intent(in) :: a
    type(array_view), intent(in) :: x, y
    type(outcome) :: how
    how = fits(op, a, x%type, x%count, y%count)
    if (how%status == sxt_ok) how%status = sxt_spmv_array(op, alpha, a%c_handle(), x%address, beta, y%address)
  end function

  ! x, y: the whole arrays, of the shapes in_shape and out_shape.
  function product_of_columns(op, alpha, a, x, in_shape, beta, y, out_shape) result(how)
    integer(int32), intent(in) :: op
    type(c_ptr), intent(in) :: alpha, beta
    type(sextant_matrix), intent(in) :: a
    type(array_view), intent(in) :: x, y
    integer(int64), intent(in) :: in_shape(2), out_shape(2)
    type(outcome) :: how
    how = fits(op, a, x%type, in_shape(1), out_shape(1))
    if (how%status /= sxt_ok) return
    if (in_shape(2) /= out_shape(2)) then
      how%status = sxt_e_dimension
      how%text = 'x has '//decimal(in_shape(2))//' columns, y has '//decimal(out_shape(2))
      return
    end if
    how%status = sxt_spmv_block(op, alpha, a%c_handle(), in_shape(2), x%address, in_shape(1), beta, y%address, out_shape(1))
  end function

  function fits(op, a, type, of_x, of_y) result(how)
    integer(int32), intent(in) :: op, type
    type(sextant_matrix), intent(in) :: a
    integer(int64), intent(in) :: of_x, of_y
    type(outcome) :: how
    integer(int64) :: rows, cols
    rows = merge(a%rows(), a%cols(), op == sxt_no_transpose)
    cols = merge(a%cols(), a%rows(), op == sxt_no_transpose)
    if (.not. a%is_made()) then
      how%status = sxt_e_state
      how%text = unusable('sextant_matrix', 'from_csr, from_csc, from_coo or from_file')
    else if (type /= a%value_type()) then
      how%status = sxt_e_type
      how%text = 'x and y are '//type_name(type)//', the matrix was made of '//type_name(a%value_type())
    else if (of_x /= cols .or. of_y /= rows) then
      how%status = sxt_e_dimension
      how%text = 'x has '//decimal(of_x)//' rows and y '//decimal(of_y)//', but the product takes '//decimal(cols)// &
                 ' and gives '//decimal(rows)
    end if
  end function

  ! ---- reductions ----------------------------------------------------------------------------------------------------

  ! real_answer: the variable that takes the value is real. Of a complex vector it can take only norms.
  subroutine reduce(operation, x, norm, real_answer, value, how)
    procedure(sxt_reduction) :: operation
    type(sextant_vector), intent(in) :: x
    logical, intent(in) :: norm, real_answer
    complex(real64), intent(out) :: value
    type(outcome), intent(out) :: how
    type(number), target :: answer
    integer(int32) :: type
    value = 0
    type = x%value_type()
    if (norm) then ! of the real type
      if (type == sxt_c64) type = sxt_f32
      if (type == sxt_c128) type = sxt_f64
    end if
    call refuse_real(type, real_answer, how)
    if (how%status /= sxt_ok) return
    how%status = operation(x%c_handle(), address_of(answer, type))
    if (how%status == sxt_ok) value = decode(answer, type)
  end subroutine

  subroutine reduce_two(operation, x, y, real_answer, value, how)
    procedure(sxt_reduction_of_two) :: operation
    type(sextant_vector), intent(in) :: x, y
    logical, intent(in) :: real_answer
    complex(real64), intent(out) :: value
    type(outcome), intent(out) :: how
    type(number), target :: answer
    value = 0
    call refuse_real(x%value_type(), real_answer, how)
    if (how%status /= sxt_ok) return
    how%status = operation(x%c_handle(), y%c_handle(), address_of(answer, x%value_type()))
    if (how%status == sxt_ok) value = decode(answer, x%value_type())
  end subroutine

  subroutine refuse_real(type, real_answer, how)
    integer(int32), intent(in) :: type
    logical, intent(in) :: real_answer
    type(outcome), intent(inout) :: how
    if (.not. (real_answer .and. is_complex(type))) return
    how%status = sxt_e_type
    how%text = 'the result of '//type_name(type)//' vectors is complex, the variable for it is real'
  end subroutine

  subroutine multidot(x, y, real_answer, values, how)
    type(sextant_vector), intent(in) :: x(:), y(:)
    logical, intent(in) :: real_answer
    complex(real64), intent(out) :: values(:)
    type(outcome), intent(out) :: how
    type(c_ptr), target :: all_x(8), all_y(8)
    real(real32), target :: f32(8)
    real(real64), target :: f64(8)
    complex(real32), target :: c64(8)
    complex(real64), target :: c128(8)
    type(c_ptr) :: at
    integer(int32) :: type
    integer :: i
    values = 0
    if (size(x) /= size(y) .or. size(x) /= size(values) .or. size(x) > 8) then
      how%status = sxt_e_dimension
      how%text = 'x has '//decimal(size(x, kind=int64))//' vectors, y '//decimal(size(y, kind=int64))//' and there are '// &
                 decimal(size(values, kind=int64))//' results: the same number of each, 8 at most'
      return
    end if
    if (size(x) == 0) return
    type = x(1)%value_type()
    call refuse_real(type, real_answer, how)
    if (how%status /= sxt_ok) return
    do i = 1, size(x)
      all_x(i) = x(i)%c_handle()
      all_y(i) = y(i)%c_handle()
    end do
    at = c_loc(f64)
    if (type == sxt_f32) at = c_loc(f32)
    if (type == sxt_c64) at = c_loc(c64)
    if (type == sxt_c128) at = c_loc(c128)
    how%status = sxt_multidot(size(x, kind=int64), c_loc(all_x), c_loc(all_y), at)
    if (how%status /= sxt_ok) return
    if (type == sxt_f32) values = f32(:size(x))
    if (type == sxt_f64) values = f64(:size(x))
    if (type == sxt_c64) values = c64(:size(x))
    if (type == sxt_c128) values = c128(:size(x))
  end subroutine

  ! An index array has an element for each moved value.
  subroutine indices_fit(count, moved, how)
    integer(int64), intent(in) :: count
    type(sextant_vector), intent(in) :: moved
    type(outcome), intent(inout) :: how
    if (.not. moved%is_made()) return ! C has the sentence for a vector that is not made
    if (count == moved%length()) return
    how%status = sxt_e_dimension
    how%text = 'index has '//decimal(count)//' elements, but '//decimal(moved%length())//' values are moved'
  end subroutine

  subroutine name_index_i32(how, index, indexed)
    type(outcome), intent(inout) :: how
    integer(int32), intent(in) :: index(:)
    type(sextant_vector), intent(in) :: indexed
    if (how%status == sxt_e_index) call name_index_i64(how, int(index, int64), indexed)
  end subroutine

  subroutine name_index_i64(how, index, indexed)
    type(outcome), intent(inout) :: how
    integer(int64), intent(in) :: index(:)
    type(sextant_vector), intent(in) :: indexed
    integer(int64) :: i, last
    if (how%status /= sxt_e_index) return
    last = indexed%length()
    do i = 1, size(index, kind=int64)
      if (index(i) >= 1 .and. index(i) <= last) cycle
      how%text = 'index('//decimal(i)//') is '//decimal(index(i))//', outside 1 to '//decimal(last)
      return
    end do
  end subroutine

  ! A gather (or a scatter) by indices that count from 0 at an address.
  function moved_by(gathers, x, index, y) result(how)
    logical, intent(in) :: gathers
    type(sextant_vector), intent(in) :: x, y
    type(array_view), intent(in) :: index
    type(outcome) :: how
    if (gathers) then
      how%status = sxt_gather(x%c_handle(), index%address, index%type, y%c_handle())
    else
      how%status = sxt_scatter(x%c_handle(), index%address, index%type, y%c_handle())
    end if
  end function
end module sextant_operation_work
