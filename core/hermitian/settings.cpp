// SPDX-License-Identifier: BSD-3-Clause
#include "core/hermitian/settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/aligned.hpp"
#include "core/base/error.hpp"
#include "core/base/types.hpp"
#include "sextant/sdk/hermitian_pivots.hpp"

namespace sextant {

void HermitianSettings::check() {
  with_value_type(type, [](auto) {});  // throws for a code that is none
  require(triangle == SXT_LOWER || triangle == SXT_UPPER, SXT_E_ARGUMENT, "triangle ", triangle,
          " is not SXT_LOWER (1) or SXT_UPPER (2)");
  require(definiteness >= SXT_DEFINITE && definiteness <= SXT_TRY_DEFINITE, SXT_E_ARGUMENT, "definiteness ",
          definiteness, " is not SXT_DEFINITE (1), SXT_INDEFINITE (2) or SXT_TRY_DEFINITE (3)");
  require(batch >= 0, SXT_E_ARGUMENT, "batch is negative (", batch, ")");
  require(n >= 0, SXT_E_ARGUMENT, "n is negative (", n, ")");
  require(n <= std::numeric_limits<std::int32_t>::max(), SXT_E_OVERFLOW, "n is ", n, ", and orders are 32-bit numbers");
  require(n_rhs >= 0, SXT_E_ARGUMENT, "n_rhs is negative (", n_rhs, ")");
  require(refine_steps >= 0, SXT_E_ARGUMENT, "refine_steps is negative (", refine_steps, ")");
  require(refine_tolerance >= 0 && std::isfinite(refine_tolerance), SXT_E_ARGUMENT, "refine_tolerance is ",
          refine_tolerance, ", not a finite number from 0 on");
  for (std::size_t i = 0; i < shifts.size(); ++i)
    require(std::isfinite(shifts[i]), SXT_E_ARGUMENT, "shifts[", i, "] is not finite");
  constexpr std::int32_t known =
      SXT_SHORTCUT_TOEPLITZ | SXT_SHORTCUT_MIXED | SXT_SHORTCUT_ALWAYS | SXT_SHORTCUT_BUTTERFLY;
  require((shortcuts & ~known) == 0, SXT_E_ARGUMENT, "shortcuts is ", shortcuts,
          ", no sum of SXT_SHORTCUT_TOEPLITZ (1), _MIXED (2), _ALWAYS (4) and _BUTTERFLY (8)");
  const bool single = type == SXT_F32 || type == SXT_C64;
  if (refine_tolerance == 0)
    refine_tolerance = single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  n_max = orders.empty() ? n : 0;
  n_min = n;
  sum_n1 = sum_n2 = sum_n3 = 0;
  for (std::int64_t s = 0; s < batch && !orders.empty(); ++s) {
    const std::int32_t order = orders[static_cast<std::size_t>(s)];
    require(order >= 0 && order <= n, SXT_E_ARGUMENT, "orders[", s, "] is ", order, ", not one of 0 to n = ", n);
    n_max = std::max<std::int64_t>(n_max, order);
    n_min = std::min<std::int64_t>(n_min, order);
  }
  const auto add = [&](double order, double times) {
    sum_n1 += times * order, sum_n2 += times * order * order, sum_n3 += times * order * order * order;
  };
  if (orders.empty()) add(static_cast<double>(n), static_cast<double>(batch));
  for (const std::int32_t order : orders) add(order, 1);
}

namespace {

// Strides and leading dimensions as given or as they follow, and that the last value's address fits 64 bits.
class BlockCheck {
 public:
  BlockCheck(const HermitianSettings &settings, const Device &device) : settings_(settings), device_(device) {}

  // cols: columns of a system. `like`: the layout of another block, for factor and x.
  sxt_hermitian_block check(const char *name, void *data, void *const *array, std::int64_t ld, std::int64_t stride,
                            const std::int64_t *ld_each, std::int64_t cols) const {
    sxt_hermitian_block block{};
    const bool empty = settings_.batch == 0 || settings_.n_max == 0 || cols == 0;
    const void *given = settings_.pointer_array ? static_cast<const void *>(array) : data;
    require(given || empty, SXT_E_ARGUMENT, name, settings_.pointer_array ? "_array" : "", " is NULL");
    block.data = settings_.pointer_array ? nullptr : data;
    block.array = settings_.pointer_array ? array : nullptr;
    block.ld_each = settings_.leading_vary ? ld_each : nullptr;
    require(!settings_.leading_vary || ld_each || empty, SXT_E_ARGUMENT, "ld", name, "_each is NULL");
    block.ld = ld == 0 ? std::max<std::int64_t>(1, settings_.n) : ld;
    require(settings_.leading_vary || block.ld >= settings_.n_max, SXT_E_ARGUMENT, "ld", name, " is ", ld,
            ", smaller than the largest order ", settings_.n_max);
    std::int64_t least = 0;
    const auto bytes = value_bytes(settings_.type);
    require(!__builtin_mul_overflow(block.ld, std::max<std::int64_t>(1, cols), &least), SXT_E_OVERFLOW, "a system of ",
            name, " has ", block.ld, " x ", cols, " values, which no 64-bit number counts");
    block.stride = stride == 0 ? least : stride;
    if (!settings_.pointer_array && !empty) check_stride(name, block, cols, stride != 0);
    std::int64_t all = 0;
    require(settings_.pointer_array || (!__builtin_mul_overflow(block.stride, settings_.batch, &all) &&
                                        !__builtin_mul_overflow(all, bytes, &all)),
            SXT_E_OVERFLOW, name, " spans ", settings_.batch, " x ", block.stride,
            " values, which no 64-bit address reaches");
    check_memory(name, given, settings_.pointer_array ? sizeof(void *) : 0);
    if (block.ld_each && !empty) check_memory("the array of leading dimensions", block.ld_each, sizeof *block.ld_each);
    return block;
  }

