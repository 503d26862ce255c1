// SPDX-License-Identifier: BSD-3-Clause
// HTTP by libmicrohttpd. One thread serves all connections, so a slow client holds up no other; each has a time limit.
#include "workbench/server.hpp"

#ifdef SEXTANT_MICROHTTPD

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "report/error.hpp"
#include "workbench/answers.hpp"

namespace tool {

struct Server::Parts {
  Session &session;
  std::string token, socket_path;
  struct stat socket_file {};  // what was bound at the path
  MHD_Daemon *daemon = nullptr;
  int port = 0;
};

namespace {

// A connection that has not shown the token yet has less time, so that silent ones do not keep others out.
constexpr unsigned idle_seconds = 20, unknown_seconds = 5, most_connections = 500, memory_of_connection = 32 << 10;

// A request whose body is still coming.
struct Pending {
  std::string body;
  bool too_large = false;
};

std::string_view header(MHD_Connection *connection, const char *name) {
  const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value ? value : "";
}

// A file is read as it is sent.
MHD_Response *response_of(const Answer &answer) {
  if (!answer.file)
    return MHD_create_response_from_buffer(answer.body.size(), const_cast<char *>(answer.body.data()),
                                           MHD_RESPMEM_MUST_COPY);
  const int file = answer.file->release();
  MHD_Response *response = MHD_create_response_from_fd64(answer.file->size(), file);
  if (!response) close(file);
  return response;
}

MHD_Result send(MHD_Connection *connection, const Answer &answer) {
  MHD_Response *response = response_of(answer);
  if (!response) return MHD_NO;
  const auto add = [&](const char *name, const std::string &value) {
    if (!value.empty()) MHD_add_response_header(response, name, value.c_str());
  };
  add("Content-Type", answer.type);
  add("Content-Security-Policy", answer.policy.empty() ? "default-src 'none'; frame-ancestors 'none'" : answer.policy);
  add("X-Content-Type-Options", "nosniff");
  add("Referrer-Policy", "no-referrer");
  add("Cache-Control", "no-store");
  add("Cross-Origin-Resource-Policy", "same-origin");
  if (!answer.file_name.empty()) add("Content-Disposition", "attachment; filename=\"" + answer.file_name + "\"");
  const MHD_Result done = MHD_queue_response(connection, static_cast<unsigned>(answer.status), response);
  MHD_destroy_response(response);
  return done;
}

Answer too_large(const char *url) {
  return refusal(413, fmt::format("a body of at most {} bytes is taken here", most_body(url)));
}

// Called once with the headers, then for each part of the body, then once more.
MHD_Result take(Server::Parts &parts, MHD_Connection *connection, const char *url, const char *method, const char *data,
                std::size_t *size, void **state) {
  const RequestFacts request{method, url, header(connection, "Host"), header(connection, "Origin"),
                             header(connection, "X-Sextant-Token")};
  auto *pending = static_cast<Pending *>(*state);
  if (!pending) {
    *state = pending = new (std::nothrow) Pending;
    if (!pending) return MHD_NO;
    // Refused before a body is taken in.
    const Refusal refused = check_request(request, parts.token);
    if (refused.status) return send(connection, refusal(refused.status, refused.sentence));
    if (request.path != "/") MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, idle_seconds);
    // A body that is a little too large is read to its end, so that its sender gets to see the answer.
    const std::string_view length = header(connection, "Content-Length");
    if (length.size() > 9 || static_cast<std::size_t>(small_number(std::string(length).c_str(), 0)) > most_upload)
      return send(connection, too_large(url));
    return MHD_YES;
  }
  if (*size) {
    pending->too_large |= pending->body.size() + *size > most_body(url);
    if (!pending->too_large) pending->body.append(data, *size);
    *size = 0;
    return MHD_YES;
  }
  if (pending->too_large) return send(connection, too_large(url));
  const auto argument = [connection](const char *name) -> const char * {
    const char *value = nullptr;
    std::size_t length = 0;
    MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, name, std::strlen(name), &value, &length);
    if (value && std::strlen(value) != length) fail(exit_usage, "{}: a NUL cannot stand there", name);
    return value;
  };
  return send(connection, answer(parts.session, request, argument, pending->body));
}

