// SPDX-License-Identifier: BSD-3-Clause
// The kinds of the mock scheduler and of its dense parts: the arguments of sxt.cholesky/1 and sxt.dense/1 under names
// of their own, since those kinds come with kernels and cases of the library.
#pragma once

#define MOCK_KIND_CHOLESKY "com.example.cholesky/1"
#define MOCK_KIND_DENSE "com.example.dense/1"