  // element: bytes of an entry; 0: of a value, which a device wants aligned to its full size where it uses it in place.
  void check_memory(const char *name, const void *memory, std::uint64_t element) const {
    if (!memory) return;
    const bool on_host = device_.on_host() || settings_.space == SXT_SPACE_HOST;
    const std::int64_t value = on_host ? value_alignment(settings_.type) : value_bytes(settings_.type);
    require_aligned(memory, element ? static_cast<std::int64_t>(element) : value, name);
    if (!device_.on_host()) device_.check_reachable(memory, settings_.space, name);
  }

 private:
  // Systems must not share memory: they are worked on at once.
  void check_stride(const char *name, const sxt_hermitian_block &block, std::int64_t cols, bool given) const {
    require(block.stride >= 0, SXT_E_ARGUMENT, "stride_", name, " is negative (", block.stride, ")");
    if (block.ld_each) {
      require(given || settings_.batch == 1, SXT_E_ARGUMENT, "stride_", name,
              " is 0, and where leading dimensions differ no other follows from them");
      return;
    }
    const std::int64_t used = block.ld * (cols - 1) + settings_.n_max;
    require(block.stride >= used || settings_.batch == 1 || !settings_.orders.empty(), SXT_E_ARGUMENT, "stride_", name,
            " is ", block.stride, ", but a system takes ", used, " values");
  }

