// SPDX-License-Identifier: BSD-3-Clause
// Any kernel of any kind.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "abi/handles.hpp"
#include "core/choose/selector.hpp"
#include "core/explain/explain_model.hpp"
#include "core/run/session_timing.hpp"
#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/plugin/kinds/dense.h"
#include "sextant/plugin/kinds/device.h"
#include "sextant/plugin/kinds/exchange.h"
#include "sextant/plugin/kinds/features.h"
#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/plugin/kinds/hermitian_step.h"
#include "sextant/plugin/kinds/hermitian_toeplitz.h"
#include "sextant/plugin/kinds/launch.h"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/ordering.h"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/rendezvous.h"
#include "sextant/plugin/kinds/residual.h"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"
#include "sextant/plugin/kinds/vector_group_dots.h"

using namespace sextant;
using namespace sextant::abi;

namespace {

// Completes a matrix query from the matrix, so that callers fill in only the rest.
void complete(Query &query, const Matrix &matrix) {
  sxt_matrix_query &part = query.matrix_part();
  const sxt_value_type vectors = part.q.value_type ? part.q.value_type : matrix.value_type();
  const double runs = part.q.expected_runs;
  const std::uint32_t flags = part.q.flags;
  part = matrix.query_part(query.kind(), query.get()->h.struct_size, runs);
  part.q.value_type = vectors;
  part.q.flags = flags | SXT_QUERY_MATRIX;
}

// Kinds whose kernels only the library can call, because they work on data that the library holds.
void check_runnable(std::string_view kind) {
  const bool inner = kind == SXT_KIND_DEVICE || kind == SXT_KIND_FEATURES || kind == SXT_KIND_LAUNCH ||
                     kind.starts_with("sxt.storage.");
  require(!inner, SXT_E_NOT_SUPPORTED, "kernels of kind ", kind,
          " are called by the library alone: a matrix builds its storages and features where they are asked for");
}

// The size of a kind's args, which is fixed for its revision; 0: a third party's kind, whose kernels check it.
std::uint64_t args_bytes(std::string_view kind) {
  struct Args {
    std::string_view kind;
    std::uint64_t bytes;
  };
  static constexpr Args all[] = {{SXT_KIND_SPMV, sizeof(sxt_spmv_args)},
                                 {SXT_KIND_SPMV_DOTS, sizeof(sxt_spmv_dots_args)},
                                 {SXT_KIND_VECTOR, sizeof(sxt_vector_args)},
                                 {SXT_KIND_VECTOR_GROUP, sizeof(sxt_vector_group_args)},
                                 {SXT_KIND_VECTOR_GROUP_DOTS, sizeof(sxt_vector_group_dots_args)},
                                 {SXT_KIND_REDUCTION, sizeof(sxt_reduction_args)},
                                 {SXT_KIND_MULTIDOT, sizeof(sxt_multidot_args)},
                                 {SXT_KIND_PRECONDITIONER, sizeof(sxt_preconditioner_args)},
                                 {SXT_KIND_ORDERING, sizeof(sxt_ordering_args)},
                                 {SXT_KIND_PCG, sizeof(sxt_pcg_args)},
                                 {SXT_KIND_RESIDUAL, sizeof(sxt_residual_args)},
                                 {SXT_KIND_DENSE, sizeof(sxt_dense_args)},
                                 {SXT_KIND_CHOLESKY, sizeof(sxt_cholesky_args)},
                                 {SXT_KIND_EXCHANGE, sizeof(sxt_exchange_args)},
                                 {SXT_KIND_RENDEZVOUS, sizeof(sxt_rendezvous_args)},
                                 {SXT_KIND_HERMITIAN, sizeof(sxt_hermitian_args)},
                                 {SXT_KIND_HERMITIAN_STEP, sizeof(sxt_hermitian_step_args)},
                                 {SXT_KIND_HERMITIAN_TOEPLITZ, sizeof(sxt_hermitian_args)}};
  for (const Args &each : all)
    if (each.kind == kind) return each.bytes;
  return 0;
}

void check_args(const char *kind, const sxt_head *args, const char *name) {
  require(args->kind && std::string_view(args->kind) == kind, SXT_E_ARGUMENT, name, " are of kind ", args->kind,
          ", the selection is of kind ", kind);
  const std::uint64_t least = std::max<std::uint64_t>(sizeof(sxt_head), args_bytes(kind));
  require(args->struct_size >= least, SXT_E_ARGUMENT, name, " state a struct_size of ", args->struct_size,
          " bytes; those of kind ", kind, " have ", least);
}

Runner &built(sxt_selection *selection) {
  require(given(selection, "selection").runner != nullptr, SXT_E_STATE,
          "the selection was made with SXT_QUERY_PREDICT_ONLY, so nothing was built that could run");
  return *selection->runner;
}

}  // namespace

