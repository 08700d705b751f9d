// SPDX-License-Identifier: MIT
// Pictures are sent to ffmpeg through a pipe; it is started without a shell, so that names need no quoting.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "thrum/base/error.h"
#include "thrum/media/snapshots.h"

namespace thrum::media {

namespace {

std::filesystem::path find_ffmpeg()
{
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::filesystem::path program = std::filesystem::path(folder) / "ffmpeg";
    if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  throw Error(
      "Films need the program ffmpeg, which is not installed (Debian: apt-get install ffmpeg). "
      "Pictures (--png, --strip, --sheet) and the page work without it.");
}

// ffmpeg with its input at the other end of a pipe.
class Encoder {
 public:
  Encoder(const std::filesystem::path& program, const std::vector<std::string>& words)
  {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw Error(fmt::format("Cannot open a pipe to ffmpeg: {}.", std::strerror(errno)));
    std::vector<char*> arguments;
    std::vector<std::string> copies = words;
    copies.insert(copies.begin(), program.string());
    for (std::string& word : copies) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[0], STDIN_FILENO);
      ::execv(program.c_str(), arguments.data());
      ::_exit(127);
    }
    ::close(ends[0]);
    input_ = ends[1];
    if (child_ < 0) {
      ::close(input_);
      throw Error(fmt::format("ffmpeg cannot be started: {}.", std::strerror(errno)));
    }
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder()
  {
    if (child_ > 0) static_cast<void>(finish());
  }

  // False when ffmpeg has exited.
  [[nodiscard]] bool write(const Image& image)
  {
    const char* at = reinterpret_cast<const char*>(image.pixels.data());
    std::size_t left = image.pixels.size() * sizeof(Pixel);
    while (left > 0) {
      const ssize_t count = ::write(input_, at, left);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      at += count;
      left -= static_cast<std::size_t>(count);
    }
    return true;
  }

  // Whether the film is complete.
  [[nodiscard]] bool finish()
  {
    ::close(input_);
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t child_ = -1;
  int input_ = -1;
};

// When ffmpeg has exited, write() fails instead of a signal ending this program.
class IgnoreSigpipe {
 public:
  IgnoreSigpipe() : previous_(::signal(SIGPIPE, SIG_IGN)) {}
  IgnoreSigpipe(const IgnoreSigpipe&) = delete;
  IgnoreSigpipe& operator=(const IgnoreSigpipe&) = delete;
  ~IgnoreSigpipe() { ::signal(SIGPIPE, previous_); }

 private:
  void (*previous_)(int);
};

}  // namespace

void write_film(const std::filesystem::path& file, const sim::Recording& recording, const FilmDesc& desc)
{
  const std::filesystem::path program = find_ffmpeg();
  if (recording.frames.empty()) throw Error("The recording has no frames, so there is nothing to draw.");
  SnapshotDesc picture = desc.picture;
  // The pixel format of films needs an even width and height.
  picture.width += picture.width % 2;
  picture.height += picture.height % 2;
  const std::filesystem::path temporary = file.parent_path() / ("." + file.filename().string() + ".part.mp4");
  std::vector<std::string> words = {"-hide_banner", "-loglevel",
                                    "error",        "-y",
                                    "-f",           "rawvideo",
                                    "-pix_fmt",     "rgb24",
                                    "-s",           fmt::format("{}x{}", picture.width, picture.height),
                                    "-r",           fmt::format("{:.6f}", desc.frame_rate),
                                    "-i",           "-"};
  // Sound is only used at the original speed.
  const bool sounds = !desc.sound.empty() && desc.speed == 1;
  if (sounds)
    words.insert(words.end(), {"-i", desc.sound.string(), "-c:a", "aac", "-b:a", "192k", "-shortest"});
  words.insert(words.end(), {"-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags",
                             "+faststart", temporary.string()});
  const IgnoreSigpipe quiet;
  const double first = recording.frames.front().time;
  const double seconds = (recording.frames.back().time - first) / desc.speed;
  const int count = std::max(1, static_cast<int>(std::lround(seconds * desc.frame_rate)));
  bool whole = true;
  {
    Encoder encoder(program, words);
    for (int i = 0; i < count && whole && !desc.stop.stop_requested(); ++i) {
      whole = encoder.write(render_snapshot(recording, first + i * desc.speed / desc.frame_rate, picture));
      if (desc.on_progress) desc.on_progress(static_cast<double>(i + 1) / count);
    }
    whole = encoder.finish() && whole;
  }
  std::error_code failure;
  if (whole) std::filesystem::rename(temporary, file, failure);
  if (!whole || failure) {
    std::error_code none;
    std::filesystem::remove(temporary, none);
    throw Error(fmt::format("ffmpeg could not write {}; see its message above.", file.string()));
  }
}

}  // namespace thrum::media
