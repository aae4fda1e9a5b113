import Dispatch
import Glibc
import Synchronization

/// Turns Ctrl-C, a polite kill and a terminal that goes away into a call. The process ends within half a minute of the
/// first signal, and at once after the second one, whatever else hangs: it may wait for a reader that never reads.
final class InterruptWatch: Sendable {
  /// How long the process may take to end by itself.
  static let patience = DispatchTimeInterval.seconds(30)
  /// How long it may take to put the screen in order when it is ended.
  private static let lastWords = DispatchTimeInterval.milliseconds(300)

  private let sources = Mutex<[any DispatchSourceSignal]>([])
  /// The signal that came first, and the call it asks for.
  private struct State {
    var signal: Int32?
    var onInterrupt: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private let onExit: @Sendable () -> Void
  /// Nothing here waits for anything: a signal must be heard whatever the other queues do.
  private let queue = DispatchQueue(label: "thumbs.signals")

  /// Starts to watch.
  ///
  /// - Parameter onExit: called before the process is ended, on a queue of its own, and not waited for if it takes long.
  ///   The call that the first signal asked for may still be at work.
  init(onExit: @escaping @Sendable () -> Void = {}) {
    self.onExit = onExit
    for number in [SIGINT, SIGTERM, SIGHUP] where !Self.isIgnored(number) {
      // The source sees the signal whatever its disposition; the default one would end the process first.
      Glibc.signal(number, SIG_IGN)
      sources.withLock { sources in
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { [weak self] in self?.hear(number) }
        source.activate()
        sources.append(source)
      }
    }
  }

  /// The signal that came first; nil where none came.
  var signal: Int32? { state.withLock { $0.signal } }

  /// Calls `body` once, on another queue, after the first signal: now, where that has come already.
  func whenInterrupted(_ body: @escaping @Sendable () -> Void) {
    let isInterrupted = state.withLock { state in
      if state.signal == nil { state.onInterrupt = body }
      return state.signal != nil
    }
    if isInterrupted { DispatchQueue.global().async(execute: body) }
  }

  /// Whether whoever started the process wants it to go on after the signal, as `nohup` does.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private func hear(_ number: Int32) {
    let (isFirst, onInterrupt) = state.withLock { state in
      let isFirst = state.signal == nil
      if isFirst { state.signal = number }
      return (isFirst, state.onInterrupt.take())
    }
    guard isFirst else { return end(number) }
    if let onInterrupt { DispatchQueue.global().async(execute: onInterrupt) }
    queue.asyncAfter(deadline: .now() + Self.patience) { [weak self] in self?.end(number) }
  }

  /// Ends the process, after the screen was put in order or the time for it is over.
  private func end(_ number: Int32) {
    let code = 128 + number
    DispatchQueue.global().async { [onExit] in
      onExit()
      _exit(code)
    }
    queue.asyncAfter(deadline: .now() + Self.lastWords) { _exit(code) }
  }
}
