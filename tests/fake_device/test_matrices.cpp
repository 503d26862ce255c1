// SPDX-License-Identifier: BSD-3-Clause
// Sparse matrices over the fake libraries. Every storage is built, refreshed, scaled and released, and every vendor
// call meanwhile may fail. Where memory is short another storage serves, or the message says how many bytes were
// missing. Kernels run nothing here: what they would compute is tested on a GPU.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/choose/selector.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;
using sextant::Error;
using sextant::registry::Registry;
using testing::HasSubstr;

const char *const storages[] = {SXT_KIND_STORAGE_CSR, SXT_KIND_STORAGE_COO, SXT_KIND_STORAGE_SELL};

// A tridiagonal matrix.
struct Arrays {
  explicit Arrays(std::int64_t n) : n(n) {
    row_ptr.push_back(0);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
        col.push_back(static_cast<std::int32_t>(j));
      row_ptr.push_back(static_cast<std::int32_t>(col.size()));
    }
    values.assign(col.size(), 1);
  }
  std::int64_t n;
  std::vector<std::int32_t> row_ptr, col;
  std::vector<double> values;

  sxt_status make(sxt_context *context, bool adopt, sxt_matrix **matrix) const {
    sxt_matrix_options options;
    sxt_matrix_options_init(&options, sizeof options);
    options.ownership = adopt ? SXT_ADOPT : SXT_COPY;
    return sxt_matrix_from_csr(context, n, n, row_ptr.data(), col.data(), values.data(), &options, matrix);
  }
};

// A matrix of these arrays and two vectors on a new context; destroyed with it.
struct OnDevice {
  explicit OnDevice(const Arrays &arrays, std::int64_t length = 0) {
    need(open(&context));
    need(arrays.make(context, false, &handle));
    for (sxt_vector **vector : {&x, &y}) need(sxt_vector_create(context, std::max(length, arrays.n), SXT_F64, vector));
  }
  ~OnDevice() {
    sxt_vector_destroy(x);
    sxt_vector_destroy(y);
    sxt_matrix_destroy(handle);
    sxt_context_destroy(context);
  }
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;
  sextant::Matrix &matrix() const { return *handle->matrix; }
  const char *error() const { return sxt_last_error(context); }
  sxt_status multiply(sxt_op op) const { return sxt_spmv(op, nullptr, handle, x, nullptr, y); }

  sxt_context *context = nullptr;
  sxt_matrix *handle = nullptr;
  sxt_vector *x = nullptr, *y = nullptr;

 private:
  void need(sxt_status status) const { ASSERT_EQ(status, SXT_OK) << sxt_last_error(context); }
};

// What a program does with a matrix. Failures are counted; each has a sentence.
class Program {
 public:
  explicit Program(const Arrays &arrays, bool adopt) : arrays_(arrays), adopt_(adopt) {}
  void run() {
    sxt_context *context = nullptr;
    if (good(open(&context))) {
      sxt_matrix *matrix = nullptr;
      if (good(arrays_.make(context, adopt_, &matrix))) use(context, *matrix);
      sxt_matrix_destroy(matrix);
      sxt_context_destroy(context);
    }
  }
  int failed() const { return failed_; }
  int built() const { return built_; }

 private:
  bool good(sxt_status status) {
    if (status < 0) ++failed_;
    return status >= 0;
  }
  template <class F>
  bool attempt(F &&f) {
    try {
      f();
      return true;
    } catch (const Error &problem) {
      EXPECT_STRNE(problem.what(), "");
      ++failed_;
      return false;
    }
  }
  void use(sxt_context *context, sxt_matrix &handle) {
    sextant::Matrix &matrix = *handle.matrix;
    sextant::Device &device = matrix.context().device();
    attempt([&] {
      const sextant::DeviceBuffer s(device, arrays_.n * sizeof(double)), d(device, arrays_.n * sizeof(double));
      const auto scaled = matrix.scaled(s.data());
      for (const char *storage : storages) {
        if (Registry::instance().kernels(storage, "cuda").empty()) continue;
        attempt([&] {
          matrix.lend(storage)->diagonal(d.data());
          ++built_;
        });
        attempt([&] { scaled->lend(storage); });
      }
      attempt([&] { matrix.update_values(arrays_.values.data(), static_cast<std::int64_t>(arrays_.values.size())); });
      attempt([&] { scaled->source_changed(matrix, s.data()); });
    });
    multiply(context, handle);
  }
  void multiply(sxt_context *context, sxt_matrix &handle) {
    sxt_vector *x = nullptr, *y = nullptr;
    if (good(sxt_vector_create(context, arrays_.n, SXT_F64, &x)) &&
        good(sxt_vector_create(context, arrays_.n, SXT_F64, &y)))
      for (const sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE}) good(sxt_spmv(op, nullptr, &handle, x, nullptr, y));
    sxt_vector_destroy(x);
    sxt_vector_destroy(y);
  }

  const Arrays &arrays_;
  bool adopt_;
  int failed_ = 0, built_ = 0;
};

