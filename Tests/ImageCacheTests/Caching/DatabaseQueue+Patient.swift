import GRDB

extension DatabaseQueue {
  /// Opens the database of a cache. Waits as long as another connection locks it: a cache that a test has released may
  /// still be closing its own.
  static func patient(_ path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyMode = .timeout(600)
    return try DatabaseQueue(path: path, configuration: configuration)
  }
}
