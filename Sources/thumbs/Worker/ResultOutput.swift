import Foundation
import Glibc
import Synchronization

/// Writes the records of the worker to a descriptor, on a thread of its own. A record is written at once if nothing else
/// is being written, and otherwise together with all others that have come by then.
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

  private let descriptor: Int32
  private let state: Mutex<State>
  private let onChange: @Sendable (Flow) -> Void
  private let onFailure: @Sendable (OutputError) -> Void
  /// Signaled when there is something to write, and at the end.
  private let work = DispatchSemaphore(value: 0)
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

  /// Adds `record`. Blocks while there is no room. After an error, and after ``abandon()``, drops it.
  func add(_ record: [UInt8]) {
    while true {
      let sleeper = state.withLock { state -> DispatchSemaphore? in
        switch state.buffer.add(record) {
        case .closed: return nil
        case .added(let wakesWriter):
          if wakesWriter { work.signal() }
          return nil
        case .full:
          let sleeper = DispatchSemaphore(value: 0)
          state.sleepers.append(sleeper)
          if state.sleepers.count == 1 { reportFlow() }
          return sleeper
        }
      }
      guard let sleeper else { return }
      sleeper.wait()
    }
  }

  /// Waits until everything is written, or the output has failed. Nothing may be added any more.
  func finish() {
    state.withLock { $0.isEnding = true }
    work.signal()
    ended.wait()
  }

  /// Drops everything that waits, and all later records. No thread waits for the reader any more, and ``finish()``
  /// returns at once.
  func abandon() {
    wake { $0.buffer.close() }
    ended.signal()
  }

  private func write() {
    while true {
      work.wait()
      let isEnding = state.withLock { $0.isEnding }
      let bytes = wake { $0.buffer.take() }
      let code = FileDescriptor.writeAll(bytes[...], to: descriptor).code
      if code != 0 { fail(code) }
      if isEnding { break }
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
      if !state.sleepers.isEmpty { reportFlow() }
      return (value, state.sleepers)
    }
    for sleeper in sleepers { sleeper.signal() }
    return value
  }
}
