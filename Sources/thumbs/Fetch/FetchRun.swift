import ArgumentParser
import BatchFetch
import CGlibc
import Dispatch
import HTTPTypes
import ImageCache
import Synchronization

/// One run of `thumbs fetch` or `thumbs retry`, from opened files to the exit code.
final class FetchRun: Sendable {
  private struct State {
    var totals = Totals()
    var reasons = FailureReasons()
    /// The first error that stopped the run.
    var fatal: OutputError?
    /// The first error of the gallery or of the metrics, without which the run goes on.
    var setback: OutputError?
    /// True once the gallery has failed: it gets no further rows.
    var hasGalleryFailed = false
    /// The running batch; nil until it has started.
    var run: BatchRun?
    /// The number of downloaded bytes that have been reported to the progress meter.
    var shownBytes = 0
    /// The limits of the run.
    var limiter: RunLimiter
  }

  private let plan: any RowPlan
  private let rows: PlannedRows
  private let files: RunFiles
  private let meter: ProgressMeter
  private let isQuiet: Bool
  private let isVerbose: Bool
  /// True to leave files of the same source and sizes alone, without a request.
  private let skipsExisting: Bool
  /// True if the rows come from a report.
  private let isRetry: Bool
  /// The path of the report that the run writes or retries; nil if there is none.
  private let reportPath: String?
  private let pipeline: ThumbnailPipeline
  private let settings: RunSettings
  private let limits: RunLimits
  /// Enforces the limits.
  private let limitTimer = RepeatingTimer("thumbs.limits")
  /// Returns freed memory to the system.
  private let memoryTimer = RepeatingTimer("thumbs.memory")
  private let state: Mutex<State>
  private let demand: RowDemand
  private let window: Int
  /// Accounts for rows, one at a time.
  private let reporting = DispatchQueue(label: "thumbs.reports")

  /// Creates a run over the rows of `plan`, which `inputs` contain. It writes `files`, and adds the local images that
  /// it reads to the reserved files of `inputs`.
  init(
    _ command: some FetchingCommand, _ settings: RunSettings, plan: any RowPlan, inputs: RunInputs, files: RunFiles,
    meter: ProgressMeter
  ) {
    let plan: any RowPlan = command.skipsExisting ? ExistingRows(plan, in: files.output) : plan
    self.plan = plan
    self.files = files
    self.meter = meter
    self.settings = settings
    limits = command.runLimits.limits
    state = Mutex(State(limiter: RunLimiter(limits, mayBlock: inputs.mayBlock)))
    rows = PlannedRows(plan) { [gallery = files.gallery] in
      gallery?.expect($0.entry)
    } onEnd: { [gallery = files.gallery] in
      meter.setTotal($0)
      gallery?.setTotal($0)
    }
    meter.setEstimate { plan.expectedRows }
    demand = command.content.demand
    isQuiet = command.output.quiet
    isVerbose = command.output.verbose
    skipsExisting = command.skipsExisting
    isRetry = inputs.retried != nil
    reportPath = command.output.report ?? inputs.retried?.path
    // The transfers of a very wide run have rows waiting behind them, too.
    window = max(Batch<PlannedRows>.standardWindow, 16 * command.network.concurrency)
    // Warnings of the libraries are notes above the progress.
    pipeline = command.pipeline(settings, metrics: files.metrics?.registry) { meter.note($0) }
  }

