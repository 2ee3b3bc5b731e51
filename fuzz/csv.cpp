// Tables: any text, with any column as the target.
#include "temper/data/source/csv_source.h"

#include "input_file.h"
#include "target.h"

std::vector<std::string> temper::fuzz::seeds() {
  return {
      "age,colour,label\n1,red,a\n2,\"blue, dark\",b\n,red,a\n3.5e2,green,b\n",
      "x;y\r\n1;2\r\n3;4\r\n",
      "1\t2\t3\n4\t5\t6\n",
      "\xef\xbb\xbfname,\"two\nlines\",n\n\"he said \"\"no\"\"\",NA,1\nb,c,2\n",
      "a,b\n-1e308,1\nnan,2\ninf,3\n"};
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  using namespace temper::data;
  static temper::fuzz::InputFile file(".csv");
  const auto& path = file.write(data, size);
  for (const char* target : {"", "label", ":number"})
    try {
      OpenOptions options;
      options.target = target;
      const auto table =
          std::make_shared<const CsvTable>(read_csv(path, options));
      const CsvSource source(table, path);
      Sample sample;
      for (std::int64_t i = 0; i < source.size(); ++i)
        try {
          source.read(i, sample);
          source.label(i);
        } catch (const BadSample&) {
        }
    } catch (const temper::Error&) {
    }
  return 0;
}
