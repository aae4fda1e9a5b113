import ArgumentParser
import BatchFetch
import Foundation
import Glibc
import ImageCache
import Synchronization

/// Writes the records of the worker to a descriptor, on a separate thread. A record is written at once, or, if another
/// one was written in the millisecond before, at the end of that millisecond with all others that have come by then.
///
/// Threads that add records are blocked while too many bytes wait for the reader.
final class ResultOutput: Sendable {
  /// The state of the flow, for the producer of the records.
  enum Flow: Hashable, Sendable {
    /// A thread is blocked, because the reader is slower than the records come.
    case blocked
    /// There is room again.
    case open
  }

  private struct State {
    var buffer: OutputBuffer
    /// The threads that wait for room.
    var sleepers: [DispatchSemaphore] = []
    var failure: OutputError?
    var isEnding = false
  }

  private static let name = "standard output"
  /// The least time between two writes, while there is room: waking a thread takes longer than adding a record.
  private static let pace = DispatchTimeInterval.milliseconds(1)

  private let descriptor: Int32
  private let state: Mutex<State>
  private let onChange: @Sendable (Flow) -> Void
  private let onFailure: @Sendable (OutputError) -> Void
  /// Signaled when there is something to write, and at the end.
  private let work = DispatchSemaphore(value: 0)
  /// Signaled when the writer must not pause, because there is no room, or at the end.
  private let haste = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)
  /// Calls `onChange` in order, so that the latest state is applied last.
  private let queue = DispatchQueue(label: "thumbs.worker.flow")

  /// Starts the thread that writes.
  ///
  /// - Parameters:
  ///   - descriptor: stays open.
  ///   - limit: the number of waiting bytes from which on threads are blocked.
  ///   - onChange: called when threads are blocked, and when they go on.
  ///   - onFailure: called once, for the first error. A reader that closes a pipe is one, even if nothing is written.
  init(
    _ descriptor: Int32, limit: Int = 256 << 10, onChange: @escaping @Sendable (Flow) -> Void,
    onFailure: @escaping @Sendable (OutputError) -> Void
  ) {
    self.descriptor = descriptor
    self.onChange = onChange
    self.onFailure = onFailure
    state = Mutex(State(buffer: OutputBuffer(limit: limit)))
    Thread { [self] in write() }.start()
    Thread { [self] in watchReader() }.start()
  }

  /// The error that ended the output; nil if there is none.
  var failure: OutputError? { state.withLock { $0.failure } }

  /// Adds `record`, and wakes the writer if it sleeps. Blocks while there is no room. After an error, and after
  /// ``abandon()``, drops the record.
  func add(_ record: [UInt8]) {
    while true {
      let (admission, sleeper, isFirst) = state.withLock { state in
        let admission = state.buffer.add(record)
        let sleeper = admission == .full ? DispatchSemaphore(value: 0) : nil
        if let sleeper { state.sleepers.append(sleeper) }
        return (admission, sleeper, state.sleepers.count == 1)
      }
      // Outside the lock, or the writer would wake only to wait for it.
      if admission == .added(wakesWriter: true) { work.signal() }
      guard let sleeper else { return }
      if isFirst {
        haste.signal()
        reportFlow()
      }
      sleeper.wait()
    }
  }

  /// Waits until everything is written, or the output has failed. Nothing may be added anymore.
  func finish() {
    state.withLock { $0.isEnding = true }
    work.signal()
    haste.signal()
    ended.wait()
  }

  /// Drops everything that waits, and all later records. No thread waits for the reader anymore, and ``finish()``
  /// returns at once.
  func abandon() {
    wake { $0.buffer.close() }
    ended.signal()
  }

  private func write() {
    var next = DispatchTime.now()
    while true {
      work.wait()
      if next > .now() { _ = haste.wait(timeout: next) }
      let isEnding = state.withLock { $0.isEnding }
      let bytes = wake { $0.buffer.take() }
      let code = FileDescriptor.writeAll(bytes[...], to: descriptor).code
      if code != 0 { fail(code) }
      if isEnding { break }
      next = .now() + Self.pace
    }
    ended.signal()
  }

  /// Waits until the reader closes the pipe. Otherwise a worker whose requests hang would outlive its reader.
  private func watchReader() {
    var entry = pollfd(fd: descriptor, events: 0, revents: 0)
    while poll(&entry, 1, -1) < 0 && errno == EINTR {}
    if entry.revents & Int16(POLLERR | POLLHUP) != 0 { fail(EPIPE) }
  }

  private func fail(_ code: Int32) {
    let failure = OutputError(action: .write, path: Self.name, code: code)
    let isFirst = wake { state in
      state.buffer.close()
      defer { state.failure = state.failure ?? failure }
      return state.failure == nil
    }
    if isFirst { onFailure(failure) }
  }

  private func reportFlow() {
    queue.async { [self] in onChange(state.withLock { $0.sleepers.isEmpty ? .open : .blocked }) }
  }

  /// Makes room with `change`, and wakes the threads that wait for it.
  @discardableResult
  private func wake<Value: Sendable>(_ change: (inout State) -> Value) -> Value {
    let (value, sleepers) = state.withLock { state in
      let value = change(&state)
      defer { state.sleepers = [] }
      return (value, state.sleepers)
    }
    if !sleepers.isEmpty { reportFlow() }
    for sleeper in sleepers { sleeper.signal() }
    return value
  }
}

