// SPDX-License-Identifier: BSD-3-Clause
// Products with the factors that a chosen kernel makes: asked for when it is prepared (core/run/factors.cpp).
#include "core/choose/options.hpp"
#include "core/choose/selector.hpp"

namespace sextant {

ChoicePtr choose_product(Context &context, Matrix &factor, const Query &product, const std::string &role,
                         double below_s) {
  return Selector(context, &factor, {.own_way_s = below_s}).select({product, role});
}

}  // namespace sextant
