import CSQLiteSetup
import Foundation
import GRDB
import GRDBSQLite

/// Opens the database of a generation and defines its schema.
enum DiskDatabase {
  /// `THMB`, the application ID in the header of the database file.
  static let applicationID = 0x5448_4d42
  /// The version of the schema. A cache with another version is not migrated; a new generation replaces it.
  static let schemaVersion = 4
  static let pageSize = 4096

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
        try database.execute(sql: schema)
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
  }

  /// The trigger body that adds a source to `total`.
  private static let addition = """
    INSERT INTO total VALUES (new.failure_code IS NOT NULL, new.fresh_until, 1, new.thumbnails, new.bytes)
      ON CONFLICT DO UPDATE SET sources = sources + 1, thumbnails = thumbnails + excluded.thumbnails,
        bytes = bytes + excluded.bytes;
    """
  /// The trigger body that subtracts a source from `total`.
  private static let subtraction = """
    UPDATE total SET sources = sources - 1, thumbnails = thumbnails - old.thumbnails, bytes = bytes - old.bytes
      WHERE is_failure = (old.failure_code IS NOT NULL) AND fresh_until = old.fresh_until;
    DELETE FROM total
      WHERE is_failure = (old.failure_code IS NOT NULL) AND fresh_until = old.fresh_until AND sources <= 0;
    """

  /// `source.fresh_until`, `bytes` and `thumbnails` are derived, so that eviction reads only the index `source_lru`.
  /// `total` holds sums per expiry time, so that statistics need no scan of the sources; `original_total` does the same
  /// for originals. Triggers keep both up to date for every writer. The bodies have their own table, so that only hits
  /// read them.
  private static let schema = """
    CREATE TABLE source (
      id INTEGER PRIMARY KEY,
      key BLOB NOT NULL UNIQUE,
      url TEXT NOT NULL,
      final_url TEXT,
      status INTEGER NOT NULL,
      requested_at INTEGER NOT NULL,
      responded_at INTEGER NOT NULL,
      response_status INTEGER NOT NULL,
      cache_control TEXT, expires TEXT, date TEXT, age TEXT, etag TEXT, last_modified TEXT, vary TEXT,
      redirect_control TEXT,
      format TEXT, width INTEGER, height INTEGER, digest BLOB, length INTEGER,
      failure_code TEXT, failure_message TEXT,
      renderer INTEGER NOT NULL,
      checksum INTEGER NOT NULL,
      fresh_until INTEGER NOT NULL,
      last_used INTEGER NOT NULL,
      bytes INTEGER NOT NULL DEFAULT 0,
      thumbnails INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX source_lru ON source (last_used, bytes);
    CREATE INDEX source_undecodable ON source (digest) WHERE failure_code IS NOT NULL AND digest IS NOT NULL;
    CREATE TABLE total (
      is_failure INTEGER NOT NULL,
      fresh_until INTEGER NOT NULL,
      sources INTEGER NOT NULL,
      thumbnails INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      PRIMARY KEY (is_failure, fresh_until)
    ) WITHOUT ROWID;
    CREATE TRIGGER source_added AFTER INSERT ON source BEGIN
      \(addition)
    END;
    CREATE TRIGGER source_removed AFTER DELETE ON source BEGIN
      \(subtraction)
    END;
    CREATE TRIGGER source_changed
      AFTER UPDATE OF fresh_until, failure_code, bytes, thumbnails ON source
      WHEN (old.fresh_until, old.failure_code IS NULL, old.bytes, old.thumbnails)
        IS NOT (new.fresh_until, new.failure_code IS NULL, new.bytes, new.thumbnails)
    BEGIN
      \(subtraction)
      \(addition)
    END;
    CREATE TABLE thumbnail (
      source_id INTEGER NOT NULL,
      spec_hash INTEGER NOT NULL,
      spec TEXT NOT NULL,
      width INTEGER NOT NULL,
      height INTEGER NOT NULL,
      format TEXT NOT NULL,
      length INTEGER NOT NULL,
      checksum INTEGER NOT NULL,
      blob_id INTEGER NOT NULL,
      PRIMARY KEY (source_id, spec_hash)
    ) WITHOUT ROWID;
    CREATE TABLE blob (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE original (
      blob_id INTEGER PRIMARY KEY,
      source_id INTEGER NOT NULL UNIQUE,
      length INTEGER NOT NULL
    );
    CREATE TABLE original_total (bytes INTEGER NOT NULL);
    INSERT INTO original_total VALUES (0);
    CREATE TRIGGER original_added AFTER INSERT ON original BEGIN
      UPDATE original_total SET bytes = bytes + new.length;
    END;
    CREATE TRIGGER original_removed AFTER DELETE ON original BEGIN
      UPDATE original_total SET bytes = bytes - old.length;
      DELETE FROM blob WHERE id = old.blob_id;
    END;
    """
}