  /// Runs until every row is finished or `interrupt` fires. Throws the exit code unless it is 0.
  func run(_ interrupt: InterruptWatch) throws {
    meter.start()
    attemptExtra { () throws(OutputError) in
      try files.metrics?.start { [pipeline] in
        pipeline.updateGauges()
      } onError: { [self] in
        note(setback: $0)
      }
    }
    attemptExtra { () throws(OutputError) in
      try files.gallery?.start { [self] in note(setback: $0) }
    }
    plan.begin(with: pipeline.downloader)
    let done = DispatchSemaphore(value: 0)
    let batch = Batch(rows, over: pipeline, window: window) { [self] row throws(FetchFailure) in
      try request(for: row)
    }
    let run = batch.start(on: reporting) { [self] row, outcome in
      writeFiles(of: row, outcome)
    } eventually: { [self] item, line, acknowledge in
      line.whenKnown(on: reporting) { [self] line in
        report(item, line)
        acknowledge()
      }
    } completion: { _ in
      done.signal()
    } begin: { [meter] in
      if case .row(let row) = $0.entry { meter.begin(row.index, url: row.url) }
    }
    state.withLock { $0.run = run }
    interrupt.whenInterrupted { [self] in
      state.withLock { $0.limiter.disarm() }
      plan.cancel()
      run.cancel()
      files.output.cancel()
      pipeline.dropUploads()
    }
    // A batch thread may have called `stop(for:)` before this thread stored `run`; without this line, nobody would
    // cancel the run.
    if state.withLock({ $0.fatal != nil }) { run.cancel() }
    if !limits.isEmpty { limitTimer.start(every: 50) { [self] in takeStep() } }
    // glibc by itself returns only the ends of its heaps. The gaps within them grow with the number of rows: to a tenth
    // of the memory of 100,000.
    memoryTimer.start(every: 1000) { malloc_trim(0) }
    // Blocking is fine here: the main thread has nothing else to do, and no part of the run needs it.
    done.wait()
    limitTimer.stop()
    memoryTimer.stop()
    pipeline.flush(uploadingWithin: settings.uploadTime(at: .now))
    pipeline.recordRun()
    try end(signal: interrupt.signal)
  }

  private func request(for planned: PlannedRow) throws(FetchFailure) -> ThumbnailRequest {
    if case .row(let row) = planned.entry {
      try checkLimit()
      files.output.reserve(row)
      // The failure only keeps the batch from requesting the row; `writeFiles` reports the existing files instead.
      if planned.existing != nil { throw FetchFailure(.cancelled, "The files exist.") }
    }
    return try planned.request(headerFields: settings.credentials.headerFields, demand: demand)
  }
}

// MARK: Rows

extension FetchRun {
  /// Writes the thumbnails of a finished row, or the fallback of a failed one, and returns its line of the report.
  /// Several threads may do this at a time.
  private func writeFiles(of planned: PlannedRow, _ outcome: Result<ThumbnailSet, FetchFailure>) -> PendingLine {
    let row: ManifestRow
    switch planned.entry {
    case .bad(let bad): return PendingLine(ReportLine(bad, kept: planned.kept))
    case .row(let usable): row = usable
    }
    if let existing = planned.existing { return PendingLine(ReportLine(row, existing.outcome)) }
    let pending = PendingLine()
    switch outcome {
    case .failure(let failure):
      let line = ReportLine(row, .failed(failure.explained(by: state.withLock { $0.limiter.reached })))
      guard line.status == .failed, let thumbnails = try? files.fallback?.thumbnails(planned.files) else {
        return PendingLine(line)
      }
      writeFallback(thumbnails, for: planned, row.url) { outputs in
        var line = line
        line.fallback = outputs
        pending.end(line)
      }
    case .success(let set):
      // A stale image gets no label, so that --skip-existing requests it again.
      let labeled = set.origin == .stale ? nil : row
      write(set.files, for: planned, url: row.url, labeledFor: labeled) { [self] result in
        pending.end(ReportLine(row, self.outcome(of: set, written: result)))
      }
    }
    return pending
  }

  private func outcome(
    of set: ThumbnailSet, written result: Result<[ReportLine.Output], OutputError>
  ) -> ReportLine.RowOutcome {
    switch result {
    case .success(let outputs): return .done(set, outputs)
    case .failure(let error):
      if error.isFatal { stop(for: error) }
      return .failed(FetchFailure(error.failureCode, "\(error)", attempts: set.attempts))
    }
  }

