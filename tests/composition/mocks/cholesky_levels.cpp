// SPDX-License-Identifier: BSD-3-Clause
// cholesky.levels.cpu: a right-looking supernodal factorisation, one level of the supernode tree at a time. It only
// schedules: every dense operation goes through a slot, all supernodes of a level in one grouped call.
#include <cstdint>
#include <limits>
#include <memory>

#include "cholesky_groups.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;
using namespace mock::cholesky;

namespace {

// A kind of its own with the struct and the args of sxt.cholesky/1, of which it does two phases.
constexpr const char *kind_id = "com.example.cholesky_levels/1";

enum { POTRF, TRSM, UPDATE };  // slots
enum { DIAGONAL, BELOW };      // instances of the slot UPDATE

struct State {
  const sxt_symbolic *symbolic;
  std::vector<std::vector<std::int64_t>> levels;
  std::vector<std::int32_t> super_of;           // of a column
  std::int64_t updates = 0, update_values = 0;  // in the largest level
};

struct Session {
  const sxt_filled *slots;
  double *values;  // the factor of the call
  std::vector<double> temporary, permuted;
  Group potrf, trsm, syrk, gemm;
};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_cholesky_query>(query);
  if (q.m.matrix_type != SXT_F64) return refuse(reason, "the matrix is not f64");
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *slots,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  double run_s = 1e-9 * static_cast<double>(as<sxt_cholesky_query>(query).nnz_l);
  for (int slot = 0; slot < 3; ++slot) run_s += slots[slot].run_s;
  CandidateList(out, capacity, count).add().run_s = run_s;
  return SXT_OK;
}

sxt_status slot_query(const sxt_query *query, std::uint64_t slot, std::uint64_t instance, const char *kind, void *out,
                      std::uint64_t capacity) {
  static const std::int32_t operations[3][2] = {
      {SXT_DENSE_POTRF, 0}, {SXT_DENSE_TRSM, 0}, {SXT_DENSE_SYRK, SXT_DENSE_GEMM}};
  if (instance > 1 || operations[slot][instance] == 0) return SXT_NOT_APPLICABLE;
  if (capacity < sizeof(sxt_dense_query)) return SXT_E_OVERFLOW;
  const auto &asked = as<sxt_cholesky_query>(query);
  auto &dense = *static_cast<sxt_dense_query *>(out);
  dense.q = {head<sxt_dense_query>(kind), asked.m.q.expected_runs, 0, SXT_F64};
  dense.operation = operations[slot][instance];
  dense.count = asked.n_super;
  dense.max_m = dense.max_n = dense.max_k = asked.max_rows;
  dense.flops = asked.flops / 4;
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    if (!problem->data || !is_kind(*problem->data, SXT_KIND_SYMBOLIC))
      return error(exec, SXT_E_ARGUMENT, "the problem has no symbolic structure");
    auto state = std::make_unique<State>();
    const sxt_symbolic &symbolic = *(state->symbolic = &as<sxt_symbolic>(problem->data));
    state->levels = levels_of(symbolic);
    state->super_of.resize(symbolic.n);
    for (std::int64_t s = 0; s < symbolic.n_super; ++s)
      for (std::int64_t j = symbolic.super_ptr[s]; j < symbolic.super_ptr[s + 1]; ++j)
        state->super_of[j] = static_cast<std::int32_t>(s);
    for (const auto &level : state->levels) {
      std::int64_t updates = 0, values = 0;
      for (const std::int64_t s : level) {
        const Panel panel = panel_of(symbolic, s, nullptr);
        for_each_target(panel, state->super_of, [&](std::int64_t begin, std::int64_t end) {
          ++updates, values += (panel.rows - begin) * (end - begin);
        });
      }
      state->updates = std::max(state->updates, updates);
      state->update_values = std::max(state->update_values, values);
    }
    return give(state.release(), out);
  });
}

sxt_status open(const void *opaque, const sxt_filled *slots, const sxt_exec *exec, void **out) {
  return guard(exec, [&] {
    const State &state = *static_cast<const State *>(opaque);
    auto session = std::make_unique<Session>();
    session->slots = slots;
    session->temporary.resize(state.update_values);
    session->permuted.resize(state.symbolic->n);
    for (Group *group : {&session->potrf, &session->trsm}) group->reserve(state.symbolic->n_super);
    for (Group *group : {&session->syrk, &session->gemm}) group->reserve(state.updates);
    return give(session.release(), out);
  });
}

void scatter_matrix(const sxt_symbolic &symbolic, const double *a, double *values) {
  std::fill(values, values + symbolic.values, 0.0);
  for (std::int64_t k = 0; k < symbolic.n_entries; ++k) values[symbolic.entry_to[k]] = a[symbolic.entry_from[k]];
}

// The grouped calls of a level, in the order in which they run; updates go into temporaries.
void collect(const State &state, Session &s, const std::vector<std::int64_t> &level) {
  for (Group *group : {&s.potrf, &s.trsm, &s.syrk, &s.gemm}) group->clear();
  double *free = s.temporary.data();
  for (const std::int64_t super : level) {
    const Panel p = panel_of(*state.symbolic, super, s.values);
    s.potrf.add(0, p.width, 0, {p.values, p.rows});
    if (p.rows > p.width) s.trsm.add(p.rows - p.width, p.width, 0, {p.values, p.rows}, {p.at(p.width, 0), p.rows});
    for_each_target(p, state.super_of, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t n = end - begin, ld = p.rows - begin;
      s.syrk.add(0, n, p.width, {p.at(begin, 0), p.rows}, {}, {free, ld});
      if (p.rows > end)
        s.gemm.add(p.rows - end, n, p.width, {p.at(end, 0), p.rows}, {p.at(begin, 0), p.rows}, {free + n, ld});
      free += ld * n;
    });
  }
  std::fill(s.temporary.data(), free, 0.0);
}

