import Foundation
import HTTPTypes
import Logging

@testable import ImageCache

/// A directory of its own for one test, removed at the end.
final class TemporaryDirectory: Sendable {
  let path = FileManager.default.temporaryDirectory.path + "/thumbs-cache-\(UUID().uuidString)"

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The paths of all files inside, from the top.
  var files: [String] { (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? [] }
}

/// Sources and thumbnails whose bytes follow from their names, so that any reader can check them.
enum CacheFixtures {
  static let start = Date(timeIntervalSince1970: 1_790_000_000)
  static let spec = ThumbnailSpec(width: 64)

  /// How often a test that grows with patience repeats: what the environment's `variable` says, where it is set.
  static func count(of variable: String, otherwise count: Int) -> Int {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? count
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
      content: .picture(image, digest: BodyDigest(of: Array("\(number) \(body)".utf8)), bytes: 100_000))
  }

  static func failure(_ number: Int, code: String = "http_404") -> StoredSource {
    StoredSource(
      url: url(number), status: 404, policy: policy("", status: 404),
      content: .failure(code: code, message: "The server has no such picture."))
  }

  static func thumbnail(_ number: Int, spec: ThumbnailSpec = spec, bytes: Int = 2000) -> Thumbnail {
    var generator = SplitMix(state: UInt64(number) &* 1_000_003 &+ UInt64(spec.box.width))
    var words = (0..<(bytes + 7) / 8).map { _ in generator.next() }
    let picture = words.withUnsafeMutableBytes { [UInt8]($0.prefix(bytes)) }
    return Thumbnail(spec: spec, size: PixelSize(width: 64, height: 48), format: .jpeg, bytes: picture)
  }
}

/// The same numbers on every run (Steele, Lea, Flood: SplitMix64).
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}

extension Logger {
  /// A logger for tests that expect failures.
  static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension ThumbnailCache {
  /// A cache without a memory level, so that every answer comes from staging or disk.
  convenience init(
    diskAt path: String, limit: Int = 64 << 20, now: @escaping @Sendable () -> Date = { CacheFixtures.start }
  ) {
    self.init(Configuration(directory: path, diskByteLimit: limit, memoryByteLimit: 0), logger: .silent, now: now)
  }
}
