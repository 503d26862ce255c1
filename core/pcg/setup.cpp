// SPDX-License-Identifier: BSD-3-Clause
// Setting a solver up: checks, preconditioner, scaling, engine.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>

#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/choose/make_choice.hpp"
#include "core/pcg/clock.hpp"
#include "core/pcg/solver.hpp"
#include "names/names.hpp"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/residual.h"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/order.h"

namespace sextant {

namespace {

using registry::Kernel;

// Another storage takes as long to build as tens of products save.
constexpr double few_products = 20;
// True residuals that most solves ask for.
constexpr double usual_confirmations = 2;
// A preconditioner's set-up, the scaled entries, and two more passes of the host's calls: on a device at least.
constexpr double scaling_on_device_s = 2.5e-4;

const sxt_preconditioner_ops *ops_of(const Kernel &kernel) {
  return static_cast<const sxt_preconditioner_ops *>(kernel.table.ops);
}

std::int32_t recurrence_code(const std::string &name) {
  if (name.empty()) return 0;
  std::vector<std::string> known{"auto"};
#define SXT_X(suffix, value, text, source) \
  if (name == text) return value;          \
  known.emplace_back(text);
  SXT_RECURRENCE_TABLE(SXT_X)
#undef SXT_X
  fail(SXT_E_UNKNOWN_NAME, unknown_name("recurrence", name, known));
}

template <class Q>
void set_method(Q &field, const std::string &method) {
  std::strncpy(field, method.c_str(), sizeof field - 1);
}

void check_settings(const PcgSettings &settings) {
  require(settings.rtol >= 0 && settings.atol >= 0 && std::isfinite(settings.rtol) && std::isfinite(settings.atol),
          SXT_E_ARGUMENT, "rtol (", settings.rtol, ") and atol (", settings.atol, ") must be finite and not negative");
  require(settings.norm == SXT_NORM_2 || settings.norm == SXT_NORM_MAX, SXT_E_ARGUMENT, "norm ", settings.norm,
          " is not SXT_NORM_2 (0) or SXT_NORM_MAX (1)");
  require(settings.max_iterations >= 0, SXT_E_ARGUMENT, "max_iterations is negative (", settings.max_iterations, ")");
  // Written so that NaN fails; a limit may be infinite.
  require(settings.divergence_limit > 0, SXT_E_ARGUMENT, "divergence_limit is ", settings.divergence_limit,
          "; it must be above 0");
  require(settings.stagnation_window >= 0, SXT_E_ARGUMENT, "stagnation_window is negative (",
          settings.stagnation_window, ")");
  require(settings.time_limit >= 0, SXT_E_ARGUMENT, "time_limit is ", settings.time_limit, ", no time");
  require(settings.expected_solves >= 0 && std::isfinite(settings.expected_solves), SXT_E_ARGUMENT,
          "expected_solves is ", settings.expected_solves, "; it must be finite and not negative");
  require(settings.expected_iterations >= 0 && std::isfinite(settings.expected_iterations), SXT_E_ARGUMENT,
          "expected_iterations is ", settings.expected_iterations, "; it must be finite and not negative");
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

PcgSolver::PcgSolver(std::shared_ptr<Matrix> matrix, const PcgSettings &settings)
    : callers_(std::move(matrix)), matrix_(callers_), base_(callers_), system_(callers_), settings_(settings) {
  const Clock clock;
  const double built_before_s = callers_->built_seconds();
  if (settings_.rtol < 0) settings_.rtol = default_rtol(matrix_->value_type());
  check_settings(settings_);
  precision_wanted();
  recurrence_code(settings_.recurrence);
  take_in_matrix();
  null_space_ = NullSpace(*matrix_, settings_.null_space, settings_.null_space_size);
  settings_.null_space = nullptr;  // copied
  predicted_setup_s_ += looking_seconds() - built_before_s;
  set_up();
  setup_seconds_ = clock.seconds();
}

PcgSolver::~PcgSolver() {
  if (!recorded_.empty()) callers_->unfollow(*this);
}

// All that follows from the values the matrix has now.
void PcgSolver::set_up() {
  build_truth();
  plan();
  build_engine();
  learn_costs();
  if (!compares()) symmetry_work_ = Buffer();
  selected_.clear();
  count_setup(engine_->choice());
  predicted_setup_s_ += probe_seconds_;
  for (const Matrix *each :
       std::set<const Matrix *>{callers_.get(), matrix_.get(), base_.get(), system_.get(), narrow_.get()})
    if (each) predicted_setup_s_ += each->built_seconds();
  version_ = planned_version_ = callers_->version();
  planned_ = true;
}

std::string PcgSolver::storage_wanted() const {
  const std::string format = settings_.format.substr(0, settings_.format.find(':'));
  if (format.empty() || format == "auto") return "";
  const std::string kind = format.find('/') == std::string::npos ? "sxt.storage." + format + "/1" : format;
  if (!matrix_->context().scope().kernels(kind, matrix_->context().device_name()).empty()) return kind;
  std::vector<std::string> known{"auto"};
  for (const registry::Kind *each : matrix_->context().scope().kinds())
    if (const std::string id = each->table.id; id.rfind("sxt.storage.", 0) == 0) known.push_back(format_text(id));
  fail(SXT_E_UNKNOWN_NAME, unknown_name("format", format, known));
}

// "" where a scaling by the diagonal is to be in force. The condition is at most as many times greater without it as
// the diagonal's greatest entry is than its least, and iterations grow by the root of that at most; by how much they do
// in the middle is told in docs/measurements/pcg.md.
std::string PcgSolver::why_not_scaled(double diagonal_ratio) const {
  if (diagonal_ratio == 1) return "the diagonal is constant, so scaling by it would change nothing";
  if (matrix_->context().device().on_host()) return "";
  constexpr double usual_power = 0.2;
  const double saved_s = (1 - std::pow(diagonal_ratio, -usual_power)) * rough_total_s();
  if (!(saved_s < scaling_on_device_s)) return "";
  return text("the diagonal's greatest entry is ", diagonal_ratio, " times its least, so scaling by it would save ",
              seconds_text(saved_s), " as a rule and takes ", seconds_text(scaling_on_device_s));
}

// What is in force unless another one pays: the caller's method, else the diagonal.
void PcgSolver::choose_preconditioner() {
  method_ = settings_.preconditioner;
  if (method_.empty()) {
    const std::string why_not = why_not_scaled(diagonal_ratio_);
    method_ = why_not.empty() ? "jacobi" : "none";
    notes_.push_back(why_not.empty() ? "preconditioner jacobi: a diagonal scaling costs nothing in an iteration"
                                     : "no preconditioner: " + why_not);
  }
  if (method_ == "none") return;
  check_method(method_, matrix_->context());
  build_preconditioner();
  if (scaling_)
    notes_.push_back("A is scaled symmetrically by its diagonal, so no iteration applies the preconditioner");
}

void PcgSolver::build_preconditioner() {
  const auto choose = [this](const LeftOut &) { return select_preconditioner(method_); };
  make_choice(base_->context(), left_out_, choose, [this](const ChoicePtr &choice) {
    preconditioner_choice_ = choice;
    const auto *ops = ops_of(*choice->kernel);
    if (!ops || !ops->scaling) return;  // the engine applies it through its M slot
    preconditioner_ = std::make_unique<Runner>(base_->context(), choice, base_.get());
    count_setup(*choice);
    scale();
  });
}

ChoicePtr PcgSolver::select_preconditioner(const std::string &method) {
  sxt_preconditioner_query query{};
  query.m = base_->query_part(SXT_KIND_PRECONDITIONER, sizeof query, settings_.expected_solves * assumed_iterations_);
  set_method(query.method, method);
  Selector selector(base_->context(), base_.get(), {.left_out = left_out_});
  return selector.select({Query(&query.m.q), "pcg/preconditioner"});
}

// M = S S: instead of applying M, solve S A S (x / s) = S b. Only the storages the engine reads are scaled copies.
void PcgSolver::scale() {
  const auto *ops = ops_of(*preconditioner_choice_->kernel);
  Call call(matrix_->context().device());
  call.check(ops->scaling(preconditioner_->prepared().state(), &scaling_), preconditioner_choice_->kernel->name(),
             "scaling");
  system_ = base_->scaled(scaling_);
}

// y = alpha A x + beta y with the caller's matrix: for the probe.
void PcgSolver::build_product() {
  const double products = 4 * std::max(1.0, settings_.expected_solves);
  sxt_spmv_query product{};
  product.m = matrix_->query_part(SXT_KIND_SPMV, sizeof product, products);
  // So few products pay for no other storage, nor for asking whose would be best. A hand on the choice is not passed
  // over.
  Context &context = matrix_->context();
  const char *by = nullptr;
  const bool free =
      !context.device().on_host() && context.forced(SXT_KIND_SPMV, &by).empty() && !context.plan().loaded();
  const std::string form = free && products < few_products ? SXT_KIND_STORAGE_CSR : "";
  product.n_rhs = 1;
  const auto choose = [&](const LeftOut &left_out) {
    Selector selector(matrix_->context(), matrix_.get(), {.left_out = left_out});
    return selector.select({Query(&product.m.q), "pcg/confirm", form});
  };
  product_ = make_choice(matrix_->context(), left_out_, choose, [&](const ChoicePtr &confirm) {
    auto runner = std::make_unique<Runner>(matrix_->context(), confirm, matrix_.get());
    count_setup(*confirm);
    return runner;
  });
}

Matrix &PcgSolver::engine_matrix(const std::string &method) const {
  if (method != method_) return *base_;
  return narrow_ ? *narrow_ : *system_;
}

// A method that scales is in the system that the engine sees; any other is applied through the engine's slot M.
sxt_pcg_query PcgSolver::engine_query(const std::string &method) const {
  sxt_pcg_query query{};
  const bool scaled = scaling_ && method == method_;
  query.m = engine_matrix(method).query_part(SXT_KIND_PCG, sizeof query, settings_.expected_solves);
  query.m.q.value_type = matrix_->value_type();  // of the vectors, whatever the matrix is held in
  query.m.symmetry = symmetry_;
  if (matrix_->context().deterministic()) query.m.q.flags |= SXT_QUERY_ONE_ORDER;
  query.recurrence = recurrence_code(settings_.recurrence);
  query.preconditioned = method != "none" && !scaled;
  query.iterations = assumed_iterations_;
  set_method(query.preconditioner, query.preconditioned ? method : "none");
  return query;
}

Selector PcgSolver::engine_selector(const std::string &method, SelectorOptions options) const {
  options.left_out = left_out_;
  if (!settings_.engine.empty()) options.forced[SXT_KIND_PCG] = settings_.engine;  // before any other rule
  return Selector(matrix_->context(), &engine_matrix(method), std::move(options));
}

// What it would read is built when it is selected, so its cost is met. The same question is answered once.
// m_s: what an application of M takes, where it is known; 0: there is none, or whoever applies it is to be asked.
ChoicePtr PcgSolver::select_engine(const std::string &method, double m_s) {
  const sxt_pcg_query query = engine_query(method);
  const Query question(&query.m.q);
  ChoicePtr &known = selected_[{question.hash(), &engine_matrix(method)}];
  if (known) return known;
  if (settings_.engine.empty() && storage_wanted().empty())
    known = select_without_composed(method, {}, question, m_s, false);
  if (known) return known;
  predicted_setup_s_ += asking_seconds();
  return known = engine_selector(method).select({question, "pcg", storage_wanted()});
}

// That an engine does not suit a matrix, or does not fit, may turn out only when it is built: then the next best
// serves.
void PcgSolver::build_engine() {
  std::vector<const registry::Kernel *> failed;
  sxt_status last = SXT_E_NO_KERNEL;
  bool asks_again = false;
  const auto build = [&](ChoicePtr each) {
    const registry::Kernel *kernel = each->kernel;
    const bool demanded = each->forced || each->by_plan;
    try {
      engine_ = std::make_unique<Runner>(matrix_->context(), std::move(each), &engine_matrix(method_));
    } catch (const Declined &declined) {  // the engine or a part of it: all is asked again without that kernel
      if (!left_out_.try_emplace(&declined.kernel(), declined.what()).second) throw;
      selected_.clear();
      asks_again = true;
      last = declined.status();
      notes_.push_back(text(kernel->name(), " could not be built: ", declined.what()));
    } catch (const Error &problem) {
      const bool unsuited = problem.status() == SXT_E_NOT_SUPPORTED || problem.status() == SXT_E_MEMORY;
      if (!unsuited || demanded) throw;
      failed.push_back(kernel);
      last = problem.status();
      notes_.push_back(text(kernel->name(), " could not be built: ", problem.what()));
    }
    return engine_ != nullptr;
  };
  if (engine_) return;  // together with its preconditioner, to see whether that can be had
  do {
    asks_again = false;
    try {
      if (build(select_engine(method_))) return;
    } catch (const Error &problem) {
      // All kernels of a method that the plan found declined: the diagonal serves.
      const bool none_left = problem.status() == SXT_E_NO_KERNEL || problem.status() == SXT_E_NOT_SUPPORTED;
      if (!none_left || left_out_.empty() || !settings_.preconditioner.empty() || method_ == "jacobi") throw;
      notes_.push_back(text("preconditioner jacobi instead of ", method_, ": ", problem.what()));
      method_ = "jacobi";
      selected_.clear();
      build_preconditioner();
      asks_again = true;
    }
  } while (asks_again);
  const sxt_pcg_query query = engine_query(method_);
  Selector selector = engine_selector(method_);
  for (ChoicePtr &each : selector.every({Query(&query.m.q), "pcg", storage_wanted()}))
    if (std::find(failed.begin(), failed.end(), each->kernel) == failed.end() && build(std::move(each))) return;
  fail(last == SXT_E_MEMORY ? last : SXT_E_NO_KERNEL, "no engine could be built; the last: ", notes_.back());
}

std::unique_ptr<PcgWorkspace> PcgSolver::take_workspace() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
  }
  Device &device = matrix_->context().device();
  const std::uint64_t bytes = static_cast<std::uint64_t>(matrix_->rows() * value_bytes(matrix_->value_type()));
  auto workspace = std::make_unique<PcgWorkspace>();
  workspace->residual = DeviceBuffer(device, bytes);
  workspace->norms =
      DeviceBuffer(device, sizeof(sxt_residual_norms), device.on_host() ? SXT_SPACE_HOST : SXT_SPACE_PINNED);
  if (device.captures()) workspace->truth_scratch = DeviceBuffer(device, truth_->prepared().bound().scratch_bytes);
  if (narrow_) workspace->sum = DeviceBuffer(device, bytes);
  if (changes_rhs() || narrow_) workspace->rhs = DeviceBuffer(device, bytes);
  if (scaling_ || narrow_ || !null_space_.empty()) workspace->candidate = DeviceBuffer(device, bytes);
  if (!null_space_.empty()) workspace->solvable = DeviceBuffer(device, bytes);
  if (order_) {
    workspace->own_x = DeviceBuffer(device, bytes);
    workspace->own_residual = DeviceBuffer(device, bytes);
  }
  workspace->iterate = DeviceBuffer(device, bytes);
  return workspace;
}

void PcgSolver::give_back(std::unique_ptr<PcgWorkspace> workspace) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(workspace));
  } catch (...) {  // no memory for the pool's list: the workspace is freed
  }
}

