// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The C++ interface: header-only, C++20, over the C interface of sextant/sextant.h, whose conventions hold here.
///
/// Objects own a handle, move and are not copied; they may end in any order. Options are the structs of the C
/// interface, set to their defaults. Arrays are contiguous ranges (std::vector, std::span, ...), their types and sizes
/// are checked, and no value is copied on this side. Failures are exceptions: sextant::error, and
/// sextant::not_converged. The tags [any-thread] and [exclusive] mean what they mean in sextant/sextant.h. docs/cpp.md
/// has a program.
#ifndef SEXTANT_SEXTANT_HPP
#define SEXTANT_SEXTANT_HPP

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "sextant/sextant.hpp needs C++20; sextant/sextant.h is for C11 and C++14 on"
#endif

#include "sextant/cpp/cholesky.hpp"
#include "sextant/cpp/cholesky_sets.hpp"
#include "sextant/cpp/hermitian.hpp"
#include "sextant/cpp/library.hpp"
#include "sextant/cpp/models.hpp"
#include "sextant/cpp/operations.hpp"
#include "sextant/cpp/pcg.hpp"
#include "sextant/cpp/selection.hpp"
#include "sextant/cpp/world.hpp"
#endif