  /// Writes the thumbnails of a row. `completion` gets what became of each.
  private func write(
    _ thumbnails: [Thumbnail], for row: PlannedRow, url: String, labeledFor labeled: ManifestRow? = nil,
    completion: @escaping @Sendable (Result<[ReportLine.Output], OutputError>) -> Void
  ) {
    guard let name = row.name else { return completion(.success([])) }
    let owner = name.dependsOnPixels ? ([url] + row.specs.map(\.fingerprint)).joined(separator: "\0") : nil
    let outputs = thumbnails.map { thumbnail in
      OutputFile(
        thumbnail: thumbnail, name: name.fileName(of: thumbnail), owner: owner,
        label: labeled.map { OutputLabel($0, thumbnail.spec) }, labelsUnchanged: skipsExisting)
    }
    files.output.write(outputs) { [self] result in
      completion(
        result.map { outcomes in
          let written = zip(outputs, outcomes).map { ReportLine.Output($0.thumbnail, path: $0.name, outcome: $1) }
          removeFallback(of: row, unless: written)
          return written
        })
    }
  }

  /// Writes the fallback image as the files of a failed row. If that fails, the row has no files; the report keeps its
  /// own failure, which matters more.
  private func writeFallback(
    _ thumbnails: [Thumbnail], for row: PlannedRow, _ url: String,
    completion: @escaping @Sendable ([ReportLine.Output]) -> Void
  ) {
    write(thumbnails, for: row, url: url) { [self] result in
      switch result {
      case .success(let outputs): completion(outputs)
      case .failure(let error):
        if error.isFatal { stop(for: error) }
        meter.note("thumbs: \(error)")
        completion([])
      }
    }
  }

  /// Returns the files with the fallback image that an earlier run wrote for `row` into this directory, as far as they
  /// are still there.
  private func remainingFallback(of row: PlannedRow) -> [ReportLine.Output] {
    guard let (directory, outputs) = row.fallback, directory == files.output.directory else { return [] }
    return outputs.filter { output in
      output.path.map { files.output.contains($0, length: output.byteCount) } ?? false
    }
  }

  /// Removes the fallback that an earlier run wrote for `row`, if its files now have other names, because the format of
  /// the row's image has another extension than that of the fallback.
  private func removeFallback(of row: PlannedRow, unless outputs: [ReportLine.Output]) {
    guard let name = row.name, let thumbnails = try? files.fallback?.thumbnails(row.files) else { return }
    for thumbnail in thumbnails {
      let path = name.fileName(of: thumbnail)
      if !outputs.contains(where: { $0.path == path }) { try? files.output.remove(path, containing: thumbnail.bytes) }
    }
  }

  /// Accounts for a finished row in the output directory, the report, the gallery, the summary and the progress.
  private func report(_ item: BatchItem<PlannedRow>, _ line: ReportLine) {
    defer { plan.finish(item.element) }
    var line = line
    if line.status != .ok {
      line.again = item.element.again ?? ReportLine.Again(item.element, directory: files.output.directory)
      if line.fallback.isEmpty { line.fallback = remainingFallback(of: item.element) }
    }
    state.withLock { state in
      state.totals.count(line)
      state.reasons.note(line)
    }
    files.metrics?.items.count(line)
    attempt { () throws(OutputError) in try files.report?.append(line, position: item.index) }
    if let gallery = files.gallery { add(line, item.element.entry.subtitle, to: gallery) }
    countDownloads()
    if isVerbose { meter.note(line.note) } else { explain(line) }
    meter.finish(line.index, line.status, bytes: newlyDownloadedBytes())
  }

  private func add(_ line: ReportLine, _ subtitle: String?, to gallery: GalleryWriter) {
    guard !state.withLock({ $0.hasGalleryFailed }) else { return }
    do throws(OutputError) {
      if let warning = try gallery.append(line, subtitle: subtitle), !isQuiet { meter.note("thumbs: \(warning)") }
    } catch {
      state.withLock { $0.hasGalleryFailed = true }
      note(setback: error)
    }
  }

  /// The number of bad rows whose reasons are shown. A list that is read in the wrong way has thousands of them.
  private static let shownBadRows = 3

  /// Shows why a row is bad, if it is one of the first.
  private func explain(_ line: ReportLine) {
    guard !isQuiet, case .failed(let failure) = line.outcome, failure.code == .badRow else { return }
    let number = state.withLock { $0.totals.failed(.badRow) }
    if number <= Self.shownBadRows { meter.note("thumbs: \(failure.message.printable)") }
  }

