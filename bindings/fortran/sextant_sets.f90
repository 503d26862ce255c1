! SPDX-License-Identifier: BSD-3-Clause
! Sparse Cholesky factorisations of many matrices of one pattern: sets of values that are factored and solved in one call.

! stat and integers of 32 bits.
module sextant_sets_narrow
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_constants
  use sextant_factor_work, only: analysis_base
  use sextant_set_work
  implicit none
  private
  public :: sextant_cholesky_sets

  integer, parameter :: sk = int32

  type, extends(sets_base) :: sextant_cholesky_sets
  contains
    generic :: create => create_narrow
    generic :: factor => factor_r32_narrow, factor_r64_narrow, factor_c32_narrow, factor_c64_narrow
    generic :: solve => solve_2_r32_narrow, solve_2_r64_narrow, solve_2_c32_narrow, solve_2_c64_narrow, &
                        solve_3_r32_narrow, solve_3_r64_narrow, solve_3_c32_narrow, solve_3_c64_narrow, &
                        replace_2_r32_narrow, replace_2_r64_narrow, replace_2_c32_narrow, replace_2_c64_narrow, &
                        replace_3_r32_narrow, replace_3_r64_narrow, replace_3_c32_narrow, replace_3_c64_narrow
    generic :: outcomes => outcomes_narrow
    generic :: info => sets_info_narrow
    generic :: explain => explain_narrow
    generic :: explain_json => explain_json_narrow
    procedure, private :: factor_r32_narrow => factor_r32, factor_r64_narrow => factor_r64, &
                          factor_c32_narrow => factor_c32, factor_c64_narrow => factor_c64
    procedure, private :: solve_2_r32_narrow => solve_2_r32, solve_2_r64_narrow => solve_2_r64, &
                          solve_2_c32_narrow => solve_2_c32, solve_2_c64_narrow => solve_2_c64
    procedure, private :: solve_3_r32_narrow => solve_3_r32, solve_3_r64_narrow => solve_3_r64, &
                          solve_3_c32_narrow => solve_3_c32, solve_3_c64_narrow => solve_3_c64
    procedure, private :: replace_2_r32_narrow => replace_2_r32, replace_2_r64_narrow => replace_2_r64, &
                          replace_2_c32_narrow => replace_2_c32, replace_2_c64_narrow => replace_2_c64
    procedure, private :: replace_3_r32_narrow => replace_3_r32, replace_3_r64_narrow => replace_3_r64, &
                          replace_3_c32_narrow => replace_3_c32, replace_3_c64_narrow => replace_3_c64
    procedure, private :: create_narrow => create, outcomes_narrow => outcomes, sets_info_narrow => sets_info, &
                          explain_narrow => explain, explain_json_narrow => explain_json
  end type

contains
  include 'sets.inc'
end module sextant_sets_narrow

! And of 64, as compilers make the default ones with -fdefault-integer-8 or -i8.
module sextant_sets
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_constants
  use sextant_factor_work, only: analysis_base
  use sextant_set_work
  use sextant_sets_narrow, only: narrow_sets => sextant_cholesky_sets
  implicit none
  private
  public :: sextant_cholesky_sets, sextant_set_outcomes, sextant_sets_info

  integer, parameter :: sk = int64

  type, extends(narrow_sets) :: sextant_cholesky_sets
  contains
    ! call sets%create(analysis, count, stat)
    !   Memory for count factors. It keeps what it needs of the analysis alive.
    ! call sets%factor(values [, first] [, cancel], stat)
    !   values(:, :): a column for each set, in the order in which the matrix takes new values. first: the first of these sets,
    !   counted from 1 (default 1); the others keep their factors. A set that fails leaves the others factored: stat is that of
    !   the first, and outcomes has each. cancel: integer(int32), pointer; a flag that another thread sets to 1.
    ! call sets%solve(b, x [, first] [, cancel], stat)
    !   Solves with each factor: a column of b(:, :) for each set, or b(:, k, s) for right-hand side k of set s. Solutions of
    !   sets without a factor are NaN.
    ! call sets%solve(x [, first] [, cancel], stat)
    !   The same in place: x holds the right-hand sides and then the solutions.
    ! call sets%outcomes(outcomes, stat)         type(sextant_set_outcomes): status, failures, determinants, inertia
    ! call sets%info(info, stat)                 type(sextant_sets_info): bytes and seconds
    ! call sets%explain(text, stat)              schedulers that were considered, and how the chosen one works
    ! call sets%explain_json(text, stat)         the same for programs
    generic :: create => create_wide
    generic :: factor => factor_r32_wide, factor_r64_wide, factor_c32_wide, factor_c64_wide
    generic :: solve => solve_2_r32_wide, solve_2_r64_wide, solve_2_c32_wide, solve_2_c64_wide, solve_3_r32_wide, &
                        solve_3_r64_wide, solve_3_c32_wide, solve_3_c64_wide, replace_2_r32_wide, replace_2_r64_wide, &
                        replace_2_c32_wide, replace_2_c64_wide, replace_3_r32_wide, replace_3_r64_wide, &
                        replace_3_c32_wide, replace_3_c64_wide
    generic :: outcomes => outcomes_wide
    generic :: info => sets_info_wide
    generic :: explain => explain_wide
    generic :: explain_json => explain_json_wide
    procedure, private :: factor_r32_wide => factor_r32, factor_r64_wide => factor_r64, &
                          factor_c32_wide => factor_c32, factor_c64_wide => factor_c64
    procedure, private :: solve_2_r32_wide => solve_2_r32, solve_2_r64_wide => solve_2_r64, &
                          solve_2_c32_wide => solve_2_c32, solve_2_c64_wide => solve_2_c64
    procedure, private :: solve_3_r32_wide => solve_3_r32, solve_3_r64_wide => solve_3_r64, &
                          solve_3_c32_wide => solve_3_c32, solve_3_c64_wide => solve_3_c64
    procedure, private :: replace_2_r32_wide => replace_2_r32, replace_2_r64_wide => replace_2_r64, &
                          replace_2_c32_wide => replace_2_c32, replace_2_c64_wide => replace_2_c64
    procedure, private :: replace_3_r32_wide => replace_3_r32, replace_3_r64_wide => replace_3_r64, &
                          replace_3_c32_wide => replace_3_c32, replace_3_c64_wide => replace_3_c64
    procedure, private :: create_wide => create, outcomes_wide => outcomes, sets_info_wide => sets_info, &
                          explain_wide => explain, explain_json_wide => explain_json
  end type

contains
  include 'sets.inc'
end module sextant_sets
