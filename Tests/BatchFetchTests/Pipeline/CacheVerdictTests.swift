import Foundation
import HTTPTypes
import ImageCache
import Testing

@testable import BatchFetch

@Suite struct CacheVerdictTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)
  private static let spec = ThumbnailSpec(width: 8)
  private static let thumbnail = Thumbnail(spec: spec, size: PixelSize(width: 8, height: 8), format: .png, bytes: [1])

  private func entry(
    _ content: StoredSource.Content? = nil, obtained: ContinuousClock.Instant? = nil, tier: CacheEntry.Tier = .disk,
    thumbnails: [ThumbnailSpec: Thumbnail] = [spec: thumbnail]
  ) -> CacheEntry {
    let response = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60", .eTag: "\"1\""])
    let picture = StoredSource.Content.picture(
      SourceImage(size: PixelSize(width: 9, height: 9), format: .png), digest: BodyDigest(of: [1]), bytes: 1)
    let source = StoredSource(
      url: "http://h/", status: 200,
      policy: .ofAny(response: response, requestedAt: Self.start, respondedAt: Self.start),
      content: content ?? picture, obtained: obtained)
    return CacheEntry(source: source, thumbnails: thumbnails, origin: tier)
  }

  /// The verdict in short.
  private func verdict(
    _ entry: CacheEntry?, mode: CacheMode = .normal, since: ContinuousClock.Instant? = nil, after seconds: Double = 1
  ) -> String {
    let verdict = CacheVerdict(
      entry, specs: [Self.spec], mode: mode, since: since, now: Self.start.addingTimeInterval(seconds))
    return switch verdict {
    case .serve(_, let origin): "serve \(origin)"
    case .complete: "complete"
    case .fail(let failure): "fail \(failure.code)"
    case .fetch(let picture): picture == nil ? "fetch" : "confirm"
    }
  }

  @Test func `Fresh is served, stale is confirmed, missing is fetched`() {
    #expect(verdict(entry()) == "serve disk")
    #expect(verdict(entry(tier: .memory)) == "serve memory")
    #expect(verdict(entry(), after: 61) == "confirm")
    #expect(verdict(nil) == "fetch")
  }

  @Test func `Without all its thumbnails, a confirmation would be of no use`() {
    #expect(verdict(entry(thumbnails: [:]), after: 61) == "fetch")
  }

  @Test func `What is good and lacks a size may be completed from its file`() {
    #expect(verdict(entry(thumbnails: [:])) == "complete")
    #expect(verdict(entry(thumbnails: [:]), mode: .offline, after: 61) == "complete")
    #expect(verdict(entry(thumbnails: [:]), mode: .refresh) == "fetch")
  }

  @Test func `Refreshing confirms what is fresh, offline serves what is stale`() {
    #expect(verdict(entry(), mode: .refresh) == "confirm")
    #expect(verdict(entry(), mode: .offline, after: 61) == "serve stale")
    #expect(verdict(nil, mode: .offline) == "fail offline_miss")
  }

  @Test func `What was got since the batch began is good, fresh or not`() {
    let now = ContinuousClock.now
    let stale = entry(obtained: now, tier: .memory)
    #expect(verdict(stale, since: now - .seconds(1), after: 61) == "serve memory")
    #expect(verdict(stale, since: now + .seconds(1), after: 61) == "confirm")
    #expect(verdict(stale, after: 61) == "confirm")
    #expect(verdict(entry(), mode: .refresh, since: now) == "confirm")
  }

  @Test func `A failure is believed while it is fresh`() {
    let failure = entry(.failure(code: "not_an_image", message: "A web page."), thumbnails: [:])
    #expect(verdict(failure) == "fail not_an_image")
    #expect(verdict(failure, after: 61) == "fetch")
  }
}
