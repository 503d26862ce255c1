// SPDX-License-Identifier: BSD-3-Clause
// The fake libcublas, libcusparse and libcusolver: handles are made, stored and counted; CREATE, DESTROY and STREAM
// name the library's functions.
#include "fake.h"

#include <cstdint>

extern "C" {

int CREATE(void **handle) {
  if (const int error = fake_call(LIBRARY)) return error;
  fake_add(LIBRARY, 1);
  return *handle = new int(0), 0;
}
int DESTROY(void *handle) {
  fake_add(LIBRARY, -1);
  delete static_cast<int *>(handle);
  return fake_release(LIBRARY);
}
int STREAM(void *, void *) { return fake_call(LIBRARY); }

}
