import Dispatch
import Synchronization

/// Calls a closure at regular intervals, on its own queue.
struct RepeatingTimer: ~Copyable, Sendable {
  private let label: String
  private let source = Mutex<(any DispatchSourceTimer)?>(nil)

  /// - Parameter label: The name of the queue in a debugger.
  init(_ label: String) { self.label = label }

  /// Starts to call `body`, the first time after one interval. A call may be late by a fifth of the interval.
  func start(every milliseconds: Int, _ body: @escaping @Sendable () -> Void) {
    source.withLock { source in
      let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: label))
      timer.schedule(
        deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds),
        leeway: .milliseconds(milliseconds / 5))
      timer.setEventHandler(handler: body)
      timer.activate()
      source = timer
    }
  }

  /// Starts no further call. One may still be running.
  func stop() {
    source.withLock { source in
      source?.cancel()
      source = nil
    }
  }
}
