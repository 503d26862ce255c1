// SPDX-License-Identifier: BSD-3-Clause
// Preconditioned conjugate gradients, generated: checks the matrix, chooses preconditioner, storage, kernels and engine
// by predicted time to solution, runs the engine, and confirms its answer with the true residual.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/choose/selector.hpp"
#include "core/explain/explain.hpp"
#include "core/matrix/matrix.hpp"
#include "core/pcg/crossing.hpp"
#include "core/pcg/null_space.hpp"
#include "core/plan/plan.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/ordering.h"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/pcg_record.h"
#include "sextant/sextant.h"

namespace sextant {

class Probe;
class Ritz;
struct ProbeOutcome;
class SymmetryTolerance;
struct DiagonalRange;
struct PreconditionerMethod;

// As sxt_pcg_options, with its strings resolved.
struct PcgSettings {
  std::string preconditioner, recurrence, engine, format;  // "" for automatic
  double rtol = -1, atol = 0;                              // rtol negative: default_rtol()
  sxt_norm norm = SXT_NORM_2;
  bool check_symmetry = true;
  double symmetry_tolerance = 0;  // 0: what rounding explains
  std::int64_t max_iterations = 0;
  double divergence_limit = 1e8;
  std::int64_t stagnation_window = 0;
  double time_limit = 0;
  double expected_solves = 1, expected_iterations = 0;
  std::int32_t probe = 0;            // iterations of the probe at most; 0: by its cost, negative: none
  std::int32_t reorder = 0;          // 0: where renumbering is predicted to pay, positive: always, negative: never
  const void *null_space = nullptr;  // the caller's; read by the constructor of PcgSolver alone
  std::int64_t null_space_size = 0;
};

// What a solve can reach in the type's precision on all but badly conditioned matrices, where no tolerance is asked
// for.
double default_rtol(sxt_value_type type);

// As sxt_solve_options, with the set-up's values filled in.
struct SolveSettings {
  bool use_initial_guess = false;
  double rtol, atol;
  std::int64_t max_iterations;
  double time_limit;
  std::int32_t (*progress)(void *user, std::int64_t iteration, double relative_residual) = nullptr;
  void *progress_user = nullptr;
  const volatile std::int32_t *cancel = nullptr;
  double *history = nullptr;
  std::int64_t history_capacity = 0;
  volatile std::int64_t *history_length = nullptr;
  sxt_pcg_report *live = nullptr;  // where every replay of a captured solve writes how it ended; else unused

  // How many residuals stand in the history, for whoever reads it meanwhile: with the residuals before it.
  void publish_length(std::int64_t length) const noexcept {
    if (history_length) __atomic_store_n(history_length, length, __ATOMIC_RELEASE);
  }
};

// Work vectors of one solve; pooled, one a concurrent caller.
struct PcgWorkspace {
  DeviceBuffer rhs, iterate, candidate, residual;
  DeviceBuffer best;                 // of the iterates that were confirmed; made when one was not good enough
  DeviceBuffer guess;                // the caller's, where x is scaled; made when that is met
  DeviceBuffer near;                 // the caller's b scaled, where it lies far from 1; made when that is met
  DeviceBuffer solvable;             // the part of the caller's b that A can reach, where it has a null space
  DeviceBuffer sum;                  // of corrections; made when the first is needed
  DeviceBuffer own_x, own_residual;  // in the caller's order, where the engine's is another
  DeviceBuffer norms;                // of a true residual, in memory that host and device reach
  DeviceBuffer truth_scratch;        // of true residuals in captured solves
  DeviceBuffer staged_b, staged_x;   // of callers whose arrays lie where the device does not reach
};

class PcgSolver : private ValuesFollower {
 public:
  // Throws the statuses that sxt_pcg_create documents.
  PcgSolver(std::shared_ptr<Matrix> matrix, const PcgSettings &settings);
  ~PcgSolver();
  PcgSolver(const PcgSolver &) = delete;
  PcgSolver &operator=(const PcgSolver &) = delete;

  const PcgSettings &settings() const noexcept { return settings_; }
  SolveSettings default_solve() const;
  Matrix &matrix() const noexcept { return *matrix_; }

