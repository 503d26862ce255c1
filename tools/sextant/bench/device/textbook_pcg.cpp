// SPDX-License-Identifier: BSD-3-Clause
#include "bench/device/textbook_pcg.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "sextant/sdk/vendor.hpp"

namespace tool {
namespace {

// The vendor's interface as far as it is used here, declared from its documentation.
enum { k32BitIndices = 2, zero_based = 0, real64 = 1, no_transpose = 0, default_algorithm = 0, left_side = 0 };

}  // namespace

struct DeviceTextbookPcg::Libraries {
  static constexpr const char *blas_names[] = {"libcublas.so.13", "libcublas.so.12"};
  static constexpr const char *sparse_names[] = {"libcusparse.so.12", "libcusparse.so.13"};
  sextant::plugin::VendorLibrary blas{blas_names}, sparse{sparse_names};

  int (*blas_create)(void **) = nullptr, (*blas_destroy)(void *) = nullptr;
  int (*dot)(void *, int, const double *, int, const double *, int, double *) = nullptr;
  int (*axpy)(void *, int, const double *, const double *, int, double *, int) = nullptr;
  int (*scal)(void *, int, const double *, double *, int) = nullptr;
  int (*copy)(void *, int, const double *, int, double *, int) = nullptr;
  int (*nrm2)(void *, int, const double *, int, double *) = nullptr;
  int (*dgmm)(void *, int, int, int, const double *, int, const double *, int, double *, int) = nullptr;
  int (*sparse_create)(void **) = nullptr, (*sparse_destroy)(void *) = nullptr;
  int (*create_csr)(void **, std::int64_t, std::int64_t, std::int64_t, void *, void *, void *, int, int, int,
                    int) = nullptr;
  int (*create_vector)(void **, std::int64_t, void *, int) = nullptr;
  int (*set_vector)(void *, void *) = nullptr;
  int (*destroy_csr)(const void *) = nullptr, (*destroy_vector)(const void *) = nullptr;
  int (*buffer_size)(void *, int, const void *, const void *, const void *, const void *, void *, int, int,
                     std::size_t *) = nullptr;
  int (*spmv)(void *, int, const void *, const void *, const void *, const void *, void *, int, int, void *) = nullptr;

