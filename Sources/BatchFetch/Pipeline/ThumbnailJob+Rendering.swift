internal import Foundation
internal import HTTPTypes
internal import ImageCache
internal import Synchronization

extension ThumbnailJob {
  /// Bytes to render, and their origin.
  enum Material: Sendable {
    case downloaded(Download, BodyDigest)
    case kept(StoredSource, [UInt8], CacheEntry.Tier)

    var body: [UInt8] {
      switch self {
      case .downloaded(let download, _): download.body
      case .kept(_, let body, _): body
      }
    }
  }

  /// Renders a downloaded body, unless nobody wants these bytes, or the cache knows that they cannot be decoded.
  func render(_ download: Download) {
    context.budget.hold(download.body.count, of: source.host)
    queue(holding: download.body.count, of: source.host) { job in
      let digest = BodyDigest(of: download.body)
      if job.context.settle(job, expectingOtherThan: digest, download) { return }
      if var failure = job.context.content.failure(of: digest) {
        (failure.head, failure.attempts) = (download.head, download.attempts)
        job.fail(failure, digest)
      } else if let error = job.context.cache.imageError(of: digest),
        !job.context.renderer.failLevel.tolerates(error.code)
      {
        job.fail(error, download, digest)
      } else {
        job.renderRounds(.downloaded(download, digest))
      }
    }
  }

  /// Runs `work` on the threads that render, then releases the bytes held for it, and for this host.
  func queue(holding bytes: Int, of host: String? = nil, _ work: @escaping @Sendable (ThumbnailJob) -> Void) {
    waitToRender(holding: bytes, of: host) { job in
      defer { job.context.budget.release(bytes, of: host) }
      work(job)
    }
  }

  /// Renders until no caller is left: callers that join during a round may want other sizes.
  func renderRounds(_ material: Material) {
    var isOver = false
    while !isOver, let demand = context.demand(of: self) {
      let begin = ContinuousClock.now
      do throws(ImageError) {
        context.decodeCount.add(1, ordering: .relaxed)
        let rendering = try context.renderer(for: options).render(material.body, specs: demand.specs)
        isOver = context.settle(self, .success(stored(rendering, material, begin: begin)))
      } catch {
        switch material {
        case .downloaded(let download, let digest): return fail(error, download, digest)
        case .kept: return failed(error)
        }
      }
    }
  }

  /// Handles an error of a kept original: it breaks a limit, or is damaged.
  private func failed(_ error: ImageError) {
    if [.tooManyPixels, .tooFewPixels].contains(error.code) {
      conclude(.failure(FetchFailure(error)))
    } else if mode == .offline {
      conclude(.failure(CacheDecision.offlineMiss))
    } else {
      download(confirming: nil)
    }
  }

  /// Stores thumbnails in the cache, and returns what the callers are served from.
  private func stored(
    _ rendering: Renderer.Rendering, _ material: Material, begin: ContinuousClock.Instant
  ) -> ServedSource {
    switch material {
    case .downloaded(let download, let digest):
      let source = storedSource(rendering.source, download, digest)
      if !rendering.isDamaged {
        context.cache.store(source, thumbnails: rendering.thumbnails, original: download.body, for: key)
        upload(source, rendering.thumbnails)
      }
      let timings = Timings(
        queued: created.duration(to: begin) - download.elapsed, download: download.elapsed,
        render: begin.duration(to: .now))
      context.metrics.rendered(timings)
      return ServedSource(
        rendering, downloadedFrom: self.source, download, digest,
        freshUntil: source.policy.freshUntil(at: context.now()), timings: timings)
    case .kept(let source, let body, let tier):
      // Larger thumbnails may need damaged data that smaller ones do not.
      if !rendering.isDamaged {
        context.cache.store(source, thumbnails: rendering.thumbnails, for: key)
        upload(rendering.thumbnails, of: source)
      }
      let timings = Timings(queued: created.duration(to: begin), render: begin.duration(to: .now))
      context.metrics.rendered(timings)
      return ServedSource(rendering, keptFrom: source, body, in: tier, now: context.now(), timings: timings)
    }
  }

  private func storedSource(_ image: SourceImage, _ download: Download, _ digest: BodyDigest) -> StoredSource {
    StoredSource(
      url: identity.url, finalURL: download.finalURL, status: download.response.status.code,
      policy: .ofAny(
        response: download.response, redirects: download.redirects.map(\.response),
        mayBeStored: download.isCacheable, mayBeShared: context.sharing.allows(download.head, from: source),
        requestedAt: download.requestedAt, respondedAt: download.respondedAt),
      content: .image(image, digest: digest, bytes: download.body.count), obtained: .now)
  }
}
