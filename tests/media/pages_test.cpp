// SPDX-License-Identifier: MIT
#include "thrum/media/pages.h"

#include <gtest/gtest.h>

#include "thrum/base/error.h"
#include "thrum/media/base64.h"

namespace thrum::media {
namespace {

TEST(Base64, EncodesTheExamplesOfTheStandard)
{
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string_view("\xff\xfe\x00", 3)), "//4A");
}

model::ModalModel triangle()
{
  model::ModalModel model;
  model.name = "a </script><script>alert(1)</script> name";
  model.surface.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  model.surface.triangles = {{0, 1, 2}};
  model.frequencies = VecX::Constant(1, 100);
  model.decays = VecX::Constant(1, 5);
  model.shapes = MatX::Ones(9, 1);
  return model;
}

TEST(ModesPage, ContainsTheDataAndEscapesText)
{
  if (page_template("modes").empty()) {
    EXPECT_THROW((void)modes_page(triangle()), Error);
    return;
  }
  const std::string page = modes_page(triangle());
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_NE(page.find("\"frequencies\":[100.0]"), std::string::npos);
  EXPECT_EQ(page.find("/*DATA*/"), std::string::npos);
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org"));  // nothing is loaded from elsewhere
}

}  // namespace
}  // namespace thrum::media
