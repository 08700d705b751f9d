// SPDX-License-Identifier: MIT
// A small HTTP server for one folder: on this machine only (127.0.0.1), read-only.
//
// It answers GET and HEAD of regular files inside the folder, and of addresses that the caller handles.
// Everything that could lead out of the folder is rejected: "..", encoded or not, absolute paths, links that
// point elsewhere. A request that names another host is rejected as well, so that a page from another site
// cannot read the folder through a browser.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "thrum/base/progress.h"

namespace thrum::app {

struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
};

struct PageServerDesc {
  std::filesystem::path folder;
  std::uint16_t port = 0;  ///< 0: any free port
  /// Handles an address such as "/live/status"; returns nothing for files of the folder.
  std::function<std::optional<HttpResponse>(const std::string& address)> handler = {};
  std::function<void(std::uint16_t port)> on_ready = {};
  base::StopToken stop = {};
};

/// Serves until a stop is requested. Throws Error when the port is in use or the folder does not exist.
void serve_folder(const PageServerDesc& desc);

/// The file that an address ("/a/b.png") names inside `folder`, which must be canonical; nothing when the
/// address is not well formed, leads out of the folder, or names no regular file.
[[nodiscard]] std::optional<std::filesystem::path> file_inside(const std::filesystem::path& folder,
                                                               std::string_view address);

}  // namespace thrum::app
