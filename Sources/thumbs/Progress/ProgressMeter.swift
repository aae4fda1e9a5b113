import Dispatch
import Synchronization

/// Shows how a run gets on.
///
/// Whoever finishes rows only counts them here. The writing is done by one timer, so that a stopped terminal holds up
/// nobody but the progress itself.
final class ProgressMeter: Sendable {
  private struct Counts {
    var state = ProgressState()
    var notes: [String] = []
  }

  private let counts = Mutex(Counts())
  private let screen: Mutex<ProgressScreen>
  private let output: ProgressOutput
  private let elapsed: @Sendable () -> Duration
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

  /// A meter in `mode` on `output`. The environment says what the terminal can do (`TERM`) and whether colours are
  /// wanted (`NO_COLOR`). `elapsed` tells the time since the start of the run; by default, since now.
  init(
    _ mode: ProgressMode, output: ProgressOutput = .standardError, environment: [String: String] = [:],
    elapsed: (@Sendable () -> Duration)? = nil
  ) {
    let start = ContinuousClock.now
    self.elapsed = elapsed ?? { ContinuousClock.now - start }
    self.output = output
    let mode = mode.resolved(isTerminal: output.isTerminal, terminalType: environment["TERM"])
    screen = Mutex(ProgressScreen(mode, style: ProgressStyle(environment: environment)))
  }

  /// The number of all rows, once it is known.
  func setTotal(_ total: Int) {
    counts.withLock { $0.state.total = total }
  }

  /// The row `index` begins to ask for `url`.
  func begin(_ index: Int, url: String) {
    let time = elapsed()
    counts.withLock { $0.state.begin(index, url: url, at: time) }
  }

  /// The row `index` came to an end; `bytes` were downloaded for it.
  func finish(_ index: Int, _ status: ReportLine.Status, bytes: Int) {
    counts.withLock { $0.state.finish(index, status, bytes: bytes) }
  }

  /// Shows `text`, one or several lines, with the next tick. The live line stays below. Control characters, which may
  /// come from a manifest or a server, do not reach the terminal.
  func note(_ text: String) {
    let shown = text.printableLines
    counts.withLock { $0.notes.append(shown) }
  }

  /// Writes what it is time to write. ``start()`` calls it ten times a second.
  func tick() {
    let time = elapsed()
    screen.withLock { screen in
      let (state, notes) = snapshot(at: time)
      show(screen.draw(state, notes: notes, width: output.width(), at: time))
    }
  }

  /// Begins to tick, until ``end()``.
  func start() {
    timer.withLock { timer in
      let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "thumbs.progress"))
      source.schedule(deadline: .now() + .milliseconds(100), repeating: .milliseconds(100), leeway: .milliseconds(20))
      source.setEventHandler { [weak self] in self?.tick() }
      source.activate()
      timer = source
    }
  }

  /// Writes what is left and takes the live line away. Nothing is written afterwards.
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
      defer { counts.notes = [] }
      return (counts.state, counts.notes)
    }
  }

  private func show(_ text: String) {
    if !text.isEmpty { output.write(text) }
  }
}
