// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients over the fake libraries: every vendor call of a set-up and of an engine's run may fail, and
// nothing leaks. Kernels run nothing here, so a solve ends at once, and an engine notices that its device did nothing.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/fake_device/pcg_bench.hpp"

namespace {

using namespace fake_test;
using sextant::registry::Registry;

const char *const engines[] = {"pcg.persistent.predict-recompute.cuda",
                               "pcg.cooperative.predict-recompute.cuda",
                               "pcg.graph-csr.predict-recompute.cuda",
                               "pcg.graph-csr-m.predict-recompute.cuda",
                               "pcg.graph.predict-recompute.cuda",
                               "pcg.graph.chronopoulos-gear.cuda",
                               "pcg.graph.classical.cuda"};

enum class As { it_is, renumbered, semidefinite };

class Program {
 public:
  explicit Program(const char *engine, As as = As::it_is) : engine_(engine), as_(as) {
    for (std::int32_t i = 0; i < rows; ++i) {
      const std::int32_t neighbours = (i > 0) + (i + 1 < rows);
      for (std::int32_t j = std::max(0, i - 1); j <= std::min(rows - 1, i + 1); ++j) {
        col_.push_back(j);
        values_.push_back(i != j ? -1 : as == As::semidefinite ? neighbours : 2 + i % 3);
      }
      ptr_.push_back(static_cast<std::int32_t>(col_.size()));
    }
  }
  // Sets a solver up, solves (or not), runs its engine, destroys everything; the first failure, or SXT_OK.
  sxt_status run(bool solves) {
    sxt_context *context = nullptr;
    sxt_matrix *matrix = nullptr;
    sxt_pcg *pcg = nullptr;
    first_ = SXT_OK;
    if (good(open(&context), nullptr) &&
        good(sxt_matrix_from_csr(context, rows, rows, ptr_.data(), col_.data(), values_.data(), nullptr, &matrix),
             context)) {
      sxt_pcg_options options;
      sxt_pcg_options_init(&options, sizeof options);
      options.engine = engine_;
      options.reorder = as_ != As::it_is;
      options.null_space_size = as_ == As::semidefinite;
      if (good(sxt_pcg_create(matrix, &options, &pcg), context)) {
        sxt_vector *b = nullptr, *x = nullptr;
        if (solves && good(sxt_vector_create(context, rows, SXT_F64, &b), context) &&
            good(sxt_vector_create(context, rows, SXT_F64, &x), context))
          good(sxt_pcg_solve(pcg, b, x, nullptr, nullptr), context);
        if (solves) arrays(pcg, context);
        sxt_vector_destroy(b);
        sxt_vector_destroy(x);
        engine(*matrix->matrix);
      }
    }
    sxt_pcg_destroy(pcg);
    sxt_matrix_destroy(matrix);
    sxt_context_destroy(context);
    return first_;
  }
  sxt_status engine_status() const { return engine_status_; }

 private:
  static constexpr std::int32_t rows = 300;
  bool good(sxt_status status, const sxt_context *context) {
    if (status >= 0) return true;
    if (first_ == SXT_OK) first_ = status;
    EXPECT_STRNE(sxt_last_error(context), "") << "a failure without a sentence, of " << fake_failed_call();
    return false;
  }
  // Host arrays, which are copied to the device and back, alone and as a block.
  void arrays(sxt_pcg *pcg, const sxt_context *context) {
    const std::vector<double> b(2 * rows, 1);
    std::vector<double> x(2 * rows, 1);
    good(sxt_pcg_solve_array(pcg, rows, b.data(), x.data(), nullptr, nullptr), context);
    good(sxt_pcg_solve_block(pcg, rows, 2, b.data(), rows, x.data(), rows, nullptr, nullptr), context);
  }
  // The engine itself: in a solve, norms that were never computed end everything before the engine runs.
  void engine(sextant::Matrix &matrix) {
    sxt_pcg_query query{};
    query.m = matrix.query_part(SXT_KIND_PCG, sizeof query, 1);
    try {
      sextant::Selector selector(matrix.context(), &matrix, {.forced = {{SXT_KIND_PCG, engine_}}});
      sextant::Runner runner(matrix.context(), selector.select({sextant::Query(&query.m.q), "pcg"}), &matrix);
      sextant::Device &device = matrix.context().device();
      const sextant::DeviceBuffer b(device, rows * sizeof(double)), x(device, rows * sizeof(double));
      sxt_pcg_args args = ten_iterations(rows, b, x);
      runner.run(&args.h);
      engine_status_ = SXT_OK;
    } catch (const sextant::Error &problem) {
      engine_status_ = problem.status();
      if (first_ == SXT_OK && problem.status() != SXT_E_INTERNAL) first_ = problem.status();
      EXPECT_STRNE(problem.what(), "");
    }
  }

