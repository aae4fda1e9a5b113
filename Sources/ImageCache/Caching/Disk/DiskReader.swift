import GRDB
import Synchronization

/// Finds entries on disk. Never writes and never waits for a writer.
final class DiskReader: Sendable {
  private struct State {
    var generation: OpenGeneration?
    /// The time of the last look at `CURRENT`; nil forces a new look.
    var checkedAt: ContinuousClock.Instant?
    /// The end of the pause after a lookup that met a busy database; nil without a pause.
    var busyUntil: ContinuousClock.Instant?
    /// The length of the last pause; zero after a lookup that succeeded.
    var busyPause = Duration.zero

    /// Begins a pause that is longer than the last one.
    mutating func pauseWhileBusy() {
      busyPause = min(max(DiskReader.firstBusyPause, busyPause * 4), DiskReader.longestBusyPause)
      busyUntil = .now + busyPause
    }
  }

  /// The longest time for which a generation may be read after another process has replaced it.
  private static let checkInterval: Duration = .seconds(1)
  /// The time without lookups after one that met a busy database, and after several in a row. SQLite makes readers wait
  /// only while a process recovers the log. If that process is stopped, each lookup would wait up to 10 seconds.
  private static let firstBusyPause: Duration = .seconds(5)
  private static let longestBusyPause: Duration = .seconds(60)

  private let directory: CacheDirectory
  private let names = SpecNames()
  private let state = Mutex(State())

  init(_ directory: CacheDirectory) { self.directory = directory }

  /// Makes the next lookup read `CURRENT` again.
  func invalidate() { state.withLock { ($0.checkedAt, $0.busyUntil) = (nil, nil) } }

  /// Returns the entries of `lookups` in the same order, read in one short transaction. May block on a disk read.
  ///
  /// - Parameters:
  ///   - now: Seconds since 1970.
  ///   - used: Receives the slots whose use must be recorded.
  func find(_ lookups: [CacheLookup], now: Int, used: inout [Int]) throws(ReadFailure) -> [Finding] {
    var slots: [Int] = []
    let findings = try read { generation, database in
      try generation.find(lookups, now: now, used: &slots, names: names, in: database)
    }
    used += slots
    return findings ?? lookups.map { _ in .missing }
  }

  /// Returns the file kept for `key`, unchecked; empty if there is none.
  func original(of key: SourceKey) throws(ReadFailure) -> [UInt8] {
    let body = try read { _, database -> [UInt8]? in
      var run = try StatementRun("SELECT body FROM item WHERE id = ?", in: database)
      run.bind(RowNumber.original(of: key))
      guard var columns = try run.next() else { return nil }
      return columns.bytes()
    }
    return (body ?? nil) ?? []
  }

  /// Returns the reason why this ``Renderer/edition`` could not decode the bytes of `digest`; nil if none is stored.
  func imageError(of digest: BodyDigest) throws(ReadFailure) -> ImageError? {
    try read { _, database -> ImageError? in
      var run = try StatementRun("SELECT record FROM item WHERE id = ?", in: database)
      run.bind(RowNumber.verdict(on: digest))
      guard var columns = try run.next(), let verdict = columns.withBytes({ VerdictRecord($0) }) ?? nil,
        verdict.digest == digest, verdict.rendererEdition == Renderer.edition
      else { return nil }
      return verdict.error
    } ?? nil
  }

  /// Runs `body` in the current generation; nil if the directory contains no cache, or after it was busy.
  private func read<T>(_ body: (OpenGeneration, Database) throws -> T) throws(ReadFailure) -> T? {
    let isPausing = state.withLock { $0.busyUntil.map { ContinuousClock.now < $0 } ?? false }
    if isPausing { return nil }
    do throws(ReadFailure) {
      let result = try readOnceOrTwice(body)
      state.withLock { $0.busyPause = .zero }
      return result
    } catch {
      if error.error.code == .busy { state.withLock { $0.pauseWhileBusy() } }
      throw error
    }
  }

  private func readOnceOrTwice<T>(_ body: (OpenGeneration, Database) throws -> T) throws(ReadFailure) -> T? {
    guard let generation = try openGeneration() else { return nil }
    do throws(DiskCacheError) {
      return try generation.read { try body(generation, $0) }
    } catch {
      guard error.code == .corrupt else { throw ReadFailure(error: error, generation: generation.number) }
    }
    // Damage that a new connection does not meet again was a single failed read.
    close(generation)
    guard let again = try openGeneration() else { return nil }
    do throws(DiskCacheError) {
      return try again.read { try body(again, $0) }
    } catch {
      throw ReadFailure(error: error, generation: again.number)
    }
  }

  /// Makes the next lookup open the database again, unless another thread has already reopened it.
  private func close(_ generation: OpenGeneration) {
    state.withLock { state in
      guard state.generation === generation else { return }
      state = State()
    }
  }

  /// A failed lookup with the generation it happened in.
  struct ReadFailure: Error {
    var error: DiskCacheError
    var generation: Int
  }

  /// Returns the generation to read from; nil if the directory contains no cache.
  ///
  /// Opens under the lock, so that many threads starting at once open it only once. A replaced generation closes when
  /// the last lookup in it ends.
  private func openGeneration() throws(ReadFailure) -> OpenGeneration? {
    let now = ContinuousClock.now
    return try state.withLock { (state) throws(ReadFailure) in
      if let checkedAt = state.checkedAt, now < checkedAt + Self.checkInterval { return state.generation }
      state.checkedAt = now
      guard let number = try currentGeneration(else: state.generation) else {
        state.generation = nil
        return nil
      }
      if let open = state.generation, open.number == number, open.isInPlace { return open }
      state.generation = nil
      do throws(DiskCacheError) {
        state.generation = try DiskDatabase.confirmingDamage { () throws(DiskCacheError) in
          try OpenGeneration(number, of: directory)
        }
      } catch {
        // Another process has replaced and removed the generation since its number was read. The next lookup opens the
        // new one.
        state.checkedAt = nil
        guard try currentGeneration(else: nil) == number else { return nil }
        state.checkedAt = now
        throw ReadFailure(error: error, generation: number)
      }
      return state.generation
    }
  }

  /// Returns the number of the current generation, or that of `open` if `CURRENT` cannot be read: an open generation
  /// stays usable as long as it exists.
  private func currentGeneration(else open: OpenGeneration?) throws(ReadFailure) -> Int? {
    do throws(DiskCacheError) {
      return try directory.currentGeneration()
    } catch {
      guard let open else { throw ReadFailure(error: error, generation: 0) }
      return open.number
    }
  }
}
