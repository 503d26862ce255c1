! SPDX-License-Identifier: BSD-3-Clause
! Every constant of the C interface, by the name it has there and with the same value: of sextant/types.h,
! sextant/sextant.h, sextant/cholesky.h, sextant/hermitian.h and sextant/pcg.h. Test fortran.headers compares them with the headers.
module sextant_constants
  use, intrinsic :: iso_c_binding, only: c_int32_t
  implicit none
  public

  integer, parameter, private :: i4 = c_int32_t

  ! Statuses: zero is success, negative an error, positive an answer short of success.
  integer(i4), parameter :: sxt_ok = 0, sxt_not_applicable = 1, sxt_not_converged = 2
  integer(i4), parameter :: sxt_e_argument = -1, sxt_e_memory = -2, sxt_e_not_square = -3, sxt_e_not_symmetric = -4
  integer(i4), parameter :: sxt_e_diagonal = -5, sxt_e_not_finite = -6, sxt_e_index = -7, sxt_e_duplicate = -8
  integer(i4), parameter :: sxt_e_overflow = -9, sxt_e_dimension = -10, sxt_e_type = -11, sxt_e_unknown_name = -12
  integer(i4), parameter :: sxt_e_file_read = -13, sxt_e_file_format = -14, sxt_e_file_write = -15
  integer(i4), parameter :: sxt_e_plugin = -16, sxt_e_no_kernel = -17, sxt_e_not_supported = -18, sxt_e_device = -19
  integer(i4), parameter :: sxt_e_plan = -20, sxt_e_state = -21, sxt_e_not_positive_definite = -22
  integer(i4), parameter :: sxt_e_comm = -23
  integer(i4), parameter :: sxt_e_internal = -99

  ! Types of values and of indices.
  integer(i4), parameter :: sxt_f32 = 1, sxt_f64 = 2, sxt_c64 = 3, sxt_c128 = 4
  integer(i4), parameter :: sxt_i32 = 1, sxt_i64 = 2

  ! Symmetry of the matrix, the part that the arrays hold, and ownership of the arrays.
  integer(i4), parameter :: sxt_general = 0, sxt_symmetric = 1, sxt_hermitian = 2, sxt_skew = 3
  integer(i4), parameter :: sxt_full = 0, sxt_lower = 1, sxt_upper = 2
  integer(i4), parameter :: sxt_duplicates_sum = 0, sxt_duplicates_refuse = 1
  integer(i4), parameter :: sxt_copy_arrays = 0, sxt_adopt = 1 ! C: SXT_COPY, whose name the function sxt_copy has here

  ! Operation on a matrix: A, its transpose, its conjugate transpose.
  integer(i4), parameter :: sxt_no_transpose = 0, sxt_transpose = 1, sxt_conjugate_transpose = 2

  ! Where memory lies.
  integer(i4), parameter :: sxt_space_host = 0, sxt_space_device = 1, sxt_space_pinned = 2, sxt_space_managed = 3

  ! Log levels, most urgent first.
  integer(i4), parameter :: sxt_log_silent = 0, sxt_log_error = 1, sxt_log_misbehaving = 2, sxt_log_warning = 3
  integer(i4), parameter :: sxt_log_info = 4, sxt_log_debug = 5

  ! Why a solve ended. Only sxt_reason_converged means that the true residual met the tolerance.
  integer(i4), parameter :: sxt_reason_none = 0, sxt_reason_converged = 1, sxt_reason_iteration_limit = 2
  integer(i4), parameter :: sxt_reason_stagnated = 3, sxt_reason_diverged = 4, sxt_reason_not_a_number = 5
  integer(i4), parameter :: sxt_reason_a_indefinite = 6, sxt_reason_m_indefinite = 7, sxt_reason_breakdown = 8
  integer(i4), parameter :: sxt_reason_cancelled = 9, sxt_reason_time_limit = 10

  integer(i4), parameter :: sxt_norm_2 = 0, sxt_norm_max = 1                       ! in which |b - A x| is measured
  integer(i4), parameter :: sxt_text = 0, sxt_json = 1, sxt_svg = 2, sxt_toml = 3  ! forms of an explanation or a tree
  integer(i4), parameter :: sxt_check_failed = 0, sxt_check_passed = 1, sxt_check_declined = 2

  ! Bits of sxt_query%flags.
  integer(i4), parameter :: sxt_query_matrix = 1, sxt_query_deterministic = 2, sxt_query_capturable = 4
  integer(i4), parameter :: sxt_query_predict_only = 8

  ! Definiteness of Hermitian systems.
  integer(i4), parameter :: sxt_definite = 1, sxt_indefinite = 2, sxt_try_definite = 3
  ! info of a system beside 0 and k > 0.
  integer(i4), parameter :: sxt_info_not_finite = -1, sxt_info_not_active = -2, sxt_info_pointer = -3
  integer(i4), parameter :: sxt_info_leading = -4
  ! Alternatives to a whole factorisation.
  integer(i4), parameter :: sxt_shortcut_toeplitz = 1, sxt_shortcut_mixed = 2, sxt_shortcut_always = 4
  integer(i4), parameter :: sxt_shortcut_butterfly = 8

  ! Factorisations of a sparse matrix, what becomes of small pivots, and the parts of a solve.
  integer(i4), parameter :: sxt_llh = 1, sxt_ldlh = 2
  integer(i4), parameter :: sxt_precision_working = 0, sxt_precision_single = 1, sxt_precision_auto = 2, &
    sxt_precision_rounded = 3
  integer(i4), parameter :: sxt_pivot_fail = 0, sxt_pivot_perturb = 1, sxt_pivot_replace = 2
  integer(i4), parameter :: sxt_step_all = 0, sxt_step_forward = 1, sxt_step_diagonal = 2, sxt_step_backward = 3
end module sextant_constants
