import ArgumentParser
import BatchFetch
import Dispatch
import Glibc
import HTTPTypes
import Synchronization

/// One run of `thumbs worker`, from its rows to the exit code.
final class WorkerRun: Sendable {
  /// The maximum number of rows in progress, a quarter of that of a run that writes files: here, results in memory may
  /// wait for a reader.
  static let window = 1024
  /// The number of rows waiting for their host at which reading stops.
  static let lookahead = 4096

  private let rows: WorkerRows
  private let format: ResultFormat
  private let pipeline: ThumbnailPipeline
  private let settings: RunSettings
  private let demand: RowDemand
  private let finished = Atomic(0)
  /// The running batch; nil until it has started.
  private let batch = Mutex<BatchRun?>(nil)

  /// Creates a run over `rows`, with the header fields of `settings` in every request and the `demand` on every row.
  init(
    _ rows: WorkerRows, _ format: ResultFormat, _ pipeline: ThumbnailPipeline, _ settings: RunSettings,
    demand: RowDemand
  ) {
    self.rows = rows
    self.format = format
    self.pipeline = pipeline
    self.settings = settings
    self.demand = demand
  }

  /// Runs until every row has its result on standard output, or `interrupt` fires. Throws the exit code unless it is 0.
  func run(_ interrupt: InterruptWatch) throws {
    let output = ResultOutput(STDOUT_FILENO) { [pipeline] flow in
      flow == .blocked ? pipeline.suspend() : pipeline.resume()
    } onFailure: { [self] _ in
      cancel()
    }
    let done = DispatchSemaphore(value: 0)
    start(output) { done.signal() }
    interrupt.whenInterrupted { [self] in
      output.abandon()
      cancel()
      pipeline.dropUploads()
    }
    // The output may have failed before `start` stored the batch; then nobody has canceled it.
    if output.failure != nil { cancel() }
    // Blocking is fine here: the main thread has nothing else to do, and no part of the run needs it.
    done.wait()
    pipeline.flush(uploadingWithin: settings.uploadTime(at: .now))
    pipeline.recordRun()
    if interrupt.signal == nil { end(output) }
    if let signal = interrupt.signal { throw ExitCode.signal(signal) }
    // A reader that closes the pipe knows it.
    if let failure = output.failure {
      throw failure.isBrokenPipe ? ExitCode.ioError : ExitCode.ioError.printing(failure)
    }
    if case .failed(let failure) = rows.ending { throw ExitCode.dataError.printing(failure) }
  }

  private func start(_ output: ResultOutput, completion: @escaping @Sendable () -> Void) {
    let batch = Batch(rows, over: pipeline, window: Self.window, lookahead: Self.lookahead) {
      [settings, demand] row throws(FetchFailure) in
      try row.planned.request(headerFields: settings.credentials.headerFields, demand: demand)
    }
    let run = batch.start { [format] row, outcome -> [UInt8]? in
      let result = format.result(of: row, outcome)
      // Thumbnails take memory, so the threads that make them wait for the reader. Threads with failures must not be
      // blocked: one of them ends transfers.
      guard case .success = outcome else { return result }
      output.add(result)
      return nil
    } each: { [self] item, result in
      if let result { output.add(result) }
      rows.finish(item.element)
      finished.add(1, ordering: .relaxed)
    } completion: { _ in
      completion()
    }
    self.batch.withLock { $0 = run }
  }

  private func cancel() { batch.withLock { $0 }?.cancel() }

  /// Writes the last record, unless rows are missing.
  private func end(_ output: ResultOutput) {
    if case .complete(let count) = rows.ending {
      output.add(format.end(received: count, finished: finished.load(ordering: .relaxed)))
    }
    output.finish()
  }
}
