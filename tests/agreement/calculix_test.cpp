// SPDX-License-Identifier: MIT
// Modes compared with CalculiX, an independent finite-element program (Debian calculix-ccx): the same mesh
// and material are written to its input file as C3D10 elements, and its frequencies are compared with ours.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "thrum/elastic/assembly.h"
#include "thrum/elastic/element_mesh.h"
#include "thrum/elastic/modal_analysis.h"
#include "thrum/elastic/rigid_motions.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/tetrahedron_element.h"
#include "thrum/tets/structured_tets.h"

namespace thrum::elastic {
namespace {

namespace fs = std::filesystem;

bool has_calculix()
{
  return std::system("command -v ccx > /dev/null 2>&1") == 0;
}

// CalculiX orders the mid-edge nodes 01 12 20 03 13 23; ours are 01 02 03 12 13 23.
constexpr std::array<int, 10> kCalculixOrder = {0, 1, 2, 3, 4, 7, 5, 6, 8, 9};

std::string input_deck(const ElementMesh& mesh, const model::Material& material,
                       const std::vector<std::array<bool, 3>>& held, int modes)
{
  std::ostringstream deck;
  deck.precision(12);  // CalculiX reads at most 20 characters of a number
  deck << "*NODE, NSET=NALL\n";
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n)
    deck << n + 1 << ", " << mesh.nodes[n].x() << ", " << mesh.nodes[n].y() << ", " << mesh.nodes[n].z()
         << "\n";
  deck << "*ELEMENT, TYPE=C3D10, ELSET=EALL\n";
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    deck << e + 1;
    for (const int k : kCalculixOrder) deck << ", " << mesh.element(e)[k] + 1;
    deck << "\n";
  }
  if (!held.empty()) {
    deck << "*BOUNDARY\n";
    for (std::size_t n = 0; n < held.size(); ++n)
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (held[n][axis]) deck << n + 1 << ", " << axis + 1 << ", " << axis + 1 << "\n";
  }
  deck << "*MATERIAL, NAME=M\n*ELASTIC\n"
       << material.young << ", " << material.poisson << "\n*DENSITY\n"
       << material.density << "\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*STEP\n*FREQUENCY\n"
       << modes << "\n*END STEP\n";
  return deck.str();
}

// The table of eigenvalues in the .dat file: number, eigenvalue, angular frequency, cycles per time,
// imaginary part.
std::vector<double> read_frequencies(const fs::path& file)
{
  std::ifstream in(file);
  std::vector<double> found;
  std::string line;
  bool in_table = false;
  while (std::getline(in, line)) {
    if (line.find("E I G E N V A L U E   O U T P U T") != std::string::npos) in_table = true;
    if (line.find("P A R T I C I P A T I O N") != std::string::npos) break;
    std::istringstream fields(line);
    int number = 0;
    double eigenvalue = 0;
    double angular = 0;
    double cycles = 0;
    if (in_table && fields >> number >> eigenvalue >> angular >> cycles) found.push_back(cycles);
  }
  return found;
}

std::vector<double> run_calculix(const ElementMesh& mesh, const model::Material& material,
                                 const std::vector<std::array<bool, 3>>& held, int modes)
{
  const fs::path folder = fs::temp_directory_path() / ("thrum-calculix-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "body.inp") << input_deck(mesh, material, held, modes);
  const std::string command = "cd '" + folder.string() + "' && OMP_NUM_THREADS=1 ccx body > ccx.log 2>&1";
  const int status = std::system(command.c_str());
  std::vector<double> frequencies;
  if (status == 0) frequencies = read_frequencies(folder / "body.dat");
  fs::remove_all(folder);
  return frequencies;
}

// CalculiX integrates the mass of a quadratic tetrahedron with the four points that suffice for its
// stiffness; ours is exact. So the comparison is made twice: with its mass in place of ours everything else
// must agree to its printed digits, and with ours the frequencies are slightly lower.
constexpr double kSameMass = 2e-5;
constexpr double kExactMass = 5e-3;
// It stops its eigensolver early, so many more modes are requested than are compared.
constexpr int kTheirModes = 40;

double shape_function(int node, const Vec4& at)
{
  if (node < 4) return at[node] * (2 * at[node] - 1);
  const auto& edge = kElementEdges[static_cast<std::size_t>(node - 4)];
  return 4 * at[edge[0]] * at[edge[1]];
}

numerics::SparseMatrix four_point_mass(const ElementMesh& mesh, const FreeUnknowns& unknowns, double density)
{
  const double near = (5 + 3 * std::sqrt(5.0)) / 20;
  const double far = (5 - std::sqrt(5.0)) / 20;
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    const Index* n = mesh.element(e);
    const auto node = [&](int k) -> const Vec3& {
      return mesh.nodes[static_cast<std::size_t>(n[k])];
    };
    const double volume = tetrahedron_geometry(node(0), node(1), node(2), node(3)).volume;
    for (int a = 0; a < 10; ++a)
      for (int b = 0; b < 10; ++b) {
        double sum = 0;
        for (int q = 0; q < 4; ++q) {
          Vec4 at = Vec4::Constant(far);
          at[q] = near;
          sum += shape_function(a, at) * shape_function(b, at) / 4;
        }
        for (int axis = 0; axis < 3; ++axis) {
          const Index row = unknowns.index[static_cast<std::size_t>(3 * n[a] + axis)];
          const Index column = unknowns.index[static_cast<std::size_t>(3 * n[b] + axis)];
          if (row >= 0 && column >= 0 && row >= column)
            entries.emplace_back(row, column, density * volume * sum);
        }
      }
  }
  numerics::SparseMatrix mass(unknowns.count, unknowns.count);
  mass.setFromTriplets(entries.begin(), entries.end());
  return mass;
}

