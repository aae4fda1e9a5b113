public import CoreMetrics
public import Foundation
public import HTTPTypes
internal import Synchronization

/// Downloads bytes. Callers that request the same bytes at the same time share one download.
///
/// ```swift
/// let downloader = Downloader()
/// let source = try SourceURL("https://images.example/a.jpg")
/// let download = try await downloader.download(DownloadRequest(source: source))
/// print(download.response.status, download.body.count)
/// ```
public final class Downloader: Sendable {
  /// Receives the outcome of a download, exactly once.
  public typealias Completion = @Sendable (Result<Download, FetchFailure>) -> Void

  package let context: DownloadContext

  /// Creates a downloader.
  ///
  /// - Parameters:
  ///   - configuration: limits, retries, header fields.
  ///   - transport: exchanges requests and responses. Default: libcurl.
  public init(_ configuration: Configuration = Configuration(), transport: any Transport = CurlTransport()) {
    context = DownloadContext(configuration, transport: transport)
  }

  deinit {
    // Running downloads end by themselves. Paused ones can never be resumed: their callers must get an end too.
    context.release()
  }

  /// A group that is empty while no caller waits for a completion.
  public var group: CompletionGroup { CompletionGroup(context.room.group) }

  /// The number of downloads that are running, waiting or paused.
  public var runningCount: Int { context.state.withLock { $0.jobs.count } + context.room.count }

  /// The number of hosts with downloads, or with something to be remembered.
  var hostCount: Int { context.queue.hostCount }

  /// True to keep new transfers from starting. Running transfers continue. Default false.
  public var isSuspended: Bool {
    get { context.queue.isSuspended(by: .user) }
    set { context.queue.setSuspended(newValue, by: .user) }
  }

  /// Starts a download, or joins the one in flight.
  ///
  /// - Parameters:
  ///   - request: the bytes to download.
  ///   - dependencies: downloads to wait for, of this downloader or another, in addition to ``DownloadRequest/after``.
  ///     This one begins after their completions have returned, even if they failed or were canceled; see
  ///     ``DownloadToken/result``. Until then it occupies no place in a queue. Cycles are impossible: a download gets
  ///     its token only after the downloads that it waits for.
  ///   - queue: where the closures are called, one at a time even if the queue is concurrent. Default: a queue of the
  ///     downloader.
  ///   - progress: receives progress, never after `completion` was called.
  ///   - completion: called exactly once; with `cancelled` after ``DownloadToken/cancel()``.
  @discardableResult
  public func download(
    _ request: DownloadRequest, after dependencies: [DownloadToken] = [], on queue: DispatchQueue? = nil,
    progress: DownloadProgress.Handler? = nil, completion: @escaping Completion
  ) -> DownloadToken {
    let token = makeToken(
      Demand(priority: request.priority), for: request.source.description, on: queue, progress: progress,
      completion: completion)
    start(request, after: dependencies, for: token.caller)
    return token
  }

  /// Downloads the bytes of `request`, shared with all other callers that request them.
  ///
  /// ```swift
  /// let (steps, progress) = AsyncStream.makeStream(of: DownloadProgress.self)
  /// async let download = downloader.download(request, progress: progress)
  /// for await step in steps { print(step.fraction ?? 0) }
  /// print(try await download.body.count)
  /// ```
  ///
  /// - Parameters:
  ///   - request: the bytes to download.
  ///   - dependencies: downloads to wait for, as in ``download(_:after:on:progress:completion:)``. Default: none.
  ///   - progress: the stream that receives progress. It is finished when the download ends. Default nil: none.
  /// - Throws: the failure; `cancelled` if the task is canceled.
  public func download(
    _ request: DownloadRequest, after dependencies: [DownloadToken] = [],
    progress: AsyncStream<DownloadProgress>.Continuation? = nil
  ) async throws(FetchFailure) -> Download {
    defer { progress?.finish() }
    return try await CancellableCall.result { completion in
      WorkHandle(download(request, after: dependencies, progress: progress.handler, completion: completion))
    }.get()
  }

  /// Cancels all downloads, including those that are paused or wait for others. Each caller gets `cancelled`.
  public func cancelAll() { context.cancelAll() }

  /// Returns when every download has ended and every completion has returned. A paused download has not ended.
  public func waitUntilFinished() async { await group.finished() }

  /// Ends the downloader: later downloads fail with `cancelled`, and those in flight get some time.
  ///
  /// - Parameter limit: The time for downloads in flight. Those that are left then are canceled, paused ones too.
  ///   Default 10 s.
  public func shutdown(within limit: Duration = .seconds(10)) async {
    context.isShutDown.store(true, ordering: .releasing)
    let timer = context.after(limit) { [context] in context.cancelAll() }
    await waitUntilFinished()
    timer.cancel()
  }

