// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/choosing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/choose/make_choice.hpp"
#include "core/explain/explain.hpp"
#include "names/names.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/order.h"

namespace sextant {

namespace {

using registry::Kernel;

// Another storage takes as long to build as tens of products save: the least of them.
constexpr double few_products = 20;
// Engines that take long to ask are asked where the least of the others could be beaten by so many times what that
// costs: 2 ms in all, as docs/pcg.md tells. What they take at best, above, is less than any of them takes.
constexpr double worth_asking = 1.7;

// An iteration of an engine on a device whose steps are other kernels, at best: four kernels (product, inner products,
// updates, scalars), of which the second half is enqueued while the first half runs, so that 2.2 launches show; eight
// passes over vectors (r, x and p read and written, q written and read); and half of the matrix without its pattern, as
// where only a triangle is stored by diagonals.
constexpr double launches_at_best = 2.2, vector_passes_at_best = 8, part_of_matrix_at_best = 0.5;
// Vectors that such an iteration goes back to, beside the matrix: x, r, p, q and M r.
constexpr double vectors_kept = 5;
// What the engine that is chosen in the end takes, over that.
constexpr double above_least = 1.3;

const sxt_preconditioner_ops *ops_of(const Kernel &kernel) {
  return static_cast<const sxt_preconditioner_ops *>(kernel.table.ops);
}

template <class Q>
void set_method(Q &field, const std::string &method) {
  std::strncpy(field, method.c_str(), sizeof field - 1);
}

// Plugins built with an older header have shorter ops.
bool tells_more(const sxt_preconditioner_ops &ops) {
  return ops.struct_size >= offsetof(sxt_preconditioner_ops, typical_iterations) + sizeof ops.typical_iterations;
}

}  // namespace

// "block-jacobi:5" is known where "block-jacobi" is: its kernel judges the number.
void check_method(const std::string &method, const Context &context) {
  std::vector<std::string> known{"auto", "none"};
  const std::string plain = method.substr(0, method.find(':'));
  for (const PreconditionerMethod &each : preconditioner_methods(context)) {
    if (each.name == method || each.name == plain) return;
    known.push_back(each.name);
  }
  fail(SXT_E_UNKNOWN_NAME, unknown_name("preconditioner", method, known));
}

std::vector<PreconditionerMethod> preconditioner_methods(const Context &context) {
  std::vector<PreconditionerMethod> methods;
  const auto add = [&](const Kernel &kernel, const char *name, const sxt_preconditioner_ops &ops) {
    for (const PreconditionerMethod &known : methods)
      if (known.name == name) return;
    methods.push_back({name, ops.scaling != nullptr, kernel.has(SXT_KERNEL_REFERENCE),
                       kernel.has(SXT_KERNEL_POLYNOMIAL), tells_more(ops) ? ops.typical_iterations : 0});
  };
  for (const Kernel *kernel : context.scope().kernels(SXT_KIND_PRECONDITIONER, context.device_name())) {
    const auto *ops = ops_of(*kernel);
    if (!ops || !ops->method) continue;
    add(*kernel, ops->method, *ops);
    for (const char *const *each = tells_more(*ops) ? ops->variants : nullptr; each && *each; ++each)
      add(*kernel, *each, *ops);
  }
  return methods;
}

sxt_pcg_query engine_query(const PcgProblem &problem, const EngineSystem &system, const std::string &method,
                           const Expectation &expected) {
  sxt_pcg_query query{};
  const bool scaled = system.scaling() && method == system.method();
  query.m = system.seen_with(method).query_part(SXT_KIND_PCG, sizeof query, problem.settings.expected_solves);
  query.m.q.value_type = problem.matrix().value_type();  // of the vectors, whatever the matrix is held in
  query.m.symmetry = problem.taken.symmetry();
  if (problem.context().deterministic()) query.m.q.flags |= SXT_QUERY_ONE_ORDER;
  query.recurrence = recurrence_wanted(problem.settings);
  query.preconditioned = method != "none" && !scaled;
  query.iterations = expected.assumed;
  set_method(query.preconditioner, query.preconditioned ? method : "none");
  return query;
}

Selector engine_selector(const PcgProblem &problem, const EngineSystem &system, const std::string &method,
                         SelectorOptions options) {
  const std::string &engine = problem.settings.engine;
  if (!engine.empty()) options.forced[SXT_KIND_PCG] = engine;  // before any other rule
  options.asked = named_by_hand(problem.settings);
  return Selector(problem.context(), &system.seen_with(method), std::move(options));
}

double least_iteration_s(const PcgProblem &problem) {
  const sxt_machine &machine = problem.context().machine();
  const auto value = static_cast<double>(value_bytes(problem.matrix().value_type()));
  const double vector = static_cast<double>(problem.matrix().rows()) * value,
               part = static_cast<double>(problem.matrix().csr().nnz) * part_of_matrix_at_best * value;
  const bool cached = vectors_kept * vector + part <= static_cast<double>(machine.cache_bytes);
  return launches_at_best * machine.launch_s +
         (vector_passes_at_best * vector + part) / std::max(1.0, cached ? machine.cache_rate : machine.stream_rate);
}

double rough_total_s(const PcgProblem &problem, const Expectation &expected) {
  return problem.solves() * expected.assumed / expected.mean_over * above_least * least_iteration_s(problem);
}

bool PcgChooser::leave_out(const Declined &declined) {
  return left_out_.try_emplace(&declined.kernel(), declined.what()).second;
}

ChoicePtr PcgChooser::preconditioner(const EngineSystem &system, const std::string &method,
                                     const Expectation &expected) const {
  sxt_preconditioner_query query{};
  query.m = system.base().query_part(SXT_KIND_PRECONDITIONER, sizeof query,
                                     problem_.settings.expected_solves * expected.assumed);
  set_method(query.method, method);
  return Selector(problem_.context(), &system.base(),
                  {.left_out = left_out_, .asked = named_by_hand(problem_.settings)})
      .select({Query(&query.m.q), "pcg/preconditioner"});
}

void PcgChooser::precondition(EngineSystem &system, const std::string &method, const Expectation &expected) {
  const auto choose = [&](const LeftOut &) { return preconditioner(system, method, expected); };
  make_choice(problem_.context(), left_out_, choose, [&](const ChoicePtr &choice) {
    if (system.precondition(method, choice)) costs_.count(*choice);
  });
}

std::unique_ptr<Runner> PcgChooser::preconditioner_for_probe(EngineSystem &system, const Expectation &expected) {
  costs_.count(*system.preconditioner_choice());
  const std::string method = system.method();
  const auto choose = [&](const LeftOut &) { return preconditioner(system, method, expected); };
  return make_choice(problem_.context(), left_out_, choose, [&](const ChoicePtr &choice) {
    system.leave_to_engine(method, choice);
    return std::make_unique<Runner>(problem_.context(), choice, &problem_.matrix());
  });
}

std::unique_ptr<Runner> PcgChooser::product() {
  const double products = 4 * problem_.solves();
  Matrix &matrix = problem_.matrix();
  Context &context = problem_.context();
  sxt_spmv_query product{};
  product.m = matrix.query_part(SXT_KIND_SPMV, sizeof product, products);
  // So few products pay for no other storage, nor for asking whose would be best. A hand on the choice is not passed
  // over.
  const char *by = nullptr;
  const bool free = !problem_.on_host() && context.forced(SXT_KIND_SPMV, &by).empty() && !context.plan().loaded();
  const std::string form = free && products < few_products ? SXT_KIND_STORAGE_CSR : "";
  product.n_rhs = 1;
  const auto choose = [&](const LeftOut &left_out) {
    return Selector(context, &matrix, {.left_out = left_out, .asked = named_by_hand(problem_.settings)})
        .select({Query(&product.m.q), "pcg/confirm", form});
  };
  return make_choice(context, left_out_, choose, [&](const ChoicePtr &choice) {
    auto runner = std::make_unique<Runner>(context, choice, &matrix);
    costs_.count(*choice);
    return runner;
  });
}

ChoicePtr PcgChooser::engine(EngineSystem &system, const std::string &method, const Expectation &expected, double m_s) {
  const sxt_pcg_query query = engine_query(problem_, system, method, expected);
  const Query question(&query.m.q);
  ChoicePtr &known = system.answers[{question.hash(), &system.seen_with(method)}];
  if (known) return known;
  const std::string storage = storage_wanted(problem_.settings, problem_.context());
  if (problem_.settings.engine.empty() && storage.empty())
    known = without_composed(system, method, {}, question, expected, m_s, false);
  if (known) return known;
  costs_.add(asking_seconds(problem_));
  return known = engine_selector(problem_, system, method, {.left_out = left_out_}).select({question, "pcg", storage});
}

// The engine where asking those that are composed of other kernels would take longer than the best of them could save.
// NULL: they have been, or must be, asked; never: though they would have to be, they were not.
ChoicePtr PcgChooser::without_composed(const EngineSystem &system, const std::string &method, SelectorOptions options,
                                       const Query &question, const Expectation &expected, double m_s, bool never) {
  if (problem_.on_host()) return nullptr;  // there it takes a tenth of that
  const double at_best_s = problem_.solves() * expected.assumed * (least_iteration_s(problem_) + m_s);
  bool asked = false;
  options.left_out = left_out_;
  options.slots_not_spared = m_s > 0 ? 1 : 0;
  options.why_not_composed = [&](double least_total_s) -> std::string {
    asked = !(least_total_s - at_best_s < worth_asking * asking_composed_s);
    return asked && !never ? ""
                           : text("not asked, which would take about ", seconds_text(asking_composed_s),
                                  ": the best of the others takes ", seconds_text(least_total_s), ", it at least ",
                                  seconds_text(at_best_s));
  };
  Selector selector = engine_selector(problem_, system, method, std::move(options));
  try {
    ChoicePtr choice = selector.propose({question, "pcg"});
    if (asked && never) return nullptr;
    selector.record(*choice);
    costs_.add(asked ? asking_composed_s : m_s > 0 ? asking_with_m_s : 0);
    return asked || !choice->kernel->has(SXT_KERNEL_REFERENCE) ? choice : nullptr;
  } catch (const Error &problem) {
    if (asked || out_of_memory(problem)) throw;
    return nullptr;
  }
}

ChoicePtr PcgChooser::engine_within(EngineSystem &system, const Expectation &expected, double most_s) {
  const sxt_pcg_query query = engine_query(problem_, system, system.method(), expected);
  const Query question(&query.m.q);
  // A plan that was made without knowing more has an entry for what is expected now.
  if (problem_.context().plan().loaded() &&
      !engine_selector(problem_, system, system.method(), {}).is_planned({question, "pcg"}))
    return nullptr;
  ChoicePtr choice = without_composed(system, system.method(), {.builds = false, .most_features_s = most_s}, question,
                                      expected, 0, true);
  if (!choice || choice->held_back) return nullptr;
  return system.answers[{question.hash(), &system.seen()}] = std::move(choice);
}

// Engines that could not be built so far, and the status of the last.
struct PcgChooser::Failures {
  std::vector<const Kernel *> kernels;
  sxt_status last = SXT_E_NO_KERNEL;
  bool asks_again = false;  // a kernel declined: without it another engine, or another part of it, may be chosen
};

// That an engine does not suit a matrix, or does not fit, may turn out only when it is built: NULL.
std::unique_ptr<Runner> PcgChooser::build(EngineSystem &system, ChoicePtr choice, Failures &failures) {
  const Kernel *const kernel = choice->kernel;
  const bool demanded = choice->forced || choice->by_plan;
  try {
    return std::make_unique<Runner>(problem_.context(), std::move(choice), &system.seen());
  } catch (const Declined &declined) {  // the engine or a part of it: all is asked again without that kernel
    if (!leave_out(declined)) throw;
    system.answers.clear();
    failures.asks_again = true;
    failures.last = declined.status();
    notes_.push_back(text(kernel->name(), " could not be built: ", declined.what()));
  } catch (const Error &problem) {
    const bool unsuited = problem.status() == SXT_E_NOT_SUPPORTED || out_of_memory(problem);
    if (!unsuited || demanded) throw;
    failures.kernels.push_back(kernel);
    failures.last = problem.status();
    notes_.push_back(text(kernel->name(), " could not be built: ", problem.what()));
  }
  return nullptr;
}

std::unique_ptr<Runner> PcgChooser::build_engine(EngineSystem &system, const Expectation &expected) {
  Failures failures;
  do {
    failures.asks_again = false;
    try {
      if (auto built = build(system, engine(system, system.method(), expected), failures)) return built;
    } catch (const Error &problem) {
      // All kernels of a method that the plan found declined: the diagonal serves.
      const bool none_left = problem.status() == SXT_E_NO_KERNEL || problem.status() == SXT_E_NOT_SUPPORTED;
      if (!none_left || left_out_.empty() || !problem_.settings.preconditioner.empty() || system.method() == "jacobi")
        throw;
      notes_.push_back(text("preconditioner jacobi instead of ", system.method(), ": ", problem.what()));
      system.answers.clear();
      precondition(system, "jacobi", expected);
      failures.asks_again = true;
    }
  } while (failures.asks_again);
  const sxt_pcg_query query = engine_query(problem_, system, system.method(), expected);
  Selector selector = engine_selector(problem_, system, system.method(), {.left_out = left_out_});
  const std::string storage = storage_wanted(problem_.settings, problem_.context());
  for (ChoicePtr &each : selector.every({Query(&query.m.q), "pcg", storage})) {
    if (std::count(failures.kernels.begin(), failures.kernels.end(), each->kernel) > 0) continue;
    if (auto built = build(system, std::move(each), failures)) return built;
  }
  fail(failures.last == SXT_E_MEMORY ? SXT_E_MEMORY : SXT_E_NO_KERNEL,
       "no engine could be built; the last: ", notes_.back());
}

}  // namespace sextant