class MatricesOnAFakeDevice : public FakeDevice {
 protected:
  void SetUp() override {
    FakeDevice::SetUp();
    if (IsSkipped()) return;
    if (Registry::instance().kernels(SXT_KIND_STORAGE_CSR, "cuda").empty())
      GTEST_SKIP() << "no storage for CUDA was built";
  }
};

TEST_F(MatricesOnAFakeDevice, EveryStorageIsGivenBack) {
  const Arrays arrays(3000);
  for (const bool adopt : {false, true}) {
    const std::int64_t launches = fake_count("launches");
    Program program(arrays, adopt);
    program.run();
    EXPECT_EQ(program.failed(), 0) << sxt_last_error(nullptr);
    EXPECT_EQ(program.built(), 3);
    EXPECT_GT(fake_count("launches"), launches);
    EXPECT_EQ(left_behind(), "");
    EXPECT_EQ(faults(), "");
  }
}

TEST_F(MatricesOnAFakeDevice, EveryCallMayFail) {
  const Arrays arrays(600);
  std::int64_t n = 1, failures = 1;
  int noticed = 0;
  for (; failures > 0; ++n) {
    ASSERT_LT(n, 20000);
    fake_fail(n, FAKE_INVALID_VALUE);
    Program program(arrays, true);
    program.run();
    failures = fake_failures();
    fake_fail(0, 0);
    noticed += program.failed() > 0;
    ASSERT_EQ(left_behind(), "") << "after call " << n << " (" << fake_failed_call() << ") failed";
  }
  EXPECT_GT(n, 200);
  EXPECT_GT(noticed, n / 6);
  std::printf("[ failures ] %lld calls failed one by one, %d programs noticed\n", static_cast<long long>(n - 2),
              noticed);
}

// The first launch configuration of every kernel that reads one of these storages.
std::vector<sextant::ChoicePtr> one_of_each_kernel(sextant::Matrix &matrix, const sxt_spmv_query &query) {
  std::vector<sextant::ChoicePtr> chosen;
  std::set<std::string> met;
  for (auto &choice : sextant::Selector(matrix.context(), &matrix).every({sextant::Query(&query.m.q), "spmv"})) {
    const bool ours = std::any_of(std::begin(storages), std::end(storages),
                                  [&](const char *storage) { return choice->storage == storage; });
    if (ours && met.insert(choice->kernel->name()).second) chosen.push_back(choice);
  }
  return chosen;
}

// Fails every vendor call of building, opening and running a choice, one at a time; how many there were.
std::int64_t fail_every_call(const sextant::ChoicePtr &choice, sextant::Matrix &matrix, sxt_spmv_args &args) {
  const auto use = [&] {
    sextant::Prepared prepared(matrix.context(), choice, &matrix, nullptr);
    prepared.open()->run(&args.h);
  };
  use();  // what is kept for later is there afterwards
  const std::int64_t before = fake_count("allocations");
  for (std::int64_t n = 1; n < 2000; ++n) {
    fake_fail(n, FAKE_INVALID_VALUE);
    try {
      use();
    } catch (const Error &problem) {
      EXPECT_STRNE(problem.what(), "");
    }
    const bool failed = fake_failures() > 0;
    fake_fail(0, 0);
    EXPECT_EQ(fake_count("allocations"), before)
        << choice->kernel->name() << ", after call " << n << " (" << fake_failed_call() << ") failed";
    if (!failed || testing::Test::HasFailure()) return n - 1;
  }
  ADD_FAILURE() << choice->kernel->name() << " makes no end of calls";
  return 0;
}

