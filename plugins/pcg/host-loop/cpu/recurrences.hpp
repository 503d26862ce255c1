// SPDX-License-Identifier: BSD-3-Clause
// The three recurrences. Each runs until the monitor says stop; iteration k makes iterate k from iterate k - 1.
#pragma once

#include "monitor.hpp"
#include "operator.hpp"

namespace host_loop {

template <class T>
void classical(Operator<T> &op, Monitor &monitor);
template <class T>
void chronopoulos_gear(Operator<T> &op, Monitor &monitor);
template <class T>
void predict_recompute(Operator<T> &op, Monitor &monitor);

// One explicit instantiation for each value type, in the recurrence's own file.
#define HOST_LOOP_INSTANTIATE(recurrence)                               \
  template void recurrence(Operator<float> &, Monitor &);               \
  template void recurrence(Operator<double> &, Monitor &);              \
  template void recurrence(Operator<std::complex<float>> &, Monitor &); \
  template void recurrence(Operator<std::complex<double>> &, Monitor &)

}  // namespace host_loop
