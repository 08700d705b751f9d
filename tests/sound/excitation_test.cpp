// SPDX-License-Identifier: MIT
#include "thrum/sound/excitation.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <span>

#include "thrum/base/atomic_file.h"
#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/npz.h"
#include "thrum/base/random.h"

namespace thrum::sound {
namespace {

namespace fs = std::filesystem;

// Numbers that 32 bits hold exactly.
ContactSample random_contact(base::Random& random)
{
  const auto number = [&] {
    return static_cast<double>(static_cast<float>(random.uniform(-1, 1)));
  };
  ContactSample c;
  c.a = 3;
  c.b = 7;
  c.key = 0x123456789abcdefULL;
  c.position = {number(), number(), number()};
  c.normal = {number(), number(), number()};
  c.normal_impulse = number();
  c.friction_impulse = {number(), number(), number()};
  c.slip = {number(), number(), number()};
  c.approach_speed = number();
  c.impact_delay = number();
  c.inverse_mass = number();
  c.friction = number();
  c.is_new = random.uniform(0, 1) < 0.5;
  c.bounced = random.uniform(0, 1) < 0.5;
  return c;
}

void expect_equal(const ContactSample& x, const ContactSample& y)
{
  EXPECT_EQ(x.a, y.a);
  EXPECT_EQ(x.b, y.b);
  EXPECT_EQ(x.key, y.key);
  EXPECT_EQ(x.position, y.position);
  EXPECT_EQ(x.normal, y.normal);
  EXPECT_EQ(x.normal_impulse, y.normal_impulse);
  EXPECT_EQ(x.friction_impulse, y.friction_impulse);
  EXPECT_EQ(x.slip, y.slip);
  EXPECT_EQ(x.approach_speed, y.approach_speed);
  EXPECT_EQ(x.impact_delay, y.impact_delay);
  EXPECT_EQ(x.inverse_mass, y.inverse_mass);
  EXPECT_EQ(x.friction, y.friction);
  EXPECT_EQ(x.is_new, y.is_new);
  EXPECT_EQ(x.bounced, y.bounced);
}

class ExcitationFile : public ::testing::Test {
 protected:
  void SetUp() override
  {
    base::Random random(5);
    for (int i = 0; i < 40; ++i) {
      ExcitationStep step;
      step.time = 0.01 * i;
      step.duration = 0.01;
      // Of ten contacts, some stay as they are.
      if (!steps_.empty()) step.contacts = steps_.back().contacts;
      step.contacts.resize(10);
      for (ContactSample& contact : step.contacts)
        if (i == 0 || random.uniform(0, 1) < 0.3) contact = random_contact(random);
      PoseSample pose;
      pose.body = static_cast<std::uint32_t>(i);
      pose.X_ws.position = Vec3(i, 0.5, -2);
      pose.X_ws.rotation = Quat(Eigen::AngleAxisd(0.1 * i, Vec3(0.6, 0, 0.8)));
      step.poses = {pose};
      steps_.push_back(step);
    }
    ExcitationWriter writer(file_);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      writer.add(steps_[i]);
      if (i % 8 == 7) writer.flush();
    }
  }
  void TearDown() override { fs::remove(file_); }

