import Dispatch
import Glibc
import Synchronization

/// Calls a closure on the first SIGINT, SIGTERM or SIGHUP.
///
/// The process exits at the latest 30 seconds after the first signal, and right after the second one, even if it hangs:
/// it may be blocked on a pipe that nobody reads.
final class InterruptWatch: Sendable {
  /// The time that the process has to end by itself after the first signal.
  static let patience = DispatchTimeInterval.seconds(30)
  /// The time that `onExit` has before the process is ended.
  private static let cleanupTime = DispatchTimeInterval.milliseconds(300)

  private let sources = Mutex<[any DispatchSourceSignal]>([])
  /// The first signal, and the closure to call for it.
  private struct State {
    var signal: Int32?
    var onInterrupt: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private let onExit: @Sendable () -> Void
  /// The queue that receives the signals. Nothing on it may block, so that signals get through whatever else hangs.
  private let queue = DispatchQueue(label: "thumbs.signals")

  /// Starts watching.
  ///
  /// - Parameter onExit: a closure that restores the screen before a forced exit. It runs on another queue, possibly
  ///   while the closure for the first signal is still running. The process exits after 300 ms even if it has not
  ///   returned.
  init(onExit: @escaping @Sendable () -> Void = {}) {
    self.onExit = onExit
    for number in [SIGINT, SIGTERM, SIGHUP] where !Self.isIgnored(number) {
      // A dispatch source receives even ignored signals; the default disposition would end the process first.
      Glibc.signal(number, SIG_IGN)
      sources.withLock { sources in
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { [weak self] in self?.receive(number) }
        source.activate()
        sources.append(source)
      }
    }
  }

  /// The first signal; nil if none has arrived.
  var signal: Int32? { state.withLock { $0.signal } }

  /// Calls `body` once, on another queue, at the first signal, or immediately if that has already arrived.
  func whenInterrupted(_ body: @escaping @Sendable () -> Void) {
    let isInterrupted = state.withLock { state in
      if state.signal == nil { state.onInterrupt = body }
      return state.signal != nil
    }
    if isInterrupted { DispatchQueue.global().async(execute: body) }
  }

  /// True if the parent process set the signal to be ignored, as `nohup` does.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private func receive(_ number: Int32) {
    let (isFirst, onInterrupt) = state.withLock { state in
      let isFirst = state.signal == nil
      if isFirst { state.signal = number }
      return (isFirst, state.onInterrupt.take())
    }
    guard isFirst else { return end(number) }
    if let onInterrupt { DispatchQueue.global().async(execute: onInterrupt) }
    queue.asyncAfter(deadline: .now() + Self.patience) { [weak self] in self?.end(number) }
  }

  /// Ends the process when `onExit` returns or its time is up.
  private func end(_ number: Int32) {
    let code = 128 + number
    DispatchQueue.global().async { [onExit] in
      onExit()
      _exit(code)
    }
    queue.asyncAfter(deadline: .now() + Self.cleanupTime) { _exit(code) }
  }
}
