! SPDX-License-Identifier: BSD-3-Clause
! Vectors: values in memory of a context's device, or wrapped in place.

! stat and integers of 32 bits.
module sextant_vectors_narrow
  use, intrinsic :: iso_c_binding, only: c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_constants
  use sextant_objects
  use sextant_contexts
  use sextant_vector_work
  implicit none
  private
  public :: sextant_vector

  integer, parameter :: sk = int32

  type, extends(vector_base) :: sextant_vector
  contains
    generic :: create => create_narrow
    generic :: wrap => wrap_r32_narrow, wrap_r64_narrow, wrap_c32_narrow, wrap_c64_narrow, wrap_at_narrow
    generic :: write => write_r32_narrow, write_r64_narrow, write_c32_narrow, write_c64_narrow
    generic :: read => read_r32_narrow, read_r64_narrow, read_c32_narrow, read_c64_narrow
    procedure, private :: create_narrow => create
    procedure, private :: wrap_r32_narrow => wrap_r32, wrap_r64_narrow => wrap_r64, wrap_c32_narrow => wrap_c32, &
                          wrap_c64_narrow => wrap_c64, wrap_at_narrow => wrap_at
    procedure, private :: write_r32_narrow => write_r32, write_r64_narrow => write_r64, write_c32_narrow => write_c32, &
                          write_c64_narrow => write_c64
    procedure, private :: read_r32_narrow => read_r32, read_r64_narrow => read_r64, read_c32_narrow => read_c32, &
                          read_c64_narrow => read_c64
  end type

contains
  include 'vectors.inc'
end module sextant_vectors_narrow

! And of 64, as compilers make the default ones with -fdefault-integer-8 or -i8.
module sextant_vectors
  use, intrinsic :: iso_c_binding, only: c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_constants
  use sextant_objects
  use sextant_contexts
  use sextant_vector_work
  use sextant_vectors_narrow, only: narrow_vector => sextant_vector
  implicit none
  private
  public :: sextant_vector

  integer, parameter :: sk = int64

  type, extends(narrow_vector) :: sextant_vector
  contains
    ! call v%create(n, value_type [, context], stat)
    !   n zeros of sxt_f32, sxt_f64, sxt_c64 or sxt_c128 in the context's device memory.
    ! call v%wrap(values [, context], stat)
    !   The caller's array, which must be a contiguous target that outlives the vector. A context of the CPU reads and
    !   writes it in place.
    ! call v%wrap(address, n, value_type, space [, context], stat)
    !   The same for an address (type(c_ptr)) of n values; space: sxt_space_host, sxt_space_device, ...
    ! call v%write(values, stat), call v%read(values, stat)
    !   Between an array of the vector's length and type, and the vector, in any space.
    generic :: create => create_wide
    generic :: wrap => wrap_r32_wide, wrap_r64_wide, wrap_c32_wide, wrap_c64_wide, wrap_at_wide
    generic :: write => write_r32_wide, write_r64_wide, write_c32_wide, write_c64_wide
    generic :: read => read_r32_wide, read_r64_wide, read_c32_wide, read_c64_wide
    procedure, private :: create_wide => create
    procedure, private :: wrap_r32_wide => wrap_r32, wrap_r64_wide => wrap_r64, wrap_c32_wide => wrap_c32, &
                          wrap_c64_wide => wrap_c64, wrap_at_wide => wrap_at
    procedure, private :: write_r32_wide => write_r32, write_r64_wide => write_r64, write_c32_wide => write_c32, &
                          write_c64_wide => write_c64
    procedure, private :: read_r32_wide => read_r32, read_r64_wide => read_r64, read_c32_wide => read_c32, &
                          read_c64_wide => read_c64
  end type

contains
  include 'vectors.inc'
end module sextant_vectors
