! SPDX-License-Identifier: BSD-3-Clause
! Shows that a failing check makes a test fail: CTest expects a non-zero exit from this program.
program test_harness
  use checks
  implicit none
  call check(.true., 'a check that passes')
  call check(.false., 'a check that fails, on purpose')
  call finish()
end program test_harness
