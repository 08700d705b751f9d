// SPDX-License-Identifier: MIT
#include "thrum/elastic/supports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/elastic/element_mesh.h"

namespace thrum::elastic {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

[[noreturn]] void reject(std::string_view text)
{
  throw Error(
      fmt::format("'{}' is not a valid selection. Write for example 'z<0.01' or "
                  "'x>0 && z<0.01' (metres), 'box(x0,y0,z0, x1,y1,z1)', 'region NAME' or 'nodes 4 5 17'.",
                  text));
}

std::string_view trimmed(std::string_view text)
{
  const auto space = [](char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
  };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// Numbers separated by spaces or commas; empty when there is anything else.
std::optional<std::vector<double>> numbers(std::string_view text)
{
  std::string copy(text);
  std::replace(copy.begin(), copy.end(), ',', ' ');
  std::vector<double> found;
  const char* at = copy.c_str();
  while (true) {
    while (std::isspace(static_cast<unsigned char>(*at)) != 0) ++at;
    if (*at == '\0') return found;
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at || !std::isfinite(value)) return std::nullopt;
    found.push_back(value);
    at = end;
  }
}

// One comparison such as z<0.01.
struct Comparison {
  int axis = 0;
  bool below = true;
  double limit = 0;
};

std::optional<Comparison> parse_comparison(std::string_view text)
{
  text = trimmed(text);
  if (text.size() < 3 || text[0] < 'x' || text[0] > 'z') return std::nullopt;
  Comparison c;
  c.axis = text[0] - 'x';
  text = trimmed(text.substr(1));
  if (text.empty() || (text[0] != '<' && text[0] != '>')) return std::nullopt;
  c.below = text[0] == '<';
  text.remove_prefix(1);
  if (!text.empty() && text[0] == '=') text.remove_prefix(1);
  const auto limit = numbers(text);
  if (!limit || limit->size() != 1) return std::nullopt;
  c.limit = limit->front();
  return c;
}

model::Selection parse_comparisons(std::string_view text)
{
  std::vector<Comparison> all;
  std::string_view rest = text;
  while (true) {
    const std::size_t split = rest.find("&&");
    const auto c = parse_comparison(rest.substr(0, split));
    if (!c) reject(text);
    all.push_back(*c);
    if (split == std::string_view::npos) break;
    rest.remove_prefix(split + 2);
  }
  model::Selection selection;
  if (all.size() == 1) {
    selection.kind = model::SelectionKind::half_space;
    const double sign = all[0].below ? 1 : -1;
    selection.normal = sign * Vec3::Unit(all[0].axis);
    selection.offset = sign * all[0].limit;
    return selection;
  }
  selection.kind = model::SelectionKind::box;
  selection.box = Box3(Vec3::Constant(-kInfinity), Vec3::Constant(kInfinity));
  for (const Comparison& c : all) {
    double& low = selection.box.min()[c.axis];
    double& high = selection.box.max()[c.axis];
    if (c.below) high = std::min(high, c.limit);
    if (!c.below) low = std::max(low, c.limit);
  }
  return selection;
}

model::Selection parse_box(std::string_view text, std::string_view inside)
{
  const auto corners = numbers(inside);
  if (!corners || corners->size() != 6) reject(text);
  const auto& c = *corners;
  model::Selection selection;
  selection.kind = model::SelectionKind::box;
  selection.box = Box3(Vec3(c[0], c[1], c[2]), Vec3(c[3], c[4], c[5]));
  return selection;
}

std::vector<bool> corners_of_region(const ElementMesh& mesh, std::span<const std::string> region_names,
                                    const std::string& name)
{
  const auto it = std::find(region_names.begin(), region_names.end(), name);
  if (it == region_names.end())
    throw Error(
        region_names.empty()
            ? fmt::format("The mesh has no named regions, so there is no region '{}'.", name)
            : fmt::format("The mesh has no region '{}'; it has {}.", name, fmt::join(region_names, ", ")));
  const auto region = static_cast<Index>(it - region_names.begin());
  std::vector<bool> chosen(mesh.corner_count, false);
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    for (int k = 0; k < 4; ++k)
      if (mesh.region(e) == region) chosen[at(mesh.element(e)[k])] = true;
  return chosen;
}

std::vector<bool> corners_by_index(const ElementMesh& mesh, const std::vector<Index>& nodes)
{
  std::vector<bool> chosen(mesh.corner_count, false);
  for (const Index n : nodes) {
    if (n < 0 || at(n) >= mesh.corner_count)
      throw Error(
          fmt::format("Node {} does not exist; the mesh has the nodes 0 to {}.", n, mesh.corner_count - 1));
    chosen[at(n)] = true;
  }
  return chosen;
}

std::vector<bool> select_corners(const ElementMesh& mesh, std::span<const std::string> region_names,
                                 const model::Selection& s)
{
  if (s.kind == model::SelectionKind::region) return corners_of_region(mesh, region_names, s.name);
  if (s.kind == model::SelectionKind::nodes) return corners_by_index(mesh, s.nodes);
  std::vector<bool> chosen(mesh.corner_count, true);
  for (std::size_t n = 0; n < mesh.corner_count; ++n) {
    const Vec3& p = mesh.nodes[n];
    if (s.kind == model::SelectionKind::box)
      chosen[n] = (p.array() >= s.box.min().array()).all() && (p.array() <= s.box.max().array()).all();
    if (s.kind == model::SelectionKind::half_space) chosen[n] = s.normal.dot(p) <= s.offset;
  }
  return chosen;
}

Box3 bounds(const ElementMesh& mesh)
{
  Box3 box;
  for (const Vec3& p : mesh.nodes) box.extend(p);
  return box;
}

std::string box_text(const Box3& box)
{
  if (box.min().allFinite() && box.max().allFinite())
    return fmt::format("box({},{},{}, {},{},{})", box.min().x(), box.min().y(), box.min().z(), box.max().x(),
                       box.max().y(), box.max().z());
  std::vector<std::string> parts;
  for (int axis = 0; axis < 3; ++axis) {
    const char letter = static_cast<char>('x' + axis);
    if (std::isfinite(box.min()[axis])) parts.push_back(fmt::format("{}>{}", letter, box.min()[axis]));
    if (std::isfinite(box.max()[axis])) parts.push_back(fmt::format("{}<{}", letter, box.max()[axis]));
  }
  return fmt::format("{}", fmt::join(parts, " && "));
}

std::string half_space_text(const model::Selection& s)
{
  for (int axis = 0; axis < 3; ++axis) {
    const char letter = static_cast<char>('x' + axis);
    if (s.normal == Vec3::Unit(axis)) return fmt::format("{}<{}", letter, s.offset);
    if (s.normal == -Vec3::Unit(axis)) return fmt::format("{}>{}", letter, -s.offset);
  }
  return fmt::format("{} x + {} y + {} z <= {}", s.normal.x(), s.normal.y(), s.normal.z(), s.offset);
}

}  // namespace

