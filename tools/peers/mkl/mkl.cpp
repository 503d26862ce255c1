// SPDX-License-Identifier: BSD-3-Clause
// Intel oneMKL: SpMV by its inspector-executor interface with a hint and optimisation, and its CBLAS. Loaded by name;
// the few prototypes needed are ours, so no header of MKL is.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "../blas.hpp"

namespace {

// Values that MKL documents for these parameters.
enum { lp64 = 0, gnu_threads = 3, no_transpose = 10, general = 20, zero_based = 0, success = 0 };
struct MatrixDescription {
  int type, mode, diagonal;
};
using Handle = void *;

peer::Blas blas{};
std::string description, location;
int (*max_threads)() = nullptr;
int (*create_csr)(Handle *, int, int, int, int *, int *, int *, double *) = nullptr;
int (*set_mv_hint)(Handle, int, MatrixDescription, int) = nullptr;
int (*optimize)(Handle) = nullptr;
int (*mv)(int, double, Handle, MatrixDescription, const double *, double, double *) = nullptr;
int (*destroy)(Handle) = nullptr;
constexpr MatrixDescription general_matrix{general, 0, 0};

// Folders of Python environments, where pip puts the library.
std::vector<std::string> environments() {
  std::vector<std::string> found;
  for (const char *variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char *value = std::getenv(variable)) found.emplace_back(value);
  }
  // The first python3 in PATH: its bin lies beside the environment's lib.
  const char *value = std::getenv("PATH");
  std::string path = value ? value : "";
  while (!path.empty()) {
    const std::size_t colon = path.find(':');
    const std::string folder = path.substr(0, colon);
    if (!folder.empty() && access((folder + "/python3").c_str(), X_OK) == 0) {
      found.push_back(folder + "/..");
      break;
    }
    path = colon == std::string::npos ? "" : path.substr(colon + 1);
  }
  return found;
}

bool open_library(peer::Library &library, const char *const *folders, std::string &tried) {
  const std::vector<std::string> more = environments();
  std::vector<const char *> places;
  for (; *folders; ++folders) places.push_back(*folders);
  for (const std::string &folder : more) places.push_back(folder.c_str());
  places.push_back(nullptr);
  for (const char *file : {"libmkl_rt.so.3", "libmkl_rt.so.2"}) {
    if (library.open_in(places.data(), file, tried) || library.open_path(file, tried)) return true;
  }
  return false;
}

bool find_functions(const peer::Library &library) {
  return blas.find(library) && library.find(max_threads, "MKL_Get_Max_Threads") &&
         library.find(create_csr, "mkl_sparse_d_create_csr") && library.find(set_mv_hint, "mkl_sparse_set_mv_hint") &&
         library.find(optimize, "mkl_sparse_optimize") && library.find(mv, "mkl_sparse_d_mv") &&
         library.find(destroy, "mkl_sparse_destroy");
}

int open(const char *const *folders, std::int32_t threads, sxt_peer_message *message) {
  peer::Library library;
  std::string tried;
  if (!open_library(library, folders, tried)) return peer::say(message, "no libmkl_rt.so: " + tried);
  int (*set_layer)(int) = nullptr, (*set_interface)(int) = nullptr;
  void (*set_threads)(int) = nullptr, (*version)(char *, int) = nullptr;
  if (!library.find(set_layer, "MKL_Set_Threading_Layer") || !library.find(set_interface, "MKL_Set_Interface_Layer") ||
      !library.find(set_threads, "MKL_Set_Num_Threads") || !library.find(version, "MKL_Get_Version_String")) {
    return peer::say(message, library.path() + " lacks functions of MKL");
  }
  // MKL ends the process when a layer is missing, so look first. GNU threads are shared with all other users of OpenMP
  // here.
  const std::string layer = library.folder() + "/libmkl_gnu_thread" + library.path().substr(library.path().find(".so"));
  const bool gnu = dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL) && access(layer.c_str(), R_OK) == 0;
  set_interface(lp64);
  if (gnu) set_layer(gnu_threads);
  if (!find_functions(library)) return peer::say(message, library.path() + " lacks functions of MKL");
  set_threads(threads);
  char text[256] = "";
  version(text, sizeof text);
  description = std::string(text);
  description.erase(description.find_last_not_of(' ') + 1);
  description += gnu ? ", GNU OpenMP" : ", Intel OpenMP";
  location = library.path();
  return 0;
}

int spmv_prepare(const sxt_peer_csr *a, const sxt_peer_effort *effort, void **state, sxt_peer_message *message) {
  Handle handle = nullptr;
  // MKL reads the arrays only; its interface has no const.
  int *row_ptr = const_cast<int *>(a->row_ptr), *col = const_cast<int *>(a->col);
  int status =
      create_csr(&handle, zero_based, a->rows, a->cols, row_ptr, row_ptr + 1, col, const_cast<double *>(a->values));
  if (status == success) status = set_mv_hint(handle, no_transpose, general_matrix, effort->expected_runs);
  if (status == success) status = optimize(handle);
  if (status != success) {
    if (handle) destroy(handle);
    return peer::say(message, "MKL's set-up of SpMV returned " + std::to_string(status));
  }
  *state = handle;
  return 0;
}

sxt_peer table{};

}  // namespace

const sxt_peer *sxt_peer_entry() {
  table.interface_version = SXT_PEER_INTERFACE;
  table.name = "mkl";
  table.open = open;
  table.version = [] { return description.c_str(); };
  table.location = [] { return location.c_str(); };
  table.threads = [] { return max_threads(); };
  table.spmv_prepare = spmv_prepare;
  table.spmv_run = [](void *state, const double *x, double *y) {
    return mv(no_transpose, 1, state, general_matrix, x, 0, y);
  };
  table.spmv_release = [](void *state) { destroy(state); };
  peer::offer<blas>(table);
  return &table;
}
