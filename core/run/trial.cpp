// SPDX-License-Identifier: BSD-3-Clause
#include "core/run/trial.hpp"

#include <string_view>
#include <vector>

#include "core/base/types.hpp"
#include "core/context/context.hpp"
#include "core/run/session_timing.hpp"

namespace sextant {

namespace {

// Numbers between 1/2 and 1: neither zeros nor denormal results, which some machines are slow or fast with.
DeviceBuffer filled(Device &device, std::int64_t n, sxt_value_type type) {
  const bool single = type == SXT_F32 || type == SXT_C64, pairs = type == SXT_C64 || type == SXT_C128;
  const auto count = static_cast<std::size_t>(n * (pairs ? 2 : 1));
  const auto value = [](std::size_t i) { return 0.5 + static_cast<double>(i * 2654435761u % 1024) / 2048; };
  DeviceBuffer buffer(device, count * (single ? 4 : 8));
  const auto fill = [&](auto zero) {
    std::vector<decltype(zero)> host(count);
    for (std::size_t i = 0; i < count; ++i) host[i] = static_cast<decltype(zero)>(value(i));
    if (count) device.copy(buffer.data(), host.data(), count * sizeof zero);
  };
  single ? fill(0.0f) : fill(0.0);
  return buffer;
}

}  // namespace

bool TrialProduct::possible(const Query &query) {
  return query.about_matrix() && std::string_view(query.kind()) == SXT_KIND_SPMV;
}

TrialProduct::TrialProduct(Context &context, const Query &query) {
  const auto &q = *reinterpret_cast<const sxt_spmv_query *>(query.get());
  const sxt_value_type type = query.value_type();
  const bool plain = q.op == SXT_NO_TRANSPOSE, single = type == SXT_F32 || type == SXT_C64;
  args_.h = {sizeof args_, SXT_KIND_SPMV};
  args_.op = q.op;
  args_.n_rhs = q.n_rhs;
  args_.ldx = plain ? q.m.cols : q.m.rows;
  args_.ldy = plain ? q.m.rows : q.m.cols;
  x_ = filled(context.device(), args_.ldx * q.n_rhs, type);
  y_ = filled(context.device(), args_.ldy * q.n_rhs, type);
  args_.alpha.value = single ? static_cast<const void *>(one_f_) : one_;
  args_.beta.value = single ? static_cast<const void *>(zero_f_) : zero_;
  args_.x = x_.data();
  args_.y = y_.data();
}

Trial measure(Context &context, const ChoicePtr &choice, Matrix &matrix, TrialProduct &product, double budget_s) {
  Trial trial;
  double start = seconds_now();
  std::shared_ptr<StoredForm> form;
  if (!choice->storage.empty() && !matrix.holds(choice->storage)) {
    form = matrix.lend(choice->storage);
    trial.built_storage = true;
    trial.storage_s = seconds_now() - start;
  }
  start = seconds_now();
  Prepared prepared(context, choice, &matrix, nullptr);
  trial.setup_s = seconds_now() - start;
  const std::unique_ptr<Session> session = prepared.open();
  sxt_head *const args = product.args();
  trial.run = time_session(context, *session, {&args, 1}, choice->run_s, budget_s);
  return trial;
}

}  // namespace sextant
