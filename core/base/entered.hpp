// SPDX-License-Identifier: BSD-3-Clause
// Calls into plugins. One that lets an exception out breaks its contract; that costs it its answer, and its name is
// told.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "core/base/error.hpp"
#include "sextant/sdk/arithmetic.hpp"

namespace sextant {

// What f, a call into a plugin, answers; SXT_E_INTERNAL where it throws, and why is what. The library's own errors and
// shortages of memory pass. [any-thread]
template <class F>
sxt_status entered(F &&f, std::string &why) {
  try {
    return f();
  } catch (const Error &) {
    throw;
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const std::exception &problem) {
    why = text("it threw: ", problem.what());
  } catch (...) {
    why = "it threw something that is no std::exception";
  }
  return SXT_E_INTERNAL;
}

// The same of a model, which is asked and not run: the caller's arithmetic stays whatever it does.
template <class F>
sxt_status model_entered(F &&f, std::string &why) {
  const plugin::FloatKeeper arithmetic;
  return entered(f, why);
}

}  // namespace sextant
