import ArgumentParser
import BatchFetch
import Dispatch
import HTTPTypes
import ImageCache
import Synchronization

/// One run of `thumbs fetch` or `thumbs retry`, from opened files to the exit code.
final class FetchRun: Sendable {
  struct State {
    var summary = Summary()
    /// The first error that stopped the run.
    var fatal: OutputError?
    /// The running batch; nil until it has started.
    var run: BatchRun?
    /// The number of downloaded bytes that have been reported to the progress meter.
    var shownBytes = 0
    /// The limits of the run.
    var limiter: RunLimiter
    /// The outcomes of rows that are left alone, by index, until they are reported.
    var kept: [Int: ReportLine.RowOutcome] = [:]
  }

  let plan: any RowPlan
  let rows: PlannedRows
  let files: RunFiles
  let meter: ProgressMeter
  let isQuiet: Bool
  let isVerbose: Bool
  /// True to leave files of the same source and sizes alone, without a request.
  let skipsExisting: Bool
  /// True if the rows come from a report.
  let isRetry: Bool
  /// The path of the report that the run writes or retries; nil if there is none.
  let reportPath: String?
  let pipeline: ThumbnailPipeline
  let settings: RunSettings
  let limits: RunLimits
  let state: Mutex<State>
  private let demand: RowDemand
  private let reserved: ReservedFiles
  private let window: Int

  /// Creates a run over the rows of `plan`, which `inputs` contain. It writes `files`, and adds the local images that
  /// it reads to the reserved files of `inputs`.
  init(
    _ command: some FetchingCommand, _ settings: RunSettings, plan: any RowPlan, inputs: RunInputs, files: RunFiles,
    meter: ProgressMeter
  ) {
    self.plan = plan
    self.files = files
    self.meter = meter
    reserved = inputs.reserved
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
    attempt { () throws(OutputError) in
      try files.metrics?.start { [pipeline] in
        pipeline.updateGauges()
      } onError: { [self] in
        stop(for: $0)
      }
    }
    attempt { () throws(OutputError) in
      try files.gallery?.start { [self] in stop(for: $0) }
    }
    let done = DispatchSemaphore(value: 0)
    let batch = Batch(rows, over: pipeline, window: window) { [self] row throws(FetchFailure) in
      try request(for: row)
    }
    let run = batch.start { [self] row, outcome in
      line(of: row, outcome)
    } each: { [self] item, line in
      handle(item, line)
    } completion: { _ in
      done.signal()
    } begin: { [meter] in
      if case .row(let row) = $0.entry { meter.begin(row.index, url: row.url) }
    }
    state.withLock { $0.run = run }
    interrupt.whenInterrupted { [self] in
      state.withLock { $0.limiter.disarm() }
      run.cancel()
      pipeline.dropUploads()
    }
    // A batch thread may have called `stop(for:)` before this thread stored `run`; without this line, nobody would
    // cancel the run.
    if state.withLock({ $0.fatal != nil }) { run.cancel() }
    let timer = enforceLimits()
    // Blocking is fine here: the main thread has nothing else to do, and no part of the run needs it.
    done.wait()
    timer?.cancel()
    pipeline.flush(uploadingWithin: settings.uploadTime(at: .now))
    pipeline.recordRun()
    try end(signal: interrupt.signal)
  }

  private func request(for planned: PlannedRow) throws(FetchFailure) -> ThumbnailRequest {
    if case .row(let row) = planned.entry {
      try checkLimit()
      reserved.insert(sourcesOf: row)
      if let outcome = existing(planned) {
        state.withLock { $0.kept[row.index] = outcome }
        // Any failure ends the row here. It is reported with its outcome.
        throw FetchFailure(.cancelled, "The files exist.")
      }
    }
    return try planned.request(headerFields: settings.credentials.headerFields, demand: demand)
  }
}
