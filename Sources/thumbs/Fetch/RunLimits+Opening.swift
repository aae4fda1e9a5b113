import ArgumentParser
import Dispatch
import Synchronization

extension RunLimits {
  /// Runs `body`, which opens the inputs of a run that started at `start`, and may wait for another process that writes
  /// them.
  ///
  /// Ends the process with status 75 if the run reaches its time limit before `body` returns: a read that waits cannot
  /// be canceled, and the run has not opened any output yet.
  func opening<Value, Failure: Error>(
    since start: ContinuousClock.Instant, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let time else { return try body() }
    let end = OpeningEnd(limit: .time(time))
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "thumbs.limits"))
    let rest = max(.zero, time - start.duration(to: .now))
    timer.schedule(deadline: .now() + .milliseconds(rest.wholeMilliseconds))
    timer.setEventHandler { end.reachLimit() }
    timer.activate()
    defer {
      timer.cancel()
      end.open()
    }
    return try body()
  }
}

/// The end of opening the inputs. Either the inputs are open, or the process ends.
private final class OpeningEnd: Sendable {
  private let isOver = Mutex(false)
  private let limit: RunLimit

  init(limit: RunLimit) { self.limit = limit }

  func open() { isOver.withLock { $0 = true } }

  /// Ends the process, unless the inputs are open. Under the lock, so that the run does not go on to its outputs.
  func reachLimit() {
    isOver.withLock { isOver in
      if !isOver { StandardStreams.end(ExitCode.temporaryFailure.printing("\(limit.message) No row was read.")) }
    }
  }
}