// Our stiffness, supports and eigensolver with the mass of CalculiX; frequencies without the rigid motions
// [Hz].
std::vector<double> with_their_mass(const ElementMesh& mesh, const model::Material& material,
                                    const std::vector<std::array<bool, 3>>& held, Index modes)
{
  const std::vector<model::Material> materials = {material};
  const AssembledSystem system = assemble(mesh, materials, held);
  const MatX rigid = rigid_motions(mesh, system.unknowns);
  const double shift = rigid.cols() > 0 ? -0.1 * estimate_lowest_eigenvalue(mesh, materials) : 0.0;
  const auto result = numerics::solve_generalised_eigen(
      system.stiffness, four_point_mass(mesh, system.unknowns, material.density),
      {.count = modes, .shift = shift, .null_space = rigid});
  std::vector<double> frequencies;
  for (const double value : result.values) frequencies.push_back(std::sqrt(value) / (2 * std::numbers::pi));
  return frequencies;
}

void expect_agreement(const std::vector<double>& theirs, std::size_t first,
                      const std::vector<double>& same_mass, const model::ModalModel& ours)
{
  for (std::size_t k = 0; k < same_mass.size(); ++k) {
    const double f = theirs[first + k];
    EXPECT_NEAR(same_mass[k], f, kSameMass * f) << "mode " << k;
    EXPECT_NEAR(ours.frequencies[static_cast<Eigen::Index>(k)], f, kExactMass * f) << "mode " << k;
  }
}

class CalculixAgreement : public ::testing::Test {
 protected:
  void SetUp() override
  {
    if (!has_calculix()) GTEST_SKIP() << "ccx is not installed (Debian package calculix-ccx).";
  }
  model::Material steel_{.name = "steel", .density = 7850, .young = 2e11, .poisson = 0.29};
};

TEST_F(CalculixAgreement, ClampedPlate)
{
  const mesh::TetrahedralMesh mesh = tets::tetrahedralise_box(Vec3(0.3, 0.2, 0.01), {9, 6, 1});
  const ElementMesh elements = build_element_mesh(mesh, ElementKind::tet10);
  const std::vector<model::Support> supports = {{parse_selection("x<-0.149")}};
  const auto held = held_axes(elements, {}, supports);
  const std::vector<double> theirs = run_calculix(elements, steel_, held, kTheirModes);
  ASSERT_GE(theirs.size(), 10u) << "CalculiX did not finish";
  const ModalAnalysisResult ours =
      analyse_modes(mesh, {.materials = {steel_}, .supports = supports, .count = 10});
  ASSERT_TRUE(ours.ok());
  expect_agreement(theirs, 0, with_their_mass(elements, steel_, held, 10), ours.model);
}

TEST_F(CalculixAgreement, FreeBall)
{
  const mesh::TetrahedralMesh mesh = tets::tetrahedralise_ball(0.05, 2);
  const ElementMesh elements = build_element_mesh(mesh, ElementKind::tet10);
  const std::vector<double> theirs = run_calculix(elements, steel_, {}, kTheirModes);
  ASSERT_GE(theirs.size(), 18u) << "CalculiX did not finish";
  const ModalAnalysisResult ours = analyse_modes(mesh, {.materials = {steel_}, .count = 12});
  ASSERT_TRUE(ours.ok());
  // Its list begins with the six rigid motions.
  expect_agreement(theirs, 6, with_their_mass(elements, steel_, {}, 12), ours.model);
}

}  // namespace
}  // namespace thrum::elastic
