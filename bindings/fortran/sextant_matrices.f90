! SPDX-License-Identifier: BSD-3-Clause
! Sparse matrices from CSR, CSC and COO arrays and from files: 32- or 64-bit indices, four value types. Indices count from
! 1 unless the caller says zero_based.

! stat and logicals of 32 bits.
module sextant_matrices_narrow
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_objects
  use sextant_contexts
  use sextant_matrix_work
  use sextant_integers
  implicit none
  private
  public :: sextant_matrix

  integer, parameter :: sk = int32, lk = int32

  type, extends(matrix_base) :: sextant_matrix
  contains
    generic :: from_csr => csr_i32_r32_narrow, csr_i32_r64_narrow, csr_i32_c32_narrow, csr_i32_c64_narrow, &
                           csr_i64_r32_narrow, csr_i64_r64_narrow, csr_i64_c32_narrow, csr_i64_c64_narrow, &
                           csr_mix_r32_narrow, csr_mix_r64_narrow, csr_mix_c32_narrow, csr_mix_c64_narrow
    generic :: from_csc => csc_i32_r32_narrow, csc_i32_r64_narrow, csc_i32_c32_narrow, csc_i32_c64_narrow, &
                           csc_i64_r32_narrow, csc_i64_r64_narrow, csc_i64_c32_narrow, csc_i64_c64_narrow, &
                           csc_mix_r32_narrow, csc_mix_r64_narrow, csc_mix_c32_narrow, csc_mix_c64_narrow
    generic :: from_coo => coo_i32_r32_narrow, coo_i32_r64_narrow, coo_i32_c32_narrow, coo_i32_c64_narrow, &
                           coo_i64_r32_narrow, coo_i64_r64_narrow, coo_i64_c32_narrow, coo_i64_c64_narrow
    generic :: from_file => from_file_narrow
    generic :: update_values => update_r32_narrow, update_r64_narrow, update_c32_narrow, update_c64_narrow
    generic :: get_csr => get_i32_r32_narrow, get_i32_r64_narrow, get_i32_c32_narrow, get_i32_c64_narrow, &
                          get_i64_r32_narrow, get_i64_r64_narrow, get_i64_c32_narrow, get_i64_c64_narrow, &
                          get_addresses_narrow
    generic :: feature => feature_narrow
    procedure, private :: csr_i32_r32_narrow => csr_i32_r32, csr_i32_r64_narrow => csr_i32_r64, &
                          csr_i32_c32_narrow => csr_i32_c32, csr_i32_c64_narrow => csr_i32_c64, &
                          csr_i64_r32_narrow => csr_i64_r32, csr_i64_r64_narrow => csr_i64_r64, &
                          csr_i64_c32_narrow => csr_i64_c32, csr_i64_c64_narrow => csr_i64_c64, &
                          csr_mix_r32_narrow => csr_mix_r32, csr_mix_r64_narrow => csr_mix_r64, &
                          csr_mix_c32_narrow => csr_mix_c32, csr_mix_c64_narrow => csr_mix_c64
    procedure, private :: csc_i32_r32_narrow => csc_i32_r32, csc_i32_r64_narrow => csc_i32_r64, &
                          csc_i32_c32_narrow => csc_i32_c32, csc_i32_c64_narrow => csc_i32_c64, &
                          csc_i64_r32_narrow => csc_i64_r32, csc_i64_r64_narrow => csc_i64_r64, &
                          csc_i64_c32_narrow => csc_i64_c32, csc_i64_c64_narrow => csc_i64_c64, &
                          csc_mix_r32_narrow => csc_mix_r32, csc_mix_r64_narrow => csc_mix_r64, &
                          csc_mix_c32_narrow => csc_mix_c32, csc_mix_c64_narrow => csc_mix_c64
    procedure, private :: coo_i32_r32_narrow => coo_i32_r32, coo_i32_r64_narrow => coo_i32_r64, &
                          coo_i32_c32_narrow => coo_i32_c32, coo_i32_c64_narrow => coo_i32_c64, &
                          coo_i64_r32_narrow => coo_i64_r32, coo_i64_r64_narrow => coo_i64_r64, &
                          coo_i64_c32_narrow => coo_i64_c32, coo_i64_c64_narrow => coo_i64_c64
    procedure, private :: update_r32_narrow => update_r32, update_r64_narrow => update_r64, &
                          update_c32_narrow => update_c32, update_c64_narrow => update_c64
    procedure, private :: get_i32_r32_narrow => get_i32_r32, get_i32_r64_narrow => get_i32_r64, &
                          get_i32_c32_narrow => get_i32_c32, get_i32_c64_narrow => get_i32_c64, &
                          get_i64_r32_narrow => get_i64_r32, get_i64_r64_narrow => get_i64_r64, &
                          get_i64_c32_narrow => get_i64_c32, get_i64_c64_narrow => get_i64_c64
    procedure, private :: from_file_narrow => from_file, feature_narrow => feature, &
                          get_addresses_narrow => get_addresses
  end type

