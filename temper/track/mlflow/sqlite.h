// SQLite in as much as the trackers need: a connection that waits politely for
// others, prepared statements, transactions that end by themselves.
// Private to track/mlflow.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace temper::track {

class Statement {
 public:
  Statement(sqlite3* database, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Values for the ?s, from the first on; the next run() needs them anew.
  Statement& bind(const std::string& text);
  Statement& bind(std::int64_t number);
  Statement& bind(double number);

  // Runs to its end. Unavailable when the database is locked or full, else
  // Error.
  void run();
  // The next row, if there is one.
  bool step();
  std::int64_t integer(int column) const;
  std::string text(int column) const;

 private:
  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
  bool busy_ = false; // rows may follow
};

class Database {
 public:
  // Opens the file, or makes it where `create` is set. MLflow's own settings:
  // foreign keys are kept, others are waited for up to 20 s.
  Database(const std::filesystem::path& file, bool create);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);
  std::unique_ptr<Statement> prepare(const std::string& sql);
  std::int64_t last_row_id() const;
  // A wait for others ends soon, with Unavailable; from any thread.
  void give_up() {
    gave_up_ = true;
  }
  bool gave_up() const {
    return gave_up_;
  }

 private:
  sqlite3* database_ = nullptr;
  std::atomic<bool> gave_up_{false};
};

// A transaction that takes the write lock at BEGIN, so that a busy database is
// met there and not in the middle.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction(); // rolls back what was not committed
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

} // namespace temper::track