Explanation PcgSolver::explain() const {
  const std::lock_guard lock(mutex_);  // new values may change the plan
  Explanation out;
  const Matrix &a = *matrix_;
  out.title =
      "Conjugate gradients: " + text(a.rows(), " unknowns, ", a.csr().nnz, " nonzeros, ", value_name(a.value_type()));
  if (!engine_) {  // planning anew for new values failed
    out.notes = notes_;
    return out;
  }
  const Choice &engine = engine_->choice();
  out.facts = {
      {"device", a.context().describe()},
      {"preconditioner", method_ + (scaling_ ? " (as symmetric scaling)" : "")},
      {"engine", engine.kernel->name()},
      {"order", order_text()},
      {"format", format_text(engine.storage) + (narrow_ ? ", values in f32" : "")},
      {"iterations", text("about ", static_cast<std::int64_t>(expected_iterations_), " (", expected_from_, ")")},
      {"predicted setup", seconds_text(predicted_setup_s_)},
      {"predicted solve", seconds_text(predicted_solve_s(expected_iterations_, usual_confirmations))}};
  if (!null_space_.empty()) out.facts.push_back({"null space", text(null_space_.count(), " given")});
  out.notes = notes_;
  if (preconditioner_choice_ && preconditioner_) out.choices.push_back(preconditioner_choice_);
  out.choices.push_back(engine_->prepared().shared_choice());
  out.choices.push_back(truth_->prepared().shared_choice());
  out.choices.push_back(product_->prepared().shared_choice());
  if (order_) out.choices.push_back(order_->choice);
  for (const auto &[columns, together] : columns_)
    if (together) out.choices.push_back(together->prepared().shared_choice());
  return out;
}

}  // namespace sextant