/// The form of the worker's output. The raw values are those of `--protocol`.
enum ResultProtocol: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// The length of the header, the header as JSON, and the thumbnails as they are.
  case frames
  /// A line of JSON, with the thumbnails in Base64.
  case jsonLines = "jsonl"
}

/// Encodes the results of the worker. `Documentation/worker.md` describes them.
struct ResultFormat: Sendable {
  /// The thumbnails in the results.
  enum Bodies: Hashable, Sendable {
    case included
    case omitted
  }

  let form: ResultProtocol
  let bodies: Bodies

  /// Returns the result of `row`.
  func result(of row: WorkerRow, _ outcome: Result<ThumbnailSet, FetchFailure>) -> [UInt8] {
    let set = bodies == .included ? try? outcome.get() : nil
    let original = set?[.original]?.bytes
    let files = (set?.files.map(\.bytes) ?? []) + (original.map { [$0] } ?? [])
    let line = ReportLine(row, outcome)
    return record(bodies: files) { text in
      text.key("id")
      switch row.id {
      case .number(let number): text.value(number)
      case .text(let id): text.value(id)
      case nil: text.null()
      }
      line.writeMembers(to: &text)
      text.key("bodies")
      text.array { text in
        for file in files { text.value(file.count) }
      }
      if original != nil { text.member("original", true) }
      if form == .jsonLines, bodies == .included {
        text.member("data", files.map { Data($0).base64EncodedString() })
      }
    }
  }

  /// Returns the last record, after the results of all rows.
  func end(received: Int, finished: Int) -> [UInt8] {
    record(bodies: []) { text in
      text.member("end", true)
      text.member("received", received)
      text.member("finished", finished)
    }
  }

  private func record(bodies: [[UInt8]], _ members: (inout JSONText) -> Void) -> [UInt8] {
    var header = JSONText()
    header.object(members)
    guard form == .frames else {
      header.endLine()
      return header.bytes
    }
    var frame: [UInt8] = []
    frame.reserveCapacity(4 + header.bytes.count + bodies.reduce(0) { $0 + $1.count })
    withUnsafeBytes(of: UInt32(header.bytes.count).littleEndian) { frame += $0 }
    frame += header.bytes
    for body in bodies { frame += body }
    return frame
  }
}

extension ReportLine {
  /// Creates the line of a row whose thumbnails are in no file.
  fileprivate init(_ row: WorkerRow, _ outcome: Result<ThumbnailSet, FetchFailure>) {
    switch (row.planned.entry, outcome) {
    case (.bad(let row), _): self.init(row)
    case (.row(let row), .failure(let failure)): self.init(row, .failed(failure))
    case (.row(let row), .success(let set)):
      self.init(row, .done(set, set.files.map { Output($0, path: nil) }))
    }
  }
}

/// The bytes that wait to be written. A plain value that decides who has to wait.
struct OutputBuffer {
  /// The permission to add a record.
  enum Admission: Hashable, Sendable {
    /// The record was added. True if there was nothing before it, so that the writer must be woken.
    case added(wakesWriter: Bool)
    /// There is no room; try again after the next ``take()``.
    case full
    /// Nothing is written anymore; the record was dropped.
    case closed
  }

  private let limit: Int
  private var bytes: [UInt8] = []
  private(set) var isClosed = false

  /// Creates a buffer that has room while it has less than `limit` bytes.
  init(limit: Int) { self.limit = limit }

  /// Adds `record` if there is room: one record of any length may exceed the limit.
  mutating func add(_ record: [UInt8]) -> Admission {
    if isClosed { return .closed }
    guard bytes.count < limit else { return .full }
    defer { bytes += record }
    return .added(wakesWriter: bytes.isEmpty)
  }

  /// Returns everything that waits, which makes room.
  mutating func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  /// Drops everything that waits, and all later records.
  mutating func close() {
    isClosed = true
    bytes = []
  }
}
