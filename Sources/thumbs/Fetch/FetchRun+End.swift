import ArgumentParser
import BatchFetch
import Synchronization

extension FetchRun {
  /// Finishes the files, prints the summary, and throws the exit code unless it is 0.
  func end(signal: Int32?) throws {
    let summary = state.withLock { $0.summary }
    let coverage = rows.coverage(finished: summary.total)
    let limit = state.withLock { $0.limiter.reached }.flatMap { limit in
      summary.cancelled > 0 || coverage != .complete ? limit : nil
    }
    attempt { () throws(OutputError) in try files.gallery?.finish() }
    attempt { () throws(OutputError) in try files.report?.finish(coverage, of: plan.listEnd) }
    let (elapsed, downloaded) = (settings.started.duration(to: .now), ByteSize(count: pipeline.downloadedBytes))
    attempt { () throws(OutputError) in
      try files.summary?.write(
        summary.json(
          runEnding(summary, signal, limit), coverage, after: elapsed, downloaded: downloaded,
          remote: pipeline.remoteCounters))
    }
    attempt { () throws(OutputError) in
      try files.metrics?.finish(runEnding(summary, signal, limit).exitCode.rawValue) { pipeline.updateGauges() }
    }
    // The files are finished first, because writing to a stopped terminal or an unread pipe may block.
    meter.end()
    if !isQuiet {
      if coverage == .complete, summary.total == 0, !isRetry {
        ProgressOutput.standardError.write("thumbs: The list has no rows.\n")
      }
      let text = summary.text(
        coverage, limit: limit, after: elapsed, downloaded: downloaded, remote: pipeline.remoteCounters)
      ProgressOutput.standardError.write(([text] + advice(summary, coverage)).joined(separator: "\n") + "\n")
    }
    let ending = runEnding(summary, signal, limit)
    if let message = ending.message { throw ending.exitCode.printing(message) }
    if ending.exitCode != .success { throw ending.exitCode }
  }

  /// Returns the advice of a run that ended by itself, for a person at a terminal.
  private func advice(_ summary: Summary, _ coverage: Coverage) -> [String] {
    guard coverage == .complete, ProgressOutput.standardError.isTerminal else { return [] }
    return NextStep.advice(about: summary, report: reportPath, fallback: files.fallback?.path).map { [$0] } ?? []
  }

  private func runEnding(_ summary: Summary, _ signal: Int32?, _ limit: RunLimit?) -> RunEnding {
    let ending = RunEnding(
      signal: signal, output: state.withLock { $0.fatal }, manifest: plan.failure, limit: limit, summary)
    return isRetry && plan.isPartial && ending.exitCode == .success ? .missingRows : ending
  }

  /// Runs `write`, and stops the run if it throws.
  func attempt(_ write: () throws(OutputError) -> Void) {
    do throws(OutputError) {
      try write()
    } catch {
      stop(for: error)
    }
  }

  /// Cancels the run after an output error: what cannot be written is not worth fetching. The first error is kept.
  func stop(for error: OutputError) {
    let run = state.withLock { state in
      state.fatal = state.fatal ?? error
      state.limiter.disarm()
      return state.run
    }
    run?.cancel()
  }
}
