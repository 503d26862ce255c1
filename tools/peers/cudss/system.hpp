// SPDX-License-Identifier: BSD-3-Clause
// One symmetric positive definite matrix in cuDSS, f64 and i32, its upper triangle in device memory. The library and
// the CUDA runtime are loaded by name; the declarations are ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "../library.hpp"

namespace cudss_peer {

enum { memory_to_device = 1, memory_to_host = 2 };
enum { analysis_phase = 1 | 2, factorization = 4, refactorization = 8, solve_phase = 0x3f0 };
enum { uniform_batch_size = 18, uniform_batch_index = 19 };  // configurations of cuDSS 1.0
enum { r_32i = 10, r_64f = 1, positive_definite = 3, upper_view = 2, zero_based = 0, column_major = 0 };

// The functions that are used; filled by load().
struct Functions {
  int (*alloc)(void **, std::size_t) = nullptr;
  int (*free)(void *) = nullptr;
  int (*copy)(void *, const void *, std::size_t, int) = nullptr;
  int (*synchronize)() = nullptr;
  int (*create)(void **) = nullptr;
  int (*create_config)(void **) = nullptr;
  int (*set_config)(void *, int, const void *, std::size_t) = nullptr;
  int (*create_data)(void *, void **) = nullptr;
  int (*create_csr)(void **, std::int64_t, std::int64_t, std::int64_t, const void *, const void *, const void *,
                    const void *, int, int, int, int, int, int) = nullptr;
  int (*create_dense)(void **, std::int64_t, std::int64_t, std::int64_t, const void *, int, int) = nullptr;
  int (*execute)(void *, int, void *, void *, void *, void *, void *) = nullptr;
  int (*destroy)(void *) = nullptr;
  int (*destroy_config)(void *) = nullptr;
  int (*destroy_data)(void *, void *) = nullptr;
  int (*destroy_matrix)(void *) = nullptr;
  int (*property)(int, int *) = nullptr;

  // False, with the places that were tried, where a library is missing or too old.
  bool load(const char *const *folders, std::string &tried, std::string &location) {
    static peer::Library runtime, cudss;
    const auto open = [&](peer::Library &library, const std::vector<std::string> &names) {
      for (const std::string &name : names)
        if (library.open_in(folders, name, tried) || library.open_path(name, tried)) return true;
      return false;
    };
    if (!open(runtime, {"libcudart.so.13", "libcudart.so.12"})) return false;
    if (!open(cudss, {"libcudss.so.1", "libcudss.so.0"})) return false;
    location = cudss.path();
    const bool all = runtime.find(alloc, "cudaMalloc") && runtime.find(free, "cudaFree") &&
                     runtime.find(copy, "cudaMemcpy") && runtime.find(synchronize, "cudaDeviceSynchronize") &&
                     cudss.find(create, "cudssCreate") && cudss.find(create_config, "cudssConfigCreate") &&
                     cudss.find(set_config, "cudssConfigSet") && cudss.find(create_data, "cudssDataCreate") &&
                     cudss.find(create_csr, "cudssMatrixCreateCsr") &&
                     cudss.find(create_dense, "cudssMatrixCreateDn") && cudss.find(execute, "cudssExecute") &&
                     cudss.find(destroy, "cudssDestroy") && cudss.find(destroy_config, "cudssConfigDestroy") &&
                     cudss.find(destroy_data, "cudssDataDestroy") && cudss.find(destroy_matrix, "cudssMatrixDestroy") &&
                     cudss.find(property, "cudssGetProperty");
    if (!all) tried += "; a function is missing in " + location;
    return all;
  }
};

inline void need(int status, const char *what) {
  if (status) throw std::runtime_error(std::string("could not ") + what + ", status " + std::to_string(status));
}

class DeviceArray {
 public:
  DeviceArray(const Functions &functions, std::size_t bytes) : functions_(functions) {
    need(functions.alloc(&data_, bytes ? bytes : 1), "allocate device memory");
  }
  DeviceArray(const DeviceArray &) = delete;
  ~DeviceArray() { functions_.free(data_); }
  void *data() const { return data_; }
  void put(const void *from, std::size_t bytes) { need(functions_.copy(data_, from, bytes, memory_to_device), "copy"); }