  /// Returns the sentence about the bad rows that were not shown, if there are any.
  private func advice(aboutBadRowsOf totals: Totals) -> [String] {
    let rest = totals.failed(.badRow) - Self.shownBadRows
    guard !isVerbose, rest > 0 else { return [] }
    let place = reportPath == nil ? "--verbose shows them" : "the report has their reasons"
    return ["thumbs: \(rest) more \(rest == 1 ? "row is" : "rows are") bad; \(place)."]
  }

  /// Returns the number of bytes downloaded since the last call, so that rows sharing a download do not count it twice.
  private func newlyDownloadedBytes() -> Int {
    let bytes = pipeline.downloadedBytes
    return state.withLock { state in
      defer { state.shownBytes = bytes }
      return bytes - state.shownBytes
    }
  }
}

// MARK: Limits

extension FetchRun {
  /// Throws `cancelled` if a limit of the run has been reached.
  private func checkLimit() throws(FetchFailure) {
    guard !limits.isEmpty else { return }
    if let limit = state.withLock({ $0.limiter.reached }) { throw FetchFailure(.cancelled, limit.message) }
  }

  /// Cancels what is in flight if the downloads so far have reached a limit.
  private func countDownloads() {
    guard !limits.isEmpty else { return }
    let (elapsed, downloaded) = (settings.started.duration(to: .now), pipeline.downloadedBytes)
    if state.withLock({ $0.limiter.check(after: elapsed, downloaded: downloaded) }) { pipeline.cancelAll() }
  }

  private func takeStep() {
    let (elapsed, count) = (settings.started.duration(to: .now), rows.readCount)
    let (step, run) = state.withLock { ($0.limiter.step(after: elapsed, rows: count), $0.run) }
    switch step {
    case .proceed: break
    // At every tick: thread A finds no limit and begins a row while thread B reaches the limit and cancels the others.
    case .cancelRequests: pipeline.cancelAll()
    case .stopReading:
      plan.cancel()
      run?.cancel()
    }
  }
}

extension FetchFailure {
  /// Returns the failure with the reason for a cancellation: the limit that the run has reached, if any.
  fileprivate func explained(by limit: RunLimit?) -> FetchFailure {
    guard code == .cancelled, let limit else { return self }
    var failure = self
    failure.message = limit.message
    return failure
  }
}

// MARK: End

extension FetchRun {
  /// Finishes the files, prints the summary, and throws the exit code unless it is 0.
  private func end(signal: Int32?) throws {
    let (totals, reasons) = state.withLock { ($0.totals, $0.reasons) }
    let coverage = rows.coverage(finished: totals.total)
    let limit = state.withLock { $0.limiter.reached }.flatMap { limit in
      totals.cancelled > 0 || coverage != .complete ? limit : nil
    }
    attemptExtra { () throws(OutputError) in try files.gallery?.finish() }
    attempt { () throws(OutputError) in try files.report?.finish(coverage, of: plan.listEnd) }
    let (elapsed, downloaded) = (settings.started.duration(to: .now), ByteSize(count: pipeline.downloadedBytes))
    attempt { () throws(OutputError) in
      try files.summary?.write(
        totals.json(
          runEnding(totals, signal, limit), coverage, after: elapsed, downloaded: downloaded,
          remote: pipeline.remoteCounters))
    }
    attemptExtra { () throws(OutputError) in
      try files.metrics?.finish(runEnding(totals, signal, limit).exitCode.rawValue) { pipeline.updateGauges() }
    }
    // The files are finished first, because writing to a stopped terminal or an unread pipe may block.
    meter.end()
    if !isQuiet {
      let text = totals.text(
        coverage, reasons: reasons, limit: limit, after: elapsed, downloaded: downloaded,
        remote: pipeline.remoteCounters)
      ProgressOutput.standardError.write(
        (plan.remarks.map { "thumbs: \($0.printable)" } + advice(aboutBadRowsOf: totals) + [text]
          + advice(totals, coverage)).joined(separator: "\n") + "\n")
    }
    if isQuiet, let line = totals.quietLine(report: reportPath) {
      ProgressOutput.standardError.write("thumbs: \(line.printable)\n")
    }
    let ending = runEnding(totals, signal, limit)
    if let message = ending.message { throw ending.exitCode.printing(message) }
    if ending.exitCode != .success { throw ending.exitCode }
  }