// Every kernel for every operation: each vendor call of building, opening and running it fails once, and all is given
// back.
TEST_F(MatricesOnAFakeDevice, EveryKernelMayFail) {
  const Arrays arrays(500);
  auto held = std::make_unique<OnDevice>(arrays, 2 * arrays.n);
  sextant::Matrix &matrix = held->matrix();
  std::set<std::string> kernels;
  std::int64_t failed = 0;
  const double one = 1, zero = 0;
  for (const sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE}) {
    sxt_spmv_query query{};
    query.m = matrix.query_part(SXT_KIND_SPMV, sizeof query, 100);
    query.op = op;
    query.n_rhs = 2;
    sxt_spmv_args args{
        {sizeof args, SXT_KIND_SPMV}, op, 2, arrays.n, arrays.n, {&one, 0, 0}, {&zero, 0, 0}, sxt_vector_data(held->x),
        sxt_vector_data(held->y)};
    for (const auto &choice : one_of_each_kernel(matrix, query)) {
      kernels.insert(choice->kernel->name());
      failed += fail_every_call(choice, matrix, args);
    }
  }
  EXPECT_GE(kernels.size(), 5u);  // those of CSR
  std::printf("[ failures ] %lld calls failed one by one in %zu kernels\n", static_cast<long long>(failed),
              kernels.size());
  held.reset();
  EXPECT_EQ(left_behind(), "");
}

// That values were found to be symmetric holds only until new values come: a transpose is built as if they had not been
// compared.
TEST_F(MatricesOnAFakeDevice, FoundSymmetrySparesNoTranspose) {
  const Arrays arrays(500);
  const OnDevice held(arrays);
  sextant::Matrix &matrix = held.matrix();
  sxt_spmv_query query{};
  query.m = matrix.query_part(SXT_KIND_SPMV, sizeof query, 100);
  query.op = SXT_TRANSPOSE;
  query.n_rhs = 1;
  const auto choices = one_of_each_kernel(matrix, query);
  const auto launches = [&] {
    std::vector<std::int64_t> counts;
    for (const auto &choice : choices) {
      const std::int64_t before = fake_count("launches");
      const sextant::Prepared prepared(matrix.context(), choice, &matrix, nullptr);
      counts.push_back(fake_count("launches") - before);
    }
    return counts;
  };
  launches();  // storages are there afterwards
  const std::vector<std::int64_t> before = launches();
  EXPECT_TRUE(std::any_of(before.begin(), before.end(), [](std::int64_t count) { return count > 0; }));
  matrix.found_symmetry(SXT_SYMMETRIC);
  EXPECT_EQ(launches(), before);
}

// Complex scalars of the caller are aligned like their parts; kernels read them in one access.
TEST_F(MatricesOnAFakeDevice, ComplexScalarsLieAnywhere) {
  sxt_context *context = nullptr;
  ASSERT_EQ(open(&context), SXT_OK);
  const std::vector<std::int32_t> ptr{0, 1, 2}, col{0, 1};
  const std::vector<double> values{2, 0, 3, 0};
  sxt_matrix_options as;
  sxt_matrix_options_init(&as, sizeof as);
  as.value_type = SXT_C128;
  sxt_matrix *matrix = nullptr;
  sxt_vector *x = nullptr, *y = nullptr;
  ASSERT_EQ(sxt_matrix_from_csr(context, 2, 2, ptr.data(), col.data(), values.data(), &as, &matrix), SXT_OK);
  ASSERT_EQ(sxt_vector_create(context, 2, SXT_C128, &x), SXT_OK);
  ASSERT_EQ(sxt_vector_create(context, 2, SXT_C128, &y), SXT_OK);
  alignas(16) const double numbers[] = {1, 2, 3, 4};
  const void *const between = numbers + 1;
  EXPECT_EQ(sxt_axpby(between, x, between, y), SXT_OK) << sxt_last_error(context);
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, between, matrix, x, between, y), SXT_OK) << sxt_last_error(context);
  sxt_vector_destroy(x);
  sxt_vector_destroy(y);
  sxt_matrix_destroy(matrix);
  sxt_context_destroy(context);
}

