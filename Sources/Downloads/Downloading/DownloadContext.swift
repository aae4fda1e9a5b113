internal import CoreMetrics
internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// Everything that the jobs of one downloader share: the table of downloads and callers, the queues, the transport.
package final class DownloadContext: Sendable {
  package typealias Table = JobTable<DownloadRequest.Key, DownloadJob, any DownloadSubscriber>

  struct State {
    var jobs = Table()
    var observers = ObserverList()
    /// The observers of streams, which nobody else keeps.
    var streams: [ObjectIdentifier: EventObserver] = [:]
  }

  let state = Mutex(State())
  /// The callers that wait for milestones.
  let room = WaitingRoom<Download>()
  /// Runs the completions, never on the transport's thread and never inside a call to `cancel`.
  let callbacks = DispatchQueue(label: "thumbs.downloads", attributes: .concurrent)
  package let queue: TransferQueue
  let parts = PartFiles()
  /// Opens the files of downloads.
  let opening = DispatchQueue(label: "thumbs.files")
  let retry: RetryPolicy
  let files: FileAccess
  let limits: TransferLimits
  package let progressInterval: Duration
  /// The wall clock.
  let now: @Sendable () -> Date
  /// The time on the injected clock since the downloader was made.
  package let elapsed: @Sendable () -> Duration
  /// Ends transfers, one at a time. Nothing on it blocks, so that one thread does all of it without waking another.
  let scheduling = DispatchQueue(label: "thumbs.scheduling", target: .global())
  /// The rules of the hosts for robots; nil if they are ignored.
  let robots: RobotsGate?
  /// True if any host has a maximum rate.
  let hasRates: Bool
  let metrics: DownloadMetrics
  package let transport: any Transport
  /// The same transport, if it can reach buckets.
  private let buckets: BucketTransport?
  package let configuration: Downloader.Configuration
  /// True once later downloads fail.
  let isShutDown = Atomic(false)
  /// True once nobody can resume a download.
  private let isReleased = Atomic(false)
  private let fileTransport = FileTransport()
  private let headerFields: HTTPFields
  private let rules: HostRules
  private let clock: any Clock<Duration>

  init(_ configuration: Downloader.Configuration, transport: any Transport) {
    buckets = configuration.buckets.map { BucketTransport($0, over: transport) }
    self.transport = buckets ?? transport
    self.configuration = configuration
    elapsed = configuration.clock.stopwatch()
    queue = TransferQueue(configuration.schedule, clock: configuration.clock, now: elapsed)
    retry = configuration.retry
    files = configuration.files
    limits = configuration.limits.inRange
    progressInterval = configuration.progressInterval
    now = configuration.now
    headerFields = configuration.headerFields
    rules = configuration.hosts
    hasRates = configuration.rate != nil || configuration.hosts.hasRates
    clock = configuration.clock
    metrics = DownloadMetrics(configuration.metrics ?? MetricsSystem.factory)
    let fetcher = RobotsFetcher()
    robots = configuration.robots == .obeyed ? RobotsGate(now: elapsed, fetch: fetcher.fetch) : nil
    fetcher.connect(to: self)
  }

  /// Returns the limits of one attempt.
  func limits(of request: DownloadRequest) -> TransferLimits {
    let usual = request.isRobotsFile ? limits.forRobotsFile : request.part == nil ? limits : limits.forFiles
    var chosen = request.limits?.inRange ?? usual
    chosen.addresses = request.addresses ?? limits.addresses
    return chosen
  }

  /// Returns the file at `path` that `request` is downloaded to.
  func target(of request: DownloadRequest, _ path: String, _ expected: ExpectedFile) -> FileTarget {
    FileTarget(path: path, request: request.fileIdentity(transport.variant(of: request.source)), expected: expected)
  }

  /// Prepares a transfer of `request` from `hop`. `completion` is called exactly once, from any thread.
  func prepare(
    _ request: DownloadRequest, to hop: SourceURL, _ completion: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    guard !hop.scheme.isLocal else { return completion(nil) }
    transport.prepare(for: hop, limits: limits(of: request), completion: completion)
  }

  /// Returns the failure of a download whose host is not available.
  func failure(of host: String, _ refusal: HostQueue.Refusal) -> FetchFailure {
    switch refusal {
    case .dead: return FetchFailure(.hostUnavailable, "\(host) could not be reached by earlier requests.")
    case .paused(let end):
      let retryAt = now() + TimeInterval(max(.zero, end - elapsed()) / .seconds(1))
      var failure = FetchFailure(
        .hostUnavailable, "\(host) requested a pause that is longer than the maximum wait of \(retry.maxWait).")
      failure.retryAt = retryAt
      return failure
    }
  }

  /// Returns true if a transfer of `request` from `hop` needs no preparation.
  func isPrepared(_ request: DownloadRequest, to hop: SourceURL) -> Bool {
    hop.scheme.isLocal || transport.isPrepared(for: hop, limits: limits(of: request))
  }

  /// Starts one transfer for `request`, to the current hop of `trail`. It continues `partial` if that is not nil.
  ///
  /// - Parameter elapsed: The time that earlier transfers of the same attempt took.
  func transfer(
    _ request: DownloadRequest, to trail: RedirectChain, continuing partial: PartialDownload?, elapsed: Duration,
    receiver: any TransferReceiver
  ) -> WorkHandle {
    var transfer = TransferRequest(source: trail.hop, limits: limits(of: request))
    transfer.headerFields = fields(of: request, to: trail, continuing: partial)
    transfer.elapsed = elapsed
    transfer.responses = request.responses
    transfer.action = request.action
    transfer.addsCredentials = trail.isAtOriginalHost
    transfer.cookies = trail.cookies.field(for: trail.hop)
    let transport: any Transport = trail.hop.scheme.isLocal ? fileTransport : transport
    let handle = transport.start(transfer, receiver: receiver)
    return WorkHandle(cancel: { handle.cancel() })
  }

  /// Returns true if a cache may keep a response that came through the redirects of `trail`.
  func trusts(_ trail: RedirectChain) -> Bool {
    guard !trail.redirects.isEmpty else { return true }
    let fields = rules.rule(for: trail.source.host).headerFields
    return trail.hops.allSatisfy { hop in
      transport.trusts(hop, as: trail.source) && rules.rule(for: hop.host).headerFields == fields
    }
  }

  /// Returns the `User-Agent` that the current hop of `trail` gets; nil for none.
  func userAgent(of request: DownloadRequest, to trail: RedirectChain) -> String? {
    fields(of: request, to: trail, continuing: nil)[.userAgent]
  }

  /// Returns the header fields of a request. A field of the request replaces those of the host and of the
  /// configuration, and a field of the host replaces that of the configuration.
  private func fields(
    of request: DownloadRequest, to trail: RedirectChain, continuing partial: PartialDownload?
  ) -> HTTPFields {
    let usual = trail.fields(of: headerFields).accepting(request.accept)
    var fields = rules.rule(for: trail.hop.host).headerFields(over: usual)
    fields.replace(with: trail.fields(of: request.headerFields))
    fields.replace(with: partial?.requestFields ?? [:])
    return fields
  }

  /// Keeps the observer of a stream.
  func keep(_ observer: EventObserver) { state.withLock { $0.streams[ObjectIdentifier(observer)] = observer } }

  /// Releases the observer of a stream, outside the lock.
  func drop(_ observer: EventObserver) {
    let dropped = state.withLock { $0.streams.removeValue(forKey: ObjectIdentifier(observer)) }
    withExtendedLifetime(dropped) {}
  }

  /// A random number in 0..<1.
  func jitter() -> Double { Double.random(in: 0..<1) }

  /// Runs `body` after a pause on the injected clock, unless the task is canceled.
  package func after(_ pause: Duration, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    clock.run(after: pause, body)
  }
}

