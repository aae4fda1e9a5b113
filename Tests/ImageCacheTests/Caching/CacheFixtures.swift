import Foundation
import HTTPTypes
import Logging
import TestSupport
import Testing

@testable import ImageCache

/// The path of a cache for one test, inside a temporary directory. Nothing exists there until a cache creates it.
struct CachePlace {
  let path: String
  private let parent: TemporaryDirectory

  init() throws {
    parent = try TemporaryDirectory()
    path = parent.path("cache")
  }

  /// The relative paths of all files inside, at any depth.
  var files: [String] { (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? [] }
}

/// Sources and thumbnails whose bytes are derived from their numbers, so that every lookup can be verified.
enum CacheFixtures {
  static let start = Date(timeIntervalSince1970: 1_790_000_000)
  static let spec = ThumbnailSpec(width: 64)

  /// Returns the number of rounds of a repeating test: the value of the environment variable, if it is set.
  static func count(of variable: String, otherwise count: Int) -> Int {
    environmentNumber(variable) ?? count
  }

  static func url(_ number: Int) -> String { "https://img.example/\(number).jpg" }

  static func key(_ number: Int) -> SourceKey { SourceKey(url: url(number)) }

  static func policy(_ cacheControl: String = "max-age=3600", status: Int = 200, at date: Date = start) -> CachePolicy {
    CachePolicy(
      status: status, fields: ResponseFields([.cacheControl: cacheControl, .eTag: "\"v1\""]),
      requestedAt: date.wholeSeconds, respondedAt: date.wholeSeconds)
  }

  static func source(_ number: Int, body: String = "body", policy: CachePolicy = policy()) -> StoredSource {
    let image = SourceImage(size: PixelSize(width: 640, height: 480), format: .jpeg)
    return StoredSource(
      url: url(number), status: 200, policy: policy,
      content: .image(image, digest: BodyDigest(of: Array("\(number) \(body)".utf8)), bytes: 100_000))
  }

  /// A source whose downloaded file is `original`.
  static func source(_ number: Int, original: [UInt8]) -> StoredSource {
    let image = SourceImage(size: PixelSize(width: 640, height: 480), format: .jpeg)
    return StoredSource(
      url: url(number), status: 200, policy: policy(),
      content: .image(image, digest: BodyDigest(of: original), bytes: original.count))
  }

  static func failure(_ number: Int, code: String = "http_404") -> StoredSource {
    StoredSource(
      url: url(number), status: 404, policy: policy("", status: 404),
      content: .failure(code: code, message: "The server has no such image."))
  }

  static func thumbnail(_ number: Int, spec: ThumbnailSpec = spec, bytes: Int = 2000) -> Thumbnail {
    var generator = SeededGenerator(seed: UInt64(number) &* 1_000_003 &+ UInt64(spec.box.width))
    var words = (0..<(bytes + 7) / 8).map { _ in generator.next() }
    let body = words.withUnsafeMutableBytes { [UInt8]($0.prefix(bytes)) }
    return Thumbnail(spec: spec, size: PixelSize(width: 64, height: 48), format: .jpeg, bytes: body)
  }
}

extension Logger {
  /// A logger for tests that expect failures.
  static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension ThumbnailCache {
  /// Creates a cache without a memory tier, so that every lookup is served by staged writes or the disk.
  convenience init(
    diskAt path: String, limit: Int = 64 << 20, now: @escaping @Sendable () -> Date = { CacheFixtures.start }
  ) {
    self.init(Configuration(directory: path, diskByteLimit: limit, memoryByteLimit: 0), logger: .silent, now: now)
  }

  /// Stores the sources of `numbers`, each with one thumbnail of `bytes` bytes.
  func store(_ numbers: Range<Int>, bytes: Int = 2000) {
    for number in numbers {
      store(
        CacheFixtures.source(number), thumbnails: [CacheFixtures.thumbnail(number, bytes: bytes)],
        for: CacheFixtures.key(number))
    }
  }

  /// Counts the thumbnails found of `numbers`. Each entry found must equal what ``store(_:bytes:)`` stored.
  ///
  /// - Parameter source: Returns the source stored for a number.
  func checkedHits(
    _ numbers: Range<Int>, bytes: Int = 2000, source: (Int) -> StoredSource = { CacheFixtures.source($0) }
  ) -> Int {
    numbers.count { number in
      let (key, url, spec) = (CacheFixtures.key(number), CacheFixtures.url(number), CacheFixtures.spec)
      guard let entry = entry(for: key, url: url, specs: [spec]) else { return false }
      #expect(entry.source == source(number))
      guard let thumbnail = entry.thumbnails[spec] else { return false }
      #expect(thumbnail == CacheFixtures.thumbnail(number, bytes: bytes))
      return true
    }
  }
}

extension DiskCache {
  /// Returns a single entry.
  func entry(for key: SourceKey, url: String, specs: [ThumbnailSpec]) -> CacheEntry? {
    entries(for: [CacheLookup(key: key, url: url, specs: specs)])[0]
  }
}