// No exception may pass through the C library; one that comes so far finds no memory for an answer.
MHD_Result on_request(void *user, MHD_Connection *connection, const char *url, const char *method, const char *,
                      const char *data, std::size_t *size, void **state) {
  try {
    return take(*static_cast<Server::Parts *>(user), connection, url, method, data, size, state);
  } catch (...) {
    return MHD_NO;  // closes the connection
  }
}

void on_end(void *, MHD_Connection *, void **state, MHD_RequestTerminationCode) {
  delete static_cast<Pending *>(*state);
  *state = nullptr;
}

[[noreturn]] void give_up(int socket, const std::string &what) {
  const int reason = errno;
  if (socket >= 0) close(socket);
  fail(exit_bad_input, "{}: {}", what, std::strerror(reason));
}

int listen_on_port(int port, int &chosen) {
  const std::string what = fmt::format("port {} of 127.0.0.1", port);
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) give_up(socket, what);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t size = sizeof address;
  if (bind(socket, reinterpret_cast<sockaddr *>(&address), size) != 0 || listen(socket, 64) != 0 ||
      getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size) != 0)
    give_up(socket, what);
  chosen = ntohs(address.sin_port);
  return socket;
}

// Removes a socket that is left from a run that ended; throws where one is still served.
void clear_place(const std::string &path, const sockaddr_un &address) {
  struct stat there {};
  if (lstat(path.c_str(), &there) != 0 || !S_ISSOCK(there.st_mode)) return;
  const int trial = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (trial < 0) give_up(trial, path);
  const bool taken = connect(trial, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0;
  if (!taken && errno != ECONNREFUSED && errno != EAGAIN) give_up(trial, path);
  const bool left = !taken && errno == ECONNREFUSED;
  close(trial);
  if (!left) fail(exit_bad_input, "{}: is in use; --socket takes another path", path);
  unlink(path.c_str());
}

// For its owner alone. A socket that is left from an earlier run is replaced, any other file stays.
int listen_on_socket(const std::string &path, struct stat &made) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) fail(exit_usage, "--socket: the path is longer than a socket's may be");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  clear_place(path, address);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) give_up(socket, path);
  const mode_t before = umask(0177);
  const bool bound = bind(socket, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0;
  const int reason = errno;
  umask(before);
  errno = reason;
  if (!bound || listen(socket, 64) != 0 || lstat(path.c_str(), &made) != 0) give_up(socket, path);
  return socket;
}

// Another workbench may have taken the place meanwhile.
void remove_socket(const std::string &path, const struct stat &made) {
  struct stat there {};
  if (lstat(path.c_str(), &there) == 0 && there.st_dev == made.st_dev && there.st_ino == made.st_ino)
    unlink(path.c_str());
}

}  // namespace

Server::Server(Session &session, const ServerOptions &options, const std::string &token)
    : parts_(new Parts{session, token, options.socket}) {
  const int socket = options.socket.empty() ? listen_on_port(options.port, parts_->port)
                                            : listen_on_socket(options.socket, parts_->socket_file);
  parts_->daemon = MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC, 0, nullptr, nullptr, &on_request, parts_.get(),
      MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_NOTIFY_COMPLETED, &on_end, nullptr, MHD_OPTION_CONNECTION_TIMEOUT,
      unknown_seconds, MHD_OPTION_CONNECTION_LIMIT, most_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      static_cast<std::size_t>(memory_of_connection), MHD_OPTION_END);
  if (!parts_->daemon) give_up(socket, "the server could not be started");
}

Server::~Server() {
  MHD_stop_daemon(parts_->daemon);
  if (!parts_->socket_path.empty()) remove_socket(parts_->socket_path, parts_->socket_file);
}

int Server::port() const { return parts_->port; }

}  // namespace tool

#else

#include "report/error.hpp"

namespace tool {

struct Server::Parts {};

Server::Server(Session &, const ServerOptions &, const std::string &) {
  fail(exit_usage,
       "this sextant was built without libmicrohttpd, which serves the page. Install it (Debian and Ubuntu: "
       "libmicrohttpd-dev) and build again; sextant report needs none");
}
Server::~Server() = default;
int Server::port() const { return 0; }

}  // namespace tool

#endif
