// The SQL that makes an empty MLflow database.
// Private to track/mlflow.
#pragma once

namespace temper::track {

const char* mlflow_schema();
// Added to it: the tables of MLflow 3 for models, and their revision.
const char* mlflow_logged_model_tables();

} // namespace temper::track
