! SPDX-License-Identifier: BSD-3-Clause
! Conjugate gradients: set up once for a matrix, solve any number of times, read why each solve ended.

! stat and integers of 32 bits.
module sextant_solvers_narrow
  use, intrinsic :: iso_c_binding, only: c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_constants
  use sextant_objects
  use sextant_matrices
  use sextant_vectors
  use sextant_reports
  use sextant_solver_work
  implicit none
  private
  public :: sextant_pcg

  integer, parameter :: sk = int32

  type, extends(pcg_base) :: sextant_pcg
  contains
    generic :: create => create_default_narrow, create_with_narrow
    generic :: solve => solve_r32_narrow, solve_r64_narrow, solve_c32_narrow, solve_c64_narrow, solve_with_r32_narrow, &
                        solve_with_r64_narrow, solve_with_c32_narrow, solve_with_c64_narrow, block_r32_narrow, &
                        block_r64_narrow, block_c32_narrow, block_c64_narrow, solve_at_narrow, solve_held_narrow, &
                        solve_held_with_narrow
    generic :: explain => explain_narrow
    generic :: explain_json => explain_json_narrow
    procedure, private :: create_default_narrow => create_default, create_with_narrow => create_with
    procedure, private :: solve_r32_narrow => solve_r32, solve_r64_narrow => solve_r64, solve_c32_narrow => solve_c32, &
                          solve_c64_narrow => solve_c64, solve_with_r32_narrow => solve_with_r32, &
                          solve_with_r64_narrow => solve_with_r64, solve_with_c32_narrow => solve_with_c32, &
                          solve_with_c64_narrow => solve_with_c64, block_r32_narrow => block_r32, &
                          block_r64_narrow => block_r64, block_c32_narrow => block_c32, block_c64_narrow => block_c64, &
                          solve_at_narrow => solve_at, solve_held_narrow => solve_held, &
                          solve_held_with_narrow => solve_held_with
    procedure, private :: explain_narrow => explain
    procedure, private :: explain_json_narrow => explain_json
  end type

contains
  include 'solvers.inc'
end module sextant_solvers_narrow

! And of 64, as compilers make the default ones with -fdefault-integer-8 or -i8.
module sextant_solvers
  use, intrinsic :: iso_c_binding, only: c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_constants
  use sextant_objects
  use sextant_matrices
  use sextant_vectors
  use sextant_reports
  use sextant_solver_work
  use sextant_solvers_narrow, only: narrow_pcg => sextant_pcg
  implicit none
  private
  public :: sextant_options, sextant_solve_options, sextant_report, sextant_pcg

  integer, parameter :: sk = int64

  type, extends(narrow_pcg) :: sextant_pcg
  contains
    ! call solver%create(a, stat)
    ! call solver%create(a, options, stat)
    !   Checks the matrix, chooses preconditioner, storage, kernels and recurrence, and builds them. The solver keeps
    !   the parts of the matrix that it needs. sxt_e_not_square, sxt_e_not_symmetric, sxt_e_diagonal, ...
    ! call solver%solve(b, x, report, stat)
    ! call solver%solve(b, x, options, report, stat)
    !   Solves A x = b. stat is sxt_ok only when the true residual met the tolerance. When it is sxt_not_converged,
    !   report has the reason and x the last good iterate. Errors leave x alone; their sentence is in report%message.
    !   Several threads may solve with one solver at a time, each with its own b, x and report.
    ! call solver%solve(b, x, options, reports, stat)
    !   The same for the columns of b(:, :) and x(:, :), which are independent: each has its own end and report. stat is
    !   sxt_not_converged when any column did not converge. Keeps no history.
    ! call solver%solve(b, x, n, options, report, stat)
    !   The same with addresses (type(c_ptr)) of n values of the matrix's type, in host memory or the device's.
    ! call solver%solve(b, x [, options], report, stat)
    !   The same for vectors: type(sextant_vector).
    ! call solver%explain(text, stat) the kernel chosen for each part, the alternatives, and why they were refused call
    ! solver%explain_json(text, stat) the same for programs
    generic :: create => create_default_wide, create_with_wide
    generic :: solve => solve_r32_wide, solve_r64_wide, solve_c32_wide, solve_c64_wide, solve_with_r32_wide, &
                        solve_with_r64_wide, solve_with_c32_wide, solve_with_c64_wide, block_r32_wide, block_r64_wide, &
                        block_c32_wide, block_c64_wide, solve_at_wide, solve_held_wide, solve_held_with_wide
    generic :: explain => explain_wide
    generic :: explain_json => explain_json_wide
    procedure, private :: create_default_wide => create_default, create_with_wide => create_with
    procedure, private :: solve_r32_wide => solve_r32, solve_r64_wide => solve_r64, solve_c32_wide => solve_c32, &
                          solve_c64_wide => solve_c64, solve_with_r32_wide => solve_with_r32, &
                          solve_with_r64_wide => solve_with_r64, solve_with_c32_wide => solve_with_c32, &
                          solve_with_c64_wide => solve_with_c64, block_r32_wide => block_r32, &
                          block_r64_wide => block_r64, block_c32_wide => block_c32, block_c64_wide => block_c64, &
                          solve_at_wide => solve_at, solve_held_wide => solve_held, &
                          solve_held_with_wide => solve_held_with
    procedure, private :: explain_wide => explain
    procedure, private :: explain_json_wide => explain_json
  end type

contains
  include 'solvers.inc'
end module sextant_solvers
