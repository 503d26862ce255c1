// SPDX-License-Identifier: BSD-3-Clause
// Any kernel of any kind.
#include <cmath>
#include <cstdint>

#include "abi/handles.hpp"
#include "core/dispatch/select.hpp"
#include "core/model/session_timing.hpp"

using namespace sextant;
using namespace sextant::abi;

namespace {

// A matrix query is completed from the matrix, so that callers only fill in what is theirs.
void complete(Query &query, const Matrix &matrix) {
  sxt_matrix_query &part = query.matrix_part();
  const sxt_value_type vectors = part.q.value_type ? part.q.value_type : matrix.value_type();
  const double runs = part.q.expected_runs;
  const std::uint32_t flags = part.q.flags;
  part = matrix.query_part(query.kind(), query.get()->h.struct_size, runs);
  part.q.value_type = vectors;
  part.q.flags = flags | SXT_QUERY_MATRIX;
}

}  // namespace

sxt_status sxt_kernel_select(sxt_context *context, const sxt_query *query, sxt_matrix *matrix,
                             sxt_selection **selection) {
  return guarded(id_of(context), [&] {
    const std::shared_ptr<Context> &inner = given(context, "context").context;
    given(selection, "selection");
    Query own(query);
    inner->check_names(own.kind(), "");
    require(!own.about_matrix() || matrix, SXT_E_ARGUMENT, "the query is about a matrix, but matrix is NULL");
    require(!matrix || matrix->matrix->context().id() == inner->id(), SXT_E_ARGUMENT,
            "matrix belongs to another context");
    std::shared_ptr<Matrix> about = own.about_matrix() ? matrix->matrix : nullptr;
    if (about) complete(own, *about);
    ChoicePtr choice = Selector(*inner, about.get()).select(own, own.kind());
    auto runner = std::make_unique<Runner>(*inner, std::move(choice), about.get());
    *selection = new sxt_selection{inner, std::move(about), std::move(runner)};
  });
}

sxt_status sxt_kernel_run(sxt_selection *selection, sxt_head *args) {
  return guarded(id_of(selection), [&] {
    Runner &runner = *given(selection, "selection").runner;
    const char *kind = runner.choice().query.kind();
    require(given(args, "args").kind && std::string_view(args->kind) == kind, SXT_E_ARGUMENT, "args are of kind ",
            args->kind ? args->kind : "NULL", ", the selection is of kind ", kind);
    return runner.run(args);
  });
}

const char *sxt_selection_kernel(const sxt_selection *selection) {
  return selection ? selection->runner->choice().kernel->name() : "";
}

sxt_status sxt_selection_cost(const sxt_selection *selection, double *setup_seconds, double *run_seconds) {
  return guarded(id_of(selection), [&] {
    const Choice &choice = given(selection, "selection").runner->choice();
    if (setup_seconds) *setup_seconds = choice.setup_s + choice.storage_s;
    if (run_seconds) *run_seconds = choice.run_s;
  });
}

sxt_status sxt_selection_explain(const sxt_selection *selection, int32_t form, char *buffer, int64_t capacity,
                                 int64_t *length) {
  return guarded(id_of(selection), [&] {
    const ChoicePtr &choice = given(selection, "selection").runner->prepared().shared_choice();
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
    fill(form == SXT_JSON ? explain_json(out) : explain_text(out), buffer, capacity, length);
  });
}

sxt_status sxt_selection_time(sxt_selection *selection, sxt_head *const *args, int64_t count, double budget_seconds,
                              double *seconds, double *noise) {
  return guarded(id_of(selection), [&] {
    Runner &runner = *given(selection, "selection").runner;
    given(args, "args");
    require(count >= 1, SXT_E_ARGUMENT, "count is ", count, "; one set of args is the least");
    require(budget_seconds >= 0 && std::isfinite(budget_seconds), SXT_E_ARGUMENT, "budget_seconds is ", budget_seconds,
            ", not a finite number from 0 on");
    const char *kind = runner.choice().query.kind();
    for (std::int64_t i = 0; i < count; ++i)
      require(given(args[i], "an entry of args").kind && std::string_view(args[i]->kind) == kind, SXT_E_ARGUMENT,
              "args[", i, "] are of kind ", args[i]->kind ? args[i]->kind : "NULL", ", the selection is of kind ",
              kind);
    runner.prepared().refresh_if_stale();
    const std::unique_ptr<Session> session = runner.prepared().open();
    const Timing timing = time_session(*selection->context, *session, {args, static_cast<std::size_t>(count)},
                                       runner.choice().run_s, budget_seconds);
    if (seconds) *seconds = timing.seconds;
    if (noise) *noise = timing.noise;
  });
}

void sxt_selection_destroy(sxt_selection *selection) { delete selection; }
