! SPDX-License-Identifier: BSD-3-Clause
! Sextant for Fortran 2008: everything a program needs, by "use sextant".
!
!   type(sextant_matrix) :: a
!   type(sextant_pcg)    :: solver
!   type(sextant_report) :: report
!   call a%from_csr(row_ptr, col, values, stat=stat)   ! one-based arrays, copied
!   call solver%create(a, stat)                        ! predicts and chooses
!   call solver%solve(b, x, report, stat)              ! and confirms the true residual
!
! Conventions
!   stat     Required, and last in every call that can fail: sxt_ok (0), negative for an error, sxt_not_converged for a
!            solve that stopped short. The library never stops your program, so a status must not be one you can forget.
!            Where optional arguments before it are left out, write stat=stat.
!   Why      object%error() has the sentence for the object's last failure, report%message for the last solve's.
!   Objects  free themselves when they go out of scope. They are not copied: a copy is empty. Pass them by reference.
!   Threads  Different objects never disturb each other; several threads may call solve of one solver. Anything else on
!            one object is for one thread at a time. The default context may first be used from several threads at once.
module sextant
  use sextant_c, only: &
    sxt_ok, sxt_not_applicable, sxt_not_converged, sxt_e_argument, sxt_e_memory, sxt_e_not_square, &
    sxt_e_not_symmetric, sxt_e_diagonal, sxt_e_not_finite, sxt_e_index, sxt_e_duplicate, sxt_e_overflow, &
    sxt_e_dimension, sxt_e_type, sxt_e_unknown_name, sxt_e_file_read, sxt_e_file_format, sxt_e_file_write, &
    sxt_e_plugin, sxt_e_no_kernel, sxt_e_not_supported, sxt_e_device, sxt_e_plan, sxt_e_state, &
    sxt_e_not_positive_definite, sxt_e_internal, sxt_f32, sxt_f64, sxt_c64, sxt_c128, sxt_general, &
    sxt_symmetric, sxt_hermitian, sxt_skew, sxt_full, sxt_lower, sxt_upper, sxt_reason_none, &
    sxt_reason_converged, sxt_reason_iteration_limit, sxt_reason_stagnated, sxt_reason_diverged, &
    sxt_reason_not_a_number, sxt_reason_a_indefinite, sxt_reason_m_indefinite, sxt_reason_breakdown, &
    sxt_reason_cancelled, sxt_reason_time_limit
  use sextant_contexts, only: sextant_context
  use sextant_matrices, only: sextant_matrix
  use sextant_solvers, only: sextant_options, sextant_solve_options, sextant_report, sextant_pcg, sextant_version, &
                             sextant_status_name, sextant_status_text, sextant_reason_name, sextant_reason_text
  use sextant_hermitian_c, only: sxt_definite, sxt_indefinite, sxt_try_definite, sxt_info_not_finite, &
                                 sxt_info_not_active, sxt_info_pointer, sxt_info_leading, &
                                 sxt_shortcut_toeplitz, sxt_shortcut_mixed, sxt_shortcut_always, &
                                 sxt_shortcut_butterfly, &
                                 sxt_space_host, sxt_space_device, sxt_space_pinned, sxt_space_managed, &
                                 sxt_hermitian_set, sxt_hermitian_report
  use sextant_batches, only: sextant_hermitian, sextant_hermitian_settings, sextant_hermitian_answers
  implicit none
  public
end module sextant
