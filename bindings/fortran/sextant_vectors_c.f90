! SPDX-License-Identifier: BSD-3-Clause
! The part of the C interface of Sextant for vectors, products and reductions, in Fortran: the names and the order of
! sextant/sextant.h. Programs use module sextant. Indices count from 0 here, as in C.
module sextant_vectors_c
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_int64_t, c_ptr
  implicit none
  public

  integer, parameter, private :: i4 = c_int32_t, i8 = c_int64_t

  abstract interface
    ! sxt_sum, sxt_nrm2 and the like: one operand.
    function sxt_reduction(x, answer) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, answer
      integer(i4) :: status
    end function

    ! sxt_dot, sxt_dotc: two.
    function sxt_reduction_of_two(x, y, answer) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, y, answer
      integer(i4) :: status
    end function
  end interface

  interface
    function sxt_vector_wrap(context, n, type, space, data, vector) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: context, data
      integer(i4), value :: type, space
      integer(i8), value :: n
      type(c_ptr), intent(inout) :: vector
      integer(i4) :: status
    end function

    function sxt_vector_create(context, n, type, vector) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: context
      integer(i4), value :: type
      integer(i8), value :: n
      type(c_ptr), intent(inout) :: vector
      integer(i4) :: status
    end function

    function sxt_vector_write(vector, values) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: vector, values
      integer(i4) :: status
    end function

    function sxt_vector_read(vector, values) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: vector, values
      integer(i4) :: status
    end function

    function sxt_vector_data(vector) bind(c) result(address)
      import :: c_ptr
      type(c_ptr), value :: vector
      type(c_ptr) :: address
    end function

    function sxt_vector_length(vector) bind(c) result(length)
      import :: c_ptr, i8
      type(c_ptr), value :: vector
      integer(i8) :: length
    end function

    subroutine sxt_vector_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine

    function sxt_spmv(op, alpha, a, x, beta, y) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: alpha, a, x, beta, y
      integer(i4), value :: op
      integer(i4) :: status
    end function

    function sxt_spmv_array(op, alpha, a, x, beta, y) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: alpha, a, x, beta, y
      integer(i4), value :: op
      integer(i4) :: status
    end function

    function sxt_spmv_block(op, alpha, a, n_rhs, x, ldx, beta, y, ldy) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: alpha, a, x, beta, y
      integer(i4), value :: op
      integer(i8), value :: n_rhs, ldx, ldy
      integer(i4) :: status
    end function

    function sxt_copy(x, y) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, y
      integer(i4) :: status
    end function

    function sxt_fill(alpha, y) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: alpha, y
      integer(i4) :: status
    end function

    function sxt_scale(alpha, y) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: alpha, y
      integer(i4) :: status
    end function

    function sxt_axpy(alpha, x, y) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: alpha, x, y
      integer(i4) :: status
    end function

    function sxt_axpby(alpha, x, beta, y) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: alpha, x, beta, y
      integer(i4) :: status
    end function

    function sxt_waxpby(alpha, x, beta, y, w) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: alpha, x, beta, y, w
      integer(i4) :: status
    end function

    function sxt_multiply(x, y, w) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, y, w
      integer(i4) :: status
    end function

    function sxt_gather(x, index, index_type, y) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, index, y
      integer(i4), value :: index_type
      integer(i4) :: status
    end function

    function sxt_scatter(x, index, index_type, y) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, index, y
      integer(i4), value :: index_type
      integer(i4) :: status
    end function

    function sxt_sum(x, answer) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, answer
      integer(i4) :: status
    end function

    function sxt_dot(x, y, answer) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, y, answer
      integer(i4) :: status
    end function

    function sxt_dotc(x, y, answer) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, y, answer
      integer(i4) :: status
    end function

    function sxt_nrm2(x, answer) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, answer
      integer(i4) :: status
    end function

    function sxt_asum(x, answer) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, answer
      integer(i4) :: status
    end function

    function sxt_amax(x, answer) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, answer
      integer(i4) :: status
    end function

    function sxt_iamax(x, index) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: x
      integer(i8), intent(inout) :: index
      integer(i4) :: status
    end function

    function sxt_min(x, answer) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, answer
      integer(i4) :: status
    end function

    function sxt_max(x, answer) bind(c) result(status)
      import :: c_ptr, i4
      type(c_ptr), value :: x, answer
      integer(i4) :: status
    end function

    function sxt_multidot(count, x, y, results) bind(c) result(status)
      import :: c_ptr, i4, i8
      type(c_ptr), value :: x, y, results
      integer(i8), value :: count
      integer(i4) :: status
    end function
  end interface
end module sextant_vectors_c