  // Tests of this fixture may run at the same time.
  fs::path file_ =
      fs::temp_directory_path() /
      (std::string("thrum_excitation_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::vector<ExcitationStep> steps_;
};

TEST_F(ExcitationFile, ReadsBackWhatWasWritten)
{
  ExcitationReader reader(file_);
  for (const ExcitationStep& step : steps_) {
    const auto read = reader.next();
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->time, step.time);
    ASSERT_EQ(read->contacts.size(), step.contacts.size());
    for (std::size_t k = 0; k < step.contacts.size(); ++k) expect_equal(read->contacts[k], step.contacts[k]);
    ASSERT_EQ(read->poses.size(), 1U);
    EXPECT_EQ(read->poses[0].X_ws.position, step.poses[0].X_ws.position);
  }
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_FALSE(reader.is_cut_short());
}

TEST_F(ExcitationFile, CutAnywhereItGivesItsWholeChunks)
{
  const std::string bytes = base::read_text_file(file_);
  constexpr std::size_t kHeader = 28;  // mark, version, identity of the run
  for (const std::size_t length : {std::size_t{12}, kHeader - 1}) {
    base::write_file(file_, std::string_view(bytes).substr(0, length));
    ExcitationReader reader(file_);
    EXPECT_FALSE(reader.next().has_value());
    EXPECT_TRUE(reader.is_cut_short());
  }
  for (std::size_t length = kHeader; length < bytes.size(); length += 131) {
    base::write_file(file_, std::string_view(bytes).substr(0, length));
    ExcitationReader reader(file_);
    std::size_t count = 0;
    while (const auto step = reader.next()) EXPECT_EQ(step->time, steps_[count++].time);
    EXPECT_EQ(count % 8, 0U);
    EXPECT_EQ(reader.is_cut_short(), count < 40 && length > kHeader) << length;
  }
}

TEST_F(ExcitationFile, GoesOnAfterAGivenTime)
{
  std::vector<Quat> before;
  {
    ExcitationReader reader(file_);
    while (const auto step = reader.next()) before.push_back(step->poses[0].X_ws.rotation);
  }
  truncate_excitation(file_, 0.13);
  ExcitationReader reader(file_);
  std::size_t count = 0;
  while (const auto step = reader.next()) {
    EXPECT_EQ(step->poses[0].X_ws.rotation.coeffs(), before[count].coeffs());  // the same bits
    EXPECT_EQ(step->time, steps_[count++].time);
  }
  EXPECT_EQ(count, 13U);
}

TEST_F(ExcitationFile, KeepsTheIdentityOfItsRun)
{
  EXPECT_FALSE(ExcitationReader(file_).run().has_value());  // none was given
  const base::Hash128 run = {0x1234, 0x5678};
  {
    ExcitationWriter writer(file_, false, run);
    writer.add(steps_[0]);
    writer.flush();
  }
  EXPECT_EQ(ExcitationReader(file_).run(), run);
  truncate_excitation(file_, 10);
  {
    ExcitationWriter writer(file_, true, {1, 2});  // which goes on with a file of another run
    writer.add(steps_[1]);
    writer.flush();
  }
  ExcitationReader reader(file_);
  EXPECT_EQ(reader.run(), run);
  EXPECT_TRUE(reader.next().has_value());
  EXPECT_TRUE(reader.next().has_value());
  EXPECT_FALSE(reader.next().has_value());
}

// Forces on modes: as of substeps of halves of the step, with one mode on which nothing changes.
ModalForceSample random_forces(base::Random& random, std::uint32_t body, std::vector<double>& exact)
{
  const std::size_t modes = 5;
  const std::vector<double> durations = {5e-4, 2.5e-4, 1.25e-4, 1.25e-4};
  exact.clear();
  for (std::size_t k = 0; k < durations.size(); ++k) {
    for (std::size_t m = 0; m < modes; ++m)
      exact.push_back(m == 2 ? 7.5 : 100 * static_cast<double>(m) + random.uniform(-1, 1));
  }
  return pack_modal_forces(body, durations, exact);
}

TEST_F(ExcitationFile, ForcesOnModesAreRoundedToAPartOfTheirChange)
{
  base::Random random(8);
  for (int i = 0; i < 100; ++i) {
    std::vector<double> exact;
    const ModalForceSample packed = random_forces(random, 3, exact);
    EXPECT_EQ(packed.begins, (std::vector<std::uint32_t>{1U << 19, 3U << 18, 7U << 17}));
    EXPECT_EQ(packed.scales[2], 0);
    EXPECT_EQ(packed.changes.size(), 3U * 4);
    std::vector<double> back(5);
    for (std::size_t k = 0; k < 4; ++k) {
      packed.forces(k, back);
      for (std::size_t m = 0; m < 5; ++m)
        EXPECT_NEAR(back[m], exact[5 * k + m], 2.0 / 32767 + 400 * 6e-8) << k << " " << m;
    }
  }
  // Forces that stay the same are one substep.
  const std::vector<double> halves = {5e-4, 5e-4};
  EXPECT_TRUE(pack_modal_forces(0, halves, std::vector{1.0, 2.0, 1.0, 2.0}).begins.empty());
}

TEST_F(ExcitationFile, ForcesOnModesComeBackBitForBitAlsoAfterItWasCut)
{
  base::Random random(9);
  std::vector<double> exact;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (i % 3 == 0) {
      steps_[i].modal_forces = {random_forces(random, 1, exact), random_forces(random, 6, exact)};
    } else {
      steps_[i].modal_forces = steps_[i - 1].modal_forces;  // the same again
    }
  }
  std::uintmax_t with_repeats = 0;
  {
    ExcitationWriter writer(file_);
    for (const ExcitationStep& step : steps_) writer.add(step);
    writer.flush();
    with_repeats = fs::file_size(file_);
  }
  for (const double cut : {1.0, 0.13}) {
    truncate_excitation(file_, cut);
    ExcitationReader reader(file_);
    std::size_t count = 0;
    while (const auto step = reader.next()) EXPECT_EQ(step->modal_forces, steps_[count++].modal_forces);
    EXPECT_EQ(count, cut == 1.0 ? steps_.size() : 13U);
    if (cut == 1.0) {
      EXPECT_EQ(fs::file_size(file_), with_repeats);
    }
  }
}

// Files of version 1 have no forces on modes.
TEST_F(ExcitationFile, ReadsTheVersionBefore)
{
  constexpr std::uint32_t kSteps = 0x50455453;
  std::string payload;
  for (int i = 0; i < 3; ++i) {
    base::append_bytes(payload, 0.01 * i);
    base::append_bytes(payload, 0.01);
    base::append_bytes(payload, std::uint32_t{0});
    base::append_bytes(payload, std::uint32_t{0});
  }
  std::string bytes = "THRUMEXC";
  base::append_bytes(bytes, std::uint32_t{1});
  base::append_bytes(bytes, kSteps);
  base::append_bytes(bytes, static_cast<std::uint32_t>(payload.size()));
  base::append_bytes(bytes, base::crc32(std::as_bytes(std::span(payload)), kSteps));
  base::write_file(file_, std::string_view(bytes + payload));
  ExcitationReader reader(file_);
  for (int i = 0; i < 3; ++i) {
    const auto step = reader.next();
    ASSERT_TRUE(step.has_value());
    EXPECT_EQ(step->time, 0.01 * i);
    EXPECT_TRUE(step->modal_forces.empty());
  }
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_FALSE(reader.is_cut_short());
  EXPECT_FALSE(reader.run().has_value());
}

TEST_F(ExcitationFile, RejectsOtherFiles)
{
  base::write_file(file_, std::string_view("a text"));
  EXPECT_THROW(ExcitationReader reader(file_), InputError);
}

}  // namespace
}  // namespace thrum::sound
