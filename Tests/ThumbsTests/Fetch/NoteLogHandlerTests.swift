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

    let full = Logger(label: "test") { _ in
      NoteLogHandler(cache: "/c") { note in notes.all.withLock { $0.append(note) } }
    }
    full.warning("database or disk is full", metadata: ["code": "disk_full", "tier": "disk cache"])
    let last = notes.all.withLock { $0.popLast() }
    #expect(last == "The disk of the cache is full. Nothing new is cached in /c until there is space; the run goes on.")

    let remedy = "Choose another directory with --cache-dir, or none with --no-cache."
    #expect(notes.all.withLock { $0 } == ["No room.", "No permission. \(remedy)"])
  }
}
