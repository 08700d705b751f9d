// SPDX-License-Identifier: MIT
#include "apps/thrum/page_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/timing.h"

namespace thrum::app {

namespace {

constexpr std::size_t kMaxRequestBytes = 16384;  ///< head of a request [bytes]
constexpr std::size_t kMaxConnections = 64;      ///< open at the same time
constexpr double kTimeout = 10;     ///< for the rest of a request, or for a client that reads a response [s]
constexpr int kPollInterval = 200;  ///< between checks for a stop request [ms]

// A descriptor that is closed by its destructor.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept
  {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket()
  {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

struct Connection {
  Socket socket;
  std::string request = {};
  base::Stopwatch age = {};
};

int hex_digit(char c)
{
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Decodes "%20" and the like; nothing when an escape is incomplete.
std::optional<std::string> url_decode(std::string_view text)
{
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(16 * high + low);
    i += 2;
  }
  return out;
}

const char* mime_type(const std::filesystem::path& file)
{
  static const std::map<std::string, const char*> types = {{".html", "text/html; charset=utf-8"},
                                                           {".json", "application/json"},
                                                           {".csv", "text/csv; charset=utf-8"},
                                                           {".png", "image/png"},
                                                           {".glb", "model/gltf-binary"},
                                                           {".wav", "audio/wav"},
                                                           {".mp4", "video/mp4"}};
  const auto found = types.find(file.extension().string());
  return found == types.end() ? "application/octet-stream" : found->second;
}

const char* reason(int status)
{
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Internal Server Error";
  }
}

// The value of a header line, or nothing.
std::string header_value(std::string_view request, std::string_view name)
{
  std::size_t line = request.find("\r\n");
  while (line != std::string_view::npos && line + 2 < request.size()) {
    const std::string_view rest = request.substr(line + 2);
    const std::string_view text = rest.substr(0, rest.find("\r\n"));
    const std::size_t colon = text.find(':');
    const bool named =
        colon == name.size() && std::equal(name.begin(), name.end(), text.begin(), [](char a, char b) {
          return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
        });
    if (named) {
      const std::size_t first = text.find_first_not_of(" \t", colon + 1);
      return first == std::string_view::npos ? "" : std::string(text.substr(first));
    }
    line = request.find("\r\n", line + 2);
  }
  return {};
}

class Server {
 public:
  explicit Server(const PageServerDesc& desc)
      : desc_(desc), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
  {
    std::error_code failure;
    folder_ = std::filesystem::canonical(desc.folder, failure);
    if (failure || !std::filesystem::is_directory(folder_))
      throw Error(fmt::format("{} is not a folder.", desc.folder.string()));
    const int yes = 1;
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(desc.port);
    if (listener_.get() < 0 ||
        ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        ::listen(listener_.get(), 16) != 0) {
      throw Error(fmt::format("Port {} of 127.0.0.1 cannot be used: {}.", desc.port, std::strerror(errno)));
    }
    socklen_t size = sizeof(address);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }

  void run()
  {
    if (desc_.on_ready) desc_.on_ready(port_);
    while (!desc_.stop.stop_requested()) {
      std::vector<pollfd> waiting = {{listener_.get(), POLLIN, 0}};
      for (const Connection& c : connections_) waiting.push_back({c.socket.get(), POLLIN, 0});
      if (::poll(waiting.data(), waiting.size(), kPollInterval) < 0 && errno != EINTR)
        throw Error(fmt::format("The server failed: {}.", std::strerror(errno)));
      // From the back, because finished connections are removed.
      for (std::size_t i = connections_.size(); i-- > 0;) {
        const bool readable = (waiting[i + 1].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
        if ((readable && read_some(connections_[i])) || connections_[i].age.seconds() > kTimeout)
          connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if ((waiting[0].revents & POLLIN) != 0) accept_connection();
    }
  }

 private:
  void accept_connection()
  {
    Socket socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.get() < 0 || connections_.size() >= kMaxConnections) return;
    const timeval timeout{static_cast<time_t>(kTimeout), 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    connections_.push_back({std::move(socket)});
  }

  // Returns whether the connection is finished.
  bool read_some(Connection& connection)
  {
    std::array<char, 4096> part;
    const ssize_t count = ::recv(connection.socket.get(), part.data(), part.size(), MSG_DONTWAIT);
    if (count <= 0) return count == 0 || (errno != EAGAIN && errno != EINTR);
    connection.request.append(part.data(), at(count));
    if (connection.request.find("\r\n\r\n") != std::string::npos) {
      answer(connection);
      return true;
    }
    return connection.request.size() > kMaxRequestBytes;
  }

  void answer(const Connection& connection)
  {
    const std::string_view request = connection.request;
    const std::string_view line = request.substr(0, request.find("\r\n"));
    const std::size_t first = line.find(' ');
    const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos) {
      send(connection, {400, "text/plain", "Invalid request.\n"}, true);
      return;
    }
    const std::string_view method = line.substr(0, first);
    if (method != "GET" && method != "HEAD") {
      send(connection, {405, "text/plain", "Only GET and HEAD are supported.\n"}, true);
      return;
    }
    const std::string host = header_value(request, "Host");
    if (host != fmt::format("127.0.0.1:{}", port_) && host != fmt::format("localhost:{}", port_)) {
      send(connection, {403, "text/plain", "This server only answers requests from this machine.\n"},
           method == "GET");
      return;
    }
    const std::string_view target = line.substr(first + 1, second - first - 1);
    send(connection, response_for(target.substr(0, target.find_first_of("?#"))), method == "GET");
  }

  HttpResponse response_for(std::string_view address)
  {
    try {
      if (desc_.handler) {
        if (std::optional<HttpResponse> made = desc_.handler(std::string(address))) return std::move(*made);
      }
      if (const auto file = file_inside(folder_, address))
        return {200, mime_type(*file), base::read_text_file(*file)};
      return {404, "text/plain", "There is no such file in this folder.\n"};
    } catch (const Error& error) {
      return {500, "text/plain; charset=utf-8", std::string(error.what()) + "\n"};
    }
  }

  static void send(const Connection& connection, const HttpResponse& answer, bool with_body)
  {
    std::string out = fmt::format(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n{}Connection: "
        "close\r\n\r\n",
        answer.status, reason(answer.status), answer.type, answer.body.size(),
        answer.status == 405 ? "Allow: GET, HEAD\r\n" : "");
    if (with_body) out += answer.body;
    std::string_view left = out;
    while (!left.empty()) {
      const ssize_t sent = ::send(connection.socket.get(), left.data(), left.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return;
      left.remove_prefix(at(sent));
    }
  }

  const PageServerDesc& desc_;
  std::filesystem::path folder_;
  Socket listener_;
  std::uint16_t port_ = 0;
  std::vector<Connection> connections_;
};

}  // namespace

std::optional<std::filesystem::path> file_inside(const std::filesystem::path& folder,
                                                 std::string_view address)
{
  const std::optional<std::string> text = url_decode(address);
  if (!text || text->empty() || text->front() != '/') return std::nullopt;
  if (std::any_of(text->begin(), text->end(),
                  [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '\\'; }))
    return std::nullopt;
  // Check each path component: not empty, not "..", not hidden.
  std::filesystem::path path = folder;
  std::size_t at = 1;
  while (at <= text->size()) {
    const std::size_t end = std::min(text->find('/', at), text->size());
    const std::string piece = text->substr(at, end - at);
    if (piece.empty() || piece.front() == '.') return std::nullopt;
    path /= piece;
    at = end + 1;
  }
  // A symbolic link may point anywhere: its target must be inside as well.
  std::error_code failure;
  const std::filesystem::path real = std::filesystem::canonical(path, failure);
  if (failure || !std::filesystem::is_regular_file(real, failure) || failure) return std::nullopt;
  const auto [mismatch, rest] = std::mismatch(folder.begin(), folder.end(), real.begin(), real.end());
  if (mismatch != folder.end()) return std::nullopt;
  return real;
}

void serve_folder(const PageServerDesc& desc)
{
  Server(desc).run();
}

}  // namespace thrum::app
