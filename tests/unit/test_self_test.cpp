// SPDX-License-Identifier: BSD-3-Clause
// The test of third parties' kernels in the process, on cases like the query: every defect of the corpus is refused,
// and none of the library's own kernels is, when they are loaded as a third party's.
#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/conformance/conformance.hpp"
#include "core/registry/stamps.hpp"
#include "sextant/plugin/kinds/features.h"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/vector.h"
#include "test_registry_util.hpp"

using namespace registry_test;
using sextant::Device;
using sextant::Query;
using sextant::conformance::check_kernel;
using sextant::conformance::CheckLine;
using sextant::conformance::ConformanceOptions;
using sextant::conformance::device_mark;
using sextant::conformance::self_test;
using sextant::registry::Kernel;
using sextant::registry::stamp_of;
using sextant::registry::Verdict;
using sextant::registry::write_stamp;
using testing::HasSubstr;

namespace {

Query product_query(sxt_value_type type, sxt_value_type stored, sxt_op op, std::int32_t columns,
                    const char *storage = SXT_KIND_STORAGE_CSR) {
  sxt_spmv_query query{};
  query.m.q = {{sizeof query, SXT_KIND_SPMV}, 100, SXT_QUERY_MATRIX, type};
  query.m.rows = query.m.cols = 100000;
  query.m.nnz = 500000;
  query.m.matrix_type = stored;
  query.m.storage = storage;
  query.op = op;
  query.n_rhs = columns;
  return Query(&query.m.q);
}

Query storage_query(const char *kind, sxt_value_type type) {
  sxt_matrix_query query{};
  query.q = {{sizeof query, kind}, 1, SXT_QUERY_MATRIX, type};
  query.rows = query.cols = 1000;
  query.nnz = 5000;
  query.matrix_type = type;
  return Query(&query.q);
}

class SelfTest : public testing::Test {
 protected:
  SelfTest() {
    registry_.load_path(own_plugin("device/device-cpu.so"), {});
    for (const auto &entry : fs::directory_iterator(own_plugin("cpu")))
      if (entry.path().extension() == ".so") registry_.load_path(entry.path(), {});
    device_ = std::make_unique<Device>(registry_.find("device.cpu")->table, 0, 2, sextant::Allocator{}, log_.sink());
  }
  const Kernel &third_party(const std::string &file, const std::string &name) {
    registry_.load_path(mock(file), {});
    const Kernel *found = registry_.find(name);
    EXPECT_NE(found, nullptr) << name;
    return *found;
  }
  std::string outcome(const Kernel &kernel, const Query &query) {
    return self_test(kernel, *device_, &query, registry_);
  }
  Registry registry_{"/nonexistent"};
  Log log_;
  std::unique_ptr<Device> device_;
};

const Query plain = product_query(SXT_F64, SXT_F64, SXT_NO_TRANSPOSE, 1);

TEST_F(SelfTest, AGoodProductMayServeWhatItWasTestedOn) {
  const Kernel &good = third_party("spmv-serial", "com.example.spmv_serial");
  EXPECT_EQ(outcome(good, plain), "");
  // Nothing else: it declines all cases like these, and that proves nothing, in any number of tries.
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT(outcome(good, product_query(SXT_F64, SXT_F64, SXT_TRANSPOSE, 1)),
                HasSubstr("not proven: no case applied"));
    EXPECT_THAT(outcome(good, product_query(SXT_F32, SXT_F32, SXT_NO_TRANSPOSE, 1)), HasSubstr("not proven"));
  }
  EXPECT_EQ(good.verdict, Verdict::untested);
  EXPECT_EQ(outcome(good, plain), "");
}

