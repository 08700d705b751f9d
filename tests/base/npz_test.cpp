// SPDX-License-Identifier: MIT
#include "thrum/base/npz.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <cstring>
#include <limits>

#include "tests/base/scratch_folder.h"
#include "thrum/base/error.h"
#include "thrum/base/npy_format.h"
#include "thrum/base/random.h"

namespace thrum::base {
namespace {

std::span<const std::byte> raw(const std::string& text)
{
  return std::as_bytes(std::span(text));
}

void write_example(const std::filesystem::path& path)
{
  NpzWriter file(path);
  file.add("frequencies", std::vector<double>{440, -0.5, 1e300, std::numeric_limits<double>::infinity()});
  file.add("shapes", std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  file.add("triangles", std::vector<std::int32_t>{0, 1, 2}, {1, 3});
  file.add("stamps", std::vector<std::int64_t>{std::int64_t{1} << 40, -1});
  file.add("bytes", std::vector<std::uint8_t>{0, 255});
  file.add("nothing", std::vector<double>{}, {0, 3});
  file.add("step", 0.001);
  file.add("count", std::int64_t{7});
  file.add_text("material", "Glas, 5 µm");
  const std::vector<std::string> names{"pot", "", "plate"};
  file.add_texts("names", names);
  file.commit();
}

// The check value of CRC-32 in the catalogues: "123456789" gives cbf43926.
TEST(Crc32, HasThePublishedCheckValue)
{
  EXPECT_EQ(crc32(raw("123456789")), 0xcbf43926u);
  EXPECT_EQ(crc32(raw("56789"), crc32(raw("1234"))), 0xcbf43926u);
}

TEST(Npz, RoundTrips)
{
  const ScratchFolder folder;
  write_example(folder / "a.npz");
  const NpzFile file = read_npz(folder / "a.npz");
  EXPECT_EQ(file.arrays().size(), 10u);
  EXPECT_EQ(file.at("frequencies").as<double>({4})[2], 1e300);
  EXPECT_EQ(file.at("shapes").as<float>({2, 3})[5], 6.0f);
  EXPECT_EQ(file.at("triangles").as<std::int32_t>({kAnySize, 3})[2], 2);
  EXPECT_EQ(file.at("stamps").as<std::int64_t>()[0], std::int64_t{1} << 40);
  EXPECT_EQ(file.at("bytes").as<std::uint8_t>()[1], 255);
  EXPECT_EQ(file.at("nothing").as<double>({0, 3}).size(), 0u);
  EXPECT_EQ(file.at("step").as<double>({})[0], 0.001);
  EXPECT_EQ(file.at("count").as<std::int64_t>({})[0], 7);
  EXPECT_EQ(file.at("material").text(), "Glas, 5 µm");
  EXPECT_EQ(file.at("names").texts, (std::vector<std::string>{"pot", "", "plate"}));
  EXPECT_EQ(file.at("names").size(), 3u);
}

TEST(Npz, TheSameArraysGiveTheSameBytes)
{
  const ScratchFolder folder;
  write_example(folder / "a.npz");
  write_example(folder / "b.npz");
  EXPECT_EQ(read_file(folder / "a.npz"), read_file(folder / "b.npz"));
}

TEST(Npz, ReportsInvalidRequests)
{
  const ScratchFolder folder;
  write_example(folder / "a.npz");
  const NpzFile file = read_npz(folder / "a.npz");
  EXPECT_THROW(static_cast<void>(file.at("modes")), Error);
  EXPECT_THROW(static_cast<void>(file.at("shapes").as<double>()), Error);
  EXPECT_THROW(static_cast<void>(file.at("shapes").as<float>({3, 2})), Error);
  EXPECT_THROW(static_cast<void>(file.at("names").text()), Error);
  NpzWriter writer(folder / "c.npz");
  EXPECT_THROW(writer.add("x", std::vector<double>{1, 2, 3}, {2, 2}), Error);
  writer.add("x", std::vector<double>{1});
  EXPECT_THROW(writer.add("x", std::vector<double>{1}), Error);
}

/// Runs Debian's own Python if it has NumPy; -1 otherwise.
int run_python(const std::string& program)
{
  const std::string python = "PATH=$(getconf PATH) python3 ";
  if (std::system((python + "-c 'import numpy' 2>/dev/null").c_str()) != 0) return -1;
  return std::system((python + "-c \"" + program + "\"").c_str());
}

TEST(Npz, IsReadByNumpy)
{
  const ScratchFolder folder;
  write_example(folder / "a.npz");
  const int status = run_python(
      "import numpy as n; f = n.load('" + (folder / "a.npz").string() +
      "'); assert f['frequencies'].tolist() == [440, -0.5, 1e300, n.inf]"
      "; assert f['shapes'].shape == (2, 3) and f['shapes'].dtype == n.float32 and f['shapes'][1, 2] == 6"
      "; assert f['triangles'].dtype == n.int32; assert f['stamps'].tolist() == [2**40, -1]"
      "; assert f['bytes'].tolist() == [0, 255]; assert f['nothing'].shape == (0, 3); assert f['step'] == "
      "0.001"
      "; assert f['count'] == 7; assert str(f['material']) == 'Glas, 5 \\u00b5m'"
      "; assert f['names'].tolist() == ['pot', '', 'plate']");
  if (status == -1) GTEST_SKIP() << "NumPy is not installed";
  EXPECT_EQ(status, 0);
}

TEST(Npz, ReadsWhatNumpyWrites)
{
  const ScratchFolder folder;
  const std::string a = (folder / "a.npz").string(), b = (folder / "b.npz").string();
  const int status =
      run_python("import numpy as n; x = n.arange(6.0).reshape(2, 3); n.savez('" + a +
                 "', x=x, s='steel', i=n.int32([3]), z=n.array([b'ab', b'c'])); n.savez_compressed('" + b +
                 "', x=x); n.save('" + (folder / "c.npy").string() + "', x.T)");
  if (status == -1) GTEST_SKIP() << "NumPy is not installed";
  const NpzFile file = read_npz(a);
  EXPECT_EQ(file.at("x").as<double>({2, 3})[4], 4.0);
  EXPECT_EQ(file.at("s").text(), "steel");
  EXPECT_EQ(file.at("i").as<std::int32_t>({1})[0], 3);
  EXPECT_EQ(file.at("z").texts, (std::vector<std::string>{"ab", "c"}));
  EXPECT_THROW(static_cast<void>(read_npz(b)), InputError);
  EXPECT_THROW(static_cast<void>(read_npy(folder / "c.npy")), InputError);
}

// Any damage is either detected or harmless: no crash, no memory beyond the file's own size.
TEST(Npz, RejectsDamagedFiles)
{
  const ScratchFolder folder;
  write_example(folder / "a.npz");
  const std::vector<std::byte> good = read_file(folder / "a.npz");
  for (std::size_t length = 0; length < good.size(); length += 7) {
    EXPECT_THROW(static_cast<void>(parse_npz(std::span(good).first(length), "a.npz")), InputError) << length;
  }
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> bad = good;
    for (int k = 0; k < 3; ++k) bad[random.index(bad.size())] = static_cast<std::byte>(random.bits());
    try {
      static_cast<void>(parse_npz(bad, "a.npz"));
    } catch (const Error&) {
    }
  }
}

NpyArray parse_with_header(const std::string& body, std::size_t data_bytes = 0)
{
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(body.size() & 0xff);
  file += static_cast<char>(body.size() >> 8);
  file += body + std::string(data_bytes, '\0');
  return parse_npy(raw(file), "a.npy");
}

TEST(Npy, RejectsBadHeaders)
{
  EXPECT_EQ(parse_with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", 16).size(), 2u);
  EXPECT_EQ(parse_with_header("{'shape':(),'fortran_order':False,'descr':'<i4'}", 4).size(), 1u);
  for (const char* body :
       {"", "{", "{}", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': Maybe, 'shape': ()}",
        "{'descr': '>f8', 'fortran_order': False, 'shape': ()}",
        "{'descr': '|O', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551615, 18446744073709551615)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693953,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (99999999999,)}",
        "{'descr': '<U9999999', 'fortran_order': False, 'shape': (99999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 'x'}"}) {
    EXPECT_THROW(static_cast<void>(parse_with_header(body, 8)), InputError) << body;
  }
}

RC_GTEST_PROP(Npy, HeaderIsPaddedAndReadBack, (std::vector<std::uint8_t> sizes))
{
  sizes.resize(std::min<std::size_t>(sizes.size(), 5));
  std::vector<std::size_t> shape;
  std::size_t count = 1;
  for (const std::uint8_t s : sizes) shape.push_back(s % 5), count *= s % 5;
  const std::string header = detail::make_npy_header("|u1", shape);
  RC_ASSERT(header.size() % 64 == 0);
  RC_ASSERT(parse_npy(raw(header + std::string(count, 'x')), "a").shape == shape);
}

}  // namespace
}  // namespace thrum::base
