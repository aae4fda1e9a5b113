import ArgumentParser
import BatchFetch
import Synchronization

extension FetchRun {
  /// Finishes the files, prints the summary, and throws the exit code unless it is 0.
  func end(signal: Int32?) throws {
    let summary = state.withLock { $0.summary }
    let coverage = rows.coverage(finished: summary.total)
    attempt { () throws(OutputError) in try files.gallery?.finish() }
    attempt { () throws(OutputError) in try files.report?.finish(coverage) }
    let (elapsed, downloaded) = (started.duration(to: .now), ByteSize(count: pipeline.downloadedBytes))
    attempt { () throws(OutputError) in
      try files.summary?.write(
        summary.json(runEnding(summary, signal), coverage, after: elapsed, downloaded: downloaded))
    }
    // The files are finished first, because writing to a stopped terminal or an unread pipe may block.
    meter.end()
    if !isQuiet {
      ProgressOutput.standardError.write(summary.text(coverage, after: elapsed, downloaded: downloaded) + "\n")
    }
    let ending = runEnding(summary, signal)
    if let message = ending.message { throw ending.exitCode.printing(message) }
    if ending.exitCode != .success { throw ending.exitCode }
  }

  private func runEnding(_ summary: Summary, _ signal: Int32?) -> RunEnding {
    RunEnding(signal: signal, output: state.withLock { $0.fatal }, manifest: plan.failure, summary)
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
      return state.run
    }
    run?.cancel()
  }
}