// P A P^T: every call of making it may fail, its storages and new values come from the device, and new values allocate
// no memory.
TEST_F(MatricesOnAFakeDevice, APermutedMatrixIsMadeOnTheDevice) {
  const Arrays arrays(2000);
  {
    const OnDevice held(arrays);
    sextant::Matrix &a = held.matrix();
    sextant::Device &device = a.context().device();
    const sextant::DeviceBuffer perm(device, arrays.n * sizeof(std::int32_t));
    EXPECT_GT(a.permuted_seconds(), 0);
    a.lend(SXT_KIND_STORAGE_CSR);
    const std::int64_t before = fake_count("allocations");
    std::int64_t n = 1;
    for (bool failed = true; failed; ++n) {
      ASSERT_LT(n, 500);
      fake_fail(n, FAKE_NO_MEMORY);
      try {
        a.permuted(perm.data(), 1);
      } catch (const Error &problem) {
        EXPECT_STRNE(problem.what(), "");
      }
      failed = fake_failures() > 0;
      fake_fail(0, 0);
      ASSERT_EQ(fake_count("allocations"), before) << "after call " << n << " (" << fake_failed_call() << ") failed";
    }
    EXPECT_GT(n, 10);
    const auto b = a.permuted(perm.data(), 77);
    EXPECT_EQ(b->pattern_hash(), 77u);
    EXPECT_GT(b->built_seconds(), 0);
    EXPECT_EQ(b->csr().col.data(), nullptr);
    const sextant::DeviceBuffer s(device, arrays.n * sizeof(double));
    const auto scaled = b->scaled(s.data());
    for (const char *storage : storages) b->lend(storage), scaled->lend(storage);
    EXPECT_EQ(b->on_host().col.bytes(), arrays.col.size() * sizeof(std::int32_t));
    a.update_values(arrays.values.data(), static_cast<std::int64_t>(arrays.values.size()));
    const std::int64_t requests = fake_count("requests"), launches = fake_count("launches");
    b->source_changed(a);
    scaled->source_changed(*b, s.data());
    EXPECT_EQ(fake_count("requests"), requests);
    EXPECT_GT(fake_count("launches"), launches);
  }
  EXPECT_EQ(left_behind(), "");
}

// Arrays that lie on the device: storages are converted from them there, and follow them to new values, without memory.
TEST_F(MatricesOnAFakeDevice, AMatrixOverArraysOnTheDeviceHasEveryStorage) {
  const Arrays arrays(2000);
  sxt_context *handle = nullptr;
  ASSERT_EQ(open(&handle), SXT_OK);
  {
    const auto context = handle->context;
    const auto there = [&](const auto &array) {
      sextant::DeviceBuffer buffer(context->device(), array.size() * sizeof array[0]);
      context->device().copy(buffer.data(), array.data(), buffer.bytes());
      return buffer;
    };
    const sextant::DeviceBuffer ptr = there(arrays.row_ptr), col = there(arrays.col), values = there(arrays.values),
                                others = there(arrays.values);
    sxt_csr view{};
    view.s.index_type = view.s.offset_type = SXT_I32;
    view.s.value_type = SXT_F64;
    view.s.space = SXT_SPACE_DEVICE;
    view.s.rows = view.s.cols = arrays.n;
    view.s.nnz = static_cast<std::int64_t>(arrays.col.size());
    view.row_ptr = ptr.data();
    view.col = col.data();
    view.values = values.data();
    EXPECT_THROW(sextant::Matrix::of_view(context, view, SXT_GENERAL), Error);  // its pattern cannot be known
    const auto matrix = sextant::Matrix::of_view(context, view, SXT_GENERAL, 7);
    EXPECT_EQ(matrix->pattern_hash(), 7u);
    const auto shown = [&] { return reinterpret_cast<const sxt_csr *>(matrix->storage(SXT_KIND_STORAGE_CSR))->values; };
    EXPECT_EQ(shown(), values.data());
    for (const char *storage : storages) EXPECT_NE(matrix->lend(storage), nullptr);
    matrix->drop(SXT_KIND_STORAGE_CSR);
    EXPECT_TRUE(matrix->holds(SXT_KIND_STORAGE_CSR)) << "it is the only one";
    const sextant::DeviceBuffer s(context->device(), arrays.n * sizeof(double));
    const auto scaled = matrix->scaled(s.data());
    EXPECT_NE(scaled->storage(SXT_KIND_STORAGE_CSR), matrix->storage(SXT_KIND_STORAGE_CSR));
    const std::int64_t allocations = fake_count("allocations"), version = matrix->version();
    view.values = others.data();
    matrix->view_changed(view);
    scaled->source_changed(*matrix, s.data());
    EXPECT_EQ(fake_count("allocations"), allocations);
    EXPECT_GT(matrix->version(), version);
    EXPECT_EQ(shown(), others.data());
  }
  sxt_context_destroy(handle);
  EXPECT_EQ(left_behind(), "");
}

