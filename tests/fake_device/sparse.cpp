// SPDX-License-Identifier: BSD-3-Clause
// The fake libcusparse: descriptors are kept and counted, products only counted.
#include "math.cpp"

extern "C" {

int cusparseGetVersion(void *, int *version) { return *version = 12603, fake_call("cusparseGetVersion"); }
int cusparseSetPointerMode(void *, int) { return fake_call("cusparseSetPointerMode"); }

static int make_descriptor(const char *name, void **descriptor) {
  if (const int error = fake_call(name)) return error;
  fake_add("descriptors", 1);
  return *descriptor = new int(0), 0;
}
static int drop_descriptor(const char *name, const void *descriptor) {
  fake_add("descriptors", -1);
  delete static_cast<const int *>(descriptor);
  return fake_release(name);
}

int cusparseCreateConstCsr(void **out, int64_t, int64_t, int64_t, const void *, const void *, const void *, int, int,
                           int, int) {
  return make_descriptor("cusparseCreateConstCsr", out);
}
int cusparseCreateConstCoo(void **out, int64_t, int64_t, int64_t, const void *, const void *, const void *, int, int,
                           int) {
  return make_descriptor("cusparseCreateConstCoo", out);
}
int cusparseCreateConstSlicedEll(void **out, int64_t, int64_t, int64_t, int64_t, int64_t, const void *, const void *,
                                 const void *, int, int, int, int) {
  return make_descriptor("cusparseCreateConstSlicedEll", out);
}
int cusparseCreateConstBsr(void **out, int64_t, int64_t, int64_t, int64_t, int64_t, const void *, const void *,
                           const void *, int, int, int, int, int) {
  return make_descriptor("cusparseCreateConstBsr", out);
}
int cusparseDestroySpMat(const void *descriptor) { return drop_descriptor("cusparseDestroySpMat", descriptor); }
int cusparseCreateDnVec(void **out, int64_t, void *, int) { return make_descriptor("cusparseCreateDnVec", out); }
int cusparseDnVecSetValues(void *, void *) { return fake_call("cusparseDnVecSetValues"); }
int cusparseDestroyDnVec(const void *descriptor) { return drop_descriptor("cusparseDestroyDnVec", descriptor); }

int cusparseSpMV_bufferSize(void *, int, const void *, const void *, const void *, const void *, void *, int, int,
                            uint64_t *bytes) {
  return *bytes = 256, fake_call("cusparseSpMV_bufferSize");
}
int cusparseSpMV_preprocess(void *, int, const void *, const void *, const void *, const void *, void *, int, int,
                            void *) {
  return fake_call("cusparseSpMV_preprocess");
}
int cusparseSpMV(void *, int, const void *, const void *, const void *, const void *, void *, int, int, void *) {
  return fake_call("cusparseSpMV");
}
}