struct Wrong {
  const char *name, *words;
};
class WrongProducts : public SelfTest, public testing::WithParamInterface<Wrong> {};
TEST_P(WrongProducts, AreRefusedWithAMessage) {
  std::string file = GetParam().name;
  for (char &c : file) c = c == '_' ? '-' : c;
  const Kernel &wrong = third_party(file, std::string("com.example.") + GetParam().name);
  EXPECT_THAT(outcome(wrong, plain), HasSubstr(GetParam().words));
  EXPECT_EQ(wrong.verdict, Verdict::quarantined);
  ASSERT_FALSE(log_.lines.empty());
  EXPECT_EQ(log_.lines.back().first, SXT_LOG_WARNING);
  EXPECT_THAT(log_.lines.back().second, HasSubstr(wrong.name()));
}
INSTANTIATE_TEST_SUITE_P(Corpus, WrongProducts,
                         testing::Values(Wrong{"spmv_wrong", "wrong answer"}, Wrong{"spmv_factor", "wrong answer"},
                                         Wrong{"spmv_reads_y", "wrong answer"},
                                         Wrong{"spmv_reads_gaps", "wrong answer"},
                                         Wrong{"spmv_flatters", "grossly wrong"}),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_F(SelfTest, AKernelThatDeclinesEveryCaseProvesNothing) {
  const Kernel &declining = third_party("spmv-declines", "com.example.spmv_declines");
  EXPECT_THAT(outcome(declining, plain), HasSubstr("not proven"));
  EXPECT_EQ(declining.verdict, Verdict::untested);
}

TEST_F(SelfTest, AReferenceThatIsNotThereProvesNothingAtEveryTry) {
  const Kernel &kernel = third_party("kind-elsewhere", "com.example.elsewhere.wrong");
  const sxt_query query{{sizeof query, "com.example.elsewhere/1"}, 1, 0, SXT_F64};
  const Query asked(&query);
  for (int again = 0; again < 3; ++again) EXPECT_THAT(outcome(kernel, asked), HasSubstr("'moon'"));
}

// A file that was checked may hold kernels that nothing could test, or that are for another device.
TEST_F(SelfTest, AStampLetsInOnlyTheKernelsThatItNames) {
  const Folder folder;
  const Environment state("XDG_STATE_HOME", (folder / "state").c_str());
  const std::string file = folder.copy(mock("spmv-mixed"), "mixed.so");
  const std::string here = device_mark(device_->machine());
  write_stamp(file, stamp_of(file), {{{"com.example.spmv_mixed", {here}}}, {}});
  registry_.load_path(mock("kind-elsewhere"), {});
  registry_.load_path(file, {});
  const Kernel *good = registry_.find("com.example.spmv_mixed"),
               *unproven = registry_.find("com.example.mixed.unproven"),
               *elsewhere = registry_.find("com.example.mixed.elsewhere");
  ASSERT_TRUE(good && unproven && elsewhere);
  EXPECT_EQ(good->stamped_on, std::vector<std::string>{here});
  EXPECT_EQ(outcome(*good, plain), "");
  for (const Kernel *other : {unproven, elsewhere}) {
    EXPECT_TRUE(other->stamped_on.empty()) << other->name();
    EXPECT_EQ(other->verdict, Verdict::untested) << other->name();
  }
  const sxt_query query{{sizeof query, "com.example.elsewhere/1"}, 1, 0, SXT_F64};
  for (int again = 0; again < 2; ++again) EXPECT_THAT(outcome(*unproven, Query(&query)), HasSubstr("not proven"));
}

struct Builder {
  const char *defect, *words;  // "": it is right
};
class Builders : public SelfTest, public testing::WithParamInterface<Builder> {};
TEST_P(Builders, OfStoragesAreTested) {
  const std::string defect = GetParam().defect;
  const Kernel &builder = third_party("storage-" + defect, "com.example.storage." + defect);
  const std::string said = outcome(builder, storage_query(SXT_KIND_STORAGE_CSR, SXT_F64));
  if (*GetParam().words)
    EXPECT_THAT(said, HasSubstr(GetParam().words));
  else
    EXPECT_EQ(said, "");
}
INSTANTIATE_TEST_SUITE_P(Corpus, Builders,
                         testing::Values(Builder{"none", ""}, Builder{"values", "wrong entries as built"},
                                         Builder{"refresh", "wrong entries after refresh"},
                                         Builder{"diagonal", "wrong diagonal"},
                                         Builder{"scale", "wrong entries after scaling"}),
                         [](const auto &info) { return std::string(info.param.defect); });

TEST_F(SelfTest, FeaturesAreTested) {
  const Kernel &wrong = third_party("feature-wrong", "com.example.feature_wrong");
  EXPECT_THAT(outcome(wrong, storage_query(SXT_KIND_FEATURES, SXT_F64)), HasSubstr("row_nnz_max"));
  EXPECT_EQ(wrong.verdict, Verdict::quarantined);
}

// The library's own kernels, loaded by path, count as a third party's: each must pass for every query that it accepts.
TEST_F(SelfTest, OwnProductsPassAsAThirdPartys) {
  int proven = 0;
  for (const Kernel *kernel : registry_.kernels(SXT_KIND_SPMV, "cpu")) {
    for (const char *const *storage = kernel->table.storages; storage && *storage; ++storage)
      for (const Query &query : {product_query(SXT_F64, SXT_F64, SXT_NO_TRANSPOSE, 1, *storage),
                                 product_query(SXT_C64, SXT_C64, SXT_CONJUGATE_TRANSPOSE, 3, *storage)}) {
        const std::string said = outcome(*kernel, query);
        EXPECT_NE(kernel->verdict, Verdict::quarantined) << kernel->quarantine_reason;
        proven += said.empty();
      }
  }
  EXPECT_GT(proven, 10);
}

TEST_F(SelfTest, OwnBuildersOfStoragesPassAsAThirdPartys) {
  for (const Kernel *kernel : registry_.all_kernels()) {
    if (!sextant::conformance::builds_storage(*kernel)) continue;
    EXPECT_EQ(outcome(*kernel, storage_query(kernel->table.kind, SXT_F64)), "") << kernel->name();
  }
}

TEST_F(SelfTest, OwnVectorKernelsPassAsAThirdPartys) {
  int proven = 0;
  for (const Kernel *kernel : registry_.kernels(SXT_KIND_VECTOR, "cpu")) {
    sxt_vector_query query{};
    query.q = {{sizeof query, SXT_KIND_VECTOR}, 1, 0, SXT_F64};
    query.n = 1000000;
    query.operation = SXT_VECTOR_AXPY;
    proven += outcome(*kernel, Query(&query.q)).empty();
    EXPECT_NE(kernel->verdict, Verdict::quarantined) << kernel->quarantine_reason;
  }
  EXPECT_GE(proven, 2);
}

TEST_F(SelfTest, AKernelThatDoesNothingFailsInEveryKind) {
  registry_.load_path(mock("lazy"), {});
  int tried = 0;
  for (const Kernel *kernel : registry_.all_kernels()) {
    if (std::string(kernel->name()).find("com.example.lazy.") != 0) continue;
    ++tried;
    const auto checked = check_kernel(
        *kernel, *device_, ConformanceOptions{}, [](const CheckLine &) {}, registry_);
    EXPECT_FALSE(checked.good) << kernel->name();
  }
  EXPECT_EQ(tried, 11);
}

// A check has more cases than the test before use.
TEST_F(SelfTest, AWholeCheckFindsEveryDefectOfTheCorpus) {
  for (const char *name :
       {"spmv_wrong", "spmv_factor", "spmv_reads_y", "spmv_reads_gaps", "spmv_flatters", "spmv_serial"}) {
    std::string file = name;
    for (char &c : file) c = c == '_' ? '-' : c;
    ConformanceOptions options;
    options.costs = true;
    std::string failure;
    const auto note = [&](const CheckLine &line) {
      if (line.applicable && !line.passed) failure = line.sentence;
    };
    const auto checked =
        check_kernel(third_party(file, std::string("com.example.") + name), *device_, options, note, registry_);
    EXPECT_EQ(checked.good, std::string(name) == "spmv_serial") << name << ": " << failure;
    if (checked.good) {
      EXPECT_GE(checked.proven, 6);
    }
  }
}

}  // namespace