// Arrays of a matrix are read on the host.
TEST_F(MatricesOnAFakeDevice, ArraysInDeviceMemoryAreRefused) {
  const Arrays arrays(50);
  const OnDevice held(arrays, 200);
  const void *there = sxt_vector_data(held.x);
  sxt_matrix *matrix = nullptr;
  EXPECT_EQ(sxt_matrix_from_csr(held.context, arrays.n, arrays.n, arrays.row_ptr.data(), arrays.col.data(), there,
                                nullptr, &matrix),
            SXT_E_ARGUMENT);
  EXPECT_EQ(matrix, nullptr);
  EXPECT_THAT(held.error(), HasSubstr("values lies in the memory of device 0"));
  EXPECT_EQ(sxt_matrix_update_values(held.handle, there, static_cast<std::int64_t>(arrays.values.size())),
            SXT_E_ARGUMENT);
}

// With less and less memory a product uses what still fits; in the end the message names the bytes.
TEST_F(MatricesOnAFakeDevice, ShortMemoryIsReportedOrAvoided) {
  const Arrays arrays(4000);
  int served = 0, refused = 0;
  std::string last;
  for (std::int64_t limit = 0; limit <= 600 << 10; limit += 8 << 10) {
    {
      const OnDevice held(arrays);
      fake_limit_memory(limit);
      const sxt_status status = held.multiply(SXT_NO_TRANSPOSE);
      if (status == SXT_OK) {
        ++served;
      } else {
        ++refused;
        last = held.error();
        EXPECT_EQ(status, SXT_E_MEMORY) << "with " << limit << " bytes: " << last;
        EXPECT_THAT(last, HasSubstr("bytes")) << "with " << limit << " bytes";
        EXPECT_EQ(served, 0) << "what fits into less fits into " << limit << " bytes";
      }
      fake_limit_memory(-1);
      // Nothing was broken by the failure.
      EXPECT_EQ(held.multiply(SXT_NO_TRANSPOSE), SXT_OK) << held.error();
    }
    if (HasFailure()) break;
    ASSERT_EQ(left_behind(), "") << "with " << limit << " bytes";
  }
  EXPECT_GT(served, 0) << last;
  EXPECT_GT(refused, 0);
}

// One storage format does not fit and another does: the product is computed with the one that fits, and the explanation
// says what did not fit and why.
TEST_F(MatricesOnAFakeDevice, AStorageThatDoesNotFitIsPassedOver) {
  const Arrays arrays(4000);
  const OnDevice held(arrays);
  sextant::Matrix &matrix = held.matrix();
  matrix.lend(SXT_KIND_STORAGE_COO);
  fake_limit_memory(20 << 10);
  sxt_spmv_query query{};
  query.m = matrix.query_part(SXT_KIND_SPMV, sizeof query, 1e6);  // so many that the fastest would be built
  query.n_rhs = 1;
  const auto choice = sextant::Selector(matrix.context(), &matrix).select({sextant::Query(&query.m.q), "spmv"});
  EXPECT_EQ(choice->storage, SXT_KIND_STORAGE_COO);
  int unbuilt = 0;
  for (const auto &line : choice->considered) {
    if (line.reason.find("could not be built") == std::string::npos) continue;
    ++unbuilt;
    EXPECT_THAT(line.reason, HasSubstr("bytes of device memory are missing for"));
  }
  EXPECT_GT(unbuilt, 0);
  fake_limit_memory(-1);
}

// The transpose that the fastest kernel would build does not fit: one that needs none serves.
TEST_F(MatricesOnAFakeDevice, AStateThatDoesNotFitIsPassedOver) {
  const Arrays arrays(4000);
  const OnDevice held(arrays);
  held.matrix().lend(SXT_KIND_STORAGE_CSR);
  fake_limit_memory(20 << 10);
  EXPECT_EQ(held.multiply(SXT_TRANSPOSE), SXT_OK) << held.error();
  fake_limit_memory(0);
  EXPECT_EQ(held.multiply(SXT_CONJUGATE_TRANSPOSE), SXT_OK) << held.error();
  fake_limit_memory(-1);
}

}  // namespace