// Adds the updates of a level to the panels they are for.
void scatter_updates(const State &state, Session &s, const std::vector<std::int64_t> &level) {
  std::size_t item = 0;
  for (const std::int64_t super : level) {
    const Panel p = panel_of(*state.symbolic, super, s.values);
    for_each_target(p, state.super_of, [&](std::int64_t begin, std::int64_t end) {
      const Panel target = panel_of(*state.symbolic, state.super_of[p.row[begin]], s.values);
      const double *update = s.syrk.c(item++);
      for (std::int64_t j = begin; j < end; ++j)
        for (std::int64_t i = j; i < p.rows; ++i)
          *target.at(target.place(p.row[i]), p.row[j] - target.first) +=
              update[(i - begin) + (j - begin) * (p.rows - begin)];
    });
  }
}

// Notes the first pivot of a level that failed.
void check_pivots(const State &state, const Session &s, const std::vector<std::int64_t> &level,
                  const sxt_cholesky_args &args) {
  for (std::size_t item = 0; item < s.potrf.size(); ++item) {
    if (s.potrf.info(item) == 0) continue;
    const std::int64_t column = state.symbolic->super_ptr[level[item]] + s.potrf.info(item) - 1;
    if (*args.failed_column >= 0 && column > *args.failed_column) continue;
    *args.failed_column = column;
    const Panel p = panel_of(*state.symbolic, level[item], s.values);
    *args.failed_pivot = *p.at(column - p.first, column - p.first);
  }
}

sxt_status factor(const State &state, Session &s, const sxt_cholesky_args &args, const sxt_exec *exec) {
  *args.failed_column = -1;
  *args.failed_pivot = std::numeric_limits<double>::quiet_NaN();
  scatter_matrix(*state.symbolic, static_cast<const double *>(args.values), s.values);
  const auto part = [&](int slot, int instance) -> const sxt_bound & { return *s.slots[slot].parts[instance]; };
  for (const auto &level : state.levels) {
    collect(state, s, level);
    sxt_status status = s.potrf.run(SXT_DENSE_POTRF, part(POTRF, 0), *exec);
    if (status == SXT_OK) check_pivots(state, s, level, args);
    if (*args.failed_column >= 0) return status;
    if (status == SXT_OK) status = s.trsm.run(SXT_DENSE_TRSM, part(TRSM, 0), *exec);
    if (status == SXT_OK) status = s.syrk.run(SXT_DENSE_SYRK, part(UPDATE, DIAGONAL), *exec);
    if (status == SXT_OK) status = s.gemm.run(SXT_DENSE_GEMM, part(UPDATE, BELOW), *exec);
    if (status != SXT_OK) return status;
    scatter_updates(state, s, level);
  }
  return SXT_OK;
}

// One right-hand side: L y = P b, then L' P x = y.
void solve(const State &state, Session &s, double *caller) {
  const sxt_symbolic &symbolic = *state.symbolic;
  double *const b = s.permuted.data();
  for (std::int64_t k = 0; k < symbolic.n; ++k) b[k] = caller[symbolic.perm[k]];
  for (std::int64_t super = 0; super < symbolic.n_super; ++super) {
    const Panel p = panel_of(symbolic, super, s.values);
    for (std::int64_t j = 0; j < p.width; ++j) {
      const double y = b[p.row[j]] /= *p.at(j, j);
      for (std::int64_t i = j + 1; i < p.rows; ++i) b[p.row[i]] -= *p.at(i, j) * y;
    }
  }
  for (std::int64_t super = symbolic.n_super; super-- > 0;) {
    const Panel p = panel_of(symbolic, super, s.values);
    for (std::int64_t j = p.width; j-- > 0;) {
      for (std::int64_t i = j + 1; i < p.rows; ++i) b[p.row[j]] -= *p.at(i, j) * b[p.row[i]];
      b[p.row[j]] /= *p.at(j, j);
    }
  }
  for (std::int64_t k = 0; k < symbolic.n; ++k) caller[symbolic.perm[k]] = b[k];
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  return guard(exec, [&]() -> sxt_status {
    const auto &args = as<sxt_cholesky_args>(head);
    const State &state = *static_cast<const State *>(opaque);
    Session &s = *static_cast<Session *>(session);
    s.values = static_cast<double *>(args.factor);
    if (args.phase == SXT_CHOLESKY_FACTOR) return factor(state, s, args, exec);
    for (std::int64_t column = 0; column < args.n_rhs; ++column)
      solve(state, s, static_cast<double *>(args.b) + column * args.ldb);
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  static const char *const dense[] = {SXT_KIND_DENSE, nullptr};
  static const sxt_slot slots[] = {
      {"potrf", dense, 0, 1, 1, 0}, {"trsm", dense, 0, 1, 1, 0}, {"update", dense, 0, 2, 2, 0}};
  sxt_kernel k = new_kernel(kind_id, "cholesky.levels.cpu", "cpu", "grouped dense operations, level by level", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = type_bit(SXT_F64);
  k.slots = slots;
  k.n_slots = 3;
  k.applicable = applicable;
  k.candidates = candidates;
  k.slot_query = slot_query;
  k.prepare = prepare;
  k.open = open;
  k.close = destroy<Session>;
  k.release = destroy<State>;
  return k;
}();

const sxt_kind kind = new_kind(kind_id, "one scheduler of a sparse Cholesky factorisation");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel, &kind>("hard-cholesky", out);
}
