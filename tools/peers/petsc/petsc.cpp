// SPDX-License-Identifier: BSD-3-Clause
// PETSc: SpMV (AIJ) and CG with Jacobi in one process. PETSc's parallelism is by processes, so here it has one thread.
#include <petscksp.h>

#include <string>

#include "../library.hpp"

namespace {

static_assert(sizeof(PetscInt) == 4 && sizeof(PetscScalar) == 8, "needs a PETSc with 32-bit indices and real doubles");

std::string description;

struct State {
  Mat a = nullptr;
  KSP ksp = nullptr;
  Vec x = nullptr, y = nullptr;
};

// PETSc returns codes; the command needs a sentence with the code.
int failed(sxt_peer_message *message, const char *what, PetscErrorCode code) {
  return peer::say(message, std::string("PETSc: ") + what + " returned " + std::to_string(static_cast<int>(code)));
}

int open(const char *const *, std::int32_t, sxt_peer_message *message) {
  // No file of options, no signal handlers, errors as codes: a peer returns only numbers.
  PetscErrorCode code = PetscOptionsSetValue(nullptr, "-skip_petscrc", "1");
  if (!code) code = PetscOptionsSetValue(nullptr, "-no_signal_handler", "1");
  if (!code) code = PetscInitializeNoArguments();
  if (code) return failed(message, "PetscInitialize", code);
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
  char text[256] = "";
  PetscGetVersion(text, sizeof text);
  description = std::string(text) + ", one process";
  return 0;
}

void release(void *handle) {
  State *state = static_cast<State *>(handle);
  KSPDestroy(&state->ksp);
  VecDestroy(&state->x);
  VecDestroy(&state->y);
  MatDestroy(&state->a);
  delete state;
}

PetscErrorCode make_matrix(const sxt_peer_csr &a, State &state) {
  // PETSc borrows the arrays and does not change them.
  PetscErrorCode code =
      MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, a.rows, a.cols, const_cast<PetscInt *>(a.row_ptr),
                                const_cast<PetscInt *>(a.col), const_cast<double *>(a.values), &state.a);
  if (!code) code = VecCreateSeqWithArray(PETSC_COMM_SELF, 1, a.cols, nullptr, &state.x);
  if (!code) code = VecCreateSeqWithArray(PETSC_COMM_SELF, 1, a.rows, nullptr, &state.y);
  return code;
}

PetscErrorCode make_solver(State &state) {
  PC pc = nullptr;
  PetscErrorCode code = KSPCreate(PETSC_COMM_SELF, &state.ksp);
  if (!code) code = KSPSetOperators(state.ksp, state.a, state.a);
  if (!code) code = KSPSetType(state.ksp, KSPCG);
  // The residual by which all peers are compared; PETSc's default is the preconditioned one.
  if (!code) code = KSPSetNormType(state.ksp, KSP_NORM_UNPRECONDITIONED);
  if (!code) code = KSPGetPC(state.ksp, &pc);
  if (!code) code = PCSetType(pc, PCJACOBI);
  if (!code) code = KSPSetUp(state.ksp);
  return code;
}

int prepare(const sxt_peer_csr *a, bool solver, void **handle, sxt_peer_message *message) {
  State *state = new State;
  PetscErrorCode code = make_matrix(*a, *state);
  if (!code && solver) code = make_solver(*state);
  if (code) {
    release(state);
    return failed(message, "the set-up", code);
  }
  *handle = state;
  return 0;
}

// Runs f with x and y placed into the state's vectors.
template <typename F>
int with_arrays(State &state, const double *x, double *y, F f) {
  VecPlaceArray(state.x, x);
  VecPlaceArray(state.y, y);
  const PetscErrorCode code = f();
  VecResetArray(state.x);
  VecResetArray(state.y);
  return code != 0;
}

int spmv_run(void *handle, const double *x, double *y) {
  State &state = *static_cast<State *>(handle);
  return with_arrays(state, x, y, [&] { return MatMult(state.a, state.x, state.y); });
}

int cg_run(void *handle, const double *b, double *x, double rtol, std::int64_t max_iterations,
           std::int64_t *iterations) {
  State &state = *static_cast<State *>(handle);
  const int status = with_arrays(state, b, x, [&] {
    PetscErrorCode code = KSPSetTolerances(state.ksp, rtol, 0, PETSC_DEFAULT, static_cast<PetscInt>(max_iterations));
    return code ? code : KSPSolve(state.ksp, state.x, state.y);
  });
  PetscInt count = 0;
  KSPGetIterationNumber(state.ksp, &count);
  *iterations = count;
  return status;
}

}  // namespace

const sxt_peer *sxt_peer_entry() {
  static sxt_peer table{};
  table.interface_version = SXT_PEER_INTERFACE;
  table.name = "petsc";
  table.open = open;
  table.version = [] { return description.c_str(); };
  table.threads = [] { return std::int32_t{1}; };
  table.spmv_prepare = [](const sxt_peer_csr *a, const sxt_peer_effort *, void **state, sxt_peer_message *message) {
    return prepare(a, false, state, message);
  };
  table.spmv_run = spmv_run;
  table.spmv_release = release;
  table.cg_prepare = [](const sxt_peer_csr *a, void **state, sxt_peer_message *message) {
    return prepare(a, true, state, message);
  };
  table.cg_run = cg_run;
  table.cg_release = release;
  return &table;
}