model::Selection parse_selection(std::string_view text)
{
  const std::string_view words = trimmed(text);
  model::Selection selection;
  if (words == "everything") return selection;
  if (words.starts_with("box(") && words.ends_with(")"))
    return parse_box(text, words.substr(4, words.size() - 5));
  if (words.starts_with("region ")) {
    selection.kind = model::SelectionKind::region;
    selection.name = std::string(trimmed(words.substr(7)));
    return selection;
  }
  if (words.starts_with("nodes ")) {
    selection.kind = model::SelectionKind::nodes;
    const auto list = numbers(words.substr(6));
    if (!list || list->empty()) reject(text);
    for (const double n : *list) {
      if (n != std::floor(n) || n < 0 || n > std::numeric_limits<Index>::max()) reject(text);
      selection.nodes.push_back(static_cast<Index>(n));
    }
    return selection;
  }
  return parse_comparisons(words);
}

std::vector<model::Selection> parse_selections(std::string_view text)
{
  std::vector<model::Selection> places;
  for (std::size_t from = 0;;) {
    const std::size_t to = text.find("||", from);
    places.push_back(parse_selection(text.substr(from, to == text.npos ? to : to - from)));
    if (to == text.npos) return places;
    from = to + 2;
  }
}

std::string to_text(const model::Selection& selection)
{
  switch (selection.kind) {
    case model::SelectionKind::box:
      return box_text(selection.box);
    case model::SelectionKind::half_space:
      return half_space_text(selection);
    case model::SelectionKind::region:
      return "region " + selection.name;
    case model::SelectionKind::nodes:
      return fmt::format("nodes {}", fmt::join(selection.nodes, " "));
    case model::SelectionKind::everything:
      break;
  }
  return "everything";
}