 private:
  const Functions &functions_;
  void *data_ = nullptr;
};

class System {
 public:
  // Both triangles of the matrix: places of the upper one are kept, so that values may come again. sets > 1: a uniform
  // batch of so many matrices of the pattern, whose values, right-hand sides and solutions follow one another.
  System(const Functions &functions, const sxt_peer_csr &a, std::int64_t sets = 1)
      : f_(functions),
        rows_(a.rows),
        nnz_(a.nnz),
        sets_(sets),
        triangle_(upper(a)),
        ptr_(f_, sizeof(std::int32_t) * (std::size_t(a.rows) + 1)),
        col_(f_, sizeof(std::int32_t) * triangle_.from.size()),
        values_(f_, sizeof(double) * triangle_.from.size() * static_cast<std::size_t>(sets)) {
    ptr_.put(triangle_.ptr.data(), sizeof(std::int32_t) * triangle_.ptr.size());
    col_.put(triangle_.col.data(), sizeof(std::int32_t) * triangle_.col.size());
    if (sets == 1) put_values(a.values);
    try {
      need(f_.create(&handle_), "open cuDSS");
      need(f_.create_config(&config_), "make a configuration");
      if (sets > 1) make_batch();
      need(f_.create_data(handle_, &data_), "make its data");
      need(f_.create_csr(&matrix_, rows_, rows_, static_cast<std::int64_t>(triangle_.from.size()), ptr_.data(), nullptr,
                         col_.data(), values_.data(), r_32i, r_32i, r_64f, positive_definite, upper_view, zero_based),
           "describe the matrix");
      need(f_.create_dense(&none_, rows_, 1, rows_, nullptr, r_64f, column_major), "describe vectors");
      run(analysis_phase, none_, none_);
    } catch (...) {
      clear();
      throw;
    }
  }
  System(const System &) = delete;
  ~System() { clear(); }

  // Of all sets, as the matrix has them.
  void put_values(const double *values) {
    const std::size_t each = triangle_.from.size();
    picked_.resize(each * static_cast<std::size_t>(sets_));
    for (std::int64_t set = 0; set < sets_; ++set)
      for (std::size_t k = 0; k < each; ++k)
        picked_[static_cast<std::size_t>(set) * each + k] = values[set * nnz_ + triangle_.from[k]];
    values_.put(picked_.data(), sizeof(double) * picked_.size());
  }
  // The first time a factorisation, later a refactorisation; has ended when it returns.
  void factor() {
    run(factored_ ? refactorization : factorization, none_, none_);
    factored_ = true;
  }
  // Arrays in device memory, columns without gaps.
  void solve(const void *b, void *x, std::int64_t columns) {
    void *right = nullptr, *left = nullptr;
    need(f_.create_dense(&right, rows_, columns, rows_, b, r_64f, column_major), "describe right-hand sides");
    int status = f_.create_dense(&left, rows_, columns, rows_, x, r_64f, column_major);
    if (!status) status = f_.execute(handle_, solve_phase, config_, data_, matrix_, left, right);
    if (!status) status = f_.synchronize();
    f_.destroy_matrix(right);
    if (left) f_.destroy_matrix(left);
    need(status, "solve");
  }
  std::int64_t rows() const { return rows_; }

 private:
  struct Triangle {
    std::vector<std::int32_t> ptr, col;
    std::vector<std::int64_t> from;
  };
  static Triangle upper(const sxt_peer_csr &a) {
    Triangle t;
    t.ptr.push_back(0);
    for (std::int32_t i = 0; i < a.rows; ++i) {
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        if (a.col[k] >= i) t.col.push_back(a.col[k]), t.from.push_back(k);
      t.ptr.push_back(static_cast<std::int32_t>(t.col.size()));
    }
    return t;
  }
  void make_batch() {
    const int size = static_cast<int>(sets_), all = -1;
    need(f_.set_config(config_, uniform_batch_size, &size, sizeof size), "make a batch");
    need(f_.set_config(config_, uniform_batch_index, &all, sizeof all), "take all of a batch");
  }
  void run(int phase, void *x, void *b) {
    need(f_.execute(handle_, phase, config_, data_, matrix_, x, b), "run a phase of cuDSS");
    need(f_.synchronize(), "wait for cuDSS");
  }
  void clear() {
    for (void *each : {matrix_, none_})
      if (each) f_.destroy_matrix(each);
    if (data_) f_.destroy_data(handle_, data_);
    if (config_) f_.destroy_config(config_);
    if (handle_) f_.destroy(handle_);
  }

  const Functions &f_;
  std::int64_t rows_, nnz_, sets_;
  Triangle triangle_;
  DeviceArray ptr_, col_, values_;
  std::vector<double> picked_;
  void *handle_ = nullptr, *config_ = nullptr, *data_ = nullptr, *matrix_ = nullptr, *none_ = nullptr;
  bool factored_ = false;
};

}  // namespace cudss_peer