sxt_status sxt_kernel_select(sxt_context *context, const sxt_query *query, sxt_matrix *matrix,
                             sxt_selection **selection) {
  return guarded(id_of(context), [&] {
    const std::shared_ptr<Context> &inner = given(context, "context").context;
    given(selection, "selection");
    Query own(query, [&](const char *kind) { inner->check_names(kind, ""); });
    check_runnable(own.kind());
    require(!own.about_matrix() || matrix, SXT_E_ARGUMENT, "the query is about a matrix, but matrix is NULL");
    if (matrix) of_context(matrix, "matrix");
    require(!matrix || matrix->matrix->context().id() == inner->id(), SXT_E_ARGUMENT,
            "matrix belongs to another context");
    const bool builds = !own.has(SXT_QUERY_PREDICT_ONLY);
    own.get()->flags &= ~std::uint32_t{SXT_QUERY_PREDICT_ONLY};
    std::shared_ptr<Matrix> about = own.about_matrix() ? matrix->matrix : nullptr;
    if (about) complete(own, *about);
    Selector selector(*inner, about.get(), {.builds = builds});
    ChoicePtr choice = selector.select({own, own.kind()});
    auto runner = builds ? std::make_unique<Runner>(*inner, choice, about.get()) : nullptr;
    *selection = new sxt_selection{inner, std::move(about), std::move(choice), std::move(runner)};
  });
}

sxt_status sxt_kernel_run(sxt_selection *selection, sxt_head *args) {
  return guarded(id_of(selection), [&] {
    Runner &runner = built(selection);
    check_args(runner.choice().query.kind(), &given(args, "args"), "args");
    if (may_answer(runner.choice().query.kind())) return runner.ask(args);
    runner.run(args);
    return sxt_status{SXT_OK};
  });
}

const char *sxt_selection_kernel(const sxt_selection *selection) {
  return selection ? selection->choice()->kernel->name() : "";
}

sxt_status sxt_selection_cost(const sxt_selection *selection, double *setup_seconds, double *run_seconds) {
  return guarded(id_of(selection), [&] {
    const Choice &choice = *given(selection, "selection").choice();
    if (setup_seconds) *setup_seconds = choice.setup_s + choice.storage_s;
    if (run_seconds) *run_seconds = choice.run_s;
  });
}

sxt_status sxt_selection_explain(const sxt_selection *selection, int32_t form, char *buffer, int64_t capacity,
                                 int64_t *length) {
  return guarded(id_of(selection), [&] {
    const ChoicePtr &choice = given(selection, "selection").choice();
    require(form == SXT_TEXT || form == SXT_JSON, SXT_E_ARGUMENT, "form ", form,
            " is not SXT_TEXT (0) or SXT_JSON (1)");
    Explanation out;
    out.title = std::string("Choice for ") + choice->query.kind();
    out.facts = {{"device", selection->context->describe()}};
    if (selection->matrix)
      out.facts.emplace_back(
          "matrix", text(selection->matrix->rows(), " x ", selection->matrix->cols(), ", ",
                         selection->matrix->csr().nnz, " nonzeros, ", value_name(selection->matrix->value_type())));
    out.choices = {choice};
    fill(form == SXT_JSON ? explain_json(out, selection->context->machine()) : explain_text(out), buffer, capacity,
         length);
  });
}

sxt_status sxt_selection_time(sxt_selection *selection, sxt_head *const *args, int64_t count, double budget_seconds,
                              double *seconds, double *noise) {
  return guarded(id_of(selection), [&] {
    Runner &runner = built(selection);
    given(args, "args");
    require(count >= 1, SXT_E_ARGUMENT, "count is ", count, "; one set of args is the least");
    require(budget_seconds >= 0 && std::isfinite(budget_seconds), SXT_E_ARGUMENT, "budget_seconds is ", budget_seconds,
            ", not a finite number from 0 on");
    const char *kind = runner.choice().query.kind();
    for (std::int64_t i = 0; i < count; ++i)
      check_args(kind, &given(args[i], "an entry of args"), text("args[", i, "]").c_str());
    runner.prepared().refresh_if_stale();
    const std::unique_ptr<Session> session = runner.prepared().open();
    const Timing timing = time_session(*selection->context, *session, {args, static_cast<std::size_t>(count)},
                                       runner.choice().run_s, budget_seconds);
    if (seconds) *seconds = timing.seconds;
    if (noise) *noise = timing.noise;
  });
}

void sxt_selection_destroy(sxt_selection *selection) { destroy(selection); }
