// SPDX-License-Identifier: BSD-3-Clause
// The end points: a request that was admitted becomes an answer. No HTTP library is seen here.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "workbench/request.hpp"
#include "workbench/session.hpp"

namespace tool {

struct Answer {
  int status = 200;
  std::string type = "application/json", body, policy, file_name;
  std::shared_ptr<InputFile> file;  // where it is there: in the place of the body
};

// Most bytes of a request's body.
inline constexpr std::size_t most_upload = std::size_t{64} << 20, most_form = std::size_t{64} << 10;
std::size_t most_body(std::string_view path);

// argument: a value behind the question mark, or null.
Answer answer(Session &session, const RequestFacts &request, const std::function<const char *(const char *)> &argument,
              const std::string &body);
Answer refusal(int status, const std::string &sentence);

}  // namespace tool
