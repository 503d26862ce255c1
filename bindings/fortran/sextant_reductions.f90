! SPDX-License-Identifier: BSD-3-Clause
! Reductions of vectors, named as in C. stat is required; message, where it is given, is
! a sentence when stat is not sxt_ok, else empty. Operands have one type and belong to one context.

! stat of 32 bits.
module sextant_reductions_narrow
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_vectors_c
  use sextant_objects
  use sextant_vectors
  use sextant_operation_work
  implicit none
  private
  public :: sextant_sum, sextant_dot, sextant_dotc, sextant_nrm2, sextant_asum, sextant_amax, sextant_min, &
            sextant_max, sextant_multidot, sextant_iamax

  integer, parameter :: sk = int32

  ! call sextant_sum(x, answer, stat). answer: a real or complex variable of any kind; a complex result needs a complex one.
  interface sextant_sum
    module procedure sum_r32, sum_r64, sum_c32, sum_c64
  end interface
  ! call sextant_dot(x, y, answer, stat): x . y, unconjugated
  interface sextant_dot
    module procedure dot_r32, dot_r64, dot_c32, dot_c64
  end interface
  ! call sextant_dotc(x, y, answer, stat): conjg(x) . y
  interface sextant_dotc
    module procedure dotc_r32, dotc_r64, dotc_c32, dotc_c64
  end interface
  ! call sextant_nrm2(x, answer, stat): 2-norm; answer is real. asum, amax: sum and largest of abs(re) + abs(im)
  interface sextant_nrm2
    module procedure nrm2_r32, nrm2_r64
  end interface
  interface sextant_asum
    module procedure asum_r32, asum_r64
  end interface
  interface sextant_amax
    module procedure amax_r32, amax_r64
  end interface
  ! call sextant_min(x, answer, stat), sextant_max: of real vectors
  interface sextant_min
    module procedure min_r32, min_r64
  end interface
  interface sextant_max
    module procedure max_r32, max_r64
  end interface
  ! call sextant_multidot(x(:), y(:), answers(:), stat): conjg(x(i)) . y(i) for 8 pairs at most, in one pass
  interface sextant_multidot
    module procedure multidot_r32, multidot_r64, multidot_c32, multidot_c64
  end interface
  ! call sextant_iamax(x, index, stat): where the first of amax is, from 1; 0 when x is empty
  interface sextant_iamax
    module procedure iamax_int32, iamax_int64
  end interface

contains
  include 'reductions.inc'
end module sextant_reductions_narrow

! And of 64, as compilers make default integers with -fdefault-integer-8 or -i8.
module sextant_reductions_wide
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_vectors_c
  use sextant_objects
  use sextant_vectors
  use sextant_operation_work
  implicit none
  private
  public :: sextant_sum, sextant_dot, sextant_dotc, sextant_nrm2, sextant_asum, sextant_amax, sextant_min, &
            sextant_max, sextant_multidot, sextant_iamax

  integer, parameter :: sk = int64

  interface sextant_sum
    module procedure sum_r32, sum_r64, sum_c32, sum_c64
  end interface
  interface sextant_dot
    module procedure dot_r32, dot_r64, dot_c32, dot_c64
  end interface
  interface sextant_dotc
    module procedure dotc_r32, dotc_r64, dotc_c32, dotc_c64
  end interface
  interface sextant_nrm2
    module procedure nrm2_r32, nrm2_r64
  end interface
  interface sextant_asum
    module procedure asum_r32, asum_r64
  end interface
  interface sextant_amax
    module procedure amax_r32, amax_r64
  end interface
  interface sextant_min
    module procedure min_r32, min_r64
  end interface
  interface sextant_max
    module procedure max_r32, max_r64
  end interface
  interface sextant_multidot
    module procedure multidot_r32, multidot_r64, multidot_c32, multidot_c64
  end interface
  interface sextant_iamax
    module procedure iamax_int32, iamax_int64
  end interface

contains
  include 'reductions.inc'
end module sextant_reductions_wide
