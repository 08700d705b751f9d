// SPDX-License-Identifier: MIT
#include "thrum/scene/scene_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "thrum/elastic/material_library.h"
#include "thrum/elastic/supports.h"
#include "thrum/scene/instances.h"
#include "thrum/scene/read_failures.h"

namespace thrum::scene {

namespace {

constexpr double kMaxSteps = 1e9;  ///< of one run

class Checker {
 public:
  Checker(const SceneDesc& scene, std::vector<Mistake>& mistakes)
      : scene_(scene), mistakes_(mistakes), read_failures_(mistakes)
  {
    materials_ = elastic::MaterialLibrary::builtin().names();
  }

  void run()
  {
    check_settings();
    for (const ShapeEntry& shape : scene_.shapes) {
      add_name(shapes_, shape.name, shape.place, "shape");
      check_shape(shape.shape, false);
    }
    std::vector<std::string> listed;
    for (const MaterialEntry& material : scene_.materials) {
      add_name(listed, material.name, material.place, "material");
      if (!material.base.name.empty()) check_reference(material.base, materials_, "material");
      materials_.push_back(material.name);
    }
    for (const MaterialPair& pair : scene_.material_pairs) {
      check_reference(pair.a, materials_, "material");
      check_reference(pair.b, materials_, "material");
    }
    for (const BodyEntry& body : scene_.bodies) check_body(body);
    check_actions();
  }

 private:
  void fail(const ValueLocation& place, const std::string& key, const std::string& found,
            const std::string& expected, const std::string& nearest = {})
  {
    ValueLocation there = place;
    if (!key.empty()) there.path += "." + key;
    mistakes_.push_back({there, found, expected, nearest});
  }

  void add_name(std::vector<std::string>& names, const std::string& name, const ValueLocation& place,
                const char* what)
  {
    if (std::find(names.begin(), names.end(), name) != names.end() &&
        !read_failures_.may_hide(place, "name")) {
      fail(place, "name", fmt::format("a second {} called \"{}\"", what, name), "each name once");
    }
    names.push_back(name);
  }

  void check_reference(const NameRef& ref, const std::vector<std::string>& known, const char* what)
  {
    const bool library =
        &known == &materials_ && elastic::MaterialLibrary::builtin().find(ref.name) != nullptr;
    if (library || std::find(known.begin(), known.end(), ref.name) != known.end()) return;
    // A name that was not read, or that may stand in what was not read, has been told.
    if (ref.place.file.empty() || read_failures_.may_hide_names(list_of(known))) return;
    const std::string nearest = nearest_name(ref.name, known);
    fail(ref.place, "", fmt::format("\"{}\"", ref.name),
         known.empty() ? fmt::format("the name of a {}, of which there are none", what)
                       : fmt::format("the name of a {}, such as \"{}\"", what,
                                     nearest.empty() ? known.front() : nearest),
         nearest);
  }

  const char* list_of(const std::vector<std::string>& known) const
  {
    return &known == &shapes_ ? "shapes" : &known == &materials_ ? "materials" : "bodies";
  }

  void check_settings()
  {
    if (scene_.duration / scene_.step > kMaxSteps) {
      ValueLocation place = scene_.place;
      place.path = "step";
      fail(place, "", fmt::format("{:.3g} steps in the run", scene_.duration / scene_.step),
           fmt::format("at most {:.0e}", kMaxSteps));
    }
    if (scene_.camera.eye && scene_.camera.target && *scene_.camera.eye == *scene_.camera.target) {
      fail(scene_.camera.place, "eye", "the eye where the target is", "two places");
    }
  }

  static bool is_ground(const SceneShape& shape)
  {
    return std::holds_alternative<PlaneShape>(shape.data) ||
           std::holds_alternative<HeightFieldShape>(shape.data);
  }

  static const char* ground_name(const SceneShape& shape)
  {
    return std::holds_alternative<PlaneShape>(shape.data) ? "plane" : "height field";
  }

  void check_shape(const SceneShape& shape, bool inside_compound)
  {
    if (const auto* file = std::get_if<FileShape>(&shape.data)) {
      std::error_code ignored;
      const bool read = !file->file.place.file.empty();
      if (read && !std::filesystem::is_regular_file(file->file.path, ignored)) {
        fail(file->file.place, "", fmt::format("no file at {}", file->file.path.string()), "a mesh file");
      }
    }
    const auto* compound = std::get_if<CompoundShape>(&shape.data);
    if (inside_compound && (compound != nullptr || is_ground(shape))) {
      fail(shape.place, "", "a compound, a plane or a height field within a compound", "any other shape");
    } else if (compound != nullptr) {
      if (compound->parts.empty() && !read_failures_.may_hide(shape.place, "parts"))
        fail(shape.place, "parts", "an empty list", "at least one part");
      for (const CompoundPartDesc& part : compound->parts) check_shape(part.shape, true);
    }
  }