extension Downloader.Configuration {
  /// The empty schedule of a downloader with these settings.
  fileprivate var schedule: TransferScheduler {
    let (perHost, rate, hosts, maxFailures, retry) = (perHost, rate, hosts, maxHostFailures, retry)
    return TransferScheduler(width: concurrency.clamped(to: Self.counts)) { host in
      let rule = hosts.rule(for: host)
      // Local files, which have no host, get no requests.
      let rate = host.isEmpty ? nil : rule.rate ?? rate
      return HostQueue(
        places: (rule.perHost ?? perHost).clamped(to: Self.counts), rate: rate, maxFailures: maxFailures, retry: retry)
    }
  }
}

extension Clock<Duration> {
  /// Returns a closure that returns the time since now.
  package func stopwatch() -> @Sendable () -> Duration {
    let start = now
    return { start.duration(to: now) }
  }

  /// Runs `body` after a pause, unless the task is canceled.
  func run(after pause: Duration, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    Task {
      guard (try? await sleep(for: pause)) != nil else { return }
      body()
    }
  }
}

// MARK: Callers

// The traffic between callers and jobs. Each step changes the table under its lock, and acts after unlocking.
extension DownloadContext {
  package typealias CallerID = Table.CallerID

  // MARK: From callers to jobs

  /// Starts the download of a caller when all `milestones` are reached, those of its request included. Until then, the
  /// request need not be known.
  func begin(
    _ caller: Caller<Download>, after milestones: [Milestone], on queue: DispatchQueue,
    _ request: @escaping @Sendable () throws(FetchFailure) -> DownloadRequest
  ) {
    caller.wait(for: milestones, on: queue) { [self] in
      do throws(FetchFailure) {
        let (ready, milestones) = try request().withoutMilestones()
        if milestones.isEmpty { return join(ready, caller) }
        begin(caller, after: milestones, on: queue) { () throws(FetchFailure) in ready }
      } catch {
        caller.ended(.failure(error))
      }
    }
  }

