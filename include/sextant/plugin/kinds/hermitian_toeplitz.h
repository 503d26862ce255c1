/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.hermitian_toeplitz/1": solves those systems of a set whose matrix is Hermitian Toeplitz, without factoring
 * it. Query and args are sxt_hermitian_query and sxt_hermitian_args; the phase is FACTOR_SOLVE, definiteness any.
 *
 * A matrix counts as Toeplitz when the numbers along each diagonal of its triangle are equal; the imaginary part of the
 * main one is not read. a is never written, pivots neither. A system that was solved has info 0 and its solution in b.
 * Every other system keeps its b and gets one of the codes below or of kind "sxt.hermitian/1": another kernel has to
 * solve it. A solution is given only when its backward error |b - A x| / (|A| |x| + |b|), in the largest norm, is
 * within SXT_TOEPLITZ_TOLERANCE epsilon of the type, and in definite sets only when every leading minor came out
 * positive. */
#ifndef SEXTANT_KINDS_HERMITIAN_TOEPLITZ_H
#define SEXTANT_KINDS_HERMITIAN_TOEPLITZ_H
#include "sextant/plugin/kinds/hermitian.h"

#define SXT_KIND_HERMITIAN_TOEPLITZ "sxt.hermitian_toeplitz/1"
#define SXT_TOEPLITZ_TOLERANCE 16 /* backward error of an accepted solution, in epsilons of its type */

/* Codes of info. */
enum {
  SXT_HERMITIAN_NOT_TOEPLITZ = -5, /* its matrix is not Toeplitz */
  SXT_HERMITIAN_NOT_ACCURATE = -6 /* Toeplitz, but the recursion broke down or its answer is not good enough */
};
#endif
