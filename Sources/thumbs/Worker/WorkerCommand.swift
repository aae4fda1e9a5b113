import ArgumentParser
import BatchFetch
import CGlibc
import Dispatch
import Foundation
import Glibc
import HTTPTypes
import ImageCache
import Synchronization

/// `thumbs worker`: rows on standard input, results with their thumbnails on standard output, for other programs.
struct WorkerCommand: DownloadingCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker",
    abstract: "Make thumbnails for another program, through its standard streams.",
    discussion: """
      Each line of standard input is a JSON object with the id and the url of an image. Standard output has a result \
      for each, with the encoded thumbnails, in any order. Documentation/worker.md describes both.

      Examples:
        thumbs worker --size 256 --no-cache
        cat rows.jsonl | thumbs worker --protocol jsonl --no-bodies

      Exit status:
        0    every row has its result, whatever that is
        64   the command line is wrong
        65   standard input cannot be read
        74   standard output cannot be written
        129  hung up
        130  interrupted
        143  terminated
      """)

  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp("Form of the results: binary frames, or lines of JSON with the thumbnails in Base64."))
  var form = ResultProtocol.frames

  @Flag(help: "Leave the thumbnails out of the results.")
  var noBodies = false

  @Flag(help: "Add the downloaded file as it is, once it has been decoded, behind the thumbnails.")
  var original = false

  @OptionGroup(title: "Thumbnails") var pixels: PixelOptions
  @OptionGroup(title: "Downloads") var network: NetworkOptions
  @OptionGroup(title: "Politeness") var politeness: PolitenessOptions
  @OptionGroup(title: "Content") var content: ContentOptions
  @OptionGroup(title: "Cache and rendering") var caching: CachingOptions
  @OptionGroup(title: "Cache and rendering") var remote: RemoteCacheOptions
  @OptionGroup(title: "Decoders") var decoders: DecoderOptions
  @OptionGroup var configuration: ConfigurationOptions

  /// Less than in a run that writes files, because the worker may be one of many on a machine.
  static let memoryByteLimit = 1 << 20

  func run() throws {
    if form == .frames, isatty(STDOUT_FILENO) == 1 {
      throw ValidationError("Frames are not text. Use --protocol jsonl, or read standard output through a pipe.")
    }
    try decoders.checkEncoder(for: pixels)
    // Each arena keeps memory that was freed, and by default there are eight per processor: a worker that runs for long
    // would come to use a third more than one that has just begun.
    mallopt(M_ARENA_MAX, Int32(max(1, ProcessInfo.processInfo.activeProcessorCount / 2)))
    let credentials = try Credentials(network)
    let environment = ProcessInfo.processInfo.environment
    let remoteCache = try remoteCache(environment)
    let descriptors = prepareProcess(isQuiet: false)
    try exiting {
      let settings = RunSettings(
        started: .now, hosts: try politeness.hostRules(), connections: descriptors.connections,
        credentials: credentials, remoteCache: remoteCache)
      let rows = WorkerRows(LineReader(try .open("-", expecting: "rows")), specs: rowSpecs)
      let pipeline = pipeline(settings) { ProgressOutput.standardError.write("\($0)\n") }
      let format = ResultFormat(form: form, bodies: noBodies ? .omitted : .included)
      try WorkerRun(rows, format, pipeline, settings, demand: content.demand).run(InterruptWatch())
    }
  }

  /// Returns the thumbnails to make for a row.
  private var rowSpecs: @Sendable (RowOptions) -> [ThumbnailSpec] {
    let (thumbnails, others) = (pixels.rowSpecs, original ? [ThumbnailSpec.original] : [])
    return { row in thumbnails(row) + others }
  }
}

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

/// Bounds the length of the lines whose rows have no result yet. Rows are bounded in number too, but a line may have a
/// megabyte.
final class InputBudget: Sendable {
  /// The default limit in bytes.
  static let standardLimit = 16 << 20

  private struct State {
    var bytes = 0
    /// The thread that waits for room.
    var sleeper: DispatchSemaphore?
  }

  private let limit: Int
  private let state = Mutex(State())

  /// Creates a budget that has room while fewer than `limit` bytes are in hand.
  init(limit: Int = standardLimit) { self.limit = limit }

  /// True while a thread waits.
  var isWaiting: Bool { state.withLock { $0.sleeper != nil } }

  /// Blocks until there is room. Only one thread may wait.
  func waitForRoom() {
    let sleeper: DispatchSemaphore? = state.withLock { state in
      guard state.bytes >= limit else { return nil }
      state.sleeper = DispatchSemaphore(value: 0)
      return state.sleeper
    }
    sleeper?.wait()
  }

  /// Adds a line of `count` bytes, which may exceed the limit.
  func take(_ count: Int) { state.withLock { $0.bytes += count } }

  /// Gives `count` bytes back.
  func give(_ count: Int) {
    let sleeper: DispatchSemaphore? = state.withLock { state in
      state.bytes -= count
      return state.bytes < limit ? state.sleeper.take() : nil
    }
    sleeper?.signal()
  }
}
