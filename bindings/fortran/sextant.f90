! SPDX-License-Identifier: BSD-3-Clause
! Sextant for Fortran 2008: everything a program needs, by "use sextant".
!
!   type(sextant_matrix) :: a
!   type(sextant_pcg)    :: solver
!   type(sextant_report) :: report
!   call a%from_csr(row_ptr, col, values, stat=stat)   ! arrays that count from 1, copied
!   call solver%create(a, stat)                        ! predicts and chooses
!   call solver%solve(b, x, report, stat)              ! and confirms the true residual
!
! Conventions
!   stat     Required, and last in every call that can fail: sxt_ok (0), negative for an error, sxt_not_converged for a
!            solve that stopped short. The library never stops your program, so the status is not optional. Where
!            optional arguments before it are left out, write stat=stat. It may be of 32 or of 64 bits; the other
!            default integers and logicals of the call are then of the same size.
!   Indices  count from 1, in arguments, results and sentences, unless the caller says zero_based or hands in an address.
!   Why      object%error() has the sentence for the object's last failure, report%message for the last solve's.
!   Objects  free themselves when they go out of scope. They are not copied: a copy is empty. Pass them by reference.
!   Threads  Different objects never disturb each other; several threads may call solve of one solver or factor, each with
!            a report. Anything else on one object is for one thread at a time. The default context may first be used from several threads at once.
module sextant
  use sextant_constants
  use sextant_callbacks, only: sextant_hooks, sextant_log_hook, sextant_allocate_hook, sextant_release_hook, &
                               sextant_progress_hook, sextant_check_hook
  use sextant_models, only: sextant_calibration, sextant_model, sextant_model_sample, sextant_calibration_hook, &
                            sextant_model_hook, sextant_sample_hook
  use sextant_contexts, only: sextant_context
  use sextant_matrices, only: sextant_matrix, sextant_matrix_settings
  use sextant_vectors, only: sextant_vector
  use sextant_products_narrow
  use sextant_products_wide
  use sextant_operations_narrow
  use sextant_operations_wide
  use sextant_reductions_narrow
  use sextant_reductions_wide
  use sextant_solvers, only: sextant_options, sextant_solve_options, sextant_report, sextant_pcg
  use sextant_hermitian_c, only: sxt_hermitian_set, sxt_hermitian_report
  use sextant_batches, only: sextant_hermitian, sextant_hermitian_settings, sextant_hermitian_answers, &
                             sextant_hermitian_report
  use sextant_factors, only: sextant_analysis, sextant_analysis_settings, sextant_analysis_info, sextant_cholesky, &
                             sextant_cholesky_options, sextant_cholesky_report, sextant_cholesky_info
  use sextant_sets, only: sextant_cholesky_sets, sextant_set_outcomes, sextant_sets_info
  use sextant_worlds, only: sextant_world, sextant_thread_comm, sextant_member_report, sextant_pcg_member, sxt_comm
  use sextant_kernels_c, only: sxt_head, sxt_query
  use sextant_selections, only: sextant_selection
  use sextant_verification_work, only: sextant_verification, sextant_verify_line, sextant_verify_summary, &
                                       sextant_verify_hook
  use sextant_library_work, only: sextant_plugin, sextant_kernel, sextant_refusal, sextant_version, sextant_last_error, &
                                  sextant_plugin_count, sextant_kernel_count, sextant_refusal_count
  use sextant_library_narrow
  use sextant_library_wide
  implicit none
  public
end module sextant
