import ArgumentParser
import BatchFetch
import Foundation
import HTTPTypes
import ImageCache
import Logging
import Synchronization

/// One run of `thumbs fetch` or `thumbs retry`, whose files are open.
final class FetchRun: Sendable {
  private struct State {
    var summary = Summary()
    /// The first trouble after which going on makes no sense.
    var fatal: OutputError?
    var run: BatchRun?
    /// Downloaded bytes that the progress knows of.
    var shownBytes = 0
  }

  private let plan: any RowPlan
  private let rows: PlannedRows
  private let headerFields: HTTPFields
  private let files: RunFiles
  private let reserved: ReservedFiles
  private let meter: ProgressMeter
  private let isQuiet: Bool
  private let isVerbose: Bool
  private let pipeline: ThumbnailPipeline
  private let window: Int
  private let started = ContinuousClock.now
  private let state = Mutex(State())

  /// A run over the rows of `plan` into `files`, with no more than so many `connections`. The local images that it reads
  /// become `reserved`.
  init(
    _ command: some FetchingCommand, plan: any RowPlan, files: RunFiles, reserved: ReservedFiles, meter: ProgressMeter,
    connections: Int
  ) {
    self.plan = plan
    self.files = files
    self.reserved = reserved
    self.meter = meter
    rows = PlannedRows(plan) { meter.setTotal($0) }
    headerFields = command.network.headerFields
    isQuiet = command.output.quiet
    isVerbose = command.output.verbose
    window = max(64, 4 * command.network.concurrency)
    let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
    var transport = command.network.transportConfiguration(home: home)
    transport.maxConnections = min(transport.maxConnections, connections)
    var configuration = command.pipelineConfiguration
    configuration.downloads.concurrency = min(configuration.downloads.concurrency, connections)
    pipeline = ThumbnailPipeline(
      configuration, transport: CurlTransport(transport), logger: Self.logger(meter))
  }

  /// Runs to the end, or until `interrupt`; throws the exit code where that is not 0.
  func run(_ interrupt: InterruptWatch) throws {
    meter.start()
    let done = DispatchSemaphore(value: 0)
    let batch = Batch(rows, over: pipeline, window: window) { [self] row throws(FetchFailure) in
      try request(for: row)
    }
    let run = batch.start { [self] in
      handle($0)
    } completion: { _ in
      done.signal()
    }
    state.withLock { $0.run = run }
    interrupt.whenInterrupted { run.cancel() }
    if state.withLock({ $0.fatal != nil }) { run.cancel() }
    // The main thread has nothing else to do; nothing of the run needs it.
    done.wait()
    pipeline.flush()
    try end(signal: interrupt.signal)
  }

  private func request(for row: PlannedRow) throws(FetchFailure) -> ThumbnailRequest {
    if case .row(let row) = row.entry {
      meter.begin(row.index, url: row.url)
      reserved.insert(sourcesOf: row)
    }
    return try row.request(headerFields: headerFields)
  }

  // MARK: The end

  /// Finishes the files, and throws the exit code where that is not 0.
  private func end(signal: Int32?) throws {
    let summary = state.withLock { $0.summary }
    let coverage = rows.coverage(finished: summary.total)
    attempt { () throws(OutputError) in try files.gallery?.finish() }
    attempt { () throws(OutputError) in try files.report?.finish(coverage) }
    let (elapsed, downloaded) = (started.duration(to: .now), ByteSize(count: pipeline.downloadedBytes))
    attempt { () throws(OutputError) in
      try files.summary?.write(
        summary.json(runEnding(summary, signal), coverage, after: elapsed, downloaded: downloaded))
    }
    // The files come first: a terminal may be stopped, and nobody may read a pipe.
    meter.end()
    if !isQuiet {
      ProgressOutput.standardError.write(summary.text(coverage, after: elapsed, downloaded: downloaded) + "\n")
    }
    let ending = runEnding(summary, signal)
    if let message = ending.message { throw ending.exitCode.saying(message) }
    if ending.exitCode != .success { throw ending.exitCode }
  }

  private func runEnding(_ summary: Summary, _ signal: Int32?) -> RunEnding {
    RunEnding(signal: signal, output: state.withLock { $0.fatal }, manifest: plan.failure, summary)
  }

  /// Writes something. After an error, the rest is not worth fetching.
  private func attempt(_ write: () throws(OutputError) -> Void) {
    do throws(OutputError) {
      try write()
    } catch {
      stop(for: error)
    }
  }

  // MARK: One row

  private func handle(_ item: BatchItem<PlannedRow>) {
    defer { plan.finish(item.element) }
    var line = line(of: item)
    if line.status != .ok {
      line.again = item.element.again ?? ReportLine.Again(item.element, directory: files.writer.directory)
    }
    state.withLock { $0.summary.count(line) }
    attempt { () throws(OutputError) in
      try files.report?.append(line, position: item.index)
      try files.gallery?.append(line, subtitle: item.element.entry.subtitle)
    }
    if isVerbose { meter.note(line.note) }
    meter.finish(line.index, line.status, bytes: newlyDownloadedBytes())
  }

  /// What was downloaded since this was asked last. Rows that share a download do not count it twice.
  private func newlyDownloadedBytes() -> Int {
    let bytes = pipeline.downloadedBytes
    return state.withLock { state in
      defer { state.shownBytes = bytes }
      return bytes - state.shownBytes
    }
  }

  private func line(of item: BatchItem<PlannedRow>) -> ReportLine {
    switch (item.element.entry, item.outcome) {
    case (.bad(let row), _): return ReportLine(row)
    case (.row(let row), .failure(let failure)): return ReportLine(row, .failed(failure))
    case (.row(let row), .success(let set)):
      do throws(OutputError) {
        return ReportLine(row, .done(set, try outputs(of: set, for: item.element, url: row.url)))
      } catch {
        if error.isFatal { stop(for: error) }
        return ReportLine(row, .failed(FetchFailure(error.failureCode, "\(error)", attempts: set.attempts)))
      }
    }
  }

  private func outputs(
    of set: ThumbnailSet, for row: PlannedRow, url: String
  ) throws(OutputError) -> [ReportLine.Output] {
    guard let name = row.name else { return [] }
    let owner = name.dependsOnPixels ? ([url] + row.specs.map(\.fingerprint)).joined(separator: "\0") : nil
    var outputs: [ReportLine.Output] = []
    for thumbnail in set.thumbnails {
      let path = name.fileName(of: thumbnail)
      let outcome = try files.writer.write(thumbnail.bytes, as: path, for: owner)
      outputs.append(ReportLine.Output(thumbnail, path: path, outcome: outcome))
    }
    return outputs
  }

  /// Nothing more can be written: the rest is not worth fetching.
  private func stop(for error: OutputError) {
    let run = state.withLock { state in
      state.fatal = state.fatal ?? error
      return state.run
    }
    run?.cancel()
  }

  /// Troubles that do no harm are notes beside the progress.
  private static func logger(_ meter: ProgressMeter) -> Logger {
    Logger(label: "thumbs") { _ in NoteLogHandler { meter.note("thumbs: \($0)") } }
  }
}