  // b and x in the context's device space, n values of the matrix's type. Any number of threads. On a stream that is
  // being captured the solve becomes part of its graph, and the report's reason is NONE.
  sxt_pcg_report solve(const void *b, void *x, const SolveSettings &solve);
  // The same with b and x anywhere: what the device does not reach is copied there, and x back.
  sxt_pcg_report solve_array(const void *b, void *x, const SolveSettings &solve);
  // Columns of arrays that lie as for solve_array, solved together in one pass over A for each iteration of all of
  // them. They run unaccompanied: no progress, cancel or time limit.
  struct ArrayColumn {
    const void *b;
    void *x;
    SolveSettings settings;
  };
  static constexpr std::int32_t most_columns = 32;
  void solve_together(std::span<const ArrayColumn> columns, sxt_pcg_report *reports);
  // Whether so many together are predicted to end sooner than one after the other.
  bool together_pays(std::int32_t columns);
  Explanation explain() const;
  double expected_iterations() const noexcept { return expected_iterations_; }
  // Predicted seconds of a solve with as many iterations, its end confirmed once.
  double predicted_seconds() const { return predicted_solve_s(expected_iterations_, 1); }

 private:
  friend class PcgSolve;
  void choose_preconditioner();
  std::string why_not_scaled(double diagonal_ratio) const;
  void build_preconditioner();
  void scale();
  void build_product();
  void build_truth();  // truth.cpp
  ChoicePtr select_preconditioner(const std::string &method);
  sxt_pcg_query engine_query(const std::string &method) const;
  Selector engine_selector(const std::string &method, SelectorOptions options = {}) const;
  ChoicePtr select_engine(const std::string &method, double m_s = 0);
  ChoicePtr select_without_composed(const std::string &method, SelectorOptions options, const Query &question,
                                    double m_s, bool never);
  void build_engine();
  struct Order {  // order.cpp, with those that follow
    ChoicePtr choice;
    DeviceBuffer index;  // the caller's number of each of the engine's rows
    sxt_index_type index_type;
    std::int64_t bandwidth_before = 0, bandwidth = 0;
    bool on_device = false;  // entries were brought into it there
    double move_s = 0;       // predicted seconds of that, or of the host's way
    double took_s = 0;       // measured
  };
  struct Matrices;  // what changes with the order
  void consider_order();
  bool planned(const std::string &role, Query question) const;
  double beside_order_seconds(bool on_device) const;
  double order_seconds(const Choice &ordering);
  std::string why_no_order(const Choice &ordering);
  std::pair<double, double> gather_rates() const;
  double gather_seconds();
  std::shared_ptr<Matrix> make_order(ChoicePtr ordering, bool asked);
  std::shared_ptr<Matrix> bring_into_order(const void *perm);
  bool order_pays(const Choice &here, const Choice &ordering);
  void use_matrix(std::shared_ptr<Matrix> matrix);
  void go_back(Matrices before);
  std::string order_text() const;
  Crossing crossing() const;
  // Whether the engine's b is another than the caller's.
  bool changes_rhs() const { return scaling_ || order_; }
  // Whether what confirm() accepted stands apart from the engine's x.
  bool keeps_answer() const { return changes_rhs() || !null_space_.empty(); }

  PlanKey plan_key() const;  // saved_plan.cpp, with those that follow
  void save_plan() const;
  std::string why_not_as_planned(const SolverPlan &plan) const;
  bool plan_as_saved();

