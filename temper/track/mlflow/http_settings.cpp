#include <algorithm>
#include <cstdint>

#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/track/mlflow/http.h"

namespace temper::track {
namespace {

bool is_true(const std::string& text) {
  const std::string word = lower(trim(text));
  return word == "true" || word == "1";
}

// An INI file; only its section [mlflow] counts.
std::string credential(const std::string& file, const std::string& key) {
  bool ours = false;
  for (const std::string& raw : split(file, '\n')) {
    const std::string line(trim(raw));
    if (!line.empty() && line.front() == '[') ours = line == "[mlflow]";
    const auto equals = line.find('=');
    if (!ours || equals == std::string::npos) continue;
    if (lower(trim(line.substr(0, equals))) == key)
      return std::string(trim(line.substr(equals + 1)));
  }
  return "";
}

} // namespace

HttpSettings http_settings(const Environment& environment) {
  HttpSettings made;
  made.username = variable_text(environment, "MLFLOW_TRACKING_USERNAME");
  made.password = variable_text(environment, "MLFLOW_TRACKING_PASSWORD");
  made.token = variable_text(environment, "MLFLOW_TRACKING_TOKEN");
  made.insecure_tls =
      is_true(variable_text(environment, "MLFLOW_TRACKING_INSECURE_TLS"));
  made.ca_file = variable_text(environment, "MLFLOW_TRACKING_SERVER_CERT_PATH");
  made.client_certificate =
      variable_text(environment, "MLFLOW_TRACKING_CLIENT_CERT_PATH");
  made.workspace = variable_text(environment, "MLFLOW_WORKSPACE");
  const auto timeout =
      parse_double(variable_text(environment, "MLFLOW_HTTP_REQUEST_TIMEOUT"));
  if (timeout && *timeout > 0) made.timeout_s = *timeout;
  const std::string home = variable_text(environment, "HOME");
  const std::string file = home.empty()
      ? ""
      : read_small_file(std::filesystem::path(home) / ".mlflow/credentials")
            .value_or("");
  if (made.username.empty())
    made.username = credential(file, "mlflow_tracking_username");
  if (made.password.empty())
    made.password = credential(file, "mlflow_tracking_password");
  return made;
}

std::string base64(const std::string& bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < 3; ++i)
      three = three << 8 |
          (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      out += i <= count ? kDigits[three >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

std::string percent_encoded(const std::string& text, bool keep_slashes) {
  constexpr const char* kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
        (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.' ||
        c == '~' || (c == '/' && keep_slashes);
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

} // namespace temper::track
