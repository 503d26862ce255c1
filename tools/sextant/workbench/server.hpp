// SPDX-License-Identifier: BSD-3-Clause
// The HTTP side of the workbench: one thread that sleeps while nothing is asked.
#pragma once

#include <memory>
#include <string>

#include "workbench/session.hpp"

namespace tool {

struct ServerOptions {
  int port = 0;        // of 127.0.0.1; 0: a free one
  std::string socket;  // a Unix socket in the place of a port
};

class Server {
 public:
  // Listens; throws a ToolError where it cannot, or where the command was built without libmicrohttpd.
  Server(Session &session, const ServerOptions &options, const std::string &token);
  ~Server();  // ends all connections
  Server(const Server &) = delete;
  Server &operator=(const Server &) = delete;
  int port() const;  // 0 with a socket
  struct Parts;      // what the HTTP library's callbacks are given

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace tool
