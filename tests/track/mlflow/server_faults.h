// What can go wrong with an answer of the tests' MLflow server.
#pragma once

#include <httplib.h>

#include "tests/track/mlflow/mlflow_server.h"

namespace temper::track {

// True when nothing is left to do.
inline bool fail_first(Fault fault, httplib::Response& response) {
  if (fault == Fault::server_error) {
    response.status = 500;
    response.set_content("<html>Internal Server Error</html>", "text/html");
  } else if (fault == Fault::unavailable) {
    response.status = 503;
  } else if (fault == Fault::html) {
    response.set_content("<html>Please log in</html>", "text/html");
  } else if (fault == Fault::unauthorised) {
    response.status = 401;
    response.set_header("WWW-Authenticate", "Basic realm=\"mlflow\"");
    response.set_content("You are not authenticated.", "text/plain");
  } else {
    return fault == Fault::hang;
  }
  return true;
}

inline void fail_last(Fault fault, httplib::Response& response) {
  if (fault == Fault::wrong_json) {
    response.status = 200;
    response.set_content("[1, 2", "application/json");
  }
  if (fault == Fault::lost) {
    response.status = 504;
    response.set_content("<html>Gateway Timeout</html>", "text/html");
  }
  if (fault != Fault::half) return;
  const std::string whole = response.body + std::string(100, ' ');
  response.body.clear();
  response.set_content_provider(
      whole.size(),
      "application/json",
      [whole](std::size_t at, std::size_t, httplib::DataSink& sink) {
        if (at > 0) return false; // hangs up
        return sink.write(whole.data(), 1);
      });
}

} // namespace temper::track
