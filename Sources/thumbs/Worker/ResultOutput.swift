import Foundation
import Glibc
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

  /// Waits until everything is written, or the output has failed. Nothing may be added any more.
  func finish() {
    state.withLock { $0.isEnding = true }
    work.signal()
    haste.signal()
    ended.wait()
  }

  /// Drops everything that waits, and all later records. No thread waits for the reader any more, and ``finish()``
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
