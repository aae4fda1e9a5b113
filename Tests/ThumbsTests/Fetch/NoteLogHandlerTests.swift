import Logging
import Synchronization
import Testing

@testable import thumbs

@Suite struct NoteLogHandlerTests {
  /// Collects the notes.
  private final class Notes: Sendable {
    let all = Mutex<[String]>([])
  }

  @Test func `Only a message about a cache that stays off gets a remedy`() {
    let notes = Notes()
    let logger = Logger(label: "test") { _ in NoteLogHandler { note in notes.all.withLock { $0.append(note) } } }

    logger.warning("No room.", metadata: ["code": "io_error", "tier": "disk cache"])
    logger.warning("No permission", metadata: ["code": "io_error", "cache": "off"])

    let remedy = "Choose another directory with --cache-dir, or none with --no-cache."
    #expect(notes.all.withLock { $0 } == ["No room.", "No permission. \(remedy)"])
  }
}