contains
  include 'matrices.inc'
end module sextant_matrices_narrow

! And of 64, as compilers make the default ones with -fdefault-integer-8 or -i8.
module sextant_matrices
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sextant_c
  use sextant_objects
  use sextant_contexts
  use sextant_matrix_work
  use sextant_integers
  use sextant_matrices_narrow, only: narrow_matrix => sextant_matrix
  implicit none
  private
  public :: sextant_matrix, sextant_matrix_settings

  integer, parameter :: sk = int64, lk = int64

  type, extends(narrow_matrix) :: sextant_matrix
  contains
    ! call a%from_csr(row_ptr, col, values [, cols, symmetry, triangle, zero_based, refuse_duplicates, context, settings], stat)
    !   Compressed rows: row i, from 1, holds entries row_ptr(i) to row_ptr(i+1) - 1 of col and values, in any order. The
    !   arrays are copied and may be freed or changed afterwards. Pointers of 64 bits may go with columns of 32.
    !     cols               number of columns; default: square
    !     symmetry           sxt_general (default), sxt_symmetric, sxt_hermitian, sxt_skew
    !     triangle           part the arrays hold when not general: sxt_full (default), sxt_lower, sxt_upper
    !     zero_based .true.: indices and row_ptr count from 0; default: from 1. Sentences of errors count the same way
    !     refuse_duplicates .true.: an entry given twice is sxt_e_duplicate; default: they are summed
    !     context            where to make it; default: one made at first use
    !     settings rarely used settings: type(sextant_matrix_settings)
    ! call a%from_csc(col_ptr, row, values [, rows, ...as above], stat)
    !   Compressed columns: column j, from 1, holds entries col_ptr(j) to col_ptr(j+1) - 1 of row and values.
    ! call a%from_coo(rows, row, col, values [, cols, ...as above], stat)
    !   Coordinates: entry k, from 1, is values(k) at row(k), col(k), in any order. rows is of the kind of the indices.
    ! call a%from_file(path [, value_type, refuse_duplicates, context, settings], stat)
    !   A Matrix Market file, plain or gzip; value_type: sxt_f32, ...; default: as in the file. Sentences of errors
    !   count lines, rows and columns from 1, as the file does.
    ! call a%update_values(values, stat)
    !   New values on the same pattern, in the order of the arrays it was made from. Solvers made from this matrix use
    !   them from their next solve on. After an error the old values stay.
    ! call a%get_csr(row_ptr, col, values, stat)
    !   Copies of the canonical CSR (both triangles, columns ascending) in allocatable arrays, counted from 1. With three
    !   type(c_ptr): the library's own arrays, counted from 0, of a%c_handle()'s types, lent.
    ! call a%feature(name, number, stat)
    !   A named number about the matrix, 'row_nnz_max'; names: sextant_feature_name.
    generic :: from_csr => csr_i32_r32_wide, csr_i32_r64_wide, csr_i32_c32_wide, csr_i32_c64_wide, csr_i64_r32_wide, &
                           csr_i64_r64_wide, csr_i64_c32_wide, csr_i64_c64_wide, csr_mix_r32_wide, csr_mix_r64_wide, &
                           csr_mix_c32_wide, csr_mix_c64_wide
    generic :: from_csc => csc_i32_r32_wide, csc_i32_r64_wide, csc_i32_c32_wide, csc_i32_c64_wide, csc_i64_r32_wide, &
                           csc_i64_r64_wide, csc_i64_c32_wide, csc_i64_c64_wide, csc_mix_r32_wide, csc_mix_r64_wide, &
                           csc_mix_c32_wide, csc_mix_c64_wide
    generic :: from_coo => coo_i32_r32_wide, coo_i32_r64_wide, coo_i32_c32_wide, coo_i32_c64_wide, coo_i64_r32_wide, &
                           coo_i64_r64_wide, coo_i64_c32_wide, coo_i64_c64_wide
    generic :: from_file => from_file_wide
    generic :: update_values => update_r32_wide, update_r64_wide, update_c32_wide, update_c64_wide
    generic :: get_csr => get_i32_r32_wide, get_i32_r64_wide, get_i32_c32_wide, get_i32_c64_wide, get_i64_r32_wide, &
                          get_i64_r64_wide, get_i64_c32_wide, get_i64_c64_wide, get_addresses_wide
    generic :: feature => feature_wide
    procedure, private :: csr_i32_r32_wide => csr_i32_r32, csr_i32_r64_wide => csr_i32_r64, &
                          csr_i32_c32_wide => csr_i32_c32, csr_i32_c64_wide => csr_i32_c64, &
                          csr_i64_r32_wide => csr_i64_r32, csr_i64_r64_wide => csr_i64_r64, &
                          csr_i64_c32_wide => csr_i64_c32, csr_i64_c64_wide => csr_i64_c64, &
                          csr_mix_r32_wide => csr_mix_r32, csr_mix_r64_wide => csr_mix_r64, &
                          csr_mix_c32_wide => csr_mix_c32, csr_mix_c64_wide => csr_mix_c64
    procedure, private :: csc_i32_r32_wide => csc_i32_r32, csc_i32_r64_wide => csc_i32_r64, &
                          csc_i32_c32_wide => csc_i32_c32, csc_i32_c64_wide => csc_i32_c64, &
                          csc_i64_r32_wide => csc_i64_r32, csc_i64_r64_wide => csc_i64_r64, &
                          csc_i64_c32_wide => csc_i64_c32, csc_i64_c64_wide => csc_i64_c64, &
                          csc_mix_r32_wide => csc_mix_r32, csc_mix_r64_wide => csc_mix_r64, &
                          csc_mix_c32_wide => csc_mix_c32, csc_mix_c64_wide => csc_mix_c64
    procedure, private :: coo_i32_r32_wide => coo_i32_r32, coo_i32_r64_wide => coo_i32_r64, &
                          coo_i32_c32_wide => coo_i32_c32, coo_i32_c64_wide => coo_i32_c64, &
                          coo_i64_r32_wide => coo_i64_r32, coo_i64_r64_wide => coo_i64_r64, &
                          coo_i64_c32_wide => coo_i64_c32, coo_i64_c64_wide => coo_i64_c64
    procedure, private :: update_r32_wide => update_r32, update_r64_wide => update_r64, update_c32_wide => update_c32, &
                          update_c64_wide => update_c64
    procedure, private :: get_i32_r32_wide => get_i32_r32, get_i32_r64_wide => get_i32_r64, &
                          get_i32_c32_wide => get_i32_c32, get_i32_c64_wide => get_i32_c64, &
                          get_i64_r32_wide => get_i64_r32, get_i64_r64_wide => get_i64_r64, &
                          get_i64_c32_wide => get_i64_c32, get_i64_c64_wide => get_i64_c64
    procedure, private :: from_file_wide => from_file, feature_wide => feature, get_addresses_wide => get_addresses
  end type

contains
  include 'matrices.inc'
end module sextant_matrices