  /// Notifies `observer` of all downloads from now on, until it is removed or released: first of the start of each that
  /// is running, waiting for its turn or paused. The downloader keeps a weak reference. Adding an observer again has no
  /// effect.
  public func addObserver(_ observer: any DownloadObserver) {
    let (jobs, known) = context.state.withLock { state in
      let jobs = state.jobs.jobs
      let started = jobs.map(\.request.source)
      return (jobs, state.observers.add(observer, target: context.callbacks, started: started))
    }
    for job in jobs { _ = job.watch() }
    withExtendedLifetime(known) {}
  }

  /// Stops notifying `observer`. Events that are being delivered may still arrive.
  public func removeObserver(_ observer: any DownloadObserver) {
    let known = context.state.withLock { $0.observers.remove(observer) }
    withExtendedLifetime(known) {}
  }

  /// Returns the token of a new caller, which has begun nothing.
  ///
  /// - Parameters:
  ///   - demand: the demand that the caller begins with. Default: normal priority.
  ///   - url: the URL for failures; nil if the request is not made yet.
  ///   - queue: where the closures are called. Default of nil: a queue of the downloader.
  func makeToken(
    _ demand: Demand = Demand(), for url: String?, on queue: DispatchQueue? = nil,
    progress: DownloadProgress.Handler?, completion: @escaping Completion
  ) -> DownloadToken {
    let outcome = DownloadToken.Outcome(of: url)
    let caller = Caller(
      priority: demand.priority, in: context.room, on: .queue(queue ?? context.callbacks), progress: progress
    ) { result in
      completion(outcome.end(result))
    }
    if demand.isPaused { caller.slot.setPaused(true) }
    return DownloadToken(caller: caller, outcome: outcome, downloader: self)
  }
}

// MARK: Configuration

extension Downloader {
  /// The settings of a downloader.
  public struct Configuration: Sendable {
    /// The maximum number of simultaneous transfers, over all hosts: 1...65,536; a value outside is clamped. Default
    /// 16.
    public var concurrency = 16
    /// The maximum number of simultaneous downloads per host: 1...65,536; a value outside is clamped. Default 6.
    ///
    /// A host that hangs occupies up to this many transfers until their deadlines. As long as the value is below
    /// ``concurrency``, one such host never stops the others. If several hosts occupy all transfers, each transfer that
    /// becomes free goes to the download that has waited longest: a host with many downloads gets no more than one with
    /// few.
    public var perHost = 6
    /// The maximum rate of requests per host. Every request counts, retries, redirects and revalidations included.
    /// Default nil: no limit.
    public var rate: RequestRate?
    /// Rules for single hosts and groups of hosts, which take precedence over these settings. Default: none.
    public var hosts = HostRules()
    /// The number of failures to connect to a host, temporary failures of its name lookup included, in a row and
    /// without any success, after which the host fails with `host_unavailable`; at least 1. Default 5. Nil: every
    /// request is tried.
    public var maxHostFailures: Int? = 5
    /// The treatment of `robots.txt` and `X-Robots-Tag`. Default ``RobotsPolicy/ignored``.
    public var robots = RobotsPolicy.ignored
    /// The shortest time between two progress reports of a download. Default 100 ms.
    public var progressInterval: Duration = .milliseconds(100)
    /// The policy for retries of failed attempts.
    public var retry = RetryPolicy()
    /// The deadlines and limits of one attempt.
    public var limits = TransferLimits()
    /// The header fields of every request. Default: `User-Agent: thumbs/VERSION`. Without an `Accept` field here, each
    /// request has that of ``DownloadRequest/accept``.
    public var headerFields: HTTPFields = [.userAgent: "thumbs/\(version)"]
    /// Permission to read `file` URLs. Without it, they fail with `blocked_scheme`; with it, ``FileTransport`` reads
    /// them instead of the downloader's own transport. Default ``FileAccess/refused``.
    public var files = FileAccess.refused
    /// The access to buckets, for `s3://` and `gs://` URLs. Default nil: they fail with `blocked_scheme`.
    public var buckets: BucketAccess?
    /// The clock for pauses and progress intervals. Default: the continuous clock.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// The receiver of the metrics of the downloader, and of whatever uses it. Default nil: the
    /// factory that the program has set with `MetricsSystem.bootstrap`; without one, metrics cost next to nothing.
    public var metrics: (any MetricsFactory)?
    /// The wall clock, for the dates in HTTP header fields.
    public var now: @Sendable () -> Date = { Date() }

    package static let counts = 1...65_536

    /// Creates the default settings.
    public init() {}
  }

