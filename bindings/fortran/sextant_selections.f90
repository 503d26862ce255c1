! SPDX-License-Identifier: BSD-3-Clause
! Any kernel of any kind: chosen by the models for a query, run on arguments of its kind. sextant/plugin/kinds/ has the
! query and the arguments of each kind; repeat them as bind(c) types that begin with sxt_query and sxt_head.

! stat of 32 bits.
module sextant_selections_narrow
  use, intrinsic :: iso_c_binding, only: c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_constants
  use sextant_kernels_c
  use sextant_objects
  use sextant_contexts
  use sextant_matrices
  implicit none
  private
  public :: sextant_selection, type_of_selection

  integer, parameter :: sk = int32
  character(*), parameter :: type_of_selection = 'sextant_selection'

  type, extends(sextant_object) :: sextant_selection
  contains
    procedure :: kernel ! the chosen kernel's name; '' when none is
    generic :: create => create_narrow
    generic :: run => run_narrow
    generic :: cost => cost_narrow
    generic :: time => time_narrow
    generic :: explain => explain_narrow
    generic :: explain_json => explain_json_narrow
    procedure, private :: create_narrow => create, run_narrow => run, cost_narrow => cost, time_narrow => time, &
                          explain_narrow => explain, explain_json_narrow => explain_json
  end type

contains
  include 'selections.inc'

  function kernel(self) result(text)
    class(sextant_selection), intent(in) :: self
    character(:), allocatable :: text
    text = fortran_text(sxt_selection_kernel(self%c_handle()))
  end function
end module sextant_selections_narrow

! And of 64, as compilers make default integers with -fdefault-integer-8 or -i8.
module sextant_selections
  use, intrinsic :: iso_c_binding, only: c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_constants
  use sextant_kernels_c
  use sextant_objects
  use sextant_contexts
  use sextant_matrices
  use sextant_selections_narrow, only: narrow_selection => sextant_selection, type_of_selection
  implicit none
  private
  public :: sextant_selection

  integer, parameter :: sk = int64

  type, extends(narrow_selection) :: sextant_selection
  contains
    ! call selection%create(query [, a, context], stat)
    !   query: the address (type(c_ptr)) of a query of its kind, which is copied. a: the matrix it is about, if it is.
    ! call selection%run(args, stat): once, on the arguments at this address
    ! call selection%cost(setup_seconds, run_seconds, stat): predicted
    ! call selection%time(args, budget_seconds, seconds, noise, stat): measured, args(:) taking turns
    ! call selection%explain(text, stat), call selection%explain_json(text, stat)
    generic :: create => create_wide
    generic :: run => run_wide
    generic :: cost => cost_wide
    generic :: time => time_wide
    generic :: explain => explain_wide
    generic :: explain_json => explain_json_wide
    procedure, private :: create_wide => create, run_wide => run, cost_wide => cost, time_wide => time, &
                          explain_wide => explain, explain_json_wide => explain_json
  end type

contains
  include 'selections.inc'
end module sextant_selections
