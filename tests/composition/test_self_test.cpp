// SPDX-License-Identifier: BSD-3-Clause
// The test before use on a device with streams: a model is judged by its kernel's time there, on matrices that suit the
// kernel, without the caller's waiting time.
#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "core/conformance/conformance.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "support.hpp"

namespace composition {
namespace {

using sextant::registry::Verdict;
using ::testing::HasSubstr;

class SelfTest : public HardCase {
 protected:
  SelfTest() : registry_(SEXTANT_PLUGIN_DIR) {
    registry_.load_default({});
    for (const char *name : {"device/device", "deferred/dia_storage", "deferred/spmv_dia"})
      registry_.load_path(std::string(COMPOSITION_PLUGINS "/") + name + ".so", {});
    device_ = std::make_unique<sextant::Device>(registry_.find("device.deferred")->table, 0, 1, sextant::Allocator{},
                                                sextant::LogSink{});
  }
  const sextant::registry::Kernel &product() const { return *registry_.find("spmv.dia.deferred"); }
  std::string outcome() {
    sxt_spmv_query query{};
    query.m.q = {{sizeof query, SXT_KIND_SPMV}, 100, SXT_QUERY_MATRIX, SXT_F64};
    query.m.rows = query.m.cols = 100;
    query.m.nnz = 500;
    query.m.matrix_type = SXT_F64;
    query.m.storage = SXT_KIND_STORAGE_DIA;
    query.n_rhs = 1;
    const sextant::Query asked(&query.m.q);
    return sextant::conformance::self_test(product(), *device_, &asked, registry_);
  }
  sextant::registry::Registry registry_;
  std::unique_ptr<sextant::Device> device_;
};

// Among the first cases are matrices without diagonals, which take some thousand times as long as the model says.
TEST_F(SelfTest, AModelThatIsRightForSuitableMatricesPasses) {
  EXPECT_EQ(outcome(), "");
  EXPECT_EQ(product().verdict, Verdict::untested);
}

TEST_F(SelfTest, WaitingTimeIsNotCounted) {
  mock::set_knob("wait_s", 2e-3);  // beside some microseconds that a suitable matrix takes
  EXPECT_EQ(outcome(), "");
  EXPECT_EQ(product().verdict, Verdict::untested);
}

TEST_F(SelfTest, AModelThatIsWrongEverywhereIsRefused) {
  mock::set_knob("product.factor", 1e-6);
  EXPECT_THAT(outcome(), HasSubstr("grossly wrong"));
  EXPECT_EQ(product().verdict, Verdict::quarantined);
}

}  // namespace
}  // namespace composition
