// SPDX-License-Identifier: MIT
// Records a world, also while bodies and joints are added and removed.
//
//   World world;
//   ...
//   WorldRecorder recorder(world, "recording");
//   for (int i = 0; i < 600; ++i) {
//     world.step(1.0 / 60);
//     recorder.add_frame();
//   }
//   recorder.finish();
//
// It observes the world from its construction on: a body that is added appears in the next frame, one that is
// removed is no longer in it, and events name the bodies that they happened to, whatever has become of the
// slots of their ids.
//
// A body that the flexible stepper bends is shown bent, from the frame on in which one of its modes moves a
// point of its surface by more than kVisibleBend of its size, with the surface of its modal model. Modes that
// never move it so far are not recorded, and a body without such modes takes no space.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "thrum/sim/recording.h"
#include "thrum/sim/step_observer.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

struct BodyLook {
  std::shared_ptr<const mesh::TriangleMesh> mesh;  ///< in shape axes
  std::array<float, 3> colour = {0.8f, 0.8f, 0.8f};
};

struct WorldRecorderDesc {
  std::vector<std::pair<std::string, std::string>> notes = {};  ///< of the header
  /// How a body looks, called once for each; default: its shape, in grey.
  std::function<BodyLook(model::BodyId)> look = {};
};

/// Displacement by a mode that can be seen, of the size of the body: half a pixel when it fills a picture of
/// 1000 pixels.
inline constexpr double kVisibleBend = 5e-4;

/// Which contacts of the last step a frame holds.
enum class FrameContacts { all, impacts, none };

class WorldRecorder : public StepObserver {
 public:
  /// Begins a new file with the bodies and joints that the world has. The world must outlive the recorder.
  /// Responses of observers that are added later are not recorded.
  WorldRecorder(World& world, const std::filesystem::path& file, WorldRecorderDesc desc = {});
  /// Goes on after `length` bytes of the recording of this world, of which `before` was read. Throws Error
  /// when the world has other bodies than the recording.
  WorldRecorder(World& world, const std::filesystem::path& file, std::uint64_t length,
                const Recording& before, WorldRecorderDesc desc = {});
  ~WorldRecorder() override;
  WorldRecorder(const WorldRecorder&) = delete;
  WorldRecorder& operator=(const WorldRecorder&) = delete;

  /// The world as it is, with the events since the last frame.
  void add_frame(FrameContacts contacts = FrameContacts::all);
  /// The same in two steps, for those who leave out some of it.
  [[nodiscard]] RecordedFrame take_frame(FrameContacts contacts = FrameContacts::all);
  void add_frame(const RecordedFrame& frame) { writer_.add(frame); }
  void flush() { writer_.flush(); }
  /// flush(), then waits until all of it is on the disk.
  void sync() { writer_.sync(); }
  /// The last chunk, with the hash of the world.
  void finish();

  /// Of a body that is, or was, in the world. Throws Error for one that was never in it.
  [[nodiscard]] std::int32_t number_of(model::BodyId id) const;
  [[nodiscard]] const RecordingWriter& writer() const { return writer_; }

  [[nodiscard]] bool only_watches() const override { return true; }
  void body_added(model::BodyId id) override;
  void body_removed(model::BodyId id) override;
  void after_step(const StepView& view, StepActions& actions) override;

 private:
  /// What the frames need of a modal model.
  struct BendingModel {
    VecX peaks;                       ///< longest displacement of a vertex by each mode [kg^(-1/2)]
    double size = 0;                  ///< of its surface [m]
    std::vector<std::int32_t> modes;  ///< number in the recording of each mode; below 0: not in it
  };
  /// A body that has vibrated.
  struct BendingBody {
    std::shared_ptr<const model::ModalModel> model;
    std::vector<std::int32_t> modes;  ///< of the model, in the order of RecordedBody::modes
  };

  /// Gives the body its number. `new_mesh` becomes its mesh unless that is known.
  [[nodiscard]] RecordedBody describe(model::BodyId id, std::shared_ptr<const mesh::TriangleMesh>& new_mesh);
  [[nodiscard]] RecordingHeader header();
  [[nodiscard]] RecordedLink describe_link(const model::Joint& joint) const;
  [[nodiscard]] bool is_link(std::size_t joint) const;
  [[nodiscard]] model::BodyId numbered(model::BodyId id) const;
  void update_links();
  void list_known(const Recording& before);
  [[nodiscard]] std::int32_t mesh_number(const std::shared_ptr<const mesh::TriangleMesh>& mesh, bool& is_new);
  [[nodiscard]] BendingModel& bending_model(const std::shared_ptr<const model::ModalModel>& model);
  [[nodiscard]] std::int32_t mode_number(const std::shared_ptr<const model::ModalModel>& model, Index mode);
  [[nodiscard]] std::vector<RecordedBend> take_bends();

  World& world_;
  WorldRecorderDesc desc_;
  std::unordered_map<model::BodyId, std::int32_t> numbers_;  ///< of all bodies ever
  std::map<model::JointId, std::int32_t> links_;             ///< of the joints that exist
  // Bodies share meshes: those given by one pointer, and those that are equal as they are stored.
  std::unordered_map<std::shared_ptr<const mesh::TriangleMesh>, std::int32_t> meshes_;
  std::map<base::Hash128, std::int32_t> mesh_hashes_;
  std::int32_t mesh_count_ = 0;
  std::map<std::shared_ptr<const model::ModalModel>, BendingModel> bending_models_;
  std::map<std::int32_t, BendingBody> bending_bodies_;  ///< by number
  std::map<base::Hash128, std::int32_t> mode_hashes_;   ///< of the modes of the recording, as they are stored
  std::vector<RecordedPose> poses_;                     ///< by number
  std::vector<model::ContactEvent> events_;             ///< since the last frame
  std::vector<model::ResponseEvent> responses_;         ///< likewise
  RecordingWriter writer_;
};

}  // namespace thrum::sim