  void plan();  // plan.cpp, with those that follow
  void plan_preconditioner();
  void expect(double iterations);
  bool probes() const;
  double least_iteration_s() const;
  double rough_total_s() const;
  bool chooses_freely() const;
  void set_up();
  bool worth_probing(double probe_s);
  bool worth_knowing(double cost_s);
  std::int64_t more_steps(const Probe &probe, const Ritz &ritz, double step_s, double assumed, double total_s);
  double estimated(const Ritz &ritz, double assumed) const;
  std::unique_ptr<Runner> preconditioner_for_probe();
  bool probe_base(Probe &probe, double total_s);
  void consider_others(Probe &probe, const Choice &engine);
  double consider_polynomial(const PreconditionerMethod &method, double base_iterations, double best_s);
  bool adopt(const PreconditionerMethod &method, double total_s);
  struct Trials;
  std::vector<PreconditionerMethod> by_promise(std::vector<PreconditionerMethod> methods, double iterations,
                                               double iteration_s);
  void infer_base(Trials &trials, const PreconditionerMethod &method, const Ritz &ritz, double iterations);
  void lengthen(Probe &probe, Runner *preconditioner, double step_s, double allowed_s, ProbeOutcome &outcome) const;
  double consider(Probe &probe, const PreconditionerMethod &method, Trials &trials);
  struct Recorded {  // what a captured solve works on
    std::unique_ptr<PcgWorkspace> workspace;
    std::unique_ptr<Session> session;
    int exponent = 0;  // of the matrix as it was taken in, by which x is brought back
    std::string view;  // what it has of the matrix by value: the view of the engine's storage, byte by byte
  };
  bool captured() const;  // record.cpp, with those that follow
  Recorded &recorded();
  void lend_truth(sxt_pcg_record_args &args, PcgWorkspace &work) const;
  sxt_pcg_report record(const void *b, void *x, const SolveSettings &settings);
  std::string engine_view() const;
  struct Looked {  // taken_in.cpp, with those that follow
    bool averaged = false, made_real = false;
    int exponent = 0;
    double diagonal_ratio = 1;
  };
  bool compares() const;
  bool copied() const { return matrix_ != callers_; }
  Looked look_at_values();
  void take_in_matrix();
  std::shared_ptr<Matrix> taken_in_copy(sxt_symmetry symmetry) const;
  void note_what_was_taken_in();
  void take_in_new_values(const Looked &now);
  void note_recorded();
  void tell_recorded();
  void values_changed() noexcept override;
  void refresh_if_stale();  // refresh.cpp, with those that follow: once at the edge of each solve, before anything runs
  void bring_up_to_date();
  void refresh_parts();
  std::string why_plan_anew(const Looked &now) const;
  void plan_anew(const std::string &why);
  void learn_iterations(const sxt_pcg_report &report, double rtol);
  std::unique_ptr<PcgWorkspace> take_workspace();
  void give_back(std::unique_ptr<PcgWorkspace> workspace) noexcept;
  struct InUse {  // from the edge of a solve to its end
    explicit InUse(PcgSolver &of);
    ~InUse();
    InUse(const InUse &) = delete;
    InUse &operator=(const InUse &) = delete;
    PcgSolver &solver;
  };
  struct LentWorkspace {  // goes back whatever happens
    explicit LentWorkspace(PcgSolver &of) : in_use(of), solver(of), workspace(of.take_workspace()) {}
    ~LentWorkspace() { solver.give_back(std::move(workspace)); }
    LentWorkspace(const LentWorkspace &) = delete;
    LentWorkspace &operator=(const LentWorkspace &) = delete;
    const InUse in_use;
    PcgSolver &solver;
    std::unique_ptr<PcgWorkspace> workspace;
  };
  std::string storage_wanted() const;

  // predicted.cpp
  void learn_costs();
  void count_setup(const Choice &built);
  double looking_seconds() const;
  double asking_seconds() const;
  double predicted_solve_s(double iterations, double confirmations) const;
  void predicted_parts(sxt_pcg_report &report) const;

  Runner *columns_engine(std::int32_t columns);  // columns.cpp
  struct OpenColumn;

  // narrow.cpp
  std::string precision_wanted() const;
  bool fill_narrow(const CsrArrays &csr, Buffer &values, Buffer &scaling) const;
  std::shared_ptr<Matrix> make_narrow() const;
  void refresh_narrow();
  void consider_narrow();
  Runner &wide_engine();
  Matrix &engine_matrix(const std::string &method) const;

