// Files made to hurt: each must get its sentence, none may be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"
#include "temper/weights/safetensors.h"
#include "weights_files.h"

namespace temper::weights {
namespace {

using testing::HasSubstr;

struct Attack {
  const char* name;
  std::string bytes;
  const char* sentence;
};

std::string tensor_header(const std::string& fields) {
  return "{\"w\":{" + fields + "}}";
}
// The file with this header and eight bytes of data.
std::string eight(const std::string& header) {
  return safetensors_bytes(header, std::string(8, '\1'));
}

std::vector<Attack> attacks() {
  const std::string good =
      R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  std::vector<Attack> all{
      {"empty", "", "only 0 bytes"},
      {"seven_bytes", "\1\0\0\0\0\0\0", "only"},
      {"length_beyond_file",
       std::string("\x50\0\0\0\0\0\0\0{}", 10),
       "does not fit"},
      {"length_of_everything", std::string(8, '\xff') + "{}", "is the most"},
      {"length_just_too_large",
       std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10),
       "is the most"},
      {"no_header", std::string(8, '\0'), "not a JSON object"},
      {"list", eight("[1]"), "not a JSON object"},
      {"space_first", eight(" {" + good + "}"), "not a JSON object"},
      {"zero_byte_hides_the_rest",
       eight("{" + good + "}" + std::string("\0PK", 3)),
       "not a JSON object"},
      {"text_behind", eight("{" + good + "}x"), "not JSON at byte"},
      {"not_json", eight("{" + good), "not JSON at byte"},
      {"not_utf8", eight("{\"\xff\":1}"), "not JSON at byte"},
      {"same_name_twice", eight("{" + good + "," + good + "}"), "twice"},
      {"same_name_in_other_letters",
       eight("{" + good + R"(,"\u0077":{}})"),
       "w twice"},
      {"same_field_twice",
       eight(tensor_header(R"("dtype":"F32","dtype":"F16")")),
       "dtype twice"},
      {"metadata_twice",
       eight(R"({"__metadata__":{},"__metadata__":{}})"),
       "twice"},
      {"metadata_key_twice",
       eight(R"({"__metadata__":{"a":"1","a":"2"}})"),
       "a twice"},
      {"metadata_number", eight(R"({"__metadata__":{"a":1}})"), "a is a num"},
      {"metadata_nested", eight(R"({"__metadata__":{"a":{}}})"), "an object"},
      {"metadata_list", eight(R"({"__metadata__":["a"]})"), "a list"},
      {"tensor_is_null", eight(R"({"w":null})"), "w is null"},
      {"tensor_is_list", eight(R"({"w":[]})"), "w is a list"},
      {"no_dtype",
       eight(tensor_header(R"("shape":[2],"data_offsets":[0,8])")),
       "lacks"},
      {"no_fields", eight(tensor_header("")), "lacks"},
      {"unknown_field",
       eight(tensor_header(R"("stride":[1])")),
       "unknown field stride"},
      {"unknown_dtype",
       eight(tensor_header(
           R"("dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8])")),
       "type F8_E4M3, which temper does not read"},
      {"dtype_number",
       eight(tensor_header(R"("dtype":7)")),
       "dtype of tensor w is"},
      {"dtype_list", eight(tensor_header(R"("dtype":["F32"])")), "is a list"},
      {"shape_text", eight(tensor_header(R"("shape":"2")")), "is text"},
      {"shape_nested", eight(tensor_header(R"("shape":[[2]])")), "is a list"},
      {"shape_negative", eight(tensor_header(R"("shape":[-2])")), "negative"},
      {"shape_fraction", eight(tensor_header(R"("shape":[2.0])")), "not whole"},
      {"shape_of_20_digits",
       eight(tensor_header(R"("shape":[99999999999999999999])")),
       "too large"},
      {"shape_beyond_int64",
       eight(tensor_header(R"("shape":[9223372036854775808])")),
       "has a size of"},
      {"shape_overflows",
       eight(tensor_header(R"("dtype":"F32","data_offsets":[0,8],)"
                           R"("shape":[4611686018427387906])")),
       "does not fill"},
      {"shape_overflows_in_two",
       eight(tensor_header(R"("dtype":"F64","data_offsets":[0,8],)"
                           R"("shape":[4294967296,536870912,4294967297])")),
       "does not fill"},
      {"shape_too_small",
       eight(
           tensor_header(R"("dtype":"F32","shape":[1],"data_offsets":[0,8])")),
       "does not fill"},
      {"one_offset",
       eight(tensor_header(R"("data_offsets":[0])")),
       "no two offsets"},
      {"three_offsets",
       eight(tensor_header(R"("data_offsets":[0,8,8])")),
       "more than two"},
      {"backwards",
       eight(
           tensor_header(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])")),
       "ends before it begins"},
      {"beyond_the_end",
       eight(
           tensor_header(R"("dtype":"F32","shape":[3],"data_offsets":[0,12])")),
       "ends at byte 12 of 8"},
      {"far_beyond_the_end",
       eight(tensor_header(R"("dtype":"U8","shape":[0],"data_offsets":)"
                           R"([18446744073709551615,18446744073709551615])")),
       "ends at byte"},
      {"overlap",
       eight(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
             R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"),
       "tensor b overlaps"},
      {"the_same_bytes_twice",
       eight(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"),
       "tensor b overlaps"},
      {"hole_at_the_front",
       eight(
           tensor_header(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])")),
       "4 bytes before tensor w are nobody's"},
      {"hole_in_the_middle",
       eight(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
             R"("b":{"dtype":"U8","shape":[5],"data_offsets":[3,8]}})"),
       "1 bytes before tensor b"},
      {"something_behind",
       eight(
           tensor_header(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])")),
       "last 4 bytes are nobody's"},
      {"no_tensor_but_data", eight("{}"), "last 8 bytes"},
      {"bools_that_are_none",
       safetensors_bytes(
           tensor_header(R"("dtype":"BOOL","shape":[2],"data_offsets":[0,2])"),
           "\1\2"),
       "not all true and false"},
      {"controls_in_a_name",
       eight("{\"a\\u001b[31m\":null}"),
       "a?[31m is null"},
  };
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "{\"a\":";
  all.push_back({"deep", eight(deep), "unknown field a"});
  std::string ones = "1";
  for (int i = 0; i < 100; ++i)
    ones += ",1";
  all.push_back(
      {"many_dimensions",
       eight(tensor_header("\"shape\":[" + ones + "]")),
       "more than 64 dimensions"});
  return all;
}

TEST(SafetensorsAttack, EveryHostileFileGetsItsSentence) {
  const WeightsPlace place;
  for (const auto& attack : attacks()) {
    SCOPED_TRACE(attack.name);
    const auto path = place.write(attack.name, attack.bytes);
    try {
      read_safetensors(path);
      ADD_FAILURE() << "it was read";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(attack.sentence));
      EXPECT_THAT(error.what(), HasSubstr("[model] cannot read"));
      EXPECT_THAT(error.what(), HasSubstr(attack.name));
      EXPECT_FALSE(error.hint().empty());
    }
  }
}

TEST(SafetensorsAttack, EveryTruncationOfAGoodFileIsRefused) {
  const WeightsPlace place;
  write_safetensors(
      {{"a", floats({2, 2}, {1, 2, 3, 4})}, {"b", floats({1}, {5})}},
      place / "w");
  const std::string whole = bytes_of_file(place / "w");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(
        read_safetensors(place.write("cut", whole.substr(0, size))), Error)
        << size;
  EXPECT_THROW(read_safetensors(place.write("more", whole + "x")), Error);
}

} // namespace
} // namespace temper::weights
