! SPDX-License-Identifier: BSD-3-Clause
! Prediction-error filters in f-x space: removing random noise from a seismic section. At one frequency a linear event
! is a complex exponential along the traces, which a short filter predicts from the traces before and after; noise
! cannot be predicted. Each frequency asks for one filter, the solution of a small Hermitian system; all are solved in
! one call.
program example_fx
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use sextant
  implicit none

  integer, parameter :: traces = 40, samples = 128, frequencies = samples/2, order = 4
  real(real64), parameter :: pi = 3.14159265358979323846_real64
  real(real64) :: clean(samples, traces), noisy(samples, traces), filtered(samples, traces)
  complex(real64) :: spectrum(0:frequencies, traces), normal(order, order, frequencies), filters(order, 1, frequencies)
  type(sextant_hermitian) :: systems
  type(sextant_hermitian_settings) :: settings
  type(sextant_hermitian_answers) :: answers
  integer(int64) :: seed = 20261121
  real(real64) :: before, after
  integer :: f, stat

  call make_section()
  call transform()
  do f = 1, frequencies
    call normal_equations(spectrum(f, :), normal(:, :, f), filters(:, 1, f))
  end do

  settings%shifts = [0.01_real64] ! of the mean diagonal: "prewhitening", as usual
  settings%relative_shifts = .true.
  call systems%create(order, frequencies, sxt_c128, 1, settings, stat=stat)
  if (stat /= sxt_ok) call give_up('describing the systems')
  call systems%solve_all(normal, filters, answers, stat)
  if (stat /= sxt_ok) call give_up('solving')
  if (any(answers%info /= 0)) error stop 'a system was not solved'

  do f = 1, frequencies
    call predict(spectrum(f, :), filters(:, 1, f))
  end do
  call transform_back()
  before = quality(noisy)
  after = quality(filtered)
  write (*, '(i0, a, i0, a, es8.1)') frequencies, ' systems of order ', order, ', worst backward error ', &
    maxval(answers%residual)
  write (*, '(a, f5.1, a, f5.1, a)') 'signal to noise: ', before, ' dB before, ', after, ' dB after'
  if (after < before + 4) error stop 'the noise is still there'

contains

  subroutine give_up(step)
    character(*), intent(in) :: step
    write (*, '(3a)') step, ': ', systems%error()
    error stop
  end subroutine

  pure function ricker(t) result(value)
    real(real64), intent(in) :: t
    real(real64) :: value
    value = (1 - 2*(pi*t/12)**2)*exp(-(pi*t/12)**2)
  end function

  ! Twelve uniform numbers make a Gaussian; a minimal generator (Park and Miller) gives equal ones everywhere.
  function noise() result(value)
    real(real64) :: value
    integer :: i
    value = -6
    do i = 1, 12
      seed = modulo(16807*seed, 2147483647_int64)
      value = value + real(seed, real64)/2147483647
    end do
  end function

  subroutine make_section()
    integer :: t, x
    do x = 1, traces
      do t = 1, samples
        clean(t, x) = ricker(t - 30 - 0.6_real64*x) + 0.8_real64*ricker(t - 95 + 0.9_real64*x) + &
                      0.9_real64*ricker(t - 60 - 0.1_real64*x)
        noisy(t, x) = clean(t, x) + 0.25_real64*noise()
      end do
    end do
  end subroutine

  subroutine transform()
    integer :: k, t, x
    do x = 1, traces
      do k = 0, frequencies
        spectrum(k, x) = sum([(noisy(t, x)*exp(cmplx(0, -2*pi*k*t/samples, real64)), t=1, samples)])
      end do
    end do
  end subroutine

  subroutine transform_back()
    integer :: k, t, x
    do x = 1, traces
      do t = 1, samples
        filtered(t, x) = (real(spectrum(0, x)) + 2*sum([(real(spectrum(k, x)*exp(cmplx(0, 2*pi*k*t/samples, real64))), &
                                                         k=1, frequencies - 1)]))/samples
      end do
    end do
  end subroutine

  ! Least squares of all predictions of a trace from the `order` before it, and from the conjugates of those after it:
  ! the lower triangle of the normal equations.
  subroutine normal_equations(trace, r, g)
    complex(real64), intent(in) :: trace(:)
    complex(real64), intent(out) :: r(:, :), g(:)
    integer :: j
    r = 0
    g = 0
    do j = 1, traces
      if (j > order) call add(trace(j - 1:j - order:-1), trace(j), r, g)
      if (j + order <= traces) call add(conjg(trace(j + 1:j + order)), conjg(trace(j)), r, g)
    end do
  end subroutine

  ! One prediction: `seen` times the filter should be `wanted`.
  subroutine add(seen, wanted, r, g)
    complex(real64), intent(in) :: seen(:), wanted
    complex(real64), intent(inout) :: r(:, :), g(:)
    integer :: k
    g = g + conjg(seen)*wanted
    do k = 1, order
      r(k:, k) = r(k:, k) + conjg(seen(k:))*seen(k)
    end do
  end subroutine

  ! Each trace becomes the mean of what is predicted of it.
  subroutine predict(trace, filter)
    complex(real64), intent(inout) :: trace(:)
    complex(real64), intent(in) :: filter(:)
    complex(real64) :: seen(traces)
    integer :: j, times
    seen = trace
    do j = 1, traces
      trace(j) = 0
      times = 0
      if (j > order) then
        trace(j) = sum(filter*seen(j - 1:j - order:-1))
        times = 1
      end if
      if (j + order <= traces) then
        trace(j) = trace(j) + conjg(sum(filter*conjg(seen(j + 1:j + order))))
        times = times + 1
      end if
      trace(j) = trace(j)/times
    end do
  end subroutine

  ! Signal over error in decibels.
  function quality(section) result(decibels)
    real(real64), intent(in) :: section(:, :)
    real(real64) :: decibels
    decibels = 10*log10(sum(clean**2)/sum((section - clean)**2))
  end function
end program
