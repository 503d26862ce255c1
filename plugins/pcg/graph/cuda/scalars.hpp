// SPDX-License-Identifier: BSD-3-Clause
// The launches of the scalar kernels, from C++. Each throws cuda::Failure.
#pragma once

#include <cuda_runtime_api.h>

#include "control.hpp"
#include "sextant/plugin/plugin.h"

namespace graph {

void load_scalar_kernels();
void configure(Control *control, const Request &request, cudaStream_t stream);
// dots: p'q, r'q, q'q, r'r; with M p'q, z'q, r'z, r'r, and products: q't
void evaluate_predict_recompute(const Scalars &s, bool preconditioned, const sxt_exec &exec);
void evaluate_chronopoulos_gear(const Scalars &s, bool preconditioned, const sxt_exec &exec);  // u'w, (r'u,) r'r
void evaluate_classical(const Scalars &s, bool preconditioned, const sxt_exec &exec);          // (r'z,) r'r
void step_length_classical(const Scalars &s, const sxt_exec &exec);                            // products: p'q
// Copies bytes, a multiple of 16, where the last evaluation was the first to stand still.
void keep_when_ended(const Control *control, const void *from, void *to, std::uint64_t bytes, const sxt_exec &exec);

}  // namespace graph
