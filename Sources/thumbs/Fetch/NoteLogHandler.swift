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
    // The cache stays off until the user does something about it.
    guard let state = event.metadata?["cache"], "\(state)" == "off" else { return note(message) }
    let end = message.hasSuffix(".") ? "" : "."
    note("\(message)\(end) Choose another directory with --cache-dir, or none with --no-cache.")
  }
}