  const char *engine_;
  As as_;
  std::vector<std::int32_t> ptr_{0}, col_;
  std::vector<double> values_;
  sxt_status first_ = SXT_OK, engine_status_ = SXT_OK;
};

class FakePcg : public FakeDevice, public testing::WithParamInterface<const char *> {
 protected:
  void SetUp() override {
    FakeDevice::SetUp();
    if (IsSkipped()) return;
    if (!Registry::instance().find(GetParam())) GTEST_SKIP() << "this build has no " << GetParam();
  }
};

TEST_P(FakePcg, LeavesNothingBehindAndNoticesADeviceThatDoesNothing) {
  Program program(GetParam());
  EXPECT_EQ(program.run(true), SXT_OK);
  EXPECT_EQ(program.engine_status(), SXT_E_INTERNAL) << "no kernel ran, so no iteration can have been made";
  EXPECT_EQ(left_behind(), "");
}

TEST_P(FakePcg, RenumberedSystemsLeaveNothingBehind) {
  Program program(GetParam(), As::renumbered);
  EXPECT_EQ(program.run(true), SXT_OK);
  EXPECT_EQ(left_behind(), "");
}

TEST_P(FakePcg, SemidefiniteSystemsLeaveNothingBehind) {
  Program program(GetParam(), As::semidefinite);
  EXPECT_EQ(program.run(true), SXT_OK);
  EXPECT_EQ(left_behind(), "");
}

TEST_P(FakePcg, EveryCallMayFail) {
  Program program(GetParam(), As::semidefinite);
  const std::int64_t before = fake_count("calls");
  program.run(true);
  const std::int64_t calls = fake_count("calls") - before;
  ASSERT_GT(calls, 20);
  int failures = 0;
  for (std::int64_t n = 1; n <= calls; n += 1 + calls / 60) {
    fake_fail(n, 2);  // cudaErrorMemoryAllocation
    failures += program.run(true) < 0;
    fake_fail(0, 0);
    ASSERT_EQ(left_behind(), "") << "after call " << n << " (" << fake_failed_call() << ") failed";
  }
  EXPECT_GT(failures, 0);  // for most calls something else serves
}

TEST_P(FakePcg, OnlyTheFirstSolveAsksForMemory) {
  Bench bench(GetParam());
  ASSERT_EQ(bench.solve(), SXT_OK) << sxt_last_error(bench.context);
  bench.launches_of_a_block();
  const std::int64_t before = fake_count("requests");
  ASSERT_GT(before, 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bench.solve(), SXT_OK);
    bench.launches_of_a_block();
  }
  EXPECT_EQ(fake_count("requests"), before);
}

// The reported launches are those that the vendor's library saw; in a first run captured kernels are counted there,
// too.
TEST_P(FakePcg, SaysHowOftenItLaunches) {
  Bench bench(GetParam());
  bench.launches_of_a_block();
  const auto seen = [] { return fake_count("launches") + fake_count("graph launches"); };
  const std::int64_t before = seen();
  const std::int32_t said = bench.launches_of_a_block();
  EXPECT_GT(said, 0);
  EXPECT_EQ(seen() - before, said);
}

TEST_P(FakePcg, MemoryMayRunOutAtSetUpAndAtASolve) {
  const Bench room(GetParam());  // another set-up in the same process, which must not suffer
  sxt_context *context = nullptr;
  sxt_matrix *matrix = nullptr;
  ASSERT_EQ(open(&context), SXT_OK);
  const std::vector<std::int32_t> ptr{0, 1, 2}, col{0, 1};
  const std::vector<double> values{2, 3}, b{1, 1};
  std::vector<double> x{7, 7};
  ASSERT_EQ(sxt_matrix_from_csr(context, 2, 2, ptr.data(), col.data(), values.data(), nullptr, &matrix), SXT_OK);
  sxt_pcg_options options;
  sxt_pcg_options_init(&options, sizeof options);
  options.engine = GetParam();
  sxt_pcg *pcg = nullptr;
  fake_limit_memory(0);
  EXPECT_EQ(sxt_pcg_create(matrix, &options, &pcg), SXT_E_MEMORY) << sxt_last_error(context);
  EXPECT_EQ(pcg, nullptr);
  fake_limit_memory(-1);
  ASSERT_EQ(sxt_pcg_create(matrix, &options, &pcg), SXT_OK) << sxt_last_error(context);
  fake_limit_memory(0);
  EXPECT_EQ(sxt_pcg_solve_array(pcg, 2, b.data(), x.data(), nullptr, nullptr), SXT_E_MEMORY);
  EXPECT_EQ(x, (std::vector<double>{7, 7}));
  fake_limit_memory(-1);
  EXPECT_EQ(sxt_pcg_solve_array(pcg, 2, b.data(), x.data(), nullptr, nullptr), SXT_OK) << sxt_last_error(context);
  sxt_pcg_destroy(pcg);
  sxt_matrix_destroy(matrix);
  sxt_context_destroy(context);
}

