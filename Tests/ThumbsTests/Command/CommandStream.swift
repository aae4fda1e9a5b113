import Foundation
import Synchronization

/// Collects the output of a command from one descriptor. It has its own thread, so that the command never waits.
final class CommandStream: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var lineCount = 0
    var isAtEnd = false
    var lineWaiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var textWaiters: [(text: String, continuation: CheckedContinuation<Void, Never>)] = []
    var endWaiters: [CheckedContinuation<Void, Never>] = []

    /// Removes and returns the waiters whose condition is met.
    mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
      var ready: [CheckedContinuation<Void, Never>] = []
      ready += lineWaiters.filter { isAtEnd || lineCount >= $0.count }.map(\.continuation)
      lineWaiters.removeAll { isAtEnd || lineCount >= $0.count }
      ready += textWaiters.filter { isAtEnd || bytes.contains($0.text.utf8) }.map(\.continuation)
      textWaiters.removeAll { isAtEnd || bytes.contains($0.text.utf8) }
      if isAtEnd {
        ready += endWaiters
        endWaiters = []
      }
      return ready
    }
  }

  private let state = Mutex(State())

  /// Reads `descriptor` to its end or until it has `lineLimit` lines, and closes it.
  init(_ descriptor: Int32, lineLimit: Int = .max) {
    let thread = Thread { [self] in
      var chunk = [UInt8](repeating: 0, count: 64 << 10)
      while state.withLock({ $0.lineCount }) < lineLimit {
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        // Reading from a pseudoterminal fails with EIO when no process has it open anymore.
        guard count > 0 else { break }
        append(chunk[..<count])
      }
      close(descriptor)
      end()
    }
    thread.start()
  }

  /// The output so far, as text.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The output so far.
  var bytes: [UInt8] { state.withLock { $0.bytes } }

  /// Returns when there are `count` lines, or at the end of the output.
  func waitForLines(_ count: Int) async {
    await wait { $0.lineWaiters.append((count, $1)) }
  }

  /// Returns when the output contains `text`, or at its end.
  func waitForText(_ text: String) async {
    await wait { $0.textWaiters.append((text, $1)) }
  }

  /// Returns at the end of the output.
  func waitForEnd() async {
    await wait { $0.endWaiters.append($1) }
  }

  private func wait(_ enlist: @Sendable (inout State, CheckedContinuation<Void, Never>) -> Void) async {
    await withCheckedContinuation { continuation in
      let ready = state.withLock { state in
        enlist(&state, continuation)
        return state.takeReady()
      }
      for waiter in ready { waiter.resume() }
    }
  }

  private func append(_ bytes: ArraySlice<UInt8>) {
    let ready = state.withLock { state in
      state.bytes += bytes
      state.lineCount += bytes.count { $0 == UInt8(ascii: "\n") }
      return state.takeReady()
    }
    for waiter in ready { waiter.resume() }
  }

  private func end() {
    let ready = state.withLock { state in
      state.isAtEnd = true
      return state.takeReady()
    }
    for waiter in ready { waiter.resume() }
  }
}
