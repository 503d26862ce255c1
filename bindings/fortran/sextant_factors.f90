! SPDX-License-Identifier: BSD-3-Clause
! Sparse Cholesky factorisations: a pattern is analysed once; factors of it are made again and again with new values, and
! solve as often as wanted.

! stat and integers of 32 bits.
module sextant_factors_narrow
  use, intrinsic :: iso_c_binding, only: c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_constants
  use sextant_matrices
  use sextant_sheets
  use sextant_factor_work
  implicit none
  private
  public :: sextant_analysis, sextant_cholesky

  integer, parameter :: sk = int32

  type, extends(analysis_base) :: sextant_analysis
  contains
    generic :: create => analyse_narrow
    generic :: load => load_narrow
    generic :: save => save_to_narrow
    generic :: info => analysis_info_narrow
    generic :: order => order_i32_narrow, order_i64_narrow
    generic :: explain => explain_narrow
    generic :: explain_json => explain_json_narrow
    procedure, private :: order_i32_narrow => order_i32, order_i64_narrow => order_i64
    procedure, private :: analyse_narrow => analyse, load_narrow => load, save_to_narrow => save_to, &
                          analysis_info_narrow => analysis_info, explain_narrow => explain, &
                          explain_json_narrow => explain_json
  end type

  type, extends(cholesky_base) :: sextant_cholesky
  contains
    generic :: create => create_narrow
    generic :: factor => factor_narrow
    generic :: solve => solve_1_r32_narrow, solve_1_r64_narrow, solve_1_c32_narrow, solve_1_c64_narrow, &
                        solve_2_r32_narrow, solve_2_r64_narrow, solve_2_c32_narrow, solve_2_c64_narrow, &
                        solve_told_1_r32_narrow, solve_told_1_r64_narrow, solve_told_1_c32_narrow, &
                        solve_told_1_c64_narrow, solve_told_2_r32_narrow, solve_told_2_r64_narrow, &
                        solve_told_2_c32_narrow, solve_told_2_c64_narrow, replace_1_r32_narrow, replace_1_r64_narrow, &
                        replace_1_c32_narrow, replace_1_c64_narrow, replace_2_r32_narrow, replace_2_r64_narrow, &
                        replace_2_c32_narrow, replace_2_c64_narrow, replace_told_1_r32_narrow, replace_told_1_r64_narrow, &
                        replace_told_1_c32_narrow, replace_told_1_c64_narrow, replace_told_2_r32_narrow, &
                        replace_told_2_r64_narrow, replace_told_2_c32_narrow, replace_told_2_c64_narrow, solve_at_narrow
    generic :: info => factor_info_narrow
    generic :: changed_pivots => changed_i32_narrow, changed_i64_narrow
    generic :: diagonal => diagonal_narrow
    generic :: rcond => rcond_narrow
    generic :: schur => schur_r32_narrow, schur_r64_narrow, schur_c32_narrow, schur_c64_narrow
    generic :: inverse => inverse_i32_r32_narrow, inverse_i32_r64_narrow, inverse_i32_c32_narrow, inverse_i32_c64_narrow, &
                          inverse_i64_r32_narrow, inverse_i64_r64_narrow, inverse_i64_c32_narrow, inverse_i64_c64_narrow
    procedure, private :: solve_1_r32_narrow => solve_1_r32, solve_1_r64_narrow => solve_1_r64, &
                          solve_1_c32_narrow => solve_1_c32, solve_1_c64_narrow => solve_1_c64
    procedure, private :: solve_2_r32_narrow => solve_2_r32, solve_2_r64_narrow => solve_2_r64, &
                          solve_2_c32_narrow => solve_2_c32, solve_2_c64_narrow => solve_2_c64
    procedure, private :: solve_told_1_r32_narrow => solve_told_1_r32, solve_told_1_r64_narrow => solve_told_1_r64, &
                          solve_told_1_c32_narrow => solve_told_1_c32, solve_told_1_c64_narrow => solve_told_1_c64
    procedure, private :: solve_told_2_r32_narrow => solve_told_2_r32, solve_told_2_r64_narrow => solve_told_2_r64, &
                          solve_told_2_c32_narrow => solve_told_2_c32, solve_told_2_c64_narrow => solve_told_2_c64
    procedure, private :: replace_1_r32_narrow => replace_1_r32, replace_1_r64_narrow => replace_1_r64, &
                          replace_1_c32_narrow => replace_1_c32, replace_1_c64_narrow => replace_1_c64
    procedure, private :: replace_2_r32_narrow => replace_2_r32, replace_2_r64_narrow => replace_2_r64, &
                          replace_2_c32_narrow => replace_2_c32, replace_2_c64_narrow => replace_2_c64
    procedure, private :: replace_told_1_r32_narrow => replace_told_1_r32, &
                          replace_told_1_r64_narrow => replace_told_1_r64, &
                          replace_told_1_c32_narrow => replace_told_1_c32, replace_told_1_c64_narrow => replace_told_1_c64
    procedure, private :: replace_told_2_r32_narrow => replace_told_2_r32, &
                          replace_told_2_r64_narrow => replace_told_2_r64, &
                          replace_told_2_c32_narrow => replace_told_2_c32, replace_told_2_c64_narrow => replace_told_2_c64
    procedure, private :: solve_at_narrow => solve_at
    procedure, private :: changed_i32_narrow => changed_i32, changed_i64_narrow => changed_i64
    procedure, private :: schur_r32_narrow => schur_r32, schur_r64_narrow => schur_r64, schur_c32_narrow => schur_c32, &
                          schur_c64_narrow => schur_c64
    procedure, private :: inverse_i32_r32_narrow => inverse_i32_r32, inverse_i32_r64_narrow => inverse_i32_r64, &
                          inverse_i32_c32_narrow => inverse_i32_c32, inverse_i32_c64_narrow => inverse_i32_c64, &
                          inverse_i64_r32_narrow => inverse_i64_r32, inverse_i64_r64_narrow => inverse_i64_r64, &
                          inverse_i64_c32_narrow => inverse_i64_c32, inverse_i64_c64_narrow => inverse_i64_c64
    procedure, private :: create_narrow => create, factor_narrow => factor, factor_info_narrow => factor_info, &
                          diagonal_narrow => diagonal, rcond_narrow => rcond
  end type

