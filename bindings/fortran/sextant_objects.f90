! SPDX-License-Identifier: BSD-3-Clause
! The base of every Fortran object of Sextant: the owner of one C handle, with a sentence about its last failure. Also
! the helpers that carry text and arrays across the C edge.
module sextant_objects
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_loc, c_null_char, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  implicit none
  private
  public :: sextant_object, adopt, conclude, refuse, unusable, usable
  public :: fortran_text, c_text, decimal, explanation, last_sentence
  public :: array_view, view, nothing, last_entry, type_name

  ! A C handle and how to free it. It lies on the heap and knows its address: a copy at another address owns nothing, so
  ! nothing is freed twice.
  type :: owner
    private
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr) :: home = c_null_ptr ! address of this very component
    procedure(sxt_destroy), pointer, nopass :: free => null()
  contains
    final :: release
  end type

  ! Holds a C handle from the call that makes it until it is made again, destroyed or finalized. Copies (b = a,
  ! allocate(b, source=a)) are empty; their calls return sxt_e_state with the reason.
  !
  ! The final procedure is that of the component, which must be allocatable and scalar: gfortran 12 passes wrong
  ! addresses when it finalizes arrays of objects inside other types, and finalizes allocatable components rightly.
  type :: sextant_object
    private
    type(owner), allocatable :: owned
    character(:), allocatable :: message
  contains
    procedure :: destroy  ! frees now; harmless when empty
    procedure :: is_made  ! true between a successful making and its end
    procedure :: error    ! the sentence of a failed last call on this object; '' after a success
    procedure :: c_handle ! for calling C functions; still owned by the object. Null when empty
  end type

  ! A contiguous array for C: address, number of elements, type code (sxt_f64, ..., or sxt_i32, sxt_i64).
  type :: array_view
    type(c_ptr) :: address = c_null_ptr
    integer(int64) :: count = 0
    integer(int32) :: type = 0
  end type

  ! Valid as long as the actual argument, which must be a target and contiguous.
  interface view
    module procedure view_i32, view_i64, view_r32, view_r64, view_c32, view_c64
  end interface

  ! The address of arrays without elements: never read, but not null.
  integer(int64), target, save :: nothing = 0

