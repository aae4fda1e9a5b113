internal import Foundation
internal import HTTPTypes
internal import ImageCache
internal import Synchronization

/// The way of one source, from the cache to the thumbnails of everyone who waits for it: one look-up, at most one
/// download at a time, one decode for all sizes that are wanted when it begins. Who joins later with another size is
/// served by a further round over the same bytes.
final class SourceJob: Sendable {
  private struct State {
    var download: DownloadToken?
    var isCancelled = false
  }

  let source: SourceURL
  let key: SourceKey
  private let generation: UInt64
  private let headerFields: HTTPFields
  private let created: ContinuousClock.Instant
  private let pipeline: PipelineCore
  private let state = Mutex(State())

  init(_ request: ThumbnailRequest, of source: SourceURL, key: SourceKey, generation: UInt64, in pipeline: PipelineCore)
  {
    self.source = source
    self.key = key
    self.generation = generation
    self.headerFields = request.headerFields
    self.created = .now
    self.pipeline = pipeline
  }

  /// Begins with the look into the cache, which may wait for the disk.
  func start() {
    pipeline.lookUps.addOperation { [self] in lookUp() }
  }

  /// Nobody waits any more.
  func cancel() {
    let download = state.withLock { state in
      state.isCancelled = true
      return state.download.take()
    }
    download?.cancel()
  }

  func setPriority(_ priority: ThumbnailRequest.Priority) {
    state.withLock { $0.download }?.setPriority(priority)
  }

  // MARK: The steps

  private func lookUp() {
    guard let wish = pipeline.wish(for: self, generation) else { return }
    let entry = pipeline.cache.entry(for: key, url: source.description, specs: wish.specs)
    let verdict = CacheVerdict(
      entry, specs: wish.specs, mode: pipeline.mode, since: wish.since, now: pipeline.now())
    switch verdict {
    case .serve(let picture, let origin): serve(picture, origin)
    case .fail(let failure): conclude(.failure(failure))
    case .complete(let source): complete(source, priority: wish.priority)
    case .fetch(let picture): download(confirming: picture, priority: wish.priority)
    }
  }

  /// Makes what is missing from the file itself, if that was kept.
  private func complete(_ source: StoredSource, priority: ThumbnailRequest.Priority) {
    let body = pipeline.cache.original(of: source, for: key)
    if !body.isEmpty {
      queue(holding: body.count) { $0.renderRounds(.kept(source, body)) }
    } else if pipeline.mode == .offline {
      conclude(.failure(CacheVerdict.offlineMiss))
    } else {
      download(confirming: nil, priority: priority)
    }
  }

  private func download(confirming picture: CachedPicture?, priority: ThumbnailRequest.Priority) {
    var request = DownloadRequest(source: source, headerFields: headerFields, priority: priority)
    for field in picture?.source.policy.conditionalFields ?? [:] { request.headerFields[field.name] = field.value }
    request.inspection = pipeline.inspection
    let token = pipeline.downloader.download(request) { [self] in downloaded($0, confirming: picture) }
    let isCancelled = state.withLock { state in
      state.download = token
      return state.isCancelled
    }
    // A cancel that came before the token was known has cancelled nothing yet.
    if isCancelled { token.cancel() }
  }

  private func downloaded(_ result: Result<Download, FetchFailure>, confirming picture: CachedPicture?) {
    state.withLock { $0.download = nil }
    if case .success(let download) = result {
      pipeline.downloadedBytes.add(download.body.count, ordering: .relaxed)
    }
    switch Settlement(result, confirming: picture, now: pipeline.now()) {
    case .render(let download): render(download)
    case .confirmed(let picture, let download): renew(picture, download)
    case .stale(let picture): serve(picture, .stale)
    case .askAgain: download(confirming: nil, priority: pipeline.wish(for: self, generation)?.priority ?? .normal)
    case .fail(let failure): fail(failure)
    }
  }

  private func renew(_ picture: CachedPicture, _ download: Download) {
    var picture = picture
    picture.source.policy = picture.source.policy.renewed(
      by: download.response, requestedAt: download.requestedAt, respondedAt: download.respondedAt)
    picture.source.obtained = .now
    pipeline.cache.renew(picture.source, for: key)
    serve(picture, .revalidated, download)
  }

  /// Bytes to render, and where they came from.
  private enum Material: Sendable {
    case downloaded(Download, BodyDigest)
    case kept(StoredSource, [UInt8])

    var body: [UInt8] {
      switch self {
      case .downloaded(let download, _): download.body
      case .kept(_, let body): body
      }
    }
  }

  /// Renders what came, unless these bytes are known to be no picture.
  private func render(_ download: Download) {
    queue(holding: download.body.count) { job in
      let digest = BodyDigest(of: download.body)
      if let error = job.pipeline.cache.imageError(of: digest) {
        job.fail(error, download, digest)
      } else {
        job.renderRounds(.downloaded(download, digest))
      }
    }
  }

