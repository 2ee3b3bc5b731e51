#include "temper/track/mlflow/sqlite.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/track/tracker.h"

namespace temper::track {
namespace {

constexpr int kPatienceMs = 20'000;
constexpr int kNapMs = 10;

[[noreturn]] void fail(sqlite3* database, int code) {
  const char* name =
      database == nullptr ? nullptr : sqlite3_db_filename(database, "main");
  const std::string file = name == nullptr ? "the database" : name;
  const std::string why =
      database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database);
  const std::string what = cat("[track] cannot write ", file, ": ", why, ".");
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Unavailable(what, "Another program holds it locked.");
    case SQLITE_FULL:
      throw Unavailable(what, "Make room on the disk.");
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_INTERRUPT:
      throw Unavailable(what, "Look at the disk and the folder's rights.");
    case SQLITE_NOTADB:
      throw Error(
          what, "It is no SQLite database: name another with track.mlflow.");
    case SQLITE_CORRUPT:
      throw Error(what, "Name another database with track.mlflow.");
    case SQLITE_READONLY:
      throw Error(what, "Make it writable, or name another with track.mlflow.");
    default:
      throw Error(what);
  }
}

// Called by SQLite while another connection holds the lock.
int on_busy(void* self, int tries) {
  const auto* database = static_cast<const Database*>(self);
  if (database->gave_up() || tries * kNapMs >= kPatienceMs) return 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(kNapMs));
  return 1;
}

} // namespace

Statement::Statement(sqlite3* database, const std::string& sql)
    : database_(database) {
  const int code = sqlite3_prepare_v2(
      database,
      sql.c_str(),
      static_cast<int>(sql.size()),
      &statement_,
      nullptr);
  if (code != SQLITE_OK) fail(database, code);
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

Statement& Statement::bind(const std::string& text) {
  sqlite3_bind_text(
      statement_,
      next_++,
      text.c_str(),
      static_cast<int>(text.size()),
      SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  sqlite3_bind_int64(statement_, next_++, number);
  return *this;
}

Statement& Statement::bind(double number) {
  sqlite3_bind_double(statement_, next_++, number);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  busy_ = code == SQLITE_ROW;
  if (busy_) return true;
  sqlite3_reset(statement_);
  next_ = 1;
  if (code != SQLITE_DONE) fail(database_, code);
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::text(int column) const {
  const auto* text = sqlite3_column_text(statement_, column);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

Database::Database(const std::filesystem::path& file, bool create) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX |
      (create ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(file.c_str(), &database_, flags, nullptr);
  if (code != SQLITE_OK) {
    const std::string why = sqlite3_errstr(code);
    sqlite3_close(database_);
    throw Unavailable(
        cat("[track] cannot open ", file.string(), ": ", why, "."),
        "Does its folder exist, and may it be written?");
  }
  sqlite3_busy_handler(database_, on_busy, this);
  try {
    execute("PRAGMA foreign_keys = ON");
    // No part of a transaction reaches the file before its end: readers are
    // kept out for the commit alone.
    execute("PRAGMA cache_spill = OFF");
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

Database::~Database() {
  sqlite3_close(database_);
}

void Database::execute(const std::string& sql) {
  const int code =
      sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(database_, code);
}

std::unique_ptr<Statement> Database::prepare(const std::string& sql) {
  return std::make_unique<Statement>(database_, sql);
}

std::int64_t Database::last_row_id() const {
  return sqlite3_last_insert_rowid(database_);
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const std::exception&) { // a full disk rolled it back already
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

} // namespace temper::track
