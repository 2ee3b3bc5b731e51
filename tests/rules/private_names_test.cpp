#include "private_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source_tree.h"

namespace temper::rules {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two files of a room, each with the text in an anonymous namespace.
std::vector<std::string> of_two(
    const std::string& one,
    const std::string& other) {
  const auto file = [](const std::string& path, const std::string& text) {
    return SourceFile{
        path,
        "namespace temper::data {\nnamespace {\n" + text +
            "\n} // namespace\n} // namespace temper::data\n"};
  };
  return names_used_twice({file("data/a.cpp", one), file("data/b.cpp", other)});
}

TEST(PrivateNames, AreUsedByOneFileOfARoomInTheWholeTree) {
  for (const char* folder : {"temper", "tests"}) {
    std::vector<SourceFile> files = source_tree(folder);
    EXPECT_GT(files.size(), 100u);
    EXPECT_THAT(names_used_twice(files), IsEmpty()) << "below " << folder;
  }
}

TEST(PrivateNames, ThatTwoFilesHaveAreSeenInBoth) {
  EXPECT_THAT(
      of_two("constexpr int kBlock = 1;", "\nconst std::size_t kBlock{2};"),
      ElementsAre(
          AllOf(HasSubstr("data/a.cpp:3: kBlock"), HasSubstr("data/b.cpp,")),
          AllOf(HasSubstr("data/b.cpp:4: kBlock"), HasSubstr("data/a.cpp,"))));
  const std::string body = " {\n  return f(1);\n}";
  for (const auto& [one, other] :
       {std::pair{"struct Line {\n  int a;\n};", "class Line final : X {};"},
        std::pair{"using A = int;", "using A = float;"},
        std::pair{"using graph::Node;", "using model::Node;"},
        std::pair{"namespace fs = a;", "namespace fs = b;"},
        std::pair{"bool is(std::function<int(int)> f)", "int is(int a = {})"},
        std::pair{"std::vector<std::pair<int, int>> is()", "[[x]] int* is()"},
        std::pair{"template <class T>\nT is(T x)", "auto is() -> decltype(1)"}})
    EXPECT_THAT(
        of_two(one + body + ";", other + body + ";"), testing::SizeIs(2))
        << one << " and " << other;
}

TEST(PrivateNames, OfOneFileAreNoConcern) {
  EXPECT_THAT(of_two("int f();\nint f() {\n  return 1;\n}", ""), IsEmpty());
  EXPECT_THAT(of_two("void A::f() {}", "void B::f() {}"), IsEmpty());
  EXPECT_THAT(of_two("using testing::Eq;", "using ::testing::Eq;"), IsEmpty());
  EXPECT_THAT(of_two("void g() { int kA = 1; }", "int kA = 2;"), IsEmpty());
  EXPECT_THAT(
      of_two("// int kA = 1;", "const char* s = R\"(int kA;)\";"), IsEmpty());
  EXPECT_THAT(of_two("A::A() : a_{1}, b_(2) {}\nint f;", "int g;"), IsEmpty());
  EXPECT_THAT(
      of_two(
          "bool operator==(A, A) { return true; }\nTEST(A, B) { f(); }",
          "bool operator==(B, B);\nTEST(A, B) {}"),
      IsEmpty());
  EXPECT_THAT(
      of_two("void PrintTo(A, std::ostream*);", "void PrintTo(B, int);"),
      IsEmpty());
}

TEST(PrivateNames, ThatAHeaderOfTheRoomDeclaresAreSeen) {
  const SourceFile header{
      "data/a.h", "namespace temper::data {\nvoid refuse(int why);\n}"};
  const std::string text =
      "namespace temper::data {\nstatic void refuse(float) {}\n}";
  EXPECT_THAT(
      names_used_twice({header, {"data/b.cpp", text}}),
      ElementsAre(HasSubstr("b.cpp:2: refuse is also declared in data/a.h")));
  EXPECT_THAT(names_used_twice({header, {"train/b.cpp", text}}), IsEmpty());
}

TEST(PrivateNames, ThatHideAFunctionOfBaseAreSeen) {
  EXPECT_THAT(
      names_used_twice(
          {{"base/text.h", "namespace temper {\nvoid split(int);\n}"},
           {"data/a.h", "namespace temper::data {\nint split(float);\n}"}}),
      ElementsAre(HasSubstr("data/a.h:2: split is also declared in base/")));
  EXPECT_THAT(
      names_used_twice(
          {{"base/text.h", "namespace temper {\nstd::string cat(int);\n}"},
           {"model/a.cpp",
            "namespace temper::model {\nnamespace {\nint cat;\n}}"}}),
      ElementsAre(
          HasSubstr("model/a.cpp:3: cat is also declared in base/text.h")));
}

TEST(PrivateNames, OfTwoSystemsMayBeTheSame) {
  const std::string text = "namespace { int kA; }";
  EXPECT_THAT(
      names_used_twice(
          {{"machine/a_linux.cpp", text}, {"machine/a_macos.cpp", text}}),
      IsEmpty());
  EXPECT_THAT(
      names_used_twice(
          {{"machine/a_linux.cpp", text}, {"machine/a.cpp", text}}),
      testing::SizeIs(2));
}

} // namespace
} // namespace temper::rules
