! SPDX-License-Identifier: BSD-3-Clause
! Common parts of the procedures of sextant_vector.
module sextant_vector_work
  use, intrinsic :: iso_c_binding, only: c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use sextant_c
  use sextant_vectors_c
  use sextant_objects
  use sextant_contexts
  implicit none
  private
  public :: vector_base, make_vector, wrap_view, write_view, read_view, keep_vector

  type, extends(sextant_object) :: vector_base
    private
    integer(int32) :: type = 0
  contains
    procedure :: length     ! number of values; 0 when the vector is not made
    procedure :: value_type ! sxt_f32, sxt_f64, sxt_c64 or sxt_c128; 0 when the vector is not made
    procedure :: data       ! address of the values, possibly on a device; null when there are none
  end type

contains

  function length(self)
    class(vector_base), intent(in) :: self
    integer(int64) :: length
    length = sxt_vector_length(self%c_handle())
  end function

  pure function value_type(self) result(type)
    class(vector_base), intent(in) :: self
    integer(int32) :: type
    type = merge(self%type, 0_int32, self%is_made())
  end function

  function data(self) result(address)
    class(vector_base), intent(in) :: self
    type(c_ptr) :: address
    address = sxt_vector_data(self%c_handle())
  end function

  subroutine make_vector(self, n, type, context, stat)
    class(vector_base), intent(inout) :: self
    integer(int64), intent(in) :: n
    integer(int32), intent(in) :: type
    type(sextant_context), intent(in), optional :: context
    integer(int32), intent(out) :: stat
    type(c_ptr) :: home, handle
    call context_handle(self, context, home, stat)
    if (stat /= sxt_ok) return
    handle = c_null_ptr
    call conclude(self, sxt_vector_create(home, n, type, handle), stat)
    if (stat == sxt_ok) call keep_vector(self, handle, type)
  end subroutine

  ! Takes ownership of a vector that C has just made.
  subroutine keep_vector(self, handle, type)
    class(vector_base), intent(inout) :: self
    type(c_ptr), intent(in) :: handle
    integer(int32), intent(in) :: type
    call adopt(self, handle, sxt_vector_destroy)
    self%type = type
  end subroutine

  subroutine wrap_view(self, values, space, context, stat)
    class(vector_base), intent(inout) :: self
    type(array_view), intent(in) :: values
    integer(int32), intent(in) :: space
    type(sextant_context), intent(in), optional :: context
    integer(int32), intent(out) :: stat
    type(c_ptr) :: home, handle
    call context_handle(self, context, home, stat)
    if (stat /= sxt_ok) return
    handle = c_null_ptr
    call conclude(self, sxt_vector_wrap(home, values%count, values%type, space, values%address, handle), stat)
    if (stat == sxt_ok) call keep_vector(self, handle, values%type)
  end subroutine

  subroutine write_view(self, values, stat)
    class(vector_base), intent(inout) :: self
    type(array_view), intent(in) :: values
    integer(int32), intent(out) :: stat
    if (fits(self, values, stat)) call conclude(self, sxt_vector_write(self%c_handle(), values%address), stat)
  end subroutine

  subroutine read_view(self, values, stat)
    class(vector_base), intent(inout) :: self
    type(array_view), intent(in) :: values
    integer(int32), intent(out) :: stat
    if (fits(self, values, stat)) call conclude(self, sxt_vector_read(self%c_handle(), values%address), stat)
  end subroutine

  ! C gets only an address, so length and type of an array are checked here.
  function fits(self, values, stat) result(does)
    class(vector_base), intent(inout) :: self
    type(array_view), intent(in) :: values
    integer(int32), intent(out) :: stat
    logical :: does
    does = .false.
    if (.not. usable(self, 'sextant_vector', 'create or wrap', stat)) return
    if (values%type /= self%type) then
      call refuse(self, sxt_e_type, 'the array is '//type_name(values%type)//', the vector was made of '// &
                  type_name(self%type), stat)
    else if (values%count /= self%length()) then
      call refuse(self, sxt_e_dimension, 'the array has '//decimal(values%count)//' elements, the vector '// &
                  decimal(self%length()), stat)
    else
      does = .true.
    end if
  end function
end module sextant_vector_work