  void check_rings(const BodyEntry& body, const RingsEntry& rings)
  {
    std::error_code ignored;
    if (!rings.file.path.empty() && !std::filesystem::is_regular_file(rings.file.path, ignored))
      fail(rings.file.place, "", fmt::format("no file at {}", rings.file.path.string()),
           "a baked modal file");
    if (body.shape.object && is_ground(*body.shape.object))
      fail(rings.place, "", fmt::format("a {} that rings", ground_name(*body.shape.object)),
           "a body of finite size, such as a box");
    if (!rings.file.path.empty() && rings.supports == SupportKind::contacts)
      fail(rings.place, "supports", "contacts for modes from a file, which has its own supports",
           "either \"file\" or \"supports\"");
    if (rings.clamp.empty()) return;
    try {
      (void)elastic::parse_selection(rings.clamp);
    } catch (const Error& error) {
      fail(rings.place, "clamp", fmt::format("\"{}\" ({})", rings.clamp, error.what()),
           "a place such as \"z<0.01\"");
    }
  }

  void check_body(const BodyEntry& body)
  {
    add_name(entry_names_, body.name, body.place, "body");
    const bool one = !body.shape.name.empty() || body.shape.object.has_value();
    const bool may_be_hidden =
        read_failures_.may_hide(body.place, "shape") || read_failures_.may_hide(body.place, "shapes");
    if (one == !body.shapes.empty() && !may_be_hidden) {
      fail(body.place, "shape", one ? "both \"shape\" and \"shapes\"" : "neither \"shape\" nor \"shapes\"",
           "one of them");
    }
    if (!body.shape.name.empty()) check_reference({body.shape.name, body.shape.place}, shapes_, "shape");
    for (const NameRef& shape : body.shapes) check_reference(shape, shapes_, "shape");
    if (body.shape.object) check_shape(*body.shape.object, false);
    if (body.scale_range && (*body.scale_range)[0] > (*body.scale_range)[1])
      fail(body.place, "scale_range", "a min above the max", "[min, max]");
    if (body.shape.object && is_ground(*body.shape.object) && body.motion != model::Motion::fixed &&
        !read_failures_.may_hide(body.place, "motion")) {
      fail(body.place, "motion", fmt::format("a {} that may move", ground_name(*body.shape.object)),
           "\"motion\": \"fixed\"");
    }
    if (!body.material.name.empty()) check_reference(body.material, materials_, "material");
    if (body.rings) check_rings(body, *body.rings);
    body_count_ += instance_count(body);
    if (body_count_ > kMaxBodies) {
      if (!reported_too_many_)
        fail(body.place, "repeat", fmt::format("{:.3g} bodies", body_count_),
             fmt::format("at most {:.0e}", kMaxBodies));
      reported_too_many_ = true;
      return;
    }
    for (std::string& name : instance_names(body)) bodies_.push_back(std::move(name));
  }

  void check_body_reference(const NameRef& ref)
  {
    if (sorted_.empty()) sorted_.insert(bodies_.begin(), bodies_.end());
    if (sorted_.count(ref.name) == 0) check_reference(ref, bodies_, "body");
  }

  void check_actions()
  {
    for (const JointEntry& joint : scene_.joints) {
      check_body_reference(joint.a);
      if (!joint.b.name.empty()) check_body_reference(joint.b);
      if (joint.a.name == joint.b.name && !joint.a.name.empty())
        fail(joint.place, "b", "a body joined to itself", "another body");
      if (!(joint.axis.norm() > 0)) fail(joint.place, "axis", "an axis of zero length", "a direction");
      if (joint.limits && (*joint.limits)[0] > (*joint.limits)[1]) {
        fail(joint.place, "limits", "a min above the max", "[min, max]");
      }
    }
    for (const ImpulseEntry& impulse : scene_.impulses) check_body_reference(impulse.body);
    for (const ForceEntry& force : scene_.forces) {
      check_body_reference(force.body);
      const bool may_be_hidden =
          read_failures_.may_hide(force.place, "times") || read_failures_.may_hide(force.place, "forces");
      if (force.times.size() != force.forces.size() && !may_be_hidden) {
        fail(force.place, "forces",
             fmt::format("{} forces at {} times", force.forces.size(), force.times.size()),
             "one for each time");
      }
      if (!std::is_sorted(force.times.begin(), force.times.end())) {
        fail(force.place, "times", "times that go back", "ascending times");
      }
    }
  }

  const SceneDesc& scene_;
  std::vector<Mistake>& mistakes_;
  const ReadFailures read_failures_;
  std::vector<std::string> shapes_, materials_, entry_names_, bodies_;
  std::set<std::string> sorted_;
  double body_count_ = 0;
  bool reported_too_many_ = false;
};

}  // namespace

void check_scene(const SceneDesc& scene, std::vector<Mistake>& mistakes)
{
  Checker(scene, mistakes).run();
}

}  // namespace thrum::scene
