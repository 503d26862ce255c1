! SPDX-License-Identifier: BSD-3-Clause
! Constants of statuses and reasons have the names that C gives them. headers.py compares the rest with the headers.
program test_layer
  use, intrinsic :: iso_c_binding
  use sextant
  use checks
  implicit none

  call statuses()
  call reasons()
  call finish()

contains

  subroutine name_of(status, name)
    integer(c_int32_t), intent(in) :: status
    character(*), intent(in) :: name
    call check(sextant_status_name(int(status)) == name, name//' has the value of C')
  end subroutine

  subroutine statuses()
    call name_of(sxt_ok, 'SXT_OK')
    call name_of(sxt_not_applicable, 'SXT_NOT_APPLICABLE')
    call name_of(sxt_not_converged, 'SXT_NOT_CONVERGED')
    call name_of(sxt_e_argument, 'SXT_E_ARGUMENT')
    call name_of(sxt_e_memory, 'SXT_E_MEMORY')
    call name_of(sxt_e_not_square, 'SXT_E_NOT_SQUARE')
    call name_of(sxt_e_not_symmetric, 'SXT_E_NOT_SYMMETRIC')
    call name_of(sxt_e_diagonal, 'SXT_E_DIAGONAL')
    call name_of(sxt_e_not_finite, 'SXT_E_NOT_FINITE')
    call name_of(sxt_e_index, 'SXT_E_INDEX')
    call name_of(sxt_e_duplicate, 'SXT_E_DUPLICATE')
    call name_of(sxt_e_overflow, 'SXT_E_OVERFLOW')
    call name_of(sxt_e_dimension, 'SXT_E_DIMENSION')
    call name_of(sxt_e_type, 'SXT_E_TYPE')
    call name_of(sxt_e_unknown_name, 'SXT_E_UNKNOWN_NAME')
    call name_of(sxt_e_file_read, 'SXT_E_FILE_READ')
    call name_of(sxt_e_file_format, 'SXT_E_FILE_FORMAT')
    call name_of(sxt_e_file_write, 'SXT_E_FILE_WRITE')
    call name_of(sxt_e_plugin, 'SXT_E_PLUGIN')
    call name_of(sxt_e_no_kernel, 'SXT_E_NO_KERNEL')
    call name_of(sxt_e_not_supported, 'SXT_E_NOT_SUPPORTED')
    call name_of(sxt_e_device, 'SXT_E_DEVICE')
    call name_of(sxt_e_plan, 'SXT_E_PLAN')
    call name_of(sxt_e_state, 'SXT_E_STATE')
    call name_of(sxt_e_not_positive_definite, 'SXT_E_NOT_POSITIVE_DEFINITE')
    call name_of(sxt_e_internal, 'SXT_E_INTERNAL')
  end subroutine

  subroutine reason_of(reason, name)
    integer(c_int32_t), intent(in) :: reason
    character(*), intent(in) :: name
    call check(sextant_reason_name(reason) == name, 'reason '//name//' has the value of C')
    call check(len(sextant_reason_text(reason)) > 0, 'reason '//name//' has a sentence')
  end subroutine

  subroutine reasons()
    call reason_of(sxt_reason_none, 'none')
    call reason_of(sxt_reason_converged, 'converged')
    call reason_of(sxt_reason_iteration_limit, 'iteration-limit')
    call reason_of(sxt_reason_stagnated, 'stagnated')
    call reason_of(sxt_reason_diverged, 'diverged')
    call reason_of(sxt_reason_not_a_number, 'not-a-number')
    call reason_of(sxt_reason_a_indefinite, 'a-indefinite')
    call reason_of(sxt_reason_m_indefinite, 'm-indefinite')
    call reason_of(sxt_reason_breakdown, 'breakdown')
    call reason_of(sxt_reason_cancelled, 'cancelled')
    call reason_of(sxt_reason_time_limit, 'time-limit')
  end subroutine
end program test_layer
