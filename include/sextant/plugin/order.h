/* SPDX-License-Identifier: BSD-3-Clause */
/* The one order of deterministic conjugate gradients. In a deterministic context all engines of a device that run the
 * same recurrence on the same matrix leave the same bits. Core asks engines and their parts with SXT_QUERY_ONE_ORDER;
 * a kernel that does not declare SXT_KERNEL_ONE_ORDER is refused. A kernel that declares it computes:
 *   inner products   by the tree of sdk/tree.hpp, products rounded before they are added
 *   rows of A        CPU: as plugins/formats/row_products.hpp (sources) sums them, by storage and instruction set;
 *                    CUDA: by ascending columns, each entry by a fused multiply-add, starting from zero
 *   updates          CPU: products rounded first; CUDA: fused multiply-adds as the formulas of plugin/kinds/vector_group.h read
 *   coefficients     in double precision, rounded to the vectors' type (CUDA: sdk/cuda/order.hpp)
 * Preconditioners are asked without it: one kernel applies M in all engines. */
#ifndef SEXTANT_ORDER_H
#define SEXTANT_ORDER_H

#include "sextant/plugin/flags.h"
#endif