// Nothing of a refused solve may appear in the caller's graph.
TEST_P(FakePcg, ASolveInsideACaptureIsRefused) {
  Bench bench(GetParam());
  const sxt_device_ops &ops = bench.device().ops();
  void *const handle = bench.device().handle(), *stream = nullptr, *graph = nullptr;
  ASSERT_EQ(ops.stream_create(handle, &stream), SXT_OK);
  ASSERT_EQ(sxt_context_set_stream(bench.context, stream), SXT_OK);
  ASSERT_EQ(bench.solve(), SXT_OK);
  ASSERT_EQ(ops.capture_begin(handle, stream), SXT_OK);
  const std::int64_t launches = fake_count("launches");
  EXPECT_EQ(bench.solve(), SXT_E_STATE);
  EXPECT_NE(std::string(sxt_last_error(bench.context)).find("captur"), std::string::npos)
      << sxt_last_error(bench.context);
  EXPECT_EQ(fake_count("launches"), launches);
  ASSERT_EQ(ops.capture_end(handle, stream, &graph), SXT_OK);
  ops.graph_destroy(handle, graph);
  EXPECT_EQ(bench.solve(), SXT_OK);
  ASSERT_EQ(sxt_context_set_stream(bench.context, nullptr), SXT_OK);
  ops.stream_destroy(handle, stream);
}

using FakeOrder = FakeDevice;

// Where the device lacks the memory for P A P^T, or anything fails because of that, the host moves the entries, and the
// explanation says so.
TEST_F(FakeOrder, EntriesAreMovedOnTheHostWhereMemoryIsShort) {
  std::vector<std::int32_t> ptr{0}, col;
  std::vector<double> values;
  for (std::int32_t i = 0; i < Bench::rows; ++i) {
    col.push_back(i);
    values.push_back(2 + i % 3);
    ptr.push_back(i + 1);
  }
  sxt_pcg_options options;
  sxt_pcg_options_init(&options, sizeof options);
  options.reorder = 1;
  options.probe = -1;
  bool on_device = false, on_host = false;
  for (std::int64_t n = 0; n < 400 && !on_host; ++n) {
    sxt_context *context = nullptr;
    sxt_matrix *matrix = nullptr;
    sxt_pcg *pcg = nullptr;
    ASSERT_EQ(open(&context), SXT_OK);
    ASSERT_EQ(
        sxt_matrix_from_csr(context, Bench::rows, Bench::rows, ptr.data(), col.data(), values.data(), nullptr, &matrix),
        SXT_OK);
    fake_fail(n, FAKE_NO_MEMORY);
    const sxt_status status = sxt_pcg_create(matrix, &options, &pcg);
    fake_fail(0, 0);
    if (status == SXT_OK) {
      std::string text(20000, ' ');
      ASSERT_EQ(sxt_pcg_explain(pcg, SXT_TEXT, text.data(), static_cast<std::int64_t>(text.size()), nullptr), SXT_OK);
      on_device = on_device || text.find("to bring the entries into it\n") != std::string::npos;
      on_host = text.find("entries are moved on the host: ") != std::string::npos &&
                text.find("to bring the entries into it on the host") != std::string::npos;
    }
    sxt_pcg_destroy(pcg);
    sxt_matrix_destroy(matrix);
    sxt_context_destroy(context);
    ASSERT_EQ(left_behind(), "");
  }
  EXPECT_TRUE(on_device);
  EXPECT_TRUE(on_host);
}

using FakePersistent = FakeDevice;

// Rows without order, so that no partition keeps halos small. The model assumes that the system fits. That it does not
// is found while parts grow, and the message has the numbers.
TEST_F(FakePersistent, AHaloThatCannotFitIsRefusedWhileItGrows) {
  constexpr std::int32_t n = 4000, neighbours = 15;
  std::vector<std::int32_t> row, col;
  std::vector<double> values;
  std::uint32_t state = 1;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t k = 0; k <= neighbours; ++k) {
      state = state * 1664525u + 1013904223u;
      row.push_back(i);
      col.push_back(k == 0 ? i : static_cast<std::int32_t>((state >> 8) % n));
      values.push_back(1);
    }
  sxt_context *context = nullptr;
  sxt_matrix *matrix = nullptr;
  sxt_pcg *pcg = nullptr;
  ASSERT_EQ(open(&context), SXT_OK);
  ASSERT_EQ(sxt_matrix_from_coo(context, n, n, static_cast<std::int64_t>(row.size()), row.data(), col.data(),
                                values.data(), nullptr, &matrix),
            SXT_OK)
      << sxt_last_error(context);
  sxt_pcg_options options;
  sxt_pcg_options_init(&options, sizeof options);
  options.engine = engines[0];
  options.check_symmetry = 0;
  options.probe = -1;
  EXPECT_EQ(sxt_pcg_create(matrix, &options, &pcg), SXT_E_NOT_SUPPORTED);
  EXPECT_THAT(sxt_last_error(context), testing::HasSubstr("a block would need at least"));
  EXPECT_THAT(sxt_last_error(context), testing::HasSubstr("1000 rows, "));
  sxt_matrix_destroy(matrix);
  sxt_context_destroy(context);
  EXPECT_EQ(left_behind(), "");
}

INSTANTIATE_TEST_SUITE_P(Engines, FakePcg, testing::ValuesIn(engines), [](const auto &info) {
  std::string name = info.param;
  for (char &each : name)
    if (each == '.' || each == '-') each = '_';
  return name;
});

}  // namespace
