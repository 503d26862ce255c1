! SPDX-License-Identifier: BSD-3-Clause
! Names of statuses and reasons, records of loaded plugins, and verification of models.

! Integers of 32 bits.
module sextant_library_narrow
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_c
  use sextant_models_c
  use sextant_objects
  use sextant_matrices
  use sextant_library_work
  use sextant_verification_work
  implicit none
  private
  public :: sextant_version_numbers, sextant_status_name, sextant_status_text, sextant_reason_name, &
            sextant_reason_text, sextant_feature_name, sextant_decision_tree_operation, sextant_plugin_get, &
            sextant_kernel_get, sextant_refusal_get, sextant_verify_model, sextant_verify_summarise

  integer, parameter :: sk = int32

  ! call sextant_version_numbers(major, minor, patch): of the library that is running
  interface sextant_version_numbers
    module procedure version_numbers
  end interface
  ! 'SXT_E_INDEX' for sxt_e_index, and its general sentence. What happened exactly is in the object's error().
  interface sextant_status_name
    module procedure status_name
  end interface
  interface sextant_status_text
    module procedure status_text
  end interface
  ! 'stagnated' for sxt_reason_stagnated, and its sentence.
  interface sextant_reason_name
    module procedure reason_name
  end interface
  interface sextant_reason_text
    module procedure reason_text
  end interface
  ! Name i, from 1, that a%feature takes; '' beyond the last.
  interface sextant_feature_name
    module procedure feature_name
  end interface
  ! Operation i, from 1, that context%decision_tree takes; '' beyond the last.
  interface sextant_decision_tree_operation
    module procedure decision_tree_operation
  end interface
  ! call sextant_plugin_get(i, plugin, stat): record i, from 1; sxt_e_index where there is none
  interface sextant_plugin_get
    module procedure plugin_get
  end interface
  interface sextant_kernel_get
    module procedure kernel_get
  end interface
  interface sextant_refusal_get
    module procedure refusal_get
  end interface
  ! call sextant_verify_model(a, lines [, options], stat): every candidate for products with the matrix, measured
  interface sextant_verify_model
    module procedure verify_model
  end interface
  ! call sextant_verify_summarise(lines, applies, summary, stat): lines of any number of matrices, distinguished by
  ! line%matrix
  interface sextant_verify_summarise
    module procedure verify_summarise
  end interface

contains
  include 'library.inc'
end module sextant_library_narrow

! And of 64, as compilers make default integers with -fdefault-integer-8 or -i8.
module sextant_library_wide
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_c
  use sextant_models_c
  use sextant_objects
  use sextant_matrices
  use sextant_library_work
  use sextant_verification_work
  implicit none
  private
  public :: sextant_version_numbers, sextant_status_name, sextant_status_text, sextant_reason_name, &
            sextant_reason_text, sextant_feature_name, sextant_decision_tree_operation, sextant_plugin_get, &
            sextant_kernel_get, sextant_refusal_get, sextant_verify_model, sextant_verify_summarise

  integer, parameter :: sk = int64

  interface sextant_version_numbers
    module procedure version_numbers
  end interface
  interface sextant_status_name
    module procedure status_name
  end interface
  interface sextant_status_text
    module procedure status_text
  end interface
  interface sextant_reason_name
    module procedure reason_name
  end interface
  interface sextant_reason_text
    module procedure reason_text
  end interface
  interface sextant_feature_name
    module procedure feature_name
  end interface
  interface sextant_decision_tree_operation
    module procedure decision_tree_operation
  end interface
  interface sextant_plugin_get
    module procedure plugin_get
  end interface
  interface sextant_kernel_get
    module procedure kernel_get
  end interface
  interface sextant_refusal_get
    module procedure refusal_get
  end interface
  interface sextant_verify_model
    module procedure verify_model
  end interface
  interface sextant_verify_summarise
    module procedure verify_summarise
  end interface

contains
  include 'library.inc'
end module sextant_library_wide