  /// Returns the advice of a run that ended by itself, for a person at a terminal.
  private func advice(_ totals: Totals, _ coverage: Coverage) -> [String] {
    guard coverage == .complete, ProgressOutput.standardError.isTerminal else { return [] }
    return NextStep.advice(about: totals, report: reportPath, fallback: files.fallback?.path).map { [$0] } ?? []
  }

  private func runEnding(_ totals: Totals, _ signal: Int32?, _ limit: RunLimit?) -> RunEnding {
    let ending = RunEnding(
      signal: signal, output: state.withLock { $0.fatal ?? $0.setback }, manifest: plan.failure ?? plan.lack,
      limit: limit, totals)
    return isRetry && plan.isPartial && ending.exitCode == .success ? .missingRows : ending
  }

  /// Runs `write`, and stops the run if it throws.
  private func attempt(_ write: () throws(OutputError) -> Void) {
    do throws(OutputError) {
      try write()
    } catch {
      stop(for: error)
    }
  }

  /// Runs `write` for the gallery or the metrics, without which the run goes on if it throws.
  private func attemptExtra(_ write: () throws(OutputError) -> Void) {
    do throws(OutputError) {
      try write()
    } catch {
      note(setback: error)
    }
  }

  /// Notes an error of the gallery or of the metrics: the first one is shown at once, and again at the end.
  private func note(setback error: OutputError) {
    let isFirst = state.withLock { state in
      defer { state.setback = state.setback ?? error }
      return state.setback == nil
    }
    if isFirst, !error.isBrokenPipe { meter.note("thumbs: \(error) The run goes on without it.") }
  }

  /// Cancels the run after an output error: what cannot be written is not worth fetching. The first error is kept.
  private func stop(for error: OutputError) {
    let run = state.withLock { state in
      state.fatal = state.fatal ?? error
      state.limiter.disarm()
      return state.run
    }
    plan.cancel()
    run?.cancel()
  }
}

/// The cause of the end of a run, which determines the exit status of the process.
enum RunEnding: Hashable, Sendable {
  /// Every row was handled.
  case finished(Totals)
  /// A signal stopped the run.
  case signal(Int32)
  /// Output could not be written.
  case output(OutputError)
  /// A manifest could not be read to its end.
  case manifest(InputError)
  /// A limit of the run was reached before every row had ended.
  case limit(RunLimit)
  /// Every row was handled and succeeded, but the retried report lacks rows of its run, or does not prove that it has
  /// all of them.
  case missingRows

  /// Chooses the most important cause: a signal, then an output error, then a manifest error, then a limit.
  init(signal: Int32?, output: OutputError?, manifest: InputError?, limit: RunLimit? = nil, _ totals: Totals) {
    if let signal {
      self = .signal(signal)
    } else if let output {
      self = .output(output)
    } else if let manifest {
      self = .manifest(manifest)
    } else if let limit {
      self = .limit(limit)
    } else {
      self = .finished(totals)
    }
  }

  /// The limit that ended the run, if one did.
  var limit: RunLimit? { if case .limit(let limit) = self { limit } else { nil } }

  /// The exit status of the process.
  var exitCode: ExitCode {
    switch self {
    case .finished(let totals): ExitCode(totals.exitCode)
    case .signal(let number): .signal(number)
    case .output: .ioError
    case .manifest: .dataError
    case .limit, .missingRows: .temporaryFailure
    }
  }

  /// The message to print after the summary; nil if no message is needed. A broken pipe gets no message, because a
  /// reader that closes the report early has simply seen enough. Neither does a limit, which the summary names.
  var message: String? {
    switch self {
    case .output(let error) where !error.isBrokenPipe: "\(error)"
    case .manifest(let error): "\(error)"
    case .finished, .signal, .output, .limit, .missingRows: nil
    }
  }
}
