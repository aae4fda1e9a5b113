internal import Foundation
internal import HTTPTypes
internal import ImageCache
internal import Synchronization

extension SourceJob {
  /// Bytes to render, and where they came from.
  enum Material: Sendable {
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
  func render(_ download: Download) {
    pipeline.budget.hold(download.body.count)
    queue(holding: download.body.count) { job in
      let digest = BodyDigest(of: download.body)
      if let error = job.pipeline.cache.imageError(of: digest) {
        job.fail(error, download, digest)
      } else {
        job.renderRounds(.downloaded(download, digest))
      }
    }
  }

  /// Leaves `work` to the threads that render, and releases the bytes that are held for it afterwards.
  func queue(holding bytes: Int, _ work: @escaping @Sendable (SourceJob) -> Void) {
    pipeline.renders.addOperation { [self] in
      defer { pipeline.budget.release(bytes) }
      work(self)
    }
  }

  /// Renders until nobody waits: who joins during a round may want other sizes.
  func renderRounds(_ material: Material) {
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
      let timings = Timings(
        queued: created.duration(to: begin) - download.elapsed, download: download.elapsed,
        render: begin.duration(to: .now))
      return ServedSource(rendering, downloadedFrom: self.source, download, timings: timings)
    case .kept(let source, _):
      pipeline.cache.store(source, thumbnails: rendering.thumbnails, for: key)
      let timings = Timings(queued: created.duration(to: begin), render: begin.duration(to: .now))
      return ServedSource(rendering, keptFrom: source, timings: timings)
    }
  }

  private func storedSource(_ image: SourceImage, _ download: Download, _ digest: BodyDigest) -> StoredSource {
    StoredSource(
      url: source.description, finalURL: download.finalURL, status: download.response.status.code,
      policy: .ofAny(
        response: download.response, redirects: download.redirects, mayBeStored: download.isCacheable,
        requestedAt: download.requestedAt, respondedAt: download.respondedAt),
      content: .picture(image, digest: digest, bytes: download.body.count), obtained: .now)
  }
}