  const HermitianSettings &settings_;
  const Device &device_;
};

void check_outputs(const BlockCheck &check, const HermitianSettings &settings, std::int32_t phase,
                   const sxt_hermitian_set &set, HermitianArrays &out) {
  require(set.info || settings.batch == 0, SXT_E_ARGUMENT, "info is NULL");
  const bool pivoting = settings.definiteness != SXT_DEFINITE;
  require(set.pivots || !pivoting || settings.batch == 0 || phase == SXT_HERMITIAN_FACTOR_SOLVE, SXT_E_ARGUMENT,
          "pivots is NULL, but these systems are not known to be definite");
  require(set.scale || !settings.equilibrate || settings.batch == 0 || phase == SXT_HERMITIAN_FACTOR_SOLVE,
          SXT_E_ARGUMENT, "scale is NULL, but equilibrate is set and factor and solve are apart");
  out.stride_pivots = set.stride_pivots == 0 ? std::max<std::int64_t>(1, settings.n) : set.stride_pivots;
  require(out.stride_pivots >= settings.n_max, SXT_E_ARGUMENT, "stride_pivots is ", set.stride_pivots,
          ", smaller than the largest order ", settings.n_max);
  out.stride_scale = std::max<std::int64_t>(1, settings.n);
  const bool needs_both = set.residual || settings.refine_steps > 0;
  require(phase != SXT_HERMITIAN_SOLVE || !needs_both || out.copies_factor || settings.batch == 0, SXT_E_ARGUMENT,
          "refinement and residuals in a solve of its own need the matrix in a and the factor in factor");
  require(phase != SXT_HERMITIAN_SOLVE || !needs_both || settings.shifts.empty() || set.shift || settings.batch == 0,
          SXT_E_ARGUMENT,
          "shift is NULL, but refinement and residuals in a solve of its own need the shift that the factor has");
  for (const auto &[name, memory, element] :
       {std::tuple<const char *, const void *, std::uint64_t>{"info", set.info, 4},
        {"pivots", set.pivots, 4},
        {"inertia", set.inertia, 4},
        {"scale", set.scale, 8},
        {"residual", set.residual, 8},
        {"rcond", set.rcond, 8},
        {"shift", set.shift, 8},
        {"active", set.active, 1},
        {"active_out", set.active_out, 1},
        {"shortcut", set.shortcut, 1}})
    check.check_memory(name, memory, element);
}

}  // namespace

HermitianArrays check_set(const HermitianSettings &settings, const Device &device, std::int32_t phase,
                          const sxt_hermitian_set &set) {
  const BlockCheck check(settings, device);
  HermitianArrays out;
  out.n_rhs = set.n_rhs == 0 ? settings.n_rhs : set.n_rhs;
  require(out.n_rhs >= 0 && out.n_rhs <= settings.n_rhs, SXT_E_ARGUMENT, "n_rhs is ", set.n_rhs,
          ", but the description says at most ", settings.n_rhs);
  out.copies_factor = settings.pointer_array ? set.factor_array != nullptr : set.factor != nullptr;
  out.copies_solution = settings.pointer_array ? set.x_array != nullptr : set.x != nullptr;
  const auto matrices = [&](const char *name, void *data, void *const *array) {
    return check.check(name, data, array, set.lda, set.stride_a, set.lda_each, settings.n_max);
  };
  // A solve with a factor of its own place looks at the matrix for residuals alone.
  const bool reads_a = phase != SXT_HERMITIAN_SOLVE || !out.copies_factor || set.residual || settings.refine_steps > 0;
  if (out.copies_factor) out.factor = matrices("factor", set.factor, set.factor_array);
  out.a = reads_a ? matrices("a", set.a, set.a_array) : out.factor;
  if (!out.copies_factor) out.factor = out.a;
  if (solves(phase)) {
    out.b = check.check("b", set.b, set.b_array, set.ldb, set.stride_b, set.ldb_each, out.n_rhs);
    out.x = out.b;
    if (out.copies_solution)
      out.x = check.check("x", set.x, set.x_array, set.ldb, set.stride_b, set.ldb_each, out.n_rhs);
  }
  check_outputs(check, settings, phase, set, out);
  out.active = set.active;
  out.active_out = set.active_out;
  out.info = set.info;
  out.pivots = settings.definiteness == SXT_DEFINITE ? nullptr : set.pivots;
  out.scale = settings.equilibrate ? set.scale : nullptr;
  out.residual = solves(phase) ? set.residual : nullptr;
  out.rcond = factors(phase) ? set.rcond : nullptr;
  out.shift = set.shift;
  out.inertia = factors(phase) ? set.inertia : nullptr;
  out.shortcut = phase == SXT_HERMITIAN_FACTOR_SOLVE ? set.shortcut : nullptr;
  return out;
}

void check_pivots(const HermitianSettings &settings, const HermitianArrays &arrays) {
  if (!arrays.pivots) return;
  for (std::int64_t s = 0; s < settings.batch; ++s) {
    const std::int32_t *pivots = arrays.pivots + s * arrays.stride_pivots;
    const std::int64_t n = settings.order(s);
    if (n == 0 || (arrays.active && !arrays.active[s]) || arrays.info[s] != 0) continue;
    // Where definite systems are tried first, those that are have no pivots: the first one tells.
    if (settings.definiteness == SXT_TRY_DEFINITE && pivots[0] == 0) continue;
    const std::int64_t wrong = first_wrong_pivot(pivots, n, settings.triangle);
    require(wrong < 0, SXT_E_ARGUMENT, "pivots of system ", s, ": entry ", wrong, " (both counting from 0) is ",
            pivots[std::max<std::int64_t>(wrong, 0)], ", which no factorisation of order ", n,
            " leaves there; give a solve the pivots that sxt_hermitian_factor wrote");
  }
}

namespace {
template <class T>
T *ahead(T *memory, std::int64_t by) {
  return memory ? memory + by : nullptr;
}

sxt_hermitian_block ahead(sxt_hermitian_block block, std::int64_t by, std::int64_t value_bytes) {
  if (block.data) block.data = static_cast<char *>(block.data) + by * block.stride * value_bytes;
  block.array = ahead(block.array, by);
  block.ld_each = ahead(block.ld_each, by);
  return block;
}
}  // namespace

HermitianArrays HermitianArrays::from(std::int64_t by, std::int64_t value_bytes) const {
  HermitianArrays part = *this;
  part.first = first + by;
  for (sxt_hermitian_block *block : {&part.a, &part.factor, &part.b, &part.x}) *block = ahead(*block, by, value_bytes);
  part.active = ahead(active, by);
  part.active_out = ahead(active_out, by);
  part.shortcut = ahead(shortcut, by);
  part.info = ahead(info, by);
  part.pivots = ahead(pivots, by * stride_pivots);
  part.inertia = ahead(inertia, 3 * by);
  part.scale = ahead(scale, by * stride_scale);
  part.residual = ahead(residual, by);
  part.rcond = ahead(rcond, by);
  part.shift = ahead(shift, by);
  return part;
}

}  // namespace sextant