  std::shared_ptr<Matrix> callers_;
  std::shared_ptr<Matrix> matrix_, base_;    // as it was taken in; that, or its rows and columns in another order
  std::shared_ptr<Matrix> system_, narrow_;  // what the engine sees: base_, or base_ scaled; that in f32, or NULL
  std::optional<Order> order_;               // of base_, where it is not the caller's
  PcgSettings settings_;
  sxt_symmetry symmetry_ = SXT_GENERAL;  // as stated, or as found
  NullSpace null_space_;
  Buffer narrow_values_, narrow_scaling_;  // on the host, from the first new values of a rounded matrix on
  Buffer symmetry_work_;                   // for checking new values, where that matters
  double diagonal_ratio_ = 1;              // the greatest entry of the diagonal over the least, when it was planned
  int exponent_ = 0;                       // matrix_ is 2^exponent_ times the caller's
  bool averaged_ = false;                  // and the mean of it and its transpose
  bool made_real_ = false;                 // and without what rounding left beside the diagonal's real numbers
  std::string method_;                     // the preconditioner in force: "none", "jacobi", ...
  std::vector<std::string> notes_;
  std::unique_ptr<Runner> preconditioner_;  // NULL for "none", and when the engine applies it
  ChoicePtr preconditioner_choice_;
  const void *scaling_ = nullptr;  // s with M = S S, device space, real; NULL: the system is not scaled
  void refresh_chosen();
  LeftOut left_out_;                          // kernels that declined these values
  std::unique_ptr<Runner> engine_, product_;  // product: y = alpha A x + beta y on the caller's matrix
  std::unique_ptr<Runner> truth_;             // b - A x on the caller's matrix: what alone says "converged"
  // What was selected while the set-up was planned, by question and matrix.
  std::map<std::pair<std::uint64_t, const Matrix *>, ChoicePtr> selected_;
  double expected_iterations_ = 0;  // of one solve
  double assumed_iterations_ = 0;   // what choices are made for: on a coarse grid, and on a device the mean
  double mean_over_expected_ = 1;   // of what such expectations turn out to be
  std::string expected_from_;       // where the number comes from
  bool estimate_settled_ = false;
  bool estimate_tells_ = true;  // false: the residual of the probe had not begun to fall
  std::string probe_left_out_;  // why there was none
  std::int64_t probe_steps_ = 0;
  double probe_seconds_ = 0, probe_residual_ = 1;  // the least |r| that it saw, over |b|
  double setup_seconds_ = 0, predicted_setup_s_ = 0;
  struct Costs {  // predicted seconds: an iteration, the engine beside them, before it, a true residual
    double iteration_s = 0, engine_s = 0, start_s = 0, residual_s = 0;
  };
  Costs costs_;
  mutable std::mutex mutex_;                                 // of what follows, and of refreshing
  std::unique_ptr<Runner> wide_engine_;                      // where narrow_ did not serve
  std::map<std::int32_t, std::unique_ptr<Runner>> columns_;  // by how many; NULL: one after the other
  std::uint64_t version_ = 0;                                // of the matrix's values that everything here holds
  std::uint64_t planned_version_ = 0;                        // of those that the plan was made for
  double usual_iterations_ = 0;    // the most that a solve with those took, at the set-up's tolerance
  std::string plan_anew_because_;  // what solves with other values found; "": nothing
  bool planned_ = false;           // false: planning anew failed half-way, and is tried again
  bool graph_is_stale_ = false;    // of a captured solve, and not yet told
  int in_use_ = 0;                 // solves that have passed their edge
  std::vector<std::unique_ptr<PcgWorkspace>> idle_;
  std::vector<std::unique_ptr<Recorded>> recorded_;
};

// Asking engines of a device that leave their steps to other kernels, for every storage: on the host, meanwhile the
// device is idle. Of one such engine, which was named, and of one that leaves nothing but M to others.
inline constexpr double asking_composed_s = 1.2e-3, asking_named_s = 4e-4, asking_with_m_s = 1e-4;

// What preconditioner kernels of a device offer, with the variants worth a try.
struct PreconditionerMethod {
  std::string name;
  bool scales, reference, polynomial;
  double typical_iterations;  // as a share of those with the diagonal; 0: unknown
};
std::vector<PreconditionerMethod> preconditioner_methods(const Context &context);
// Throws SXT_E_UNKNOWN_NAME where no kernel of the device knows the method.
void check_method(const std::string &method, const Context &context);
// Throws SXT_E_NOT_SYMMETRIC naming an entry whose mirror image is missing or differs by more than is allowed. True
// when none differs at all. work: memory that it needs on few threads; kept, another check of the matrix asks for no
// more unless images differ.
bool check_hermitian(const CsrArrays &csr, int threads, Buffer &work, const SymmetryTolerance &tolerance);
// The least and the greatest entry of the diagonal. real: none has an imaginary part, not even one that is rounding.
struct DiagonalRange {
  double least = 1, greatest = 1;
  bool real = true;
  // 1: the diagonal is constant, so that scaling by it changes nothing.
  double ratio() const { return greatest / least; }
};
// Throws SXT_E_DIAGONAL naming the first row whose diagonal is missing, not positive, or not real but for rounding.
DiagonalRange check_diagonal(const CsrArrays &csr, int threads, const SymmetryTolerance &tolerance);
// The power of two that brings a positive definite matrix near 1, so that neither squares of what it multiplies nor
// those of its entries leave the range of the type; 0 where it is near. It changes no digit.
int exponent_near(sxt_value_type type, const DiagonalRange &diagonal);

}  // namespace sextant
