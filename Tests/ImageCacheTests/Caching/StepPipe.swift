import Foundation

/// A named pipe through which a child process reports its steps: first its identifier, then one byte for each step. The
/// pipe ends when the process does.
struct StepPipe: ~Copyable {
  private let descriptor: Int32

  static func make(_ path: String) -> Bool { mkfifo(path, 0o600) == 0 }

  /// Opens the reading end. Does not wait for the writer.
  init(reading path: String) { descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }

  /// Opens the writing end once there is a reader, and sends the identifier of this process.
  init(writing path: String) {
    descriptor = open(path, O_WRONLY | O_CLOEXEC)
    withUnsafeBytes(of: getpid()) { _ = write(descriptor, $0.baseAddress, $0.count) }
  }

  deinit { close(descriptor) }

  /// Reports a step. Waits if the reader is a pipe's length behind.
  func step() {
    var byte: UInt8 = 1
    _ = write(descriptor, &byte, 1)
  }

  /// Waits for the identifier of the writer; nil if it has not come after 60 seconds.
  func identifier() -> pid_t? {
    guard waits(60) else { return nil }
    var identifier: pid_t = 0
    // A write of so few bytes is never split (PIPE_BUF).
    return read(descriptor, &identifier, MemoryLayout<pid_t>.size) == MemoryLayout<pid_t>.size ? identifier : nil
  }

  /// Discards the steps that were reported before now.
  func skip() {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while read(descriptor, &bytes, bytes.count) == bytes.count {}
  }

  /// The result of a wait for steps.
  enum Progress {
    case advanced, ended, stalled
  }

  /// Waits until the writer has made `count` more steps or has ended. It is stalled if it makes no step for 30 seconds.
  func wait(for count: Int) -> Progress {
    var bytes = [UInt8](repeating: 0, count: count)
    var left = count
    while left > 0 {
      guard waits(30) else { return .stalled }
      let received = read(descriptor, &bytes, left)
      if received == 0 { return .ended }
      left -= max(0, received)
    }
    return .advanced
  }

  /// Waits until there is something to read; false after `seconds`.
  private func waits(_ seconds: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, seconds * 1000) > 0
  }
}
