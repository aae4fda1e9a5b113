import Dispatch
import Synchronization

/// Shows the progress of a run.
///
/// Threads that finish rows only update counts. One timer does all the writing, so a stopped terminal blocks nothing
/// but the progress display.
final class ProgressMeter: Sendable {
  private struct Counts {
    var state = ProgressState()
    var notes: [String] = []
    /// Estimates the number of rows until it is known.
    var estimate: @Sendable () -> RowTotal = { .unknown }
  }

  private let counts = Mutex(Counts())
  private let screen: Mutex<ProgressScreen>
  private let output: ProgressOutput
  private let elapsed: @Sendable () -> Duration
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

  /// Creates a meter that shows nothing until ``start()``.
  ///
  /// - Parameters:
  ///   - mode: The kind of progress; `auto` depends on the output.
  ///   - output: The destination. Default standard error.
  ///   - environment: The environment of the process, for `TERM` and `NO_COLOR`.
  ///   - elapsed: Returns the time since the start of the run. Default since this call.
  init(
    _ mode: ProgressMode, output: ProgressOutput = .standardError, environment: [String: String] = [:],
    elapsed: (@Sendable () -> Duration)? = nil
  ) {
    let start = ContinuousClock.now
    self.elapsed = elapsed ?? { ContinuousClock.now - start }
    self.output = output
    let isTerminal = output.isTerminal && output.isForeground()
    let mode = mode.resolved(isTerminal: isTerminal, terminalType: environment["TERM"])
    screen = Mutex(ProgressScreen(mode, style: ProgressStyle(environment: environment)))
  }

  /// Sets the total number of rows, once it is known.
  func setTotal(_ total: Int) {
    counts.withLock { $0.state.total = .exactly(total) }
  }

  /// Sets a closure that estimates the total number of rows. It is called for each update until the number is known.
  func setEstimate(_ estimate: @escaping @Sendable () -> RowTotal) {
    counts.withLock { $0.estimate = estimate }
  }

  /// Records that the row `index` begins to fetch `url`.
  func begin(_ index: Int, url: String) {
    let time = elapsed()
    counts.withLock { $0.state.begin(index, url: url, at: time) }
  }

  /// Records that the row `index` ended with `status` and downloaded `bytes`.
  func finish(_ index: Int, _ status: ReportLine.Status, bytes: Int) {
    counts.withLock { $0.state.finish(index, status, bytes: bytes) }
  }

  /// Prints `text`, which may have several lines, above the live line at the next tick. Control characters, which may
  /// come from a manifest or a server, are replaced.
  func note(_ text: String) {
    let shown = text.printableLines
    counts.withLock { $0.notes.append(shown) }
  }

  /// Writes pending notes, and the progress if it is due. ``start()`` calls this ten times per second.
  func tick() {
    let time = elapsed()
    screen.withLock { screen in
      let (state, notes) = snapshot(at: time)
      show(screen.draw(state, notes: notes, width: output.width(), isHidden: !output.isForeground(), at: time))
    }
  }

  /// Starts the timer, which runs until ``end()``.
  func start() {
    timer.withLock { timer in
      let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "thumbs.progress"))
      source.schedule(deadline: .now() + .milliseconds(100), repeating: .milliseconds(100), leeway: .milliseconds(20))
      source.setEventHandler { [weak self] in self?.tick() }
      source.activate()
      timer = source
    }
  }

  /// Stops the timer, writes pending notes and removes the live line. Nothing is written after that.
  func end() {
    timer.withLock { timer in
      timer?.cancel()
      timer = nil
    }
    let time = elapsed()
    screen.withLock { screen in
      let (state, notes) = snapshot(at: time)
      show(screen.end(state, notes: notes, at: time))
      screen = ProgressScreen(.none)
    }
  }

  private func snapshot(at time: Duration) -> (ProgressState, [String]) {
    counts.withLock { counts in
      counts.state.tick(at: time)
      if case .exactly = counts.state.total {} else { counts.state.total = counts.estimate() }
      defer { counts.notes = [] }
      return (counts.state, counts.notes)
    }
  }

  private func show(_ text: String) {
    if !text.isEmpty { output.write(text) }
  }
}