std::string to_text(const model::Support& support)
{
  std::string axes;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (support.fixed[axis]) axes += static_cast<char>('x' + static_cast<int>(axis));
  const std::string how = axes == "xyz" ? "clamped" : axes + " held";
  return fmt::format("{} where {}", how, to_text(support.where));
}

std::vector<bool> select_nodes(const ElementMesh& mesh, std::span<const std::string> region_names,
                               const model::Selection& selection)
{
  std::vector<bool> chosen = select_corners(mesh, region_names, selection);
  chosen.reserve(mesh.nodes.size());
  const auto add = [&](const auto& lists) {
    for (const auto& corners : lists)
      chosen.push_back(std::all_of(corners.begin(), corners.end(),
                                   [&](Index c) { return static_cast<bool>(chosen[at(c)]); }));
  };
  add(mesh.edges);
  add(mesh.faces);
  add(mesh.insides);
  return chosen;
}

std::vector<std::array<bool, 3>> held_axes(const ElementMesh& mesh, std::span<const std::string> region_names,
                                           std::span<const model::Support> supports)
{
  if (supports.empty()) return {};
  std::vector<std::array<bool, 3>> held(mesh.nodes.size(), {false, false, false});
  for (const model::Support& support : supports) {
    const std::vector<bool> chosen = select_nodes(mesh, region_names, support.where);
    if (std::find(chosen.begin(), chosen.end(), true) == chosen.end()) {
      const Box3 box = bounds(mesh);
      throw Error(fmt::format(
          "The support '{}' selects no node: the body reaches from ({:.4g}, {:.4g}, {:.4g}) to ({:.4g}, "
          "{:.4g}, {:.4g}) m. Move the limit, or use a finer mesh there.",
          to_text(support), box.min().x(), box.min().y(), box.min().z(), box.max().x(), box.max().y(),
          box.max().z()));
    }
    if (!support.fixed[0] && !support.fixed[1] && !support.fixed[2])
      throw Error(fmt::format("The support at '{}' fixes no axis. Choose x, y or z, or remove the support.",
                              to_text(support.where)));
    for (std::size_t n = 0; n < held.size(); ++n)
      for (std::size_t axis = 0; axis < 3; ++axis) held[n][axis] |= chosen[n] && support.fixed[axis];
  }
  const bool all_held = std::all_of(held.begin(), held.end(),
                                    [](const std::array<bool, 3>& h) { return h[0] && h[1] && h[2]; });
  if (all_held) throw Error("The supports fix every node of the body, so nothing can vibrate.");
  return held;
}

std::vector<model::Support> widened(std::vector<model::Support> supports, double by)
{
  for (model::Support& support : supports) {
    support.where.offset += by * support.where.normal.norm();
    if (support.where.kind == model::SelectionKind::box)
      support.where.box =
          Box3(support.where.box.min() - Vec3::Constant(by), support.where.box.max() + Vec3::Constant(by));
  }
  return supports;
}

}  // namespace thrum::elastic
