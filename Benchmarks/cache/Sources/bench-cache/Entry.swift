import Foundation
import HTTPTypes
import ImageCache
import Logging

/// A source with its thumbnail, as a run of `thumbs` would store them.
struct Entry {
  static let specs = [ThumbnailSpec(width: 256)]
  private static let now = Date()
  private static let policy = CachePolicy.ofAny(
    response: HTTPResponse(
      status: .ok,
      headerFields: [
        .cacheControl: "public, max-age=86400", .eTag: "\"5f2b-60c1\"", .date: "Sat, 21 Nov 2026 10:00:00 GMT",
        .lastModified: "Sun, 01 Mar 2026 00:00:00 GMT",
      ]), requestedAt: now, respondedAt: now)

  let url: String
  let key: SourceKey

  init(_ number: Int) {
    url = "https://images.example/photos/\(number).jpg"
    key = SourceKey(url: url)
  }

  /// Returns the bytes of the thumbnail. They are random, so that no file system can compress or share them.
  static func body(_ number: Int, count: Int) -> [UInt8] {
    var generator = SplitMix(state: UInt64(number))
    var words = (0..<(count + 7) / 8).map { _ in generator.next() }
    return words.withUnsafeMutableBytes { [UInt8]($0.prefix(count)) }
  }

  func store(_ body: [UInt8], in cache: ThumbnailCache) {
    let image = SourceImage(size: PixelSize(width: 1600, height: 1200), format: .jpeg)
    let source = StoredSource(
      url: url, status: 200, policy: Self.policy,
      content: .image(image, digest: BodyDigest(of: Array(url.utf8)), bytes: 300_000))
    let thumbnail = Thumbnail(
      spec: Self.specs[0], size: PixelSize(width: 256, height: 192), format: .jpeg, bytes: body)
    cache.store(source, thumbnails: [thumbnail], for: key)
  }

  var lookup: CacheLookup { CacheLookup(key: key, url: url, specs: Self.specs) }

  func isFound(in cache: ThumbnailCache) -> Bool {
    cache.entry(for: key, url: url, specs: Self.specs)?.thumbnails.count == 1
  }
}

extension ThumbnailCache {
  /// Creates a cache without a memory tier.
  static func onDisk(_ directory: String, limit: Int = 8 << 30) -> ThumbnailCache {
    ThumbnailCache(
      Configuration(directory: directory, diskByteLimit: limit, memoryByteLimit: 0), logger: Logger(label: "bench"))
  }
}
