// SPDX-License-Identifier: MIT
// thrum view FOLDER: shows a run in the browser, also while it is running.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/thrum/command.h"
#include "apps/thrum/page_server.h"
#include "apps/thrum/scene_commands.h"
#include "thrum/base/error.h"
#include "thrum/media/pages.h"
#include "thrum/media/viewer_data.h"
#include "thrum/sim/recording.h"

namespace thrum::app {

namespace {

constexpr std::string_view kWaitingPage =
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"1\">"
    "<title>thrum</title><link rel=\"icon\" href=\"data:,\">"
    "<p style=\"font:16px system-ui;margin:3rem;color:#40505a\">There is no recording in this folder yet; "
    "this page checks again every second.</p></html>";

// The runs of a folder: its own, or those of a comparison.
struct LiveFolder {
  std::filesystem::path folder;

  [[nodiscard]] std::vector<std::filesystem::path> runs() const
  {
    std::error_code none;
    if (std::filesystem::exists(folder / "recording", none)) return {folder};
    std::vector<std::filesystem::path> found;
    for (const char* part : {"with", "without"}) {
      if (std::filesystem::exists(folder / part / "recording", none)) found.push_back(folder / part);
    }
    return found;
  }

  // Changes whenever a recording does.
  [[nodiscard]] std::string revision() const
  {
    std::string text;
    for (const auto& run : runs()) {
      std::error_code none;
      text +=
          fmt::format("{}-{} ", std::filesystem::file_size(run / "recording", none),
                      std::filesystem::last_write_time(run / "recording", none).time_since_epoch().count());
    }
    return text;
  }

  [[nodiscard]] bool complete() const
  {
    for (const auto& run : runs()) {
      if (!sim::is_complete_recording(run / "recording")) return false;
    }
    return !runs().empty();
  }

  [[nodiscard]] std::string data() const
  {
    const std::vector<std::filesystem::path> folders = runs();
    std::vector<sim::Recording> recordings;
    recordings.reserve(folders.size());
    std::vector<media::ViewerRun> shown;
    for (const auto& run : folders) {
      recordings.push_back(sim::read_recording(run / "recording"));
      shown.push_back(media::viewer_run(run, recordings.back()));
      if (run != folder) shown.back().label = run.filename().string() + " response";
    }
    return media::viewer_data(shown);
  }

  [[nodiscard]] std::string page() const
  {
    std::string text = media::fill_page("viewer", data());
    // The page reloads during the run when it finds this marker.
    constexpr std::string_view kInsertionPoint = "<meta name=\"generator\" content=\"thrum\">";
    const std::size_t at = text.find(kInsertionPoint);
    if (at != std::string::npos)
      text.insert(at + kInsertionPoint.size(), "<meta name=\"thrum-live\" content=\"yes\">");
    return text;
  }
};

std::optional<HttpResponse> live_response(const LiveFolder& live, const std::string& address)
{
  if (address == "/" || address == "/index.html") {
    return HttpResponse{200, "text/html; charset=utf-8",
                        live.runs().empty() ? std::string(kWaitingPage) : live.page()};
  }
  if (address == "/live/status") {
    const nlohmann::json status = {{"revision", live.revision()}, {"complete", live.complete()}};
    return HttpResponse{200, "application/json", status.dump()};
  }
  if (address == "/live/data" && !live.runs().empty())
    return HttpResponse{200, "application/json", live.data()};
  return std::nullopt;
}

constexpr int kMaxPort = 65535;

struct ViewOptions {
  std::string folder;
  std::uint16_t port = 0;
  bool wait = false;
};

void view(const ViewOptions& options)
{
  if (media::page_template("viewer").empty()) (void)media::fill_page("viewer", "");
  base::StopSource stop;
  stop.stop_on_interrupt();
  const LiveFolder live{options.folder};
  if (!options.wait && std::filesystem::is_directory(options.folder) && live.runs().empty()) {
    throw Error(fmt::format(
        "There is no run in {}: it contains no recording. Use --wait to show a run as soon as it begins.",
        options.folder));
  }
  serve_folder({.folder = options.folder,
                .port = options.port,
                .handler = [&](const std::string& address) { return live_response(live, address); },
                .on_ready =
                    [&](std::uint16_t port) {
                      fmt::print("{} is served at {}; press Ctrl-C to stop\n", options.folder,
                                 bold(fmt::format("http://127.0.0.1:{}/", port)));
                      std::fflush(stdout);
                    },
                .stop = stop.token()});
}

}  // namespace

void add_scene_view(CLI::App& app)
{
  auto options = std::make_shared<ViewOptions>();
  CLI::App* command =
      app.add_subcommand("view", "Show a run in the browser of this machine, also while it is running");
  command->add_option("folder", options->folder, "the folder of the run")->required();
  command->add_option("--port", options->port, "port of 127.0.0.1; default: any free port")
      ->check(CLI::Range(0, kMaxPort));
  command->add_flag("--wait", options->wait, "wait for a run that has not started yet");
  command->callback([options] { view(*options); });
}

}  // namespace thrum::app