  /// Adds a caller that does not wait to the download of `request`.
  func join(_ request: DownloadRequest, _ caller: Caller<Download>) {
    caller.slot.run { demand in
      join(request, caller, demand: demand, epoch: caller.epoch)
      let id = CallerID(caller)
      return WorkHandle { [self] in
        leave(id)
      } setPriority: { [self] priority in
        change(id) { $0.priority = priority }
      } setPaused: { [self] isPaused in
        change(id) { $0.isPaused = isPaused }
      }
    }
  }

  /// Adds a subscriber to the download of `request`, which it starts for the first one.
  ///
  /// - Parameter epoch: the number of calls to ``cancelAll()`` before the subscriber came. Default: as of now.
  package func join(
    _ request: DownloadRequest, _ caller: any DownloadSubscriber, demand: Demand, epoch: Int? = nil
  ) {
    do throws(FetchFailure) {
      try check(request)
    } catch {
      return caller.ended(.failure(error))
    }
    let joined = state.withLock { state -> Table.Joined? in
      // Thread A is here while thread B cancels everything, or releases the downloader: B does not find the caller in
      // any table, but A sees that something has changed.
      guard epoch ?? room.epoch == room.epoch, !demand.isPaused || !isReleased.load(ordering: .relaxed) else {
        return nil
      }
      let joined = state.jobs.join(request.key, caller, id: CallerID(caller), demand: demand) {
        DownloadJob(request, id: $0, in: self)
      }
      if joined.isNew { state.didStart(joined.job) }
      return joined
    }
    guard let joined else { return caller.ended(.failure(.cancelled)) }
    if caller.wantsProgress, let progress = joined.job.watch() { caller.progressed(progress) }
    joined.job.change(to: joined.demand)
    if joined.isNew { joined.job.begin() }
  }

  /// Removes a caller, and cancels its download if it was the last one. The caller must have its end already.
  package func leave(_ id: CallerID) {
    let left = state.withLock { state in
      let left = state.jobs.leave(id)
      if let abandoned = left?.abandoned { state.didFinish(abandoned, .failure(.cancelled)) }
      return left
    }
    left?.abandoned?.cancel()
    if let (job, demand) = left?.remaining { job.change(to: demand) }
  }

  /// Changes the demand of a caller.
  package func change(_ id: CallerID, _ change: (inout Demand) -> Void) {
    guard let (job, demand) = state.withLock({ $0.jobs.change(id, change) }) else { return }
    job.change(to: demand)
  }

  /// Reports progress to a caller from now on. Returns the progress so far.
  package func watch(_ id: CallerID) -> DownloadProgress? { state.withLock { $0.jobs.job(of: id) }?.watch() }

  /// Cancels all downloads. Each of their callers gets `cancelled`.
  func cancelAll() {
    // Those that wait come first: the end of another download may be what they wait for.
    room.cancelAll()
    cancelJobs { _ in true }
  }

  /// Cancels the downloads that all callers have paused, because nobody can resume them anymore.
  func release() {
    state.withLock { _ in isReleased.store(true, ordering: .relaxed) }
    room.cancelPaused()
    cancelJobs { $0.isPaused }
  }

  private func cancelJobs(where isCancelled: (JointDemand) -> Bool) {
    let (jobs, callers) = state.withLock { state in
      let removed = state.jobs.remove(where: isCancelled)
      for job in removed.jobs { state.didFinish(job, .failure(.cancelled)) }
      return removed
    }
    queue.whileFrozen { for job in jobs { job.cancel() } }
    for caller in callers { caller.ended(.failure(.cancelled)) }
  }

