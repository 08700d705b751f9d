// SPDX-License-Identifier: MIT
// Problems of substeps in a file, little-endian. Rows are in double precision: in single precision contacts
// that are redundant contradict each other, and the problems are others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/flexible/group_problem.h"

namespace thrum::flexible {

struct NamedProblem {
  std::string name;  ///< scene, law and why it was chosen
  GroupProblem problem;
};

namespace problem_file {

template <class T>
void put(std::ostream& out, T value)
{
  out.write(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <class T>
T get(std::istream& in)
{
  T value{};
  in.read(reinterpret_cast<char*>(&value), sizeof(T));
  if (!in) throw std::runtime_error("The file of problems ends too early.");
  return value;
}

inline void put_count(std::ostream& out, std::size_t value)
{
  put(out, static_cast<std::uint16_t>(value));
}
inline int get_count(std::istream& in)
{
  return get<std::uint16_t>(in);
}

/// The row as runs of coefficients that are not 0.
inline void put_row(std::ostream& out, const GroupProblem& p, Eigen::Index r)
{
  struct Run {
    Eigen::Index first, count;
  };
  std::vector<Run> runs;
  for (Eigen::Index c = 0; c < p.J.cols(); ++c) {
    if (p.J(r, c) == 0) continue;
    if (runs.empty() || runs.back().first + runs.back().count + 1 < c) runs.push_back({c, 0});
    runs.back().count = c + 1 - runs.back().first;
  }
  put(out, p.free[r]);
  put_count(out, runs.size());
  for (const Run& run : runs) {
    put_count(out, at(run.first));
    put_count(out, at(run.count));
    for (Eigen::Index c = run.first; c < run.first + run.count; ++c) put(out, p.J(r, c));
  }
}

inline void get_row(std::istream& in, GroupProblem& p, Eigen::Index r)
{
  p.free[r] = get<double>(in);
  const int runs = get_count(in);
  for (int i = 0; i < runs; ++i) {
    const int first = get_count(in);
    const int count = get_count(in);
    if (first + count > p.J.cols()) throw std::runtime_error("A row of a problem is too long.");
    for (int c = first; c < first + count; ++c) p.J(r, c) = get<double>(in);
  }
}

}  // namespace problem_file

inline void write_problem(std::ostream& out, const NamedProblem& named)
{
  using namespace problem_file;
  const GroupProblem& p = named.problem;
  put_count(out, named.name.size());
  out << named.name;
  put(out, static_cast<std::uint8_t>(p.law));
  put(out, p.dt);
  for (const std::size_t count :
       {at(p.J.rows()), at(p.J.cols()), p.contacts.size(), p.slips.size(), p.patches.size()})
    put_count(out, count);
  for (const double w : p.weight) put(out, w);
  for (Eigen::Index r = 0; r < p.J.rows(); ++r) put_row(out, p, r);
  for (const GroupProblem::Contact& c : p.contacts) {
    put_count(out, at(c.row));
    for (const double value : {c.d, c.d_free, c.stiffness, c.damper, c.tail_compliance}) put(out, value);
  }
  for (const GroupProblem::Slip& s : p.slips) {
    for (const int row : s.rows) put_count(out, at(row));
    put(out, static_cast<std::uint8_t>(s.count));
    put(out, static_cast<std::uint8_t>(s.is_joint));
    for (const double value : {s.stiffness, s.damping, s.limit}) put(out, value);
    for (const double value : s.stretch) put(out, value);
  }
  for (const GroupProblem::Patch& patch : p.patches) {
    for (const int value : {patch.first_contact, patch.end_contact, patch.first_slip, patch.end_slip})
      put_count(out, at(value));
  }
}

inline NamedProblem read_problem(std::istream& in)
{
  using namespace problem_file;
  NamedProblem named;
  GroupProblem& p = named.problem;
  named.name.resize(at(get_count(in)));
  in.read(named.name.data(), static_cast<std::streamsize>(named.name.size()));
  p.law = static_cast<ContactLaw>(get<std::uint8_t>(in));
  p.dt = get<double>(in);
  const int rows = get_count(in);
  const int columns = get_count(in);
  p.contacts.resize(at(get_count(in)));
  p.slips.resize(at(get_count(in)));
  p.patches.resize(at(get_count(in)));
  p.weight.resize(columns);
  p.free.resize(rows);
  p.J.setZero(rows, columns);
  for (double& w : p.weight) w = get<double>(in);
  for (Eigen::Index r = 0; r < rows; ++r) get_row(in, p, r);
  for (GroupProblem::Contact& c : p.contacts) {
    c.row = get_count(in);
    for (double* value : {&c.d, &c.d_free, &c.stiffness, &c.damper, &c.tail_compliance})
      *value = get<double>(in);
  }
  for (GroupProblem::Slip& s : p.slips) {
    for (int& row : s.rows) row = get_count(in);
    s.count = get<std::uint8_t>(in);
    s.is_joint = get<std::uint8_t>(in) != 0;
    for (double* value : {&s.stiffness, &s.damping, &s.limit}) *value = get<double>(in);
    for (double& value : s.stretch) value = get<double>(in);
  }
  for (GroupProblem::Patch& patch : p.patches) {
    for (int* value : {&patch.first_contact, &patch.end_contact, &patch.first_slip, &patch.end_slip})
      *value = get_count(in);
  }
  return named;
}

inline std::vector<NamedProblem> read_problems(const std::filesystem::path& file)
{
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("Cannot read " + file.string());
  std::vector<NamedProblem> all;
  while (in.peek() != std::ifstream::traits_type::eof()) all.push_back(read_problem(in));
  return all;
}

}  // namespace thrum::flexible