  /// The version of the library and the command, as sent in `User-Agent`.
  public static let version = "0.1.0"
}

// MARK: Actors

extension Downloader {
  /// Starts a download, or joins the one in flight, for code of an actor.
  ///
  /// ```swift
  /// downloader.download(request, isolation: library) { library, result in
  ///   library.bodies.append(try? result.get().body)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - request: the bytes to download.
  ///   - dependencies: downloads to wait for, as in ``download(_:after:on:progress:completion:)``. Default: none.
  ///   - actor: the actor on which the closures are called, one at a time. ``group`` does not wait for that.
  ///   - progress: receives progress, never after `completion` was called. Default: none.
  ///   - completion: called exactly once; with `cancelled` after ``DownloadToken/cancel()``.
  @discardableResult
  public func download<Isolation: Actor>(
    _ request: DownloadRequest, after dependencies: [DownloadToken] = [], isolation actor: Isolation,
    progress: (@Sendable (isolated Isolation, DownloadProgress) -> Void)? = nil,
    completion: @escaping @Sendable (isolated Isolation, Result<Download, FetchFailure>) -> Void
  ) -> DownloadToken {
    let calls = ActorCalls(on: actor)
    return download(
      request, after: dependencies, progress: calls.calling(ifAny: progress),
      completion: calls.callingLast(completion))
  }
}

// MARK: Main actor

// Downloads for code of the main actor, such as a view.
extension Downloader {
  /// Starts a download, or joins the one in flight, for code of the main actor.
  ///
  /// ```swift
  /// let token = downloader.download(request, isolation: MainActor.shared) { progress in
  ///   self.fraction = progress.fraction
  /// } completion: { result in
  ///   self.body = try? result.get().body
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - request: the bytes to download.
  ///   - dependencies: downloads to wait for, as in ``download(_:after:on:progress:completion:)``. Default: none.
  ///   - actor: the main actor, on which the closures are called, one at a time.
  ///   - progress: receives progress, never after `completion` was called. Default: none.
  ///   - completion: called exactly once; with `cancelled` after ``DownloadToken/cancel()``.
  @discardableResult
  public func download(
    _ request: DownloadRequest, after dependencies: [DownloadToken] = [], isolation actor: MainActor,
    progress: (@MainActor (DownloadProgress) -> Void)? = nil,
    completion: @escaping @MainActor (Result<Download, FetchFailure>) -> Void
  ) -> DownloadToken {
    download(
      request, after: dependencies, on: .main, progress: MainHandler.calling(ifAny: progress),
      completion: MainHandler.calling(completion))
  }

  /// Starts a download into a file, or joins the one in flight, for code of the main actor.
  ///
  /// - Parameters:
  ///   - request: the bytes to download.
  ///   - file: the file. Its directory must exist.
  ///   - expected: the content that it must have. Default: any.
  ///   - dependencies: downloads to wait for. Default: none.
  ///   - actor: the main actor, on which the closures are called, one at a time.
  ///   - progress: receives progress, never after `completion` was called. Default: none.
  ///   - completion: called exactly once, as in ``download(_:to:expecting:after:on:progress:completion:)``.
  @discardableResult
  public func download(
    _ request: DownloadRequest, to file: URL, expecting expected: ExpectedFile = ExpectedFile(),
    after dependencies: [DownloadToken] = [], isolation actor: MainActor,
    progress: (@MainActor (DownloadProgress) -> Void)? = nil,
    completion: @escaping @MainActor (Result<Download, FetchFailure>) -> Void
  ) -> DownloadToken {
    download(
      request, to: file, expecting: expected, after: dependencies, on: .main,
      progress: MainHandler.calling(ifAny: progress), completion: MainHandler.calling(completion))
  }

  /// Starts a download whose request depends on the outcomes of others, for code of the main actor.
  ///
  /// - Parameters:
  ///   - dependencies: downloads to wait for.
  ///   - actor: the main actor, on which the closures are called, one at a time.
  ///   - progress: receives progress, never after `completion` was called. Default: none.
  ///   - request: called once, as in ``download(after:on:progress:request:completion:)``.
  ///   - completion: called exactly once.
  @discardableResult
  public func download(
    after dependencies: [DownloadToken], isolation actor: MainActor,
    progress: (@MainActor (DownloadProgress) -> Void)? = nil,
    request: @escaping @MainActor (Outcomes) throws -> DownloadRequest,
    completion: @escaping @MainActor (Result<Download, FetchFailure>) -> Void
  ) -> DownloadToken {
    download(
      after: dependencies, on: .main, progress: MainHandler.calling(ifAny: progress),
      request: { outcomes in try MainActor.assumeIsolated { try request(outcomes) } },
      completion: MainHandler.calling(completion))
  }
}
