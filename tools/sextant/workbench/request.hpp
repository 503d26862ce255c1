// SPDX-License-Identifier: BSD-3-Clause
// What a request must be before it is answered: from a page of this server, and with its token.
#pragma once

#include <string>
#include <string_view>

namespace tool {

struct RequestFacts {
  std::string_view method, path, host, origin, token;
};

struct Refusal {
  int status = 0;  // 0: none
  std::string sentence;
};

// `token`: the server's own. The page itself needs none, as it holds no data; a page of another site can neither read
// it nor send the token. Host may be any name of the loopback interface with any port, so that a forwarded port works.
Refusal check_request(const RequestFacts &request, std::string_view token);
// localhost, 127.0.0.1 or [::1], with or without a port.
bool is_loopback(std::string_view host);
// A whole number of at most nine digits; otherwise `otherwise`.
int small_number(const char *text, int otherwise);

}  // namespace tool