  private func check(_ request: DownloadRequest) throws(FetchFailure) {
    guard !isShutDown.load(ordering: .acquiring) else { throw .cancelled }
    try (request.files ?? files).check(request.source)
    if request.source.scheme.isBucket {
      guard let buckets else { throw FetchFailure(.blockedScheme, "Reading objects of buckets is not allowed.") }
      try buckets.check(request.source)
    }
    try request.headerFields.checkFraming()
  }

  // MARK: From jobs to callers

  func progressed(_ job: DownloadJob, _ progress: DownloadProgress) {
    let callers = state.withLock { state -> [any DownloadSubscriber] in
      guard let waiting = state.jobs.waiting(for: job.id) else { return [] }
      state.observers.notify { $0.download(job.request.source, didProgress: progress) }
      return waiting.callers
    }
    for caller in callers { caller.progressed(progress) }
  }

  func ended(_ job: DownloadJob, _ result: Result<Download, FetchFailure>) {
    let callers = state.withLock { state in
      let callers = state.jobs.settle(job.id).served
      // If the last caller has left, or everything was canceled, the observers know the end already.
      if !callers.isEmpty { state.didFinish(job, result) }
      return callers
    }
    if !callers.isEmpty, !job.request.isRobotsFile, job.request.action == .read { metrics.record(result) }
    for caller in callers { caller.ended(result) }
  }
}

extension DownloadContext.State {
  /// Starts a job. Its observers are notified under the lock, so that the end cannot come first.
  fileprivate mutating func didStart(_ job: DownloadJob) {
    observers.notify { $0.downloadDidStart(job.request.source) }
    if !observers.isEmpty { _ = job.watch() }
  }

  fileprivate mutating func didFinish(_ job: DownloadJob, _ result: Result<Download, FetchFailure>) {
    observers.notify { $0.downloadDidFinish(job.request.source, result) }
  }
}

/// Someone who waits for a download: a caller of ``Downloader``, or a job of a pipeline.
package protocol DownloadSubscriber: AnyObject, Sendable {
  /// True if the subscriber needs progress.
  var wantsProgress: Bool { get }
  /// Called from any thread, not necessarily in order. Must not block.
  func progressed(_ progress: DownloadProgress)
  /// Called once for each download that the subscriber has joined and not left, from any thread. Must not block.
  func ended(_ result: Result<Download, FetchFailure>)
}

extension Caller: DownloadSubscriber where Value == Download {
  package var wantsProgress: Bool { inbox.wantsProgress }

  package func progressed(_ progress: DownloadProgress) { offer(progress) }

  package func ended(_ result: Result<Download, FetchFailure>) {
    slot.end()
    end(result, complete: .complete(result))
  }
}

/// The metrics of a downloader. The handles are made once, because making one may take a lock.
final class DownloadMetrics: Sendable {
  private let factory: any MetricsFactory
  private let bytes: Counter
  private let time: CoreMetrics.Timer
  private let done: Counter
  /// A counter per failure code, made at the first failure with it.
  private let failures = Mutex<[FailureCode: Counter]>([:])

  init(_ factory: any MetricsFactory) {
    self.factory = factory
    bytes = Counter(label: "thumbs_downloaded_bytes_total", factory: factory)
    time = CoreMetrics.Timer(label: "thumbs_download_seconds", preferredDisplayUnit: .seconds, factory: factory)
    done = Self.counter(code: "", factory)
  }

  /// Counts a download that has ended.
  func record(_ result: Result<Download, FetchFailure>) {
    switch result {
    case .success(let download):
      let status = download.response.status.code
      guard status < 400 else { return counter(of: .http(status)).increment() }
      done.increment()
      bytes.increment(by: download.length)
      time.record(download.elapsed)
    case .failure(let failure): counter(of: failure.code).increment()
    }
  }

  private func counter(of code: FailureCode) -> Counter {
    failures.withLock { failures in
      if let known = failures[code] { return known }
      let counter = Self.counter(code: "\(code)", factory)
      failures[code] = counter
      return counter
    }
  }

  private static func counter(code: String, _ factory: any MetricsFactory) -> Counter {
    Counter(label: "thumbs_downloads_total", dimensions: [("code", code)], factory: factory)
  }
}

extension CoreMetrics.Timer {
  /// Records a duration; a negative one as zero.
  package func record(_ duration: Duration) {
    let (seconds, attoseconds) = max(.zero, duration).components
    recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}
