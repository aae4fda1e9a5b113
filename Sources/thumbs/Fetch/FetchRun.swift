import ArgumentParser
import BatchFetch
import Foundation
import HTTPTypes
import ImageCache
import Logging
import Synchronization

/// One run of `thumbs fetch`: everything it needs, opened before anything is fetched.
final class FetchRun: Sendable {
  private struct State {
    var summary = Summary()
    /// The first trouble after which going on makes no sense.
    var fatal: OutputError?
    var run: BatchRun?
    /// Downloaded bytes that the progress knows of.
    var shownBytes = 0
  }

  private let rows: PlannedRows
  private let list: ManifestList
  private let pixels: PixelOptions
  private let headerFields: HTTPFields
  private let writer: OutputWriter
  private let report: ReportWriter?
  private let meter: ProgressMeter
  private let isQuiet: Bool
  private let isVerbose: Bool
  private let pipeline: ThumbnailPipeline
  private let window: Int
  private let started = ContinuousClock.now
  private let state = Mutex(State())

  init(_ command: FetchCommand, manifests paths: [String], template: NameTemplate) throws {
    list = try ManifestList(
      paths: paths, keys: command.manifest.keys,
      relativeAddresses: command.network.allowFile ? .files : .refused)
    writer = try OutputWriter(directory: command.output.directory)
    report = try command.output.report.map { path throws(OutputError) in try ReportWriter(path: path) }
    let environment = ProcessInfo.processInfo.environment
    let meter = ProgressMeter(command.output.progressMode, terminalType: environment["TERM"])
    self.meter = meter
    let names = OutputNames(template) { SourceKey(url: $0).description }
    rows = PlannedRows(list, names: names) { meter.setTotal($0) }
    pixels = command.pixels
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
    let batch = Batch(rows, over: pipeline, window: window) { [pixels, headerFields] row throws(FetchFailure) in
      try row.request(pixels: pixels, headerFields: headerFields)
    }
    let run = batch.start { [self] in
      handle($0)
    } completion: { _ in
      done.signal()
    }
    state.withLock { $0.run = run }
    let interrupt = InterruptWatch { run.cancel() }
    if state.withLock({ $0.fatal != nil }) { run.cancel() }
    // The main thread has nothing else to do; nothing of the run needs it.
    done.wait()
    pipeline.flush()
    meter.end()
    try end(signal: interrupt.signal)
  }

  private func end(signal: Int32?) throws {
    let (summary, fatal) = state.withLock { ($0.summary, $0.fatal) }
    if !isQuiet {
      ProgressOutput.standardError.write(
        summary.text(
          after: started.duration(to: .now), downloaded: ByteSize(count: pipeline.downloadedBytes)) + "\n")
    }
    if let signal { throw ExitCode.signal(signal) }
    if let fatal {
      // Whoever reads the report has seen enough: that is no error to speak of.
      throw fatal.isBrokenPipe ? ExitCode.ioError : ExitCode.ioError.saying(fatal)
    }
    if let failure = list.failure { throw ExitCode.dataError.saying(failure) }
    if summary.exitCode != 0 { throw ExitCode(summary.exitCode) }
  }

  // MARK: One row

  private func handle(_ item: BatchItem<PlannedRow>) {
    let line = line(of: item)
    state.withLock { $0.summary.count(line) }
    if let report {
      do throws(OutputError) {
        try report.append(line)
      } catch {
        stop(for: error)
      }
    }
    if isVerbose { meter.note(line.note) }
    meter.finish(line.status, bytes: newlyDownloadedBytes())
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
      _ = try writer.write(thumbnail.bytes, as: path)
      outputs.append(ReportLine.Output(thumbnail, path: path))
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
