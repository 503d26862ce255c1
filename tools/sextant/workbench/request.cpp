// SPDX-License-Identifier: BSD-3-Clause
#include "workbench/request.hpp"

#include <algorithm>
#include <charconv>

namespace tool {
namespace {

// In a time that does not tell how much of it was right.
bool equal(std::string_view given, std::string_view wanted) {
  if (given.size() != wanted.size()) return false;
  unsigned differ = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    differ |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(wanted[i]);
  return differ == 0;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_loopback(std::string_view host) {
  for (const std::string_view name : {"localhost", "127.0.0.1", "[::1]"}) {
    if (!host.starts_with(name)) continue;
    const std::string_view rest = host.substr(name.size());
    return rest.empty() || (rest[0] == ':' && all_digits(rest.substr(1)));
  }
  return false;
}

Refusal check_request(const RequestFacts &request, std::string_view token) {
  if (!is_loopback(request.host))
    return {403, "Host must be localhost, 127.0.0.1 or [::1]: open the address that sextant workbench printed"};
  if (!request.origin.empty() && request.origin != "http://" + std::string(request.host))
    return {403, "the request comes from a page of another origin"};
  if (request.method != "GET" && request.method != "POST") return {405, "only GET and POST are answered"};
  if (request.path == "/") return request.method == "GET" ? Refusal{} : Refusal{405, "the page is read by GET"};
  if (!equal(request.token, token))
    return {401, "the token is missing or wrong: open the address that sextant workbench printed"};
  return {};
}

int small_number(const char *text, int otherwise) {
  if (!text) return otherwise;
  const std::string_view digits(text);
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool good = error == std::errc() && end == digits.data() + digits.size() && digits.size() <= 9 && value >= 0;
  return good ? value : otherwise;
}

}  // namespace tool
