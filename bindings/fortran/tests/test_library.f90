! SPDX-License-Identifier: BSD-3-Clause
! Loaded plugins, kernels by hand, plans, decision trees, calibration, verification.
module library_procedures
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t, c_int64_t, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant
  implicit none

  ! Query and arguments of kind sxt.reduction/1 (sextant/plugin/kinds/reduction.h).
  type, bind(c) :: reduction_query
    type(sxt_query) :: q
    integer(c_int64_t) :: n = 0
    integer(c_int32_t) :: operation = 1
    integer(c_int32_t) :: accuracy = 0
  end type

  type, bind(c) :: reduction_args
    type(sxt_head) :: h
    integer(c_int64_t) :: n = 0
    integer(c_int32_t) :: operation = 1
    integer(c_int32_t) :: result_on_device = 0
    type(c_ptr) :: x = c_null_ptr, y = c_null_ptr, answer = c_null_ptr
  end type

  integer, save :: models = 0, samples = 0, steps = 0, lines = 0

contains

  subroutine on_progress(data, done, what, seconds_left, stop_now)
    class(*), pointer, intent(in) :: data
    real(real64), intent(in) :: done, seconds_left
    character(*), intent(in) :: what
    integer(int32), intent(inout) :: stop_now
    if (done < 0 .or. done > 1 .or. seconds_left < 0 .or. len(what) == 0 .or. associated(data)) stop_now = 1
    steps = steps + 1
  end subroutine

  subroutine on_model(data, model)
    class(*), pointer, intent(in) :: data
    type(sextant_model), intent(in) :: model
    if (len(model%kernel) > 0 .and. .not. associated(data)) models = models + 1
  end subroutine

  subroutine on_sample(data, sample)
    class(*), pointer, intent(in) :: data
    type(sextant_model_sample), intent(in) :: sample
    if (sample%measured_s > 0 .and. size(sample%terms) > 0 .and. len_trim(sample%term_names(1)) > 0 .and. &
        .not. associated(data)) samples = samples + 1
  end subroutine

  subroutine on_line(data, line, stop_now)
    class(*), pointer, intent(in) :: data
    type(sextant_verify_line), intent(in) :: line
    integer(int32), intent(inout) :: stop_now
    if (len(line%kernel) > 0 .and. .not. associated(data)) lines = lines + 1
    if (lines < 0) stop_now = 1
  end subroutine
end module library_procedures

