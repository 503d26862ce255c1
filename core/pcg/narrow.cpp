// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/narrow.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/types.hpp"
#include "core/choose/make_choice.hpp"
#include "core/context/context.hpp"
#include "core/pcg/choosing.hpp"
#include "core/pcg/system.hpp"

namespace sextant {

namespace {

// s_i a_ij s_j, in an order that keeps the matrix symmetric, rounded. False where one does not fit the narrower range,
// or one on the diagonal, which bounds its row, would lose digits or vanish there.
template <class I, class O>
bool round_values(const CsrArrays &csr, const double *s, float *to) {
  const O *ptr = csr.row_ptr.as<O>();
  const I *col = csr.col.as<I>();
  const double *values = csr.values.as<double>();
  bool fits = true;
  for (std::int64_t i = 0; i < csr.rows; ++i)
    for (O k = ptr[i]; k < ptr[i + 1]; ++k) {
      const double value = s ? s[i] * s[col[k]] * values[k] : values[k];
      to[k] = static_cast<float>(value);
      fits = fits && std::fabs(value) <= static_cast<double>(std::numeric_limits<float>::max());
      if (col[k] == i) fits = fits && std::fabs(value) >= static_cast<double>(std::numeric_limits<float>::min());
    }
  return fits;
}

// False where a value of the system does not fit. on_host: room for the scaling on the host, made where it is needed.
bool fill(Device &device, const CsrArrays &csr, const void *scaling, Buffer &values, Buffer &on_host) {
  const auto bytes = static_cast<std::uint64_t>(csr.rows) * sizeof(double);
  const double *s = static_cast<const double *>(scaling);
  if (scaling && !device.on_host()) {
    if (on_host.bytes() < bytes) on_host = Buffer(bytes, device.host_memory());
    device.copy(on_host.data(), scaling, bytes);
    s = on_host.as<double>();
  }
  return with_index_type(csr.index_type, [&](auto index) {
    return with_index_type(csr.offset_type, [&](auto offset) {
      return round_values<typename decltype(index)::type, typename decltype(offset)::type>(csr, s, values.as<float>());
    });
  });
}

}  // namespace

std::unique_ptr<NarrowMatrix> NarrowMatrix::make(Matrix &base, const void *scaling, sxt_symmetry symmetry) {
  CsrArrays wide = base.on_host();
  Assembled shape;
  CsrArrays &csr = shape.csr;
  csr.rows = wide.rows;
  csr.cols = wide.cols;
  csr.nnz = wide.nnz;
  csr.value_type = SXT_F32;
  csr.index_type = wide.index_type;
  csr.offset_type = wide.offset_type;
  csr.values = Buffer(static_cast<std::uint64_t>(wide.nnz) * sizeof(float), base.context().allocator());
  Buffer scaling_on_host;
  if (!fill(base.context().device(), wide, scaling, csr.values, scaling_on_host)) return nullptr;
  csr.row_ptr = std::move(wide.row_ptr);  // the base's, or brought from the device
  csr.col = std::move(wide.col);
  auto narrow = std::make_unique<NarrowMatrix>();
  narrow->matrix_ = std::make_shared<Matrix>(base.shared_context(), std::move(shape), symmetry);
  narrow->matrix_->share_features(base);
  return narrow;
}

void NarrowMatrix::refresh(Matrix &base, const void *scaling) {
  const std::int64_t nnz = base.csr().nnz;
  const std::uint64_t bytes = static_cast<std::uint64_t>(nnz) * sizeof(float);
  if (values_.bytes() < bytes) values_ = Buffer(bytes, base.context().allocator());
  require(fill(base.context().device(), base.on_host(), scaling, values_, scaling_on_host_), SXT_E_OVERFLOW,
          "a new value does not fit f32, in which this set-up holds the matrix; ",
          "set up again, with format auto:f64");
  matrix_->update_values(values_.data(), nnz);
}

Runner &WideEngine::get(const PcgProblem &problem, const EngineSystem &system, const Expectation &expected,
                        LeftOut &left_out) {
  const std::lock_guard lock(mutex_);
  if (engine_) return *engine_;
  sxt_pcg_query query = engine_query(problem, system, system.method(), expected);
  query.m = system.scaled().query_part(SXT_KIND_PCG, sizeof query, problem.settings.expected_solves);
  query.m.symmetry = problem.taken.symmetry();
  const auto choose = [&](const LeftOut &without) {
    return Selector(problem.context(), &system.scaled(),
                    {.left_out = without, .asked = named_by_hand(problem.settings)})
        .select({Query(&query.m.q), "pcg/f64", storage_wanted(problem.settings, problem.context())});
  };
  engine_ = make_choice(problem.context(), left_out, choose, [&](ChoicePtr choice) {
    return std::make_unique<Runner>(problem.context(), std::move(choice), &system.scaled());
  });
  return *engine_;
}

void WideEngine::refresh() {
  const std::lock_guard lock(mutex_);
  if (engine_) engine_->prepared().refresh_if_stale();
}

void WideEngine::drop() {
  const std::lock_guard lock(mutex_);
  engine_.reset();
}

}  // namespace sextant
