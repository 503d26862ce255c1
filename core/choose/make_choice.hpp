// SPDX-License-Identifier: BSD-3-Clause
// From a question to something that runs: where what was chosen declines when it is built, the next candidate takes
// over.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/choose/selector.hpp"
#include "core/context/context.hpp"
#include "core/run/prepared.hpp"

namespace sextant {

// Asks until make(choice) does not throw Declined. Kernels that did are in `left_out`, which selectors are given so
// that explanations say why. choose(left_out) throws where nothing is left: the reasons of all.
template <class Choose, class Make>
auto make_choice(Context &context, LeftOut &left_out, Choose &&choose, Make &&make) {
  for (;;) {
    ChoicePtr choice = choose(left_out);
    try {
      return make(std::move(choice));
    } catch (const Declined &declined) {
      // A kernel that is met twice was not left out: nothing would change.
      if (!left_out.try_emplace(&declined.kernel(), declined.what()).second) throw;
      context.log()(SXT_LOG_INFO, text(declined.what(), "; the next candidate takes over"));
    }
  }
}

}  // namespace sextant
