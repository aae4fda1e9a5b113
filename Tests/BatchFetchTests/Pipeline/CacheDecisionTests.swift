import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import Testing

@testable import BatchFetch

@Suite struct CacheDecisionTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)
  private static let spec = ThumbnailSpec(width: 8)
  private static let thumbnail = Thumbnail(spec: spec, size: PixelSize(width: 8, height: 8), format: .png, bytes: [1])

  private func entry(
    _ content: StoredSource.Content? = nil, obtained: ContinuousClock.Instant? = nil, tier: CacheEntry.Tier = .disk,
    thumbnails: [ThumbnailSpec: Thumbnail] = [spec: thumbnail]
  ) -> CacheEntry {
    let response = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60", .eTag: "\"1\""])
    let image = StoredSource.Content.image(
      SourceImage(size: PixelSize(width: 9, height: 9), format: .png), digest: BodyDigest(of: [1]), bytes: 1)
    let source = StoredSource(
      url: "http://h/", status: 200,
      policy: .ofAny(response: response, requestedAt: Self.start, respondedAt: Self.start),
      content: content ?? image, obtained: obtained)
    return CacheEntry(source: source, thumbnails: thumbnails, origin: tier)
  }

  /// The decision in short.
  private func decision(
    _ entry: CacheEntry?, mode: CacheMode = .normal, since: ContinuousClock.Instant? = nil, after seconds: Double = 1
  ) -> String {
    var request = ThumbnailRequest(url: "https://images.example/a.png", specs: [Self.spec])
    request.since = since
    let decision = CacheDecision(
      entry, RenderDemand(request), mode: mode, now: Self.start.addingTimeInterval(seconds))
    return switch decision {
    case .serve(_, let origin): "serve \(origin)"
    case .complete: "complete"
    case .fail(let failure): "fail \(failure.code)"
    case .fetch(let image): image == nil ? "fetch" : "confirm"
    }
  }

  @Test func `A fresh entry is served, a stale one revalidated, a missing one fetched`() {
    #expect(decision(entry()) == "serve disk")
    #expect(decision(entry(tier: .memory)) == "serve memory")
    #expect(decision(entry(), after: 61) == "confirm")
    #expect(decision(nil) == "fetch")
  }

  @Test func `A stale entry without all thumbnails is fetched without conditions`() {
    #expect(decision(entry(thumbnails: [:]), after: 61) == "fetch")
  }

  @Test func `A fresh entry that lacks a size is completed from its original`() {
    #expect(decision(entry(thumbnails: [:])) == "complete")
    #expect(decision(entry(thumbnails: [:]), mode: .offline, after: 61) == "complete")
    #expect(decision(entry(thumbnails: [:]), mode: .refresh) == "fetch")
  }

  @Test func `Refresh mode revalidates fresh entries, and offline mode serves stale ones`() {
    #expect(decision(entry(), mode: .refresh) == "confirm")
    #expect(decision(entry(), mode: .offline, after: 61) == "serve stale")
    #expect(decision(nil, mode: .offline) == "fail offline_miss")
  }

  @Test func `An entry fetched since the batch began counts as fresh`() {
    let now = ContinuousClock.now
    let stale = entry(obtained: now, tier: .memory)
    #expect(decision(stale, since: now - .seconds(1), after: 61) == "serve memory")
    #expect(decision(stale, since: now + .seconds(1), after: 61) == "confirm")
    #expect(decision(stale, after: 61) == "confirm")
    #expect(decision(entry(), mode: .refresh, since: now) == "confirm")
  }

  @Test func `Retry mode serves fresh images, and failures only since the batch began`() {
    let (now, failure) = (ContinuousClock.now, StoredSource.Content.failure(code: "http_404", message: "It is gone."))
    #expect(decision(entry(), mode: .retry) == "serve disk")
    #expect(decision(entry(), mode: .retry, after: 61) == "confirm")
    #expect(decision(entry(failure, thumbnails: [:]), mode: .retry) == "fetch")
    let recent = entry(failure, obtained: now, thumbnails: [:])
    #expect(decision(recent, mode: .retry, since: now - .seconds(1)) == "fail http_404")
    #expect(decision(recent, mode: .retry, since: now + .seconds(1)) == "fetch")
  }

  @Test(arguments: [true, false])
  func `A failure that was remembered has the time of its response`(isOfBatch: Bool) {
    let now = ContinuousClock.now
    var request = ThumbnailRequest(url: "https://images.example/a.png", specs: [Self.spec])
    request.since = isOfBatch ? now : nil
    let failure = entry(.failure(code: "http_404", message: "It is gone."), obtained: now, thumbnails: [:])
    let decision = CacheDecision(failure, RenderDemand(request), mode: .normal, now: Self.start)

    let served: FetchFailure? = if case .fail(let failure) = decision { failure } else { nil }
    let suffix = isOfBatch ? "" : " Remembered from 2023-11-14T22:13:20Z; no request was sent."
    #expect(served?.rememberedSince == (isOfBatch ? nil : Self.start))
    #expect(served?.message == "It is gone." + suffix)
  }

  @Test func `A cached failure is served while it is fresh`() {
    let failure = entry(.failure(code: "not_an_image", message: "A web page."), thumbnails: [:])
    #expect(decision(failure) == "fail not_an_image")
    #expect(decision(failure, after: 61) == "fetch")
  }
}
