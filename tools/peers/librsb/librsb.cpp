// SPDX-License-Identifier: BSD-3-Clause
// librsb: SpMV on recursive sparse blocks, tuned by measuring when asked.
#include <rsb.h>

#include <string>

#include "../library.hpp"

namespace {

constexpr rsb_type_t rsb_f64 = RSB_NUMERICAL_TYPE_DOUBLE;

std::string sentence(rsb_err_t error) {
  char text[256] = "";
  rsb_strerror_r(error, text, sizeof text);
  return std::string("librsb: ") + text;
}

int open(const char *const *, std::int32_t threads, sxt_peer_message *message) {
  rsb_err_t error = rsb_lib_init(RSB_NULL_INIT_OPTIONS);
  rsb_int_t count = threads;
  if (error == RSB_ERR_NO_ERROR) error = rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &count);
  return error == RSB_ERR_NO_ERROR ? 0 : peer::say(message, sentence(error));
}

std::int32_t threads() {
  rsb_int_t count = 0;
  rsb_lib_get_opt(RSB_IO_WANT_EXECUTING_THREADS, &count);
  return count;
}

int spmv_prepare(const sxt_peer_csr *a, const sxt_peer_effort *effort, void **state, sxt_peer_message *message) {
  rsb_err_t error = RSB_ERR_NO_ERROR;
  rsb_mtx_t *matrix =
      rsb_mtx_alloc_from_csr_const(a->values, a->row_ptr, a->col, a->nnz, rsb_f64, a->rows, a->cols,
                                   RSB_DEFAULT_BLOCKING, RSB_DEFAULT_BLOCKING, RSB_FLAG_NOFLAGS, &error);
  if (!matrix) return peer::say(message, sentence(error));
  const double one = 1, zero = 0;
  if (effort->tune) {
    rsb_real_t speed_up = 0;
    rsb_int_t same_threads = 0;
    error = rsb_tune_spmm(&matrix, &speed_up, &same_threads, 0, 0, RSB_TRANSPOSITION_N, &one, nullptr, 1,
                          RSB_FLAG_WANT_COLUMN_MAJOR_ORDER, nullptr, a->cols, &zero, nullptr, a->rows);
    if (error != RSB_ERR_NO_ERROR) {
      rsb_mtx_free(matrix);
      return peer::say(message, sentence(error));
    }
  }
  *state = matrix;
  return 0;
}

int spmv_run(void *state, const double *x, double *y) {
  const double one = 1, zero = 0;
  return rsb_spmv(RSB_TRANSPOSITION_N, &one, static_cast<rsb_mtx_t *>(state), x, 1, &zero, y, 1);
}

}  // namespace

const sxt_peer *sxt_peer_entry() {
  static sxt_peer table{};
  table.interface_version = SXT_PEER_INTERFACE;
  table.name = "librsb";
  table.open = open;
  table.version = [] { return RSB_HEADER_VERSION_STRING; };
  table.threads = threads;
  table.spmv_prepare = spmv_prepare;
  table.spmv_run = spmv_run;
  table.spmv_release = [](void *state) { rsb_mtx_free(static_cast<rsb_mtx_t *>(state)); };
  return &table;
}
