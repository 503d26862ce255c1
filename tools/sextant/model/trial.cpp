// SPDX-License-Identifier: BSD-3-Clause
#include "model/trial.hpp"

#include <algorithm>
#include <complex>
#include <map>
#include <new>

#include "bench/bench.hpp"
#include "report/explanation.hpp"
#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/plugin/kinds/hermitian_step.h"
#include "sextant/plugin/kinds/hermitian_toeplitz.h"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"

namespace tool {
namespace {

bool is_one_of(const std::string &kind, const std::vector<std::string> &kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::unique_ptr<PointSource> made(const std::string &kind) {
  if (is_one_of(kind, {SXT_KIND_SPMV, SXT_KIND_SPMV_DOTS})) return product_source(kind);
  if (is_one_of(kind, {SXT_KIND_PRECONDITIONER, SXT_KIND_PCG})) return solver_source(kind);
  if (is_one_of(kind, {SXT_KIND_VECTOR, SXT_KIND_VECTOR_GROUP, SXT_KIND_REDUCTION, SXT_KIND_MULTIDOT}))
    return vector_source(kind);
  return kind == SXT_KIND_CHOLESKY ? cholesky_source() : hermitian_source(kind);
}

}  // namespace

const std::vector<std::string> &modelled_kinds() {
  static const std::vector<std::string> kinds = {
      SXT_KIND_SPMV,     SXT_KIND_SPMV_DOTS, SXT_KIND_PRECONDITIONER, SXT_KIND_PCG,
      SXT_KIND_VECTOR,   SXT_KIND_REDUCTION, SXT_KIND_MULTIDOT,       SXT_KIND_VECTOR_GROUP,
      SXT_KIND_CHOLESKY, SXT_KIND_HERMITIAN, SXT_KIND_HERMITIAN_STEP, SXT_KIND_HERMITIAN_TOEPLITZ};
  return kinds;
}

const PointSource *source_of(const std::string &kind) {
  static const std::map<std::string, std::unique_ptr<PointSource>> all = [] {
    std::map<std::string, std::unique_ptr<PointSource>> sources;
    for (const std::string &each : modelled_kinds()) sources[each] = made(each);
    return sources;
  }();
  const auto found = all.find(kind);
  return found == all.end() ? nullptr : found->second.get();
}

Json SelectionTrial::explain(const std::string &kernel, std::string &reason) {
  query().flags |= SXT_QUERY_PREDICT_ONLY;
  const Selection selection = select_kernel(context_, kernel, query(), matrix(), reason);
  return selection ? explain_json(selection.get()) : Json();
}

std::string SelectionTrial::time(const std::string &kernel, double budget_s, double &seconds, double &noise) {
  query().flags &= ~static_cast<decltype(query().flags)>(SXT_QUERY_PREDICT_ONLY);
  std::string reason;
  const Selection selection = select_kernel(context_, kernel, query(), matrix(), reason);
  if (!selection) return reason;
  sxt_head *args = operands();
  if (std::string why = trial_run(selection.get(), args); !why.empty()) return why;
  const sxt_status status = sxt_selection_time(selection.get(), &args, 1, budget_s, &seconds, &noise);
  // Nothing can be measured after a device that failed.
  if (exit_code_of(status) == exit_device) check(status, context_);
  return status == SXT_OK ? "" : sxt_last_error(context_);
}

Number::Number(sxt_value_type type, double value) {
  if (type == SXT_F32) new (bytes_) float(static_cast<float>(value));
  if (type == SXT_F64) new (bytes_) double(value);
  if (type == SXT_C64) new (bytes_) std::complex<float>(static_cast<float>(value));
  if (type == SXT_C128) new (bytes_) std::complex<double>(value);
}

Vector filled(sxt_context *context, std::int64_t n, sxt_value_type type, double value) {
  sxt_vector *made = nullptr;
  check(sxt_vector_create(context, n, type, &made), context);
  Vector vector(made);
  check(sxt_fill(Number(type, value).data(), made), context);
  return vector;
}

Vector words(sxt_context *context, const std::vector<std::int32_t> &values) {
  sxt_vector *made = nullptr;
  check(sxt_vector_create(context, static_cast<std::int64_t>(values.size()), SXT_F32, &made), context);
  Vector vector(made);
  check(sxt_vector_write(made, values.data()), context);
  return vector;
}

}  // namespace tool
