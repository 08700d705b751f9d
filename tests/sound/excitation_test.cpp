// SPDX-License-Identifier: MIT
#include "thrum/sound/excitation.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
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

  fs::path file_ = fs::temp_directory_path() / "thrum_excitation_test";
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
  for (std::size_t length = 12; length < bytes.size(); length += 131) {
    base::write_file(file_, std::string_view(bytes).substr(0, length));
    ExcitationReader reader(file_);
    std::size_t count = 0;
    while (const auto step = reader.next()) EXPECT_EQ(step->time, steps_[count++].time);
    EXPECT_EQ(count % 8, 0U);
    EXPECT_EQ(reader.is_cut_short(), count < 40 && length > 12) << length;
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

TEST_F(ExcitationFile, RejectsOtherFiles)
{
  base::write_file(file_, std::string_view("a text"));
  EXPECT_THROW(ExcitationReader reader(file_), InputError);
}

}  // namespace
}  // namespace thrum::sound
