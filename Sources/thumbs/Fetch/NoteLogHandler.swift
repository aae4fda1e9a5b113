import ImageCache
import Logging

/// Passes log messages to a closure. The default level is warning.
struct NoteLogHandler: LogHandler {
  var logLevel = Logger.Level.warning
  var metadata: Logger.Metadata = [:]
  private let note: @Sendable (String) -> Void

  init(_ note: @escaping @Sendable (String) -> Void) { self.note = note }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let message = "\(event.message)"
    guard Self.isDirectoryUnusable(event) else { return note(message) }
    let end = message.hasSuffix(".") ? "" : "."
    note("\(message)\(end) Choose another directory with --cache-dir, or none with --no-cache.")
  }

  /// Returns true if `event` is about a cache directory that this machine or this user cannot use.
  private static func isDirectoryUnusable(_ event: LogEvent) -> Bool {
    guard let code = event.metadata?["code"], event.metadata?["tier"] != nil else { return false }
    return [DiskCacheError.Code.io, .networkFileSystem].map(\.rawValue).contains("\(code)")
  }
}
