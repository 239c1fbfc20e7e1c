// What the library shows to the outside and what it needs, as the linker sees it.
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/hooks/victims.h"

namespace cuheap::testing {
namespace {

class ExportsTest : public VictimTest {
 protected:
  std::string Readelf(const std::string& flags) {
    return Run("readelf -W " + flags + " " CUHEAP_PRELOAD, Watched::kNo).output;
  }
};

TEST_F(ExportsTest, ExactlyTheDoorsNamesAndTheCoreAreExported) {
  std::set<std::string> expected = {"cuheap_core_v1"};
  std::ifstream table(CUHEAP_FUNCTIONS);
  for (std::string line; std::getline(table, line);) {
    std::smatch row;
    if (!std::regex_search(line, row, std::regex("^CUHEAP_([A-Z_]+)\\((\\w+)"))) continue;
    expected.insert(row[2]);
    if (row[1] == "RUNTIME_STREAM") expected.insert(row[2].str() + "_ptsz");
  }
  std::set<std::string> exported;
  std::istringstream names(Run("nm -D --defined-only " CUHEAP_PRELOAD, Watched::kNo).output);
  for (std::string address, type, name; names >> address >> type >> name;) exported.insert(name);
  EXPECT_EQ(exported, expected);
}

TEST_F(ExportsTest, OnlyTheCLibraryIsNeeded) {
  const std::string dynamic = Readelf("-d");
  const std::regex needed("\\(NEEDED\\)[^\\[]*\\[([^\\]]+)\\]");
  for (std::sregex_iterator it(dynamic.begin(), dynamic.end(), needed), end; it != end; ++it)
    EXPECT_TRUE((*it)[1] == "libc.so.6" || (*it)[1] == "ld-linux-x86-64.so.2") << (*it)[1];
}

TEST_F(ExportsTest, NamesHaveNoVersionSoThatTheySatisfyVersionedReferences) {
  EXPECT_EQ(Readelf("-V").find("Version definition section"), std::string::npos);
}

TEST_F(ExportsTest, TheStackIsNotExecutableAndTheLibraryIsNeverUnloaded) {
  EXPECT_TRUE(std::regex_search(Readelf("-l"), std::regex("GNU_STACK[^\\n]*RW ")));
  EXPECT_NE(Readelf("-d").find("NODELETE"), std::string::npos);
}

}  // namespace
}  // namespace cuheap::testing
