// The SQL that makes an empty MLflow database.
#pragma once

namespace temper::track {

const char* mlflow_schema();

} // namespace temper::track
