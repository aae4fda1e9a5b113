import CSQLiteSetup
import Foundation
import GRDB
import GRDBSQLite

/// Opens the database of a generation and defines its schema.
enum DiskDatabase {
  /// `THMB`, the application ID in the header of the database file.
  static let applicationID = 0x5448_4d42
  /// The version of the schema. A cache with another version is not migrated; a new generation replaces it.
  static let schemaVersion = 6
  /// Large pages have fewer pages per body to follow, and read faster than those of 4096 bytes.
  static let pageSize = 8192

  /// The seconds that a connection waits for SQLite's own locks. The directory's lock serializes writers, so a wait
  /// occurs only while another connection recovers or closes the log.
  private static let busySeconds = 1.0

  /// Opens a read-only connection.
  static func reader(at path: String) throws -> DatabaseQueue {
    var configuration = configuration(label: "thumbs.cache.read")
    configuration.readonly = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.unsafeRead(checkSchema)
    return queue
  }

  /// Opens the writing connection. It must be opened and used under the directory's lock. Closing it
  /// writes nothing.
  static func writer(at path: String) throws -> DatabaseQueue {
    let queue = try DatabaseQueue(path: path, configuration: writerConfiguration())
    try queue.unsafeRead(checkSchema)
    return queue
  }

  /// Runs `body`, and a second time if it reports damage, because SQLite also calls a database malformed after a single
  /// failed read of a page. `body` opens new connections each time, which do not remember the first failure.
  static func confirmingDamage<T>(_ body: () throws(DiskCacheError) -> T) throws(DiskCacheError) -> T {
    do throws(DiskCacheError) {
      return try body()
    } catch {
      guard error.code == .corrupt else { throw error }
      return try body()
    }
  }

  /// Creates the empty database of a new generation.
  static func create(at path: String) throws -> DatabaseQueue {
    // SQLite itself would create the file readable by everyone, and gives its log files the same mode.
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw DiskCacheError(systemCall: "open", path: path) }
    close(descriptor)
    let queue = try DatabaseQueue(path: path, configuration: writerConfiguration())
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA page_size = \(pageSize)")
      try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      try database.execute(sql: "PRAGMA application_id = \(applicationID)")
      try database.inTransaction(.immediate) {
        for statement in schema { try database.execute(sql: statement) }
        try database.execute(sql: "PRAGMA user_version = \(schemaVersion)")
        return .commit
      }
    }
    return queue
  }

  /// Empties the log into the database without waiting for readers. The caller holds the lock that all writers need.
  ///
  /// - Returns: True if the log is empty; false if a reader still needs a part of it.
  static func checkpoint(_ database: Database) throws -> Bool {
    sqlite3_busy_timeout(database.sqliteConnection, 0)
    defer { sqlite3_busy_timeout(database.sqliteConnection, Int32(busySeconds * 1000)) }
    do {
      try database.checkpoint(.truncate)
      return true
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      return false
    }
  }

  private static func configuration(label: String) -> Configuration {
    var configuration = Configuration()
    configuration.label = label
    configuration.busyMode = .timeout(busySeconds)
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { database in
      // A checkpoint at closing would happen outside the directory's lock, and would wait for readers.
      sqlite_setup_without_checkpoint_on_close(database.sqliteConnection)
      // Reports a page whose cells point outside of it instead of following them.
      try database.execute(sql: "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
      // A page cache of four times this size reads no faster, because the system caches the pages too.
      try database.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1024; PRAGMA mmap_size = 0")
    }
    return configuration
  }

  private static func writerConfiguration() -> Configuration {
    var configuration = configuration(label: "thumbs.cache.write")
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 33554432")
      // Checkpoints only happen under the directory's lock: before SQLite 3.51.3, resetting the log while another
      // process checkpoints it corrupts the database. Overwriting deleted data would double the cost of eviction.
      try database.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA secure_delete = OFF")
      // Keeps the log files when the last connection closes, so that a reader never has to create them.
      var isPersistent: Int32 = 1
      sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &isPersistent)
    }
    return configuration
  }

  private static func checkSchema(_ database: Database) throws {
    let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    let application = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
    guard application == applicationID, version > 0 else {
      throw DiskCacheError(.corrupt, "The database was not created by thumbs.")
    }
    guard version <= schemaVersion else {
      throw DiskCacheError(.newerSchema, "The cache was created by a newer version of thumbs (schema \(version)).")
    }
    guard version == schemaVersion else {
      throw DiskCacheError(.corrupt, "The cache has the outdated schema \(version).")
    }
    // A view or a trigger in place of a table could run forever.
    let objects = try String.fetchAll(database, sql: "SELECT coalesce(sql, name) FROM sqlite_schema LIMIT 64")
    guard objects.sorted() == schema.sorted() else {
      throw DiskCacheError(.corrupt, "The database has other tables than those of the cache.")
    }
  }

  /// The tables:
  ///
  /// - `item` has one row per source, thumbnail, kept original and undecodable file, numbered by ``RowNumber``.
  ///   `record` describes the row (see ``RecordFrame``), `body` holds the encoded thumbnail or the original.
  /// - `slot` has one narrow row per row of `item`, for statistics and eviction. Its numbers are dense, so that the
  ///   times of last use fit an array; a free slot has no `id`. `fresh_until` is null except for sources that are
  ///   images. `bytes` is the size of the body.
  /// - `used` holds the times of last use by slot, ``UseChunk/length`` of them in a row.
  /// - `reuse` has the ``ReusePolicy`` of a cache that has been half full, and the time at which its current epoch
  ///   began.
  /// - `ghost` has the sources that this cache knows but does not keep, with the number of their row in `item`.
  private static let schema = [
    """
    CREATE TABLE item (
      id INTEGER PRIMARY KEY,
      slot INTEGER NOT NULL,
      record BLOB NOT NULL,
      body BLOB
    )
    """,
    """
    CREATE TABLE slot (
      number INTEGER PRIMARY KEY,
      id INTEGER,
      bytes INTEGER NOT NULL,
      fresh_until INTEGER
    )
    """,
    "CREATE INDEX slot_free ON slot (number) WHERE id IS NULL",
    "CREATE INDEX slot_original ON slot (number, bytes) WHERE \(RowNumber.isOriginal)",
    "CREATE TABLE used (chunk INTEGER PRIMARY KEY, times BLOB NOT NULL)",
    "CREATE TABLE reuse (id INTEGER PRIMARY KEY, start INTEGER NOT NULL, state BLOB NOT NULL)",
    "CREATE TABLE ghost (id INTEGER PRIMARY KEY, used INTEGER NOT NULL, first INTEGER NOT NULL)",
  ]
}