  Libraries() {
    blas.find(blas_create, "cublasCreate_v2");
    blas.find(blas_destroy, "cublasDestroy_v2");
    blas.find(dot, "cublasDdot_v2");
    blas.find(axpy, "cublasDaxpy_v2");
    blas.find(scal, "cublasDscal_v2");
    blas.find(copy, "cublasDcopy_v2");
    blas.find(nrm2, "cublasDnrm2_v2");
    blas.find(dgmm, "cublasDdgmm");
    sparse.find(sparse_create, "cusparseCreate");
    sparse.find(sparse_destroy, "cusparseDestroy");
    sparse.find(create_csr, "cusparseCreateCsr");
    sparse.find(create_vector, "cusparseCreateDnVec");
    sparse.find(set_vector, "cusparseDnVecSetValues");
    sparse.find(destroy_csr, "cusparseDestroySpMat");
    sparse.find(destroy_vector, "cusparseDestroyDnVec");
    sparse.find(buffer_size, "cusparseSpMV_bufferSize");
    sparse.find(spmv, "cusparseSpMV");
  }
};

struct DeviceTextbookPcg::Arrays {
  int n = 0;
  Vector row_ptr, col, values, inverse, r, z, p, q, buffer;
  void *blas = nullptr, *sparse = nullptr, *a = nullptr, *p_vector = nullptr, *q_vector = nullptr;
};

namespace {

double *data(const Vector &v) { return static_cast<double *>(sxt_vector_data(v.get())); }

// Words of the host on the device, as f32 elements: what is copied is bits.
Vector upload(sxt_context *context, const void *from, std::int64_t words) {
  sxt_vector *there = nullptr;
  check(sxt_vector_create(context, words, SXT_F32, &there), context);
  Vector owned(there);
  check(sxt_vector_write(there, from), context);
  return owned;
}
Vector values_on_device(sxt_context *context, std::int64_t n) {
  sxt_vector *made = nullptr;
  check(sxt_vector_create(context, n, SXT_F64, &made), context);
  return Vector(made);
}

std::vector<double> inverse_diagonal(const textbook::Csr &csr) {
  const auto *row_ptr = static_cast<const std::int32_t *>(csr.row_ptr),
             *col = static_cast<const std::int32_t *>(csr.col);
  std::vector<double> inverse(static_cast<std::size_t>(csr.rows), 1);
  for (std::int64_t i = 0; i < csr.rows; ++i)
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
      if (col[k] == i) inverse[i] = 1 / csr.values[k];
  return inverse;
}

void need(int status, const char *call) {
  if (status != 0) fail(exit_not_solved, "{} answered {}", call, status);
}

}  // namespace

DeviceTextbookPcg::DeviceTextbookPcg() : libraries_(new Libraries), arrays_(new Arrays) {}

DeviceTextbookPcg::~DeviceTextbookPcg() {
  if (arrays_->a) libraries_->destroy_csr(arrays_->a);
  if (arrays_->p_vector) libraries_->destroy_vector(arrays_->p_vector);
  if (arrays_->q_vector) libraries_->destroy_vector(arrays_->q_vector);
  if (arrays_->sparse) libraries_->sparse_destroy(arrays_->sparse);
  if (arrays_->blas) libraries_->blas_destroy(arrays_->blas);
}

std::unique_ptr<DeviceTextbookPcg> DeviceTextbookPcg::make(sxt_context *context, const textbook::Csr &csr,
                                                           std::string &why) {
  std::unique_ptr<DeviceTextbookPcg> out(new DeviceTextbookPcg);
  const Libraries &lib = *out->libraries_;
  Arrays &v = *out->arrays_;
  if (!lib.blas.is_open() || !lib.sparse.is_open()) {
    why = !lib.blas.is_open() ? lib.blas.why() : lib.sparse.why();
    return nullptr;
  }
  if (csr.index_type != SXT_I32 || csr.offset_type != SXT_I32) {
    why = "the textbook's loop takes 32-bit indices";
    return nullptr;
  }
  v.n = static_cast<int>(csr.rows);
  v.row_ptr = upload(context, csr.row_ptr, csr.rows + 1);
  v.col = upload(context, csr.col, csr.nnz);
  v.values = upload(context, csr.values, 2 * csr.nnz);
  const std::vector<double> inverse = inverse_diagonal(csr);
  v.inverse = upload(context, inverse.data(), 2 * csr.rows);
  for (Vector *each : {&v.r, &v.z, &v.p, &v.q}) *each = values_on_device(context, csr.rows);
  need(lib.blas_create(&v.blas), "cublasCreate");
  need(lib.sparse_create(&v.sparse), "cusparseCreate");
  need(lib.create_csr(&v.a, csr.rows, csr.cols, csr.nnz, data(v.row_ptr), data(v.col), data(v.values), k32BitIndices,
                      k32BitIndices, zero_based, real64),
       "cusparseCreateCsr");
  need(lib.create_vector(&v.p_vector, csr.rows, data(v.p), real64), "cusparseCreateDnVec");
  need(lib.create_vector(&v.q_vector, csr.rows, data(v.q), real64), "cusparseCreateDnVec");
  const double one = 1, zero = 0;
  std::size_t bytes = 0;
  need(lib.buffer_size(v.sparse, no_transpose, &one, v.a, v.p_vector, &zero, v.q_vector, real64, default_algorithm,
                       &bytes),
       "cusparseSpMV_bufferSize");
  v.buffer = values_on_device(context, static_cast<std::int64_t>(bytes / 8 + 1));
  return out;
}

std::int64_t DeviceTextbookPcg::solve(const double *b, double *x, double rtol, std::int64_t max_iterations) {
  const Libraries &lib = *libraries_;
  const Arrays &v = *arrays_;
  const int n = v.n;
  const double one = 1, zero = 0;
  double norm_b = 0, norm_r = 0, rz = 0;
  // x = 0, r = b, p = z = D^-1 r
  need(lib.scal(v.blas, n, &zero, x, 1), "cublasDscal");
  need(lib.copy(v.blas, n, b, 1, data(v.r), 1), "cublasDcopy");
  need(lib.nrm2(v.blas, n, b, 1, &norm_b), "cublasDnrm2");
  need(lib.dgmm(v.blas, left_side, n, 1, data(v.r), n, data(v.inverse), 1, data(v.z), n), "cublasDdgmm");
  need(lib.copy(v.blas, n, data(v.z), 1, data(v.p), 1), "cublasDcopy");
  need(lib.dot(v.blas, n, data(v.r), 1, data(v.z), 1, &rz), "cublasDdot");
  std::int64_t k = 0;
  while (k < max_iterations) {
    double pq = 0, next = 0;
    need(lib.spmv(v.sparse, no_transpose, &one, v.a, v.p_vector, &zero, v.q_vector, real64, default_algorithm,
                  data(v.buffer)),
         "cusparseSpMV");
    need(lib.dot(v.blas, n, data(v.p), 1, data(v.q), 1, &pq), "cublasDdot");
    const double alpha = rz / pq, minus_alpha = -alpha;
    need(lib.axpy(v.blas, n, &alpha, data(v.p), 1, x, 1), "cublasDaxpy");
    need(lib.axpy(v.blas, n, &minus_alpha, data(v.q), 1, data(v.r), 1), "cublasDaxpy");
    ++k;
    need(lib.nrm2(v.blas, n, data(v.r), 1, &norm_r), "cublasDnrm2");
    if (norm_r <= rtol * norm_b) break;
    need(lib.dgmm(v.blas, left_side, n, 1, data(v.r), n, data(v.inverse), 1, data(v.z), n), "cublasDdgmm");
    need(lib.dot(v.blas, n, data(v.r), 1, data(v.z), 1, &next), "cublasDdot");
    const double beta = next / rz;
    rz = next;
    need(lib.scal(v.blas, n, &beta, data(v.p), 1), "cublasDscal");
    need(lib.axpy(v.blas, n, &one, data(v.z), 1, data(v.p), 1), "cublasDaxpy");
  }
  return k;
}

}  // namespace tool
