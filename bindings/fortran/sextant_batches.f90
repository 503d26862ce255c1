! SPDX-License-Identifier: BSD-3-Clause
! Batches of Hermitian systems: described once, then any number of sets of them factored and solved. Systems are the
! slices a(:, :, i) of an array of rank three, their right-hand sides the slices b(:, :, i) of another.

! stat and integers of 32 bits.
module sextant_batches_narrow
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_constants
  use sextant_hermitian_c
  use sextant_contexts
  use sextant_batch_work
  implicit none
  private
  public :: sextant_hermitian

  integer, parameter :: sk = int32

  type, extends(batch_base) :: sextant_hermitian
  contains
    generic :: create => create_narrow
    generic :: factor => factor_set_narrow, factor_r32_narrow, factor_r64_narrow, factor_c32_narrow, factor_c64_narrow
    generic :: solve => solve_set_narrow, solve_r32_narrow, solve_r64_narrow, solve_c32_narrow, solve_c64_narrow
    generic :: solve_all => solve_all_set_narrow, solve_all_r32_narrow, solve_all_r64_narrow, solve_all_c32_narrow, &
                            solve_all_c64_narrow
    generic :: report => report_narrow, report_in_words_narrow
    generic :: explain => explain_narrow
    generic :: explain_json => explain_json_narrow
    procedure, private :: create_narrow => create
    procedure, private :: factor_set_narrow => factor_set, factor_r32_narrow => factor_r32, &
                          factor_r64_narrow => factor_r64, factor_c32_narrow => factor_c32, &
                          factor_c64_narrow => factor_c64
    procedure, private :: solve_set_narrow => solve_set, solve_r32_narrow => solve_r32, solve_r64_narrow => solve_r64, &
                          solve_c32_narrow => solve_c32, solve_c64_narrow => solve_c64
    procedure, private :: solve_all_set_narrow => solve_all_set, solve_all_r32_narrow => solve_all_r32, &
                          solve_all_r64_narrow => solve_all_r64, solve_all_c32_narrow => solve_all_c32, &
                          solve_all_c64_narrow => solve_all_c64
    procedure, private :: report_narrow => report, report_in_words_narrow => report_in_words
    procedure, private :: explain_narrow => explain
    procedure, private :: explain_json_narrow => explain_json
  end type

contains
  include 'batches.inc'
end module sextant_batches_narrow

! And of 64, as compilers make the default ones with -fdefault-integer-8 or -i8.
module sextant_batches
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_constants
  use sextant_hermitian_c
  use sextant_contexts
  use sextant_batch_work
  use sextant_batches_narrow, only: narrow_hermitian => sextant_hermitian
  implicit none
  private
  public :: sextant_hermitian, sextant_hermitian_settings, sextant_hermitian_answers, sextant_hermitian_report

  integer, parameter :: sk = int64

  type, extends(narrow_hermitian) :: sextant_hermitian
  contains
    ! call systems%create(n, batch, value_type, n_rhs [, settings, context], stat)
    !   Describes sets of `batch` systems of order n (or up to n) in sxt_f32, sxt_f64, sxt_c64 or sxt_c128, with n_rhs
    !   right-hand sides each, and chooses kernels.
    ! call systems%factor(a, answers, stat)        the factors take a's place, in LAPACK's layout
    ! call systems%solve(a, b, answers, stat) with them; answers as returned by factor. b becomes the solutions call
    ! systems%solve_all(a, b, answers, stat) both, with every number in answers
    !   a(lda, n, batch) and b(ldb, n_rhs, batch) are contiguous. stat is about the call: the outcome of a system is in
    !   answers%info.
    ! call systems%factor(set, stat), %solve(set, stat), %solve_all(set, stat)
    !   The same for a set of addresses (sxt_hermitian_set, begun by new_set): copies, arrays of pointers, leading
    !   dimensions, masks, memory and streams of a device, as in sextant/hermitian.h.
    ! call systems%report(report, stat)       what was chosen, predicted and used: type(sextant_hermitian_report),
    !                                         or in C's form: type(sxt_hermitian_report)
    ! call systems%explain(text, stat)        why
    ! call systems%explain_json(text, stat)   the same for programs
    generic :: create => create_wide
    generic :: factor => factor_set_wide, factor_r32_wide, factor_r64_wide, factor_c32_wide, factor_c64_wide
    generic :: solve => solve_set_wide, solve_r32_wide, solve_r64_wide, solve_c32_wide, solve_c64_wide
    generic :: solve_all => solve_all_set_wide, solve_all_r32_wide, solve_all_r64_wide, solve_all_c32_wide, &
                            solve_all_c64_wide
    generic :: report => report_wide, report_in_words_wide
    generic :: explain => explain_wide
    generic :: explain_json => explain_json_wide
    procedure, private :: create_wide => create
    procedure, private :: factor_set_wide => factor_set, factor_r32_wide => factor_r32, factor_r64_wide => factor_r64, &
                          factor_c32_wide => factor_c32, factor_c64_wide => factor_c64
    procedure, private :: solve_set_wide => solve_set, solve_r32_wide => solve_r32, solve_r64_wide => solve_r64, &
                          solve_c32_wide => solve_c32, solve_c64_wide => solve_c64
    procedure, private :: solve_all_set_wide => solve_all_set, solve_all_r32_wide => solve_all_r32, &
                          solve_all_r64_wide => solve_all_r64, solve_all_c32_wide => solve_all_c32, &
                          solve_all_c64_wide => solve_all_c64
    procedure, private :: report_wide => report, report_in_words_wide => report_in_words
    procedure, private :: explain_wide => explain
    procedure, private :: explain_json_wide => explain_json
  end type

contains
  include 'batches.inc'
end module sextant_batches
