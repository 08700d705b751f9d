// SPDX-License-Identifier: MIT
#include "thrum/elastic/modal_cache.h"

#include <cstring>
#include <string_view>
#include <type_traits>

#include "thrum/base/index.h"

namespace thrum::elastic {

namespace {

// Must change whenever the layout changes; versions of the computation are in modal_version.h.
constexpr std::string_view kVersion = "thrum modal analysis 2";

// One list of members serves writing and reading: `visit` names each of them once.
class Writer {
 public:
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void operator()(const T& value)
  {
    raw(&value, sizeof(T));
  }
  void operator()(const std::string& text)
  {
    (*this)(static_cast<std::uint64_t>(text.size()));
    raw(text.data(), text.size());
  }
  template <class T>
  void operator()(const std::vector<T>& values)
  {
    (*this)(static_cast<std::uint64_t>(values.size()));
    if constexpr (std::is_trivially_copyable_v<T> || std::is_same_v<T, Vec3>)
      raw(values.data(), values.size() * sizeof(T));
    else
      for (const T& value : values) visit(*this, value);
  }
  void matrix(const double* data, Eigen::Index rows, Eigen::Index columns)
  {
    (*this)(static_cast<std::int64_t>(rows));
    (*this)(static_cast<std::int64_t>(columns));
    raw(data, sizeof(double) * at(rows * columns));
  }
  template <int R, int C>
  void operator()(const Eigen::Matrix<double, R, C>& m)
  {
    matrix(m.data(), m.rows(), m.cols());
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void raw(const void* data, std::size_t size)
  {
    const auto* from = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void operator()(T& value) { raw(&value, sizeof(T)); }
  void operator()(std::string& text)
  {
    const std::size_t size = length(1);
    text.resize(size);
    raw(text.data(), size);
  }
  template <class T>
  void operator()(std::vector<T>& values)
  {
    constexpr bool kIsRawBytes = std::is_trivially_copyable_v<T> || std::is_same_v<T, Vec3>;
    values.resize(length(kIsRawBytes ? sizeof(T) : 1));
    if constexpr (kIsRawBytes)
      raw(values.data(), values.size() * sizeof(T));
    else
      for (T& value : values) visit(*this, value);
  }
  template <int R, int C>
  void operator()(Eigen::Matrix<double, R, C>& m)
  {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    (*this)(rows);
    (*this)(columns);
    const auto max_entries = static_cast<std::int64_t>(bytes_.size() / sizeof(double));
    valid_ = valid_ && rows >= 0 && columns >= 0 && (columns == 0 || rows <= max_entries / columns);
    valid_ = valid_ && (R == Eigen::Dynamic || rows == R) && (C == Eigen::Dynamic || columns == C);
    if (!valid_) return;
    m.resize(rows, columns);
    raw(m.data(), sizeof(double) * at(rows * columns));
  }
  [[nodiscard]] bool finished() const { return valid_ && bytes_.empty(); }
  [[nodiscard]] bool is_valid() const { return valid_; }

 private:
  // A length, rejected when fewer bytes are left than it needs.
  std::size_t length(std::size_t element)
  {
    std::uint64_t size = 0;
    (*this)(size);
    valid_ = valid_ && size <= bytes_.size() / element;
    return valid_ ? static_cast<std::size_t>(size) : 0;
  }
  void raw(void* to, std::size_t size)
  {
    valid_ = valid_ && size <= bytes_.size();
    if (!valid_ || size == 0) return;
    std::memcpy(to, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }
  std::span<const std::byte> bytes_;
  bool valid_ = true;
};

template <class Archive, class T>
requires(std::is_same_v<std::remove_const_t<T>, std::string>) void visit(Archive& archive, T& text)
{
  archive(text);
}

template <class Archive, class T>
requires(std::is_same_v<std::remove_const_t<T>, model::Material>) void visit(Archive& archive, T& m)
{
  archive(m.name);
  archive(m.density);
  archive(m.young);
  archive(m.poisson);
  archive(m.damping.kind);
  archive(m.damping.alpha);
  archive(m.damping.beta);
  archive(m.damping.loss_factor);
  archive(m.damping.decays);
  archive(m.contact_damping);
}

template <class Archive, class T>
requires(std::is_same_v<std::remove_const_t<T>, model::Support>) void visit(Archive& archive, T& s)
{
  archive(s.where.kind);
  archive(s.where.box.min());
  archive(s.where.box.max());
  archive(s.where.normal);
  archive(s.where.offset);
  archive(s.where.name);
  archive(s.where.nodes);
  for (auto& fixed : s.fixed) archive(fixed);
}

template <class Archive, class T>
requires(std::is_same_v<std::remove_const_t<T>, ModalAnalysisResult>) void visit(Archive& archive, T& r)
{
  auto& m = r.model;
  archive(m.name);
  archive(m.frequencies);
  archive(m.decays);
  archive(m.shapes);
  archive(m.frequency_errors);
  archive(m.surface.vertices);
  archive(m.surface.triangles);
  archive(m.surface_nodes);
  archive(m.materials);
  archive(m.supports);
  archive(m.element);
  archive(m.node_count);
  archive(m.element_count);
  archive(m.rigid_mode_count);
  archive(m.warnings);
  archive(m.mass);
  archive(m.centre_of_mass);
  archive(m.inertia);
  archive(r.residuals);
  archive(r.verified);
  archive(r.solves);
}

void hash_material(base::Hasher& hasher, const model::Material& m)
{
  hasher.add(m.name).add(m.density).add(m.young).add(m.poisson).add(m.damping.kind).add(m.damping.alpha);
  hasher.add(m.damping.beta).add(m.damping.loss_factor).add(m.damping.decays).add(m.contact_damping);
}

void hash_support(base::Hasher& hasher, const model::Support& s)
{
  hasher.add(s.where.kind).add(Vec3(s.where.box.min())).add(Vec3(s.where.box.max())).add(s.where.normal);
  hasher.add(s.where.offset).add(s.where.name).add(s.where.nodes);
  for (const bool fixed : s.fixed) hasher.add(fixed);
}

}  // namespace

std::vector<std::byte> pack(const ModalAnalysisResult& result)
{
  Writer writer;
  writer(std::string(kVersion));
  visit(writer, result);
  return writer.take();
}

std::optional<ModalAnalysisResult> unpack(std::span<const std::byte> bytes)
{
  Reader reader(bytes);
  std::string version;
  reader(version);
  if (!reader.is_valid() || version != kVersion) return std::nullopt;
  ModalAnalysisResult result;
  visit(reader, result);
  if (!reader.finished()) return std::nullopt;
  return result;
}

void add_to_hash(base::Hasher& hasher, const ModalAnalysisDesc& desc, const ModalVersions& versions)
{
  hasher.add(versions.assembly)
      .add(versions.solve)
      .add(kVersion)
      .add(desc.name)
      .add(static_cast<std::uint64_t>(desc.materials.size()));
  for (const model::Material& material : desc.materials) hash_material(hasher, material);
  hasher.add(static_cast<std::uint64_t>(desc.supports.size()));
  for (const model::Support& support : desc.supports) hash_support(hasher, support);
  hasher.add(desc.count).add(desc.below).add(desc.element).add(desc.estimate_errors).add(desc.method);
  hasher.add(desc.verification).add(desc.backend).add(desc.tolerance);
}

base::Hash128 modal_key(const mesh::TetrahedralMesh& mesh, const ModalAnalysisDesc& desc,
                        const ModalVersions& versions)
{
  base::Hasher hasher;
  hasher.add(mesh.vertices).add(mesh.tetrahedra).add(mesh.regions);
  hasher.add(static_cast<std::uint64_t>(mesh.region_names.size()));
  for (const std::string& name : mesh.region_names) hasher.add(name);
  add_to_hash(hasher, desc, versions);
  return hasher.finish();
}

ModalAnalysisResult load_or_analyse(const base::Cache& cache, const base::Hash128& key,
                                    const std::function<ModalAnalysisResult()>& analyse)
{
  constexpr std::string_view kKind = "modes";
  if (const auto bytes = cache.load(kKind, key)) {
    if (auto stored = unpack(*bytes)) {
      stored->from_cache = true;
      return *std::move(stored);
    }
  }
  ModalAnalysisResult result = analyse();
  if (result.ok()) cache.store(kKind, key, pack(result));
  return result;
}

ModalAnalysisResult analyse_modes_cached(const mesh::TetrahedralMesh& mesh, const ModalAnalysisDesc& desc,
                                         const base::Cache& cache)
{
  return load_or_analyse(cache, modal_key(mesh, desc), [&] { return analyse_modes(mesh, desc); });
}

}  // namespace thrum::elastic
