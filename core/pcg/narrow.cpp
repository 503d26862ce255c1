// SPDX-License-Identifier: BSD-3-Clause
// The matrix in single precision beside double-precision vectors: half of what an iteration reads of its values. What
// rounding them takes away is given back by corrections from true residuals (solve.cpp).
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/choose/make_choice.hpp"
#include "core/pcg/solver.hpp"

namespace sextant {

namespace {

// Iterations beyond those of the matrix itself, as a factor: each correction begins a new sequence.
constexpr double more_iterations = 1.4;
// Rounding one entry on the host.
constexpr double round_value_s = 3e-9;
// Asking every engine once more, on the host.
constexpr double asking_s = 1e-3;
// What is saved is predicted, what it costs is certain.
constexpr double least_gain = 0.1;

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

}  // namespace

// "csr:f32": the storage, and the precision of its values.
std::string PcgSolver::precision_wanted() const {
  const std::size_t colon = settings_.format.find(':');
  if (colon == std::string::npos) return "";
  const std::string wanted = settings_.format.substr(colon + 1);
  require(wanted == "f32" || wanted == "f64", SXT_E_UNKNOWN_NAME, "format ", settings_.format, ": values are held as ",
          "f64 or f32, not as '", wanted, "'");
  require(wanted == "f64" || matrix_->value_type() == SXT_F64, SXT_E_TYPE, "format ", settings_.format,
          ": only a matrix of f64 can be held in f32");
  return wanted;
}

// False where a value of the system does not fit. scaling: room for it on the host, made where it is needed.
bool PcgSolver::fill_narrow(const CsrArrays &csr, Buffer &values, Buffer &scaling) const {
  Device &device = base_->context().device();
  const auto bytes = static_cast<std::uint64_t>(csr.rows) * sizeof(double);
  const double *s = static_cast<const double *>(scaling_);
  if (scaling_ && !device.on_host()) {
    if (scaling.bytes() < bytes) scaling = Buffer(bytes, device.host_memory());
    device.copy(scaling.data(), scaling_, bytes);
    s = scaling.as<double>();
  }
  return with_index_type(csr.index_type, [&](auto index) {
    return with_index_type(csr.offset_type, [&](auto offset) {
      return round_values<typename decltype(index)::type, typename decltype(offset)::type>(csr, s, values.as<float>());
    });
  });
}

std::shared_ptr<Matrix> PcgSolver::make_narrow() const {
  CsrArrays wide = base_->on_host();
  Assembled shape;
  CsrArrays &csr = shape.csr;
  csr.rows = wide.rows;
  csr.cols = wide.cols;
  csr.nnz = wide.nnz;
  csr.value_type = SXT_F32;
  csr.index_type = wide.index_type;
  csr.offset_type = wide.offset_type;
  csr.values = Buffer(static_cast<std::uint64_t>(wide.nnz) * sizeof(float), matrix_->context().allocator());
  Buffer scaling;
  if (!fill_narrow(wide, csr.values, scaling)) return nullptr;
  csr.row_ptr = std::move(wide.row_ptr);  // base_'s, or brought from the device
  csr.col = std::move(wide.col);
  auto narrow = std::make_shared<Matrix>(matrix_->shared_context(), std::move(shape), symmetry_);
  narrow->share_features(*base_);
  return narrow;
}

// New values of the caller's matrix.
void PcgSolver::refresh_narrow() {
  Buffer &values = narrow_values_;
  const std::uint64_t bytes = static_cast<std::uint64_t>(matrix_->csr().nnz) * sizeof(float);
  if (values.bytes() < bytes) values = Buffer(bytes, matrix_->context().allocator());
  require(fill_narrow(base_->on_host(), values, narrow_scaling_), SXT_E_OVERFLOW,
          "a new value does not fit f32, in which this set-up holds the matrix; ",
          "set up again, with format auto:f64");
  narrow_->update_values(values.data(), matrix_->csr().nnz);
}

// The plan's last question: hold the values in f32? Where the caller asks for it, or where less traffic is predicted to
// outweigh rounding, corrections and the work of rounding.
void PcgSolver::consider_narrow() {
  const std::string wanted = precision_wanted();
  const bool possible = matrix_->value_type() == SXT_F64 && (method_ == "none" || scaling_);
  if (wanted == "f64" || (!possible && wanted.empty())) return;
  require(possible, SXT_E_NOT_SUPPORTED, "a matrix in f32 goes with the preconditioners none and jacobi, not ",
          method_);
  const double solves = std::max(1.0, settings_.expected_solves);
  const ChoicePtr wide = select_engine(method_);
  double rounding_s = static_cast<double>(matrix_->csr().nnz) * round_value_s;
  if (order_ && order_->on_device)  // the entries come to the host
    rounding_s += static_cast<double>(matrix_->csr().nnz) * 12 / matrix_->context().machine().copy_rate;
  // At best half of an iteration is saved.
  if (wanted.empty() && 0.5 * solves * wide->run_s < 4 * (rounding_s + asking_s)) return;
  std::shared_ptr<Matrix> candidate = make_narrow();
  require(candidate || wanted.empty(), SXT_E_OVERFLOW, "a value of the matrix does not fit f32");
  if (!candidate) return;
  narrow_ = std::move(candidate);
  double narrow_s = HUGE_VAL;
  try {
    const ChoicePtr choice = select_engine(method_);
    narrow_s = choice->setup_s + choice->storage_s + rounding_s + solves * more_iterations * choice->run_s;
  } catch (const Error &problem) {
    if (!wanted.empty() || problem.status() == SXT_E_MEMORY) throw;
    notes_.push_back(text("values in f64: in f32 ", problem.what()));
  }
  const double wide_s = wide->setup_s + solves * wide->run_s;
  if (wanted.empty() && !(narrow_s < (1 - least_gain) * wide_s)) {
    narrow_.reset();
    return;
  }
  predicted_setup_s_ += rounding_s;
  notes_.push_back(text("the engine reads A in f32, corrected by true residuals in f64: predicted ",
                        seconds_text(narrow_s), " in all, ", seconds_text(wide_s), " with f64"));
}

// What serves when the rounded matrix does not: built when that is found out.
Runner &PcgSolver::wide_engine() {
  const std::lock_guard lock(mutex_);
  if (wide_engine_) return *wide_engine_;
  sxt_pcg_query query = engine_query(method_);
  query.m = system_->query_part(SXT_KIND_PCG, sizeof query, settings_.expected_solves);
  query.m.symmetry = symmetry_;
  const auto choose = [&](const LeftOut &left_out) {
    Selector selector(matrix_->context(), system_.get(), {.left_out = left_out});
    return selector.select({Query(&query.m.q), "pcg/f64", storage_wanted()});
  };
  wide_engine_ = make_choice(matrix_->context(), left_out_, choose, [&](ChoicePtr choice) {
    return std::make_unique<Runner>(matrix_->context(), std::move(choice), system_.get());
  });
  return *wide_engine_;
}

}  // namespace sextant