contains

  impure elemental subroutine release(self)
    type(owner), intent(inout), target :: self
    if (c_associated(self%home, c_loc(self%home))) call self%free(self%handle)
    self%home = c_null_ptr
  end subroutine

  impure elemental subroutine destroy(self)
    class(sextant_object), intent(inout) :: self
    if (allocated(self%owned)) deallocate(self%owned)
  end subroutine

  elemental function is_made(self) result(made)
    class(sextant_object), intent(in), target :: self
    logical :: made
    made = .false.
    if (allocated(self%owned)) made = c_associated(self%owned%home, c_loc(self%owned%home))
  end function

  function error(self) result(text)
    class(sextant_object), intent(in) :: self
    character(:), allocatable :: text
    text = ''
    if (allocated(self%message)) text = self%message
  end function

  function c_handle(self) result(handle)
    class(sextant_object), intent(in) :: self
    type(c_ptr) :: handle
    handle = c_null_ptr
    if (self%is_made()) handle = self%owned%handle
  end function

  ! ---- for the modules that build on this one ------------------------------------------------------------------------

  ! Takes ownership of a handle that C has just made; the object's old content is freed.
  subroutine adopt(self, handle, free)
    class(sextant_object), intent(inout), target :: self
    type(c_ptr), intent(in) :: handle
    procedure(sxt_destroy) :: free
    call self%destroy()
    allocate(self%owned)
    self%owned%handle = handle
    self%owned%free => free
    self%owned%home = c_loc(self%owned%home)
  end subroutine

  ! Passes on the status of a C call and keeps its sentence.
  subroutine conclude(self, status, stat)
    class(sextant_object), intent(inout) :: self
    integer(int32), intent(in) :: status
    integer(int32), intent(out) :: stat
    stat = status
    self%message = ''
    if (status < 0) self%message = last_sentence()
  end subroutine

  ! The text of a C function that explains an object.
  subroutine explanation(self, explain, form, text, stat)
    class(sextant_object), intent(inout) :: self
    procedure(sxt_explain) :: explain
    integer(int32), intent(in) :: form
    character(:), allocatable, intent(inout) :: text
    integer(int32), intent(out) :: stat
    integer(int64) :: length, needed
    ! C cuts what does not fit and says how long the whole is, so at most two rounds are needed.
    needed = 4000
    do
      length = needed
      if (allocated(text)) deallocate(text)
      allocate(character(length + 1) :: text)
      call conclude(self, explain(self%c_handle(), form, text, length + 1, needed), stat)
      if (stat /= sxt_ok) needed = 0
      if (needed <= length) exit
    end do
    text = text(:needed)
  end subroutine

  ! An error that was found on this side of the C edge.
  subroutine refuse(self, status, message, stat)
    class(sextant_object), intent(inout) :: self
    integer(int32), intent(in) :: status
    character(*), intent(in) :: message
    integer(int32), intent(out) :: stat
    stat = status
    self%message = message
  end subroutine

  ! The sentence for a call on an object that holds nothing.
  function unusable(name, maker) result(text)
    character(*), intent(in) :: name, maker
    character(:), allocatable :: text
    text = 'this '//name//' holds nothing: call '//maker//' on it first, and check its stat. (Copies are always '// &
           'empty: pass the object that was made.)'
  end function

  ! True when the object holds something; else stat and its error say what to do.
  function usable(self, name, maker, stat) result(made)
    class(sextant_object), intent(inout) :: self
    character(*), intent(in) :: name, maker
    integer(int32), intent(out) :: stat
    logical :: made
    stat = sxt_ok
    made = self%is_made()
    if (.not. made) call refuse(self, sxt_e_state, unusable(name, maker), stat)
  end function

  ! ---- text --------------------------------------------------------------------------------------------------------

  ! A zero-terminated C string as Fortran text.
  function fortran_text(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: chars(:)
    integer(int64) :: length, i
    length = 0
    if (c_associated(address)) length = c_strlen(address)
    allocate(character(length) :: text)
    if (length == 0) return
    call c_f_pointer(address, chars, [length])
    do i = 1, length
      text(i:i) = chars(i)
    end do
  end function

  ! Fortran text as a C string in buffer, trailing blanks dropped. Absent or blank text gives a null address.
  subroutine c_text(text, buffer, address)
    character(*), intent(in), optional :: text
    character(kind=c_char), allocatable, target, intent(out) :: buffer(:)
    type(c_ptr), intent(out) :: address
    integer :: i, length
    address = c_null_ptr
    if (.not. present(text)) return
    length = len_trim(text)
    if (length == 0) return
    allocate(buffer(length + 1))
    do i = 1, length
      buffer(i) = text(i:i)
    end do
    buffer(length + 1) = c_null_char
    address = c_loc(buffer)
  end subroutine

  ! The sentence of the calling thread's last error in Fortran's notation: "options->orders[2]" is options%orders(3).
  ! Where the sentence states its base, its numbers stay.
  function last_sentence() result(text)
    character(:), allocatable :: text
    text = fortran_sentence(fortran_text(sxt_last_error(c_null_ptr)))
  end function

  function fortran_sentence(sentence) result(text)
    character(*), intent(in) :: sentence
    character(:), allocatable :: text
    integer :: at, last
    integer(int64) :: number, moved
    moved = merge(0_int64, 1_int64, index(sentence, 'counting from') > 0)
    text = ''
    at = 1
    do while (at <= len(sentence))
      if (sentence(at:min(at + 1, len(sentence))) == '->') then
        text = text//'%'
        at = at + 2
        cycle
      end if
      last = at + verify(sentence(at + 1:)//']', '0123456789') ! what ends the digits after a bracket
      if (sentence(at:at) == '[' .and. last > at + 1 .and. sentence(last:min(last, len(sentence))) == ']') then
        read (sentence(at + 1:last - 1), *) number
        text = text//'('//decimal(number + moved)//')'
        at = last + 1
      else
        text = text//sentence(at:at)
        at = at + 1
      end if
    end do
  end function

  ! 42 as '42', for sentences.
  function decimal(number) result(text)
    integer(int64), intent(in) :: number
    character(:), allocatable :: text
    character(20) :: digits
    write (digits, '(i0)') number
    text = trim(digits)
  end function

  ! ---- arrays ------------------------------------------------------------------------------------------------------

  function view_i32(array) result(seen)
    integer(int32), intent(in), contiguous, target :: array(:)
    type(array_view) :: seen
    seen = array_view(c_loc(nothing), size(array, kind=int64), sxt_i32)
    if (seen%count > 0) seen%address = c_loc(array(1))
  end function

  function view_i64(array) result(seen)
    integer(int64), intent(in), contiguous, target :: array(:)
    type(array_view) :: seen
    seen = array_view(c_loc(nothing), size(array, kind=int64), sxt_i64)
    if (seen%count > 0) seen%address = c_loc(array(1))
  end function

  function view_r32(array) result(seen)
    real(real32), intent(in), contiguous, target :: array(:)
    type(array_view) :: seen
    seen = array_view(c_loc(nothing), size(array, kind=int64), sxt_f32)
    if (seen%count > 0) seen%address = c_loc(array(1))
  end function

  function view_r64(array) result(seen)
    real(real64), intent(in), contiguous, target :: array(:)
    type(array_view) :: seen
    seen = array_view(c_loc(nothing), size(array, kind=int64), sxt_f64)
    if (seen%count > 0) seen%address = c_loc(array(1))
  end function

  function view_c32(array) result(seen)
    complex(real32), intent(in), contiguous, target :: array(:)
    type(array_view) :: seen
    seen = array_view(c_loc(nothing), size(array, kind=int64), sxt_c64)
    if (seen%count > 0) seen%address = c_loc(array(1))
  end function

  function view_c64(array) result(seen)
    complex(real64), intent(in), contiguous, target :: array(:)
    type(array_view) :: seen
    seen = array_view(c_loc(nothing), size(array, kind=int64), sxt_c128)
    if (seen%count > 0) seen%address = c_loc(array(1))
  end function

  ! The name that C gives a value type.
  pure function type_name(type) result(name)
    integer(int32), intent(in) :: type
    character(:), allocatable :: name
    character(4), parameter :: names(4) = ['f32 ', 'f64 ', 'c64 ', 'c128']
    name = 'unknown'
    if (type >= 1 .and. type <= size(names)) name = trim(names(type))
  end function

  ! The last element of a view of integers; there is one.
  function last_entry(seen) result(entry)
    type(array_view), intent(in) :: seen
    integer(int64) :: entry
    integer(int32), pointer :: narrow(:)
    integer(int64), pointer :: wide(:)
    if (seen%type == sxt_i32) then
      call c_f_pointer(seen%address, narrow, [seen%count])
      entry = narrow(seen%count)
    else
      call c_f_pointer(seen%address, wide, [seen%count])
      entry = wide(seen%count)
    end if
  end function
end module sextant_objects
