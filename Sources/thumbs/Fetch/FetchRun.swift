import ArgumentParser
import BatchFetch
import Foundation
import HTTPTypes
import ImageCache
import Logging
import Synchronization

/// One run of `thumbs fetch` or `thumbs retry`: everything it needs, opened before anything is fetched.
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
  private let headerFields: HTTPFields
  private let writer: OutputWriter
  private let report: ReportWriter?
  private let gallery: GalleryWriter?
  private let summaryFile: SummaryFile?
  private let meter: ProgressMeter
  private let isQuiet: Bool
  private let isVerbose: Bool
  private let pipeline: ThumbnailPipeline
  private let window: Int
  private let started = ContinuousClock.now
  private let state = Mutex(State())

  /// A run over the rows of `plan`, called `title` for people, whose files go to `directory`.
  init(_ command: some FetchingCommand, plan: any RowPlan, title: String, directory: String) throws {
    self.plan = plan
    writer = try OutputWriter(directory: directory)
    report = try command.output.report.map { path throws(OutputError) in try ReportWriter(path: path) }
    summaryFile = try command.output.summary.map { path throws(OutputError) in try SummaryFile(path: path) }
    gallery = try command.output.gallery.map { path throws(OutputError) in
      try GalleryWriter(path: path, title: title, outputDirectory: directory)
    }
    let environment = ProcessInfo.processInfo.environment
    meter = ProgressMeter(command.output.progressMode, environment: environment)
    headerFields = command.network.headerFields
    isQuiet = command.output.quiet
    isVerbose = command.output.verbose
    window = max(64, 4 * command.network.concurrency)
    let home = environment["HOME"] ?? NSHomeDirectory()
    let transport = CurlTransport(command.network.transportConfiguration(home: home))
    pipeline = ThumbnailPipeline(command.pipelineConfiguration, transport: transport, logger: Self.logger(meter))
  }

  /// Runs to the end; throws the exit code where that is not 0.
  func run() throws {
    meter.start()
    let done = DispatchSemaphore(value: 0)
    let rows = PlannedRows(plan) { [meter] in meter.setTotal($0) }
    let batch = Batch(rows, over: pipeline, window: window) { [headerFields, meter] row throws(FetchFailure) in
      if case .row(let row) = row.entry { meter.begin(row.index, url: row.url) }
      return try row.request(headerFields: headerFields)
    }
    let run = batch.start { [self] in
      handle($0)
    } completion: { _ in
      done.signal()
    }
    state.withLock { $0.run = run }
    let interrupt = InterruptWatch {
      run.cancel()
    } onExit: { [meter] in
      meter.end()
    }
    if state.withLock({ $0.fatal != nil }) { run.cancel() }
    // The main thread has nothing else to do; nothing of the run needs it.
    done.wait()
    pipeline.flush()
    meter.end()
    finishGallery()
    try end(signal: interrupt.signal)
  }

  private func end(signal: Int32?) throws {
    let summary = state.withLock { $0.summary }
    let (elapsed, downloaded) = (started.duration(to: .now), ByteSize(count: pipeline.downloadedBytes))
    if !isQuiet { ProgressOutput.standardError.write(summary.text(after: elapsed, downloaded: downloaded) + "\n") }
    do throws(OutputError) {
      try summaryFile?.write(summary.json(after: elapsed, downloaded: downloaded))
    } catch {
      stop(for: error)
    }
    if let signal { throw ExitCode.signal(signal) }
    if let fatal = state.withLock({ $0.fatal }) {
      // Whoever reads the report has seen enough: that is no error to speak of.
      throw fatal.isBrokenPipe ? ExitCode.ioError : ExitCode.ioError.saying(fatal)
    }
    if let failure = plan.failure { throw ExitCode.dataError.saying(failure) }
    if summary.exitCode != 0 { throw ExitCode(summary.exitCode) }
  }

  // MARK: One row

  private func handle(_ item: BatchItem<PlannedRow>) {
    defer { plan.finish(item.element) }
    var line = line(of: item)
    if line.status != .ok { line.again = ReportLine.Again(item.element, directory: writer.directory) }
    state.withLock { $0.summary.count(line) }
    do throws(OutputError) {
      try report?.append(line)
      try gallery?.append(line, subtitle: item.element.entry.subtitle)
    } catch {
      stop(for: error)
    }
    if isVerbose { meter.note(line.note) }
    meter.finish(line.index, line.status, bytes: newlyDownloadedBytes())
  }

  private func finishGallery() {
    do throws(OutputError) {
      try gallery?.finish()
    } catch {
      stop(for: error)
    }
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
        return ReportLine(row, .done(set, try outputs(of: set, name: item.element.name)))
      } catch {
        if error.isFatal { stop(for: error) }
        return ReportLine(row, .failed(FetchFailure(.outputFailed, "\(error)", attempts: set.attempts)))
      }
    }
  }

  private func outputs(of set: ThumbnailSet, name: OutputName?) throws(OutputError) -> [ReportLine.Output] {
    guard let name else { return [] }
    var outputs: [ReportLine.Output] = []
    for thumbnail in set.thumbnails {
      let path = name.fileName(of: thumbnail)
      let outcome = try writer.write(thumbnail.bytes, as: path)
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