contains
  include 'analyses.inc'

  include 'factors.inc'
end module sextant_factors_narrow

! And of 64, as compilers make the default ones with -fdefault-integer-8 or -i8.
module sextant_factors
  use, intrinsic :: iso_c_binding, only: c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_constants
  use sextant_matrices
  use sextant_sheets
  use sextant_factor_work
  use sextant_factors_narrow, only: narrow_analysis => sextant_analysis, narrow_cholesky => sextant_cholesky
  implicit none
  private
  public :: sextant_analysis, sextant_analysis_settings, sextant_analysis_info
  public :: sextant_cholesky, sextant_cholesky_options, sextant_cholesky_report, sextant_cholesky_info

  integer, parameter :: sk = int64

  type, extends(narrow_analysis) :: sextant_analysis
  contains
    ! call analysis%create(a [, settings], stat)
    !   Chooses an order of elimination, finds the structure of L and predicts each scheduler. About the pattern of a, which
    !   it keeps alive. sxt_e_not_square, sxt_e_not_symmetric, sxt_e_unknown_name, sxt_e_no_kernel, ...
    ! call analysis%save(path, stat)
    ! call analysis%load(a, path [, settings], stat)
    !   The order into a file, and back for a matrix of the same pattern; settings without order, permutation and widths.
    !   sxt_e_plan: the file is damaged or of another pattern.
    ! call analysis%info(info, stat)            type(sextant_analysis_info): sizes, flops, bytes, predicted seconds
    ! call analysis%order(permutation, stat)    allocatable, of 32 or 64 bits: permutation(k) is the row eliminated k-th
    ! call analysis%explain(text, stat)         orders and schedulers that were considered
    ! call analysis%explain_json(text, stat)    the same for programs
    generic :: create => analyse_wide
    generic :: load => load_wide
    generic :: save => save_to_wide
    generic :: info => analysis_info_wide
    generic :: order => order_i32_wide, order_i64_wide
    generic :: explain => explain_wide
    generic :: explain_json => explain_json_wide
    procedure, private :: order_i32_wide => order_i32, order_i64_wide => order_i64
    procedure, private :: analyse_wide => analyse, load_wide => load, save_to_wide => save_to, &
                          analysis_info_wide => analysis_info, explain_wide => explain, explain_json_wide => explain_json
  end type

  type, extends(narrow_cholesky) :: sextant_cholesky
  contains
    ! call cholesky%create(analysis, stat)
    !   Memory for one factor. It keeps what it needs of the analysis alive; one analysis serves any number of factors.
    ! call cholesky%factor([a, cancel,] stat)
    !   Factors the present values of the analysed matrix, or those of a, which has its pattern and type. After a failure
    !   there is no factor, and the next call works. cancel: integer(int32), pointer; a flag that another thread sets to 1.
    !   sxt_e_not_positive_definite: its sentence, and info, name the row.
    ! call cholesky%solve(b, x [, options] [, report], stat)
    !   Solves A x = b for b(:) and x(:), or for the columns of b(:, :) and x(:, :).
    ! call cholesky%solve(x [, options] [, report], stat)
    !   The same in place: x holds the right-hand sides and then the solutions.
    ! call cholesky%solve(b, x, n, n_rhs [, options], report, stat)
    !   The same with addresses (type(c_ptr)) of n_rhs columns of n values that lie side by side, in host memory or the
    !   device's; b may be x.
    !   Several threads may solve with one factor at a time, each with a report of its own, whose message then has the
    !   sentence of an error. Without a report it is cholesky%error(), and the call is for one thread at a time.
    ! call cholesky%info(info, stat)             type(sextant_cholesky_info): determinant, inertia, pivots, failures
    ! call cholesky%diagonal(pivots, stat)       allocatable, by rows of A: D, or squares of the diagonal of L
    ! call cholesky%changed_pivots(rows, stat)   allocatable, of 32 or 64 bits: rows whose pivots the policy changed
    ! call cholesky%rcond(number, stat)          estimated reciprocal condition number in the 1-norm
    ! call cholesky%schur(values, stat)          values(:, :): the Schur complement of settings%schur_rows
    ! call cholesky%inverse(rows, cols, values, stat)
    !   values(k) = the entry (rows(k), cols(k)) of the inverse of A, where A or L has one. sxt_e_index: L has none there.
    generic :: create => create_wide
    generic :: factor => factor_wide
    generic :: solve => solve_1_r32_wide, solve_1_r64_wide, solve_1_c32_wide, solve_1_c64_wide, solve_2_r32_wide, &
                        solve_2_r64_wide, solve_2_c32_wide, solve_2_c64_wide, solve_told_1_r32_wide, &
                        solve_told_1_r64_wide, solve_told_1_c32_wide, solve_told_1_c64_wide, solve_told_2_r32_wide, &
                        solve_told_2_r64_wide, solve_told_2_c32_wide, solve_told_2_c64_wide, replace_1_r32_wide, &
                        replace_1_r64_wide, replace_1_c32_wide, replace_1_c64_wide, replace_2_r32_wide, &
                        replace_2_r64_wide, replace_2_c32_wide, replace_2_c64_wide, replace_told_1_r32_wide, &
                        replace_told_1_r64_wide, replace_told_1_c32_wide, replace_told_1_c64_wide, &
                        replace_told_2_r32_wide, replace_told_2_r64_wide, replace_told_2_c32_wide, &
                        replace_told_2_c64_wide, solve_at_wide
    generic :: info => factor_info_wide
    generic :: changed_pivots => changed_i32_wide, changed_i64_wide
    generic :: diagonal => diagonal_wide
    generic :: rcond => rcond_wide
    generic :: schur => schur_r32_wide, schur_r64_wide, schur_c32_wide, schur_c64_wide
    generic :: inverse => inverse_i32_r32_wide, inverse_i32_r64_wide, inverse_i32_c32_wide, inverse_i32_c64_wide, &
                          inverse_i64_r32_wide, inverse_i64_r64_wide, inverse_i64_c32_wide, inverse_i64_c64_wide
    procedure, private :: solve_1_r32_wide => solve_1_r32, solve_1_r64_wide => solve_1_r64, &
                          solve_1_c32_wide => solve_1_c32, solve_1_c64_wide => solve_1_c64
    procedure, private :: solve_2_r32_wide => solve_2_r32, solve_2_r64_wide => solve_2_r64, &
                          solve_2_c32_wide => solve_2_c32, solve_2_c64_wide => solve_2_c64
    procedure, private :: solve_told_1_r32_wide => solve_told_1_r32, solve_told_1_r64_wide => solve_told_1_r64, &
                          solve_told_1_c32_wide => solve_told_1_c32, solve_told_1_c64_wide => solve_told_1_c64
    procedure, private :: solve_told_2_r32_wide => solve_told_2_r32, solve_told_2_r64_wide => solve_told_2_r64, &
                          solve_told_2_c32_wide => solve_told_2_c32, solve_told_2_c64_wide => solve_told_2_c64
    procedure, private :: replace_1_r32_wide => replace_1_r32, replace_1_r64_wide => replace_1_r64, &
                          replace_1_c32_wide => replace_1_c32, replace_1_c64_wide => replace_1_c64
    procedure, private :: replace_2_r32_wide => replace_2_r32, replace_2_r64_wide => replace_2_r64, &
                          replace_2_c32_wide => replace_2_c32, replace_2_c64_wide => replace_2_c64
    procedure, private :: replace_told_1_r32_wide => replace_told_1_r32, replace_told_1_r64_wide => replace_told_1_r64, &
                          replace_told_1_c32_wide => replace_told_1_c32, replace_told_1_c64_wide => replace_told_1_c64
    procedure, private :: replace_told_2_r32_wide => replace_told_2_r32, replace_told_2_r64_wide => replace_told_2_r64, &
                          replace_told_2_c32_wide => replace_told_2_c32, replace_told_2_c64_wide => replace_told_2_c64
    procedure, private :: solve_at_wide => solve_at
    procedure, private :: changed_i32_wide => changed_i32, changed_i64_wide => changed_i64
    procedure, private :: schur_r32_wide => schur_r32, schur_r64_wide => schur_r64, schur_c32_wide => schur_c32, &
                          schur_c64_wide => schur_c64
    procedure, private :: inverse_i32_r32_wide => inverse_i32_r32, inverse_i32_r64_wide => inverse_i32_r64, &
                          inverse_i32_c32_wide => inverse_i32_c32, inverse_i32_c64_wide => inverse_i32_c64, &
                          inverse_i64_r32_wide => inverse_i64_r32, inverse_i64_r64_wide => inverse_i64_r64, &
                          inverse_i64_c32_wide => inverse_i64_c32, inverse_i64_c64_wide => inverse_i64_c64
    procedure, private :: create_wide => create, factor_wide => factor, factor_info_wide => factor_info, &
                          diagonal_wide => diagonal, rcond_wide => rcond
  end type

contains
  include 'analyses.inc'

  include 'factors.inc'
end module sextant_factors
