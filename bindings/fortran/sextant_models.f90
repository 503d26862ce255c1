! SPDX-License-Identifier: BSD-3-Clause
! Settings and callbacks of a calibration. The call itself is context%calibrate.
module sextant_models
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_f_pointer, c_funloc, c_int32_t, c_loc, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sextant_c
  use sextant_models_c
  use sextant_objects
  implicit none
  private
  public :: sextant_calibration, sextant_model, sextant_model_sample, run_calibration
  public :: sextant_calibration_hook, sextant_model_hook, sextant_sample_hook

  ! A fitted model. Members are those of sxt_model_info.
  type :: sextant_model
    character(:), allocatable :: kernel
    integer(int32) :: vector_type = 0, matrix_type = 0 ! matrix_type 0: it reads no matrix
    integer(int64) :: version = 0, model_class = 0
    integer(int64) :: samples = 0                      ! measured runs; 0: only the set-up was measured
    real(real64) :: power = 0
    integer(int32) :: breakpoints = 0                  ! between regimes of the working set
    real(real64) :: median_error = 0, p90_error = 0, scatter = 0
    real(real64) :: setup_factor = 0
    integer(int64) :: setup_samples = 0
  end type

  ! A measured run with the fit's prediction. Members are those of sxt_model_sample.
  type :: sextant_model_sample
    character(:), allocatable :: kernel
    integer(int32) :: vector_type = 0, matrix_type = 0
    integer(int64) :: version = 0, model_class = 0
    real(real64) :: working_set_bytes = 0, measured_s = 0, fitted_s = 0
    integer(int64) :: launch(4) = 0
    integer(int64) :: family = 0
    real(real64) :: rows = 0, entries = 0
    character(40), allocatable :: term_names(:)
    real(real64), allocatable :: terms(:)
  end type

  abstract interface
    ! Part done (0 to 1), what is measured, seconds left. Set stop_now to 1 to stop and fit the runs so far.
    subroutine sextant_calibration_hook(data, done, what, seconds_left, stop_now)
      import :: int32, real64
      class(*), pointer, intent(in) :: data
      real(real64), intent(in) :: done, seconds_left
      character(*), intent(in) :: what
      integer(int32), intent(inout) :: stop_now
    end subroutine

    subroutine sextant_model_hook(data, model)
      import :: sextant_model
      class(*), pointer, intent(in) :: data
      type(sextant_model), intent(in) :: model
    end subroutine

    subroutine sextant_sample_hook(data, sample)
      import :: sextant_model_sample
      class(*), pointer, intent(in) :: data
      type(sextant_model_sample), intent(in) :: sample
    end subroutine
  end interface

  ! How to calibrate. Members that are not set take the library's default.
  type :: sextant_calibration
    logical :: quick = .false.         ! .true.: about 20 s and problems up to 64 MB
    real(real64) :: seconds = 0        ! another time budget
    character(:), allocatable :: kind  ! only this kind, 'sxt.pcg/1'
    character(:), allocatable :: path  ! profile to create or extend; default: $SEXTANT_PROFILE, else this machine's own
    procedure(sextant_calibration_hook), pointer, nopass :: progress => null()
    procedure(sextant_model_hook), pointer, nopass :: model => null()   ! called for every model, once it is written
    procedure(sextant_sample_hook), pointer, nopass :: sample => null() ! called for every measured run
    class(*), pointer :: data => null()                                 ! given to each of the three
  end type

contains

  ! path: the profile that was written.
  subroutine run_calibration(self, options, path, stat)
    class(sextant_object), intent(inout) :: self
    type(sextant_calibration), intent(in), target :: options
    character(:), allocatable, intent(inout) :: path
    integer(int32), intent(out) :: stat
    type(sxt_calibrate_options) :: c
    character(kind=c_char), allocatable, target :: kind(:), file(:)
    character(4096) :: written
    integer(int64) :: length
    call sxt_calibrate_options_init(c, int(c_sizeof(c), int64))
    c%quick = merge(1_int32, 0_int32, options%quick)
    c%seconds = options%seconds
    call c_text(options%kind, kind, c%kind)
    call c_text(options%path, file, c%path)
    c%progress_user = c_loc(options)
    c%model_user = c_loc(options)
    c%sample_user = c_loc(options)
    if (associated(options%progress)) c%progress = c_funloc(progress_from_c)
    if (associated(options%model)) c%model = c_funloc(model_from_c)
    if (associated(options%sample)) c%sample = c_funloc(sample_from_c)
    written = ''
    length = 0
    call conclude(self, sxt_calibrate(self%c_handle(), c, written, len(written, int64), length), stat)
    path = ''
    if (stat == sxt_ok) path = written(:min(length, len(written, int64) - 1))
  end subroutine

  function progress_from_c(user, done, what, seconds_left) bind(c, name='') result(stop_now)
    type(c_ptr), value :: user, what
    real(c_double), value :: done, seconds_left
    integer(c_int32_t) :: stop_now
    type(sextant_calibration), pointer :: options
    call c_f_pointer(user, options)
    stop_now = 0
    call options%progress(options%data, done, fortran_text(what), seconds_left, stop_now)
  end function

  subroutine model_from_c(user, info) bind(c, name='')
    type(c_ptr), value :: user
    type(sxt_model_info), intent(in) :: info
    type(sextant_calibration), pointer :: options
    type(sextant_model) :: model
    call c_f_pointer(user, options)
    model%kernel = fortran_text(info%kernel)
    model%vector_type = info%vector_type
    model%matrix_type = info%matrix_type
    model%version = info%version
    model%model_class = info%model_class
    model%samples = info%samples
    model%power = info%power
    model%breakpoints = info%breakpoints
    model%median_error = info%median_error
    model%p90_error = info%p90_error
    model%scatter = info%scatter
    model%setup_factor = info%setup_factor
    model%setup_samples = info%setup_samples
    call options%model(options%data, model)
  end subroutine

  subroutine sample_from_c(user, seen) bind(c, name='')
    type(c_ptr), value :: user
    type(sxt_model_sample), intent(in) :: seen
    type(sextant_calibration), pointer :: options
    type(sextant_model_sample) :: sample
    integer(int64), pointer :: launch(:)
    real(real64), pointer :: terms(:)
    type(c_ptr), pointer :: names(:)
    integer(int64) :: i
    call c_f_pointer(user, options)
    sample%kernel = fortran_text(seen%kernel)
    sample%vector_type = seen%vector_type
    sample%matrix_type = seen%matrix_type
    sample%version = seen%version
    sample%model_class = seen%model_class
    sample%working_set_bytes = seen%working_set_bytes
    sample%measured_s = seen%measured_s
    sample%fitted_s = seen%fitted_s
    sample%family = seen%family
    sample%rows = seen%rows
    sample%entries = seen%entries
    call c_f_pointer(seen%launch, launch, [4])
    sample%launch = launch
    allocate(sample%term_names(seen%n_terms), sample%terms(seen%n_terms))
    if (seen%n_terms > 0) then
      call c_f_pointer(seen%terms, terms, [seen%n_terms])
      call c_f_pointer(seen%term_names, names, [seen%n_terms])
      sample%terms = terms
      do i = 1, seen%n_terms
        sample%term_names(i) = fortran_text(names(i))
      end do
    end if
    call options%sample(options%data, sample)
  end subroutine
end module sextant_models
