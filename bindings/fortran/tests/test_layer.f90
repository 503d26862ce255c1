! SPDX-License-Identifier: BSD-3-Clause
! sextant_c.f90 repeats constants and structs of the C headers: compares every one with what C has.
program test_layer
  use, intrinsic :: iso_c_binding
  use sextant_c
  use sextant_hermitian_c
  use sextant
  use checks
  implicit none

  interface
    function layout_of(table, i) bind(c) result(bytes)
      import :: c_int32_t, c_int64_t
      integer(c_int32_t), value :: table, i
      integer(c_int64_t) :: bytes
    end function
  end interface

  integer(c_int32_t) :: table = -1 ! the one being compared
  integer(c_int32_t) :: member     ! and how far
  integer(c_intptr_t) :: start     ! its address

  call statuses()
  call reasons()
  call context_options()
  call matrix_options()
  call matrix_info()
  call pcg_options()
  call solve_options()
  call pcg_report()
  call hermitian_options()
  call hermitian_set()
  call hermitian_report()
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

  ! ---- structs: size first, then where each member lies, in order ----------------------------------------------------

  subroutine begin(address, bytes)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes
    table = table + 1
    member = 0
    start = transfer(address, start)
    call check(layout_of(table, 0) == bytes, 'size of the struct')
  end subroutine

  subroutine at(address, name)
    type(c_ptr), intent(in) :: address
    character(*), intent(in) :: name
    member = member + 1
    call check(layout_of(table, member) == transfer(address, start) - start, 'offset of '//name)
  end subroutine

  subroutine complete()
    call check(layout_of(table, member + 1) == -1, 'no member is missing')
  end subroutine

  subroutine context_options()
    type(sxt_context_options), target :: o
    call begin(c_loc(o), c_sizeof(o))
    call at(c_loc(o%device), 'device')
    call at(c_loc(o%device_ordinal), 'device_ordinal')
    call at(c_loc(o%threads), 'threads')
    call at(c_loc(o%profile_path), 'profile_path')
    call at(c_loc(o%plugin_paths), 'plugin_paths')
    call at(c_loc(o%n_plugin_paths), 'n_plugin_paths')
    call at(c_loc(o%log), 'log')
    call at(c_loc(o%log_user), 'log_user')
    call at(c_loc(o%log_level), 'log_level')
    call at(c_loc(o%deterministic), 'deterministic')
    call at(c_loc(o%allocate), 'allocate')
    call at(c_loc(o%release), 'release')
    call at(c_loc(o%allocator_user), 'allocator_user')
    call complete()
  end subroutine

  subroutine matrix_options()
    type(sxt_matrix_options), target :: o
    call begin(c_loc(o), c_sizeof(o))
    call at(c_loc(o%value_type), 'value_type')
    call at(c_loc(o%index_type), 'index_type')
    call at(c_loc(o%offset_type), 'offset_type')
    call at(c_loc(o%index_base), 'index_base')
    call at(c_loc(o%symmetry), 'symmetry')
    call at(c_loc(o%triangle), 'triangle')
    call at(c_loc(o%duplicates), 'duplicates')
    call at(c_loc(o%ownership), 'ownership')
    call at(c_loc(o%keep_order), 'keep_order')
    call at(c_loc(o%check_finite), 'check_finite')
    call at(c_loc(o%symmetry_tolerance), 'symmetry_tolerance')
    call complete()
  end subroutine

  subroutine matrix_info()
    type(sxt_matrix_info), target :: o
    call begin(c_loc(o), c_sizeof(o))
    call at(c_loc(o%rows), 'rows')
    call at(c_loc(o%cols), 'cols')
    call at(c_loc(o%nnz), 'nnz')
    call at(c_loc(o%value_type), 'value_type')
    call at(c_loc(o%index_type), 'index_type')
    call at(c_loc(o%offset_type), 'offset_type')
    call at(c_loc(o%symmetry), 'symmetry')
    call at(c_loc(o%bytes), 'bytes')
    call complete()
  end subroutine

  subroutine pcg_options()
    type(sxt_pcg_options), target :: o
    call begin(c_loc(o), c_sizeof(o))
    call at(c_loc(o%preconditioner), 'preconditioner')
    call at(c_loc(o%recurrence), 'recurrence')
    call at(c_loc(o%engine), 'engine')
    call at(c_loc(o%format), 'format')
    call at(c_loc(o%rtol), 'rtol')
    call at(c_loc(o%atol), 'atol')
    call at(c_loc(o%norm), 'norm')
    call at(c_loc(o%check_symmetry), 'check_symmetry')
    call at(c_loc(o%max_iterations), 'max_iterations')
    call at(c_loc(o%divergence_limit), 'divergence_limit')
    call at(c_loc(o%stagnation_window), 'stagnation_window')
    call at(c_loc(o%time_limit), 'time_limit')
    call at(c_loc(o%expected_solves), 'expected_solves')
    call at(c_loc(o%expected_iterations), 'expected_iterations')
    call at(c_loc(o%probe), 'probe')
    call at(c_loc(o%reorder), 'reorder')
    call at(c_loc(o%null_space), 'null_space')
    call at(c_loc(o%null_space_size), 'null_space_size')
    call at(c_loc(o%symmetry_tolerance), 'symmetry_tolerance')
    call complete()
  end subroutine

  subroutine solve_options()
    type(sxt_solve_options), target :: o
    call begin(c_loc(o), c_sizeof(o))
    call at(c_loc(o%use_initial_guess), 'use_initial_guess')
    call at(c_loc(o%reserved0), 'reserved0')
    call at(c_loc(o%rtol), 'rtol')
    call at(c_loc(o%atol), 'atol')
    call at(c_loc(o%max_iterations), 'max_iterations')
    call at(c_loc(o%time_limit), 'time_limit')
    call at(c_loc(o%progress), 'progress')
    call at(c_loc(o%progress_user), 'progress_user')
    call at(c_loc(o%cancel), 'cancel')
    call at(c_loc(o%history), 'history')
    call at(c_loc(o%history_capacity), 'history_capacity')
    call at(c_loc(o%history_length), 'history_length')
    call complete()
  end subroutine

  subroutine pcg_report()
    type(sxt_pcg_report), target :: o
    call begin(c_loc(o), c_sizeof(o))
    call at(c_loc(o%reason), 'reason')
    call at(c_loc(o%reserved0), 'reserved0')
    call at(c_loc(o%iterations), 'iterations')
    call at(c_loc(o%rhs_norm), 'rhs_norm')
    call at(c_loc(o%residual_norm), 'residual_norm')
    call at(c_loc(o%true_relative_residual), 'true_relative_residual')
    call at(c_loc(o%recursive_residual), 'recursive_residual')
    call at(c_loc(o%confirmations), 'confirmations')
    call at(c_loc(o%replacements), 'replacements')
    call at(c_loc(o%products), 'products')
    call at(c_loc(o%reductions), 'reductions')
    call at(c_loc(o%setup_seconds), 'setup_seconds')
    call at(c_loc(o%solve_seconds), 'solve_seconds')
    call at(c_loc(o%predicted_setup_seconds), 'predicted_setup_seconds')
    call at(c_loc(o%predicted_solve_seconds), 'predicted_solve_seconds')
    call at(c_loc(o%predicted_iterations), 'predicted_iterations')
    call at(c_loc(o%probe_iterations), 'probe_iterations')
    call at(c_loc(o%probe_seconds), 'probe_seconds')
    call at(c_loc(o%launches), 'launches')
    call at(c_loc(o%null_space_norm), 'null_space_norm')
    call at(c_loc(o%iteration_seconds), 'iteration_seconds')
    call at(c_loc(o%residual_seconds), 'residual_seconds')
    call at(c_loc(o%predicted_iteration_seconds), 'predicted_iteration_seconds')
    call at(c_loc(o%predicted_residual_seconds), 'predicted_residual_seconds')
    call complete()
  end subroutine
  subroutine hermitian_options()
    type(sxt_hermitian_options), target :: o
    call begin(c_loc(o), c_sizeof(o))
    call at(c_loc(o%value_type), 'value_type')
    call at(c_loc(o%triangle), 'triangle')
    call at(c_loc(o%definiteness), 'definiteness')
    call at(c_loc(o%space), 'space')
    call at(c_loc(o%batch), 'batch')
    call at(c_loc(o%n), 'n')
    call at(c_loc(o%orders), 'orders')
    call at(c_loc(o%n_rhs), 'n_rhs')
    call at(c_loc(o%pointer_array), 'pointer_array')
    call at(c_loc(o%leading_vary), 'leading_vary')
    call at(c_loc(o%equilibrate), 'equilibrate')
    call at(c_loc(o%refine_steps), 'refine_steps')
    call at(c_loc(o%refine_tolerance), 'refine_tolerance')
    call at(c_loc(o%shifts), 'shifts')
    call at(c_loc(o%n_shifts), 'n_shifts')
    call at(c_loc(o%shift_relative), 'shift_relative')
    call at(c_loc(o%may_spoil), 'may_spoil')
    call at(c_loc(o%workspace_limit), 'workspace_limit')
    call at(c_loc(o%expected_runs), 'expected_runs')
    call at(c_loc(o%kernel), 'kernel')
    call at(c_loc(o%shortcuts), 'shortcuts')
    call at(c_loc(o%reserved0), 'reserved0')
    call complete()
  end subroutine

  subroutine hermitian_set()
    type(sxt_hermitian_set), target :: o
    call begin(c_loc(o), c_sizeof(o))
    call at(c_loc(o%a), 'a')
    call at(c_loc(o%lda), 'lda')
    call at(c_loc(o%stride_a), 'stride_a')
    call at(c_loc(o%a_array), 'a_array')
    call at(c_loc(o%lda_each), 'lda_each')
    call at(c_loc(o%factor), 'factor')
    call at(c_loc(o%factor_array), 'factor_array')
    call at(c_loc(o%b), 'b')
    call at(c_loc(o%ldb), 'ldb')
    call at(c_loc(o%stride_b), 'stride_b')
    call at(c_loc(o%b_array), 'b_array')
    call at(c_loc(o%ldb_each), 'ldb_each')
    call at(c_loc(o%x), 'x')
    call at(c_loc(o%x_array), 'x_array')
    call at(c_loc(o%n_rhs), 'n_rhs')
    call at(c_loc(o%active), 'active')
    call at(c_loc(o%active_out), 'active_out')
    call at(c_loc(o%info), 'info')
    call at(c_loc(o%pivots), 'pivots')
    call at(c_loc(o%stride_pivots), 'stride_pivots')
    call at(c_loc(o%scale), 'scale')
    call at(c_loc(o%residual), 'residual')
    call at(c_loc(o%rcond), 'rcond')
    call at(c_loc(o%shift), 'shift')
    call at(c_loc(o%inertia), 'inertia')
    call at(c_loc(o%stream), 'stream')
    call at(c_loc(o%shortcut), 'shortcut')
    call complete()
  end subroutine

  subroutine hermitian_report()
    type(sxt_hermitian_report), target :: o
    call begin(c_loc(o), c_sizeof(o))
    call at(c_loc(o%factor_kernel), 'factor_kernel')
    call at(c_loc(o%solve_kernel), 'solve_kernel')
    call at(c_loc(o%factor_solve_kernel), 'factor_solve_kernel')
    call at(c_loc(o%pivoting_kernel), 'pivoting_kernel')
    call at(c_loc(o%predicted_factor_s), 'predicted_factor_s')
    call at(c_loc(o%predicted_solve_s), 'predicted_solve_s')
    call at(c_loc(o%predicted_factor_solve_s), 'predicted_factor_solve_s')
    call at(c_loc(o%workspace_bytes), 'workspace_bytes')
    call at(c_loc(o%piece), 'piece')
    call at(c_loc(o%flops), 'flops')
    call at(c_loc(o%kernel_bytes), 'kernel_bytes')
    call at(c_loc(o%toeplitz_kernel), 'toeplitz_kernel')
    call at(c_loc(o%mixed_kernel), 'mixed_kernel')
    call at(c_loc(o%butterfly_kernel), 'butterfly_kernel')
    call complete()
  end subroutine
end program test_layer