  /// Leaves `work` to the threads that render, and accounts for the bytes in hand until then.
  private func queue(holding bytes: Int, _ work: @escaping @Sendable (SourceJob) -> Void) {
    pipeline.budget.hold(bytes)
    pipeline.renders.addOperation { [self] in
      defer { pipeline.budget.release(bytes) }
      work(self)
    }
  }

  /// Renders until nobody waits: who joins during a round may want other sizes.
  private func renderRounds(_ material: Material) {
    var isOver = false
    while !isOver, let wish = pipeline.wish(for: self, generation) {
      let begin = ContinuousClock.now
      do throws(ImageError) {
        pipeline.decodeCount.add(1, ordering: .relaxed)
        let rendering = try pipeline.renderer.render(material.body, specs: wish.specs)
        isOver = pipeline.settle(self, generation, .success(stored(rendering, material, begin: begin)))
      } catch {
        switch material {
        case .downloaded(let download, let digest): return fail(error, download, digest)
        // What cannot be read any more is asked for again.
        case .kept: return download(confirming: nil, priority: wish.priority)
        }
      }
    }
  }

  /// Puts thumbnails into the cache, and says what those get who wait.
  private func stored(
    _ rendering: Renderer.Rendering, _ material: Material, begin: ContinuousClock.Instant
  ) -> ServedSource {
    switch material {
    case .downloaded(let download, let digest):
      let source = storedSource(rendering.source, download, digest)
      pipeline.cache.store(source, thumbnails: rendering.thumbnails, original: download.body, for: key)
      return served(rendering, download, begin: begin)
    case .kept(let source, _):
      pipeline.cache.store(source, thumbnails: rendering.thumbnails, for: key)
      let timings = Timings(queued: created.duration(to: begin), render: begin.duration(to: .now))
      return ServedSource(rendering, keptFrom: source, timings: timings)
    }
  }

  // MARK: The ends

  private func serve(_ picture: CachedPicture, _ origin: ThumbnailSet.Origin, _ download: Download? = nil) {
    let elapsed = download?.elapsed ?? .zero
    let timings = Timings(queued: created.duration(to: .now) - elapsed, download: elapsed)
    let served = ServedSource(picture, origin: origin, timings: timings)
    conclude(.success(download.map { served.answered(by: $0) } ?? served))
  }

  private func fail(_ error: ImageError, _ download: Download, _ digest: BodyDigest) {
    var failure = FetchFailure(.image(error.code), error.message, attempts: download.attempts)
    failure.response = download.response
    fail(failure, error.code.isFinal ? digest : nil)
  }

  /// - Parameter digest: Of the whole file, where that alone is the reason.
  private func fail(_ failure: FetchFailure, _ digest: BodyDigest? = nil) {
    remember(failure, digest)
    conclude(.failure(failure))
  }

  /// Serves whom the outcome serves. Who came meanwhile with other wishes begins anew.
  private func conclude(_ outcome: Result<ServedSource, FetchFailure>) {
    if !pipeline.settle(self, generation, outcome) { start() }
  }

  /// What will still be so in a while is not asked for again: a missing picture, and bytes that are none.
  private func remember(_ failure: FetchFailure, _ digest: BodyDigest?) {
    guard let response = failure.response, failure.code.isLasting else { return }
    let now = pipeline.now()
    guard let policy = CachePolicy(response: response, requestedAt: now, respondedAt: now) else { return }
    let stored = StoredSource(
      url: source.description, status: response.status.code, policy: policy,
      content: .failure(code: failure.code.description, message: failure.message, digest: digest), obtained: .now)
    pipeline.cache.store(stored, thumbnails: [], for: key)
  }

  private func storedSource(_ image: SourceImage, _ download: Download, _ digest: BodyDigest) -> StoredSource {
    StoredSource(
      url: source.description, finalURL: download.finalURL, status: download.response.status.code,
      policy: .ofAny(
        response: download.response, requestedAt: download.requestedAt, respondedAt: download.respondedAt),
      content: .picture(image, digest: digest, bytes: download.body.count), obtained: .now)
  }

  private func served(
    _ rendering: Renderer.Rendering, _ download: Download, begin: ContinuousClock.Instant
  ) -> ServedSource {
    let render = begin.duration(to: .now)
    let queued = created.duration(to: begin) - download.elapsed
    let common = ThumbnailSet(
      origin: source.scheme == .file ? .file : .network, thumbnails: [], source: rendering.source,
      sourceBytes: download.body.count, httpStatus: source.scheme == .file ? nil : download.response.status.code,
      finalURL: download.finalURL, attempts: download.attempts,
      timings: Timings(queued: queued, download: download.elapsed, render: render), warnings: rendering.warnings)
    return ServedSource(common, thumbnails: Dictionary(rendering.thumbnails.map { ($0.spec, $0) }) { $1 })
  }
}

extension FailureCode {
  /// Whether asking again soon would bring the same.
  fileprivate var isLasting: Bool {
    switch self {
    case .http(404), .http(410), .image(.notAnImage), .image(.unsupportedFormat), .image(.tooManyPixels),
      .image(.decodeError), .image(.decodeLimit):
      true
    default: false
    }
  }
}