program test_library
  use, intrinsic :: iso_c_binding, only: c_char, c_loc, c_null_char, c_null_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant
  use checks
  use library_procedures
  implicit none

  type(sextant_context) :: context
  integer :: made

  call context%create(device='cpu', threads=2, stat=made)
  call check_status(made, sxt_ok, 'a context: '//context%error())
  call versions()
  call records()
  call selections()
  call forced()
  call plans()
  call trees()
  call streams()
  call calibrated()
  call verified()
  call checked_plugin()
  call finish()

contains

  subroutine versions()
    integer :: major, minor, patch
    character(20) :: text
    call sextant_version_numbers(major, minor, patch)
    write (text, '(i0, 2(".", i0))') major, minor, patch
    call check(trim(text) == sextant_version(), 'the version in numbers and in words')
  end subroutine

  subroutine records()
    type(sextant_plugin) :: plugin
    type(sextant_kernel) :: kernel
    type(sextant_refusal) :: refusal
    integer :: stat, i
    logical :: found
    call check(sextant_plugin_count() > 0, 'plugins are loaded')
    call check(sextant_kernel_count() > 0, 'and kernels')
    call sextant_plugin_get(1, plugin, stat)
    call check(stat == sxt_ok .and. len(plugin%name) > 0 .and. len(plugin%path) > 0, 'a plugin describes itself')
    found = .false.
    do i = 1, int(sextant_kernel_count())
      call sextant_kernel_get(i, kernel, stat)
      found = found .or. kernel%name == 'spmv.reference.cpu'
      if (stat /= sxt_ok .or. len(kernel%kind) == 0) call check(.false., 'a kernel describes itself')
    end do
    call check(found, 'the reference product is there')
    call sextant_kernel_get(0, kernel, stat)
    call check_status(stat, sxt_e_index, 'records count from 1')
    call sextant_kernel_get(int(sextant_kernel_count()) + 1, kernel, stat)
    call check_status(stat, sxt_e_index, 'and end')
    call sextant_refusal_get(sextant_refusal_count() + 1, refusal, wide_stat())
  end subroutine

  ! Shows that record numbers of 64 bits go with a stat of 64 bits.
  function wide_stat() result(stat)
    integer(int64), pointer :: stat
    integer(int64), target, save :: kept
    stat => kept
  end function

  subroutine selections()
    type(sextant_selection) :: selection
    type(reduction_query), target :: query
    type(reduction_args), target :: args
    character(kind=c_char), target, save :: kind(16) = ['s', 'x', 't', '.', 'r', 'e', 'd', 'u', 'c', 't', 'i', 'o', 'n', &
                                                        '/', '1', c_null_char]
    real(real64), target :: x(1000), answer
    real(real64) :: setup, run, seconds, noise
    character(:), allocatable :: text
    integer :: stat
    query%q%h%struct_size = c_sizeof(query)
    query%q%h%kind = c_loc(kind)
    query%q%expected_runs = 10
    query%q%value_type = sxt_f64
    query%n = 1000
    call selection%run(c_loc(args), stat)
    call check_status(stat, sxt_e_state, 'running nothing')
    call selection%create(c_loc(query), context=context, stat=stat)
    call check_status(stat, sxt_ok, 'a sum is chosen: '//selection%error())
    call check(index(selection%kernel(), 'reduction.') == 1, 'it has a name: '//selection%kernel())
    args%h%struct_size = c_sizeof(args)
    args%h%kind = c_loc(kind)
    args%n = 1000
    x = 2
    args%x = c_loc(x)
    args%answer = c_loc(answer)
    call selection%run(c_loc(args), stat)
    call check(stat == sxt_ok .and. abs(answer - 2000) < 1.0e-9_real64, 'and runs: '//selection%error())
    call selection%cost(setup, run, stat)
    call check(stat == sxt_ok .and. setup >= 0 .and. run > 0, 'its cost is predicted')
    call selection%time([c_loc(args)], 0.01_real64, seconds, noise, stat)
    call check(stat == sxt_ok .and. seconds > 0 .and. noise >= 0, 'and measured')
    call selection%explain(text, stat)
    call check_text(text, selection%kernel(), 'explain names it')
    call selection%explain_json(text, stat)
    call check(text(1:1) == '{', 'JSON is an object')
  end subroutine

  subroutine forced()
    type(sextant_context) :: own
    type(sextant_matrix) :: a
    integer :: stat
    real(real64) :: y(2)
    call own%create(device='cpu', stat=stat)
    call own%force('sxt.spmv/1', 'spmv.reference.cpu', stat)
    call check_status(stat, sxt_ok, 'a kernel by hand: '//own%error())
    call a%from_csr([1, 2, 3], [1, 2], [2.0_real64, 3.0_real64], context=own, stat=stat)
    call sextant_spmv(a, [1.0_real64, 1.0_real64], y, stat=stat)
    call check(stat == sxt_ok .and. all(abs(y - [2, 3]) <= 0), 'is used')
    call own%force('sxt.spmv/1', 'spmv.referense.cpu', stat)
    call check_status(stat, sxt_e_unknown_name, 'a misspelt kernel')
    call check_text(own%error(), 'spmv.reference.cpu', 'the sentence has the nearest name')
    call own%force('sxt.spmv/1', ' ', stat)
    call check_status(stat, sxt_ok, 'a blank name: the model chooses again')
  end subroutine

  subroutine plans()
    type(sextant_context) :: first, second
    integer(int32), allocatable :: row_ptr(:), col(:)
    real(real64), allocatable :: values(:)
    type(sextant_matrix) :: a
    type(sextant_pcg) :: solver
    integer :: stat, unit
    call laplacian_csr(10, 0.0_real64, row_ptr, col, values)
    call first%create(device='cpu', stat=stat)
    call a%from_csr(row_ptr, col, values, context=first, stat=stat)
    call solver%create(a, stat)
    call first%save_plan('fortran_test.plan', stat)
    call check_status(stat, sxt_ok, 'save_plan: '//first%error())
    call second%create(device='cpu', stat=stat)
    call second%load_plan('fortran_test.plan', required=.true., stat=stat)
    call check_status(stat, sxt_ok, 'load_plan: '//second%error())
    call second%load_plan('no_such.plan', stat=stat)
    call check_status(stat, sxt_e_file_read, 'a plan that is not there')
    open (newunit=unit, file='fortran_test.plan', status='old')
    close (unit, status='delete')
  end subroutine

  subroutine trees()
    character(:), allocatable :: text
    integer :: stat
    call check(len(sextant_decision_tree_operation(1)) > 0, 'operations of trees count from 1')
    call check(len(sextant_decision_tree_operation(10000)) == 0, 'and end')
    call context%decision_tree('axpy', sxt_f64, sxt_text, text, stat)
    call check(stat == sxt_ok .and. len(text) > 0, 'a decision tree: '//context%error())
    call context%decision_tree('axpy', sxt_f64, sxt_svg, text, stat)
    call check_text(text, '<svg', 'a drawing of it')
    call context%decision_tree('axpi', sxt_f64, sxt_text, text, stat)
    call check_status(stat, sxt_e_unknown_name, 'a misspelt operation')
  end subroutine

  subroutine streams()
    integer :: stat
    call context%synchronize(stat)
    call check_status(stat, sxt_ok, 'there is nothing to wait for on the CPU')
    call context%set_stream(c_null_ptr, stat)
    call check(stat == sxt_ok .or. stat == sxt_e_not_supported, 'the CPU has no streams')
  end subroutine

  subroutine calibrated()
    type(sextant_context) :: own
    type(sextant_calibration) :: options
    character(:), allocatable :: path
    integer :: stat, unit
    call own%create(device='cpu', threads=1, stat=stat)
    options%quick = .true.
    options%seconds = 0.2_real64
    options%kind = 'sxt.reduction/1'
    options%path = 'fortran_test_profile.toml'
    options%progress => on_progress
    options%model => on_model
    options%sample => on_sample
    call own%calibrate(options, path, stat)
    call check_status(stat, sxt_ok, 'calibrate: '//own%error())
    call check(path == 'fortran_test_profile.toml', 'it says where the profile is: '//path)
    call check(steps > 0 .and. models > 0 .and. samples > 0, 'it tells of progress, models and samples')
    open (newunit=unit, file='fortran_test_profile.toml', status='old', iostat=stat)
    call check(stat == 0, 'the profile is there')
    if (stat == 0) close (unit, status='delete')
  end subroutine

  subroutine verified()
    integer(int32), allocatable :: row_ptr(:), col(:)
    real(real64), allocatable :: values(:)
    type(sextant_matrix) :: a
    type(sextant_verification) :: options
    type(sextant_verify_line), allocatable :: kept(:)
    type(sextant_verify_summary) :: summary
    integer :: stat
    call laplacian_csr(20, 0.0_real64, row_ptr, col, values)
    call a%from_csr(row_ptr, col, values, context=context, stat=stat)
    options%candidate_seconds = 0.001_real64
    options%line => on_line
    call sextant_verify_model(a, kept, options, stat)
    call check_status(stat, sxt_ok, 'verify: '//a%error())
    call check(size(kept) > 0 .and. lines == size(kept), 'lines come, and are kept')
    call check(count(kept%chosen) == 1, 'one is chosen')
    call sextant_verify_summarise(kept, 1000.0_real64, summary, stat)
    call check(stat == sxt_ok .and. summary%matrices == 1 .and. summary%regret_max > 0, 'sums over them')
  end subroutine

  subroutine checked_plugin()
    integer :: stat
    call context%check_plugin('/no/such/plugin.so', stat=stat)
    call check(stat < 0 .and. len(context%error()) > 0, 'a plugin that is not there')
  end subroutine
end program test_library
