import Foundation
import ImageCache
import Synchronization
import TestSupport
import Testing

/// The cache for images that do not come by HTTP.
@Suite(.timeLimit(.minutes(10))) struct NamedImageTests {
  private let directory: TemporaryDirectory
  private let reads = Counter()
  private let photo = SampleImage.jpeg(width: 64, height: 48)
  private let specs = [ThumbnailSpec(width: 16), ThumbnailSpec(width: 8)]

  init() throws { directory = try TemporaryDirectory() }

  private func thumbnails(
    _ name: String, _ specs: [ThumbnailSpec], in cache: ThumbnailCache, lifetime: Duration = .seconds(3600),
    process: PixelProcess? = nil
  ) async throws -> [Thumbnail] {
    var renderer = Renderer()
    renderer.process = process
    return try await cache.thumbnails(of: name, specs: specs, lifetime: lifetime, renderer: renderer) {
      _ = reads.next()
      return photo
    }
  }

  @Test func `An image is read once, and a later process finds its thumbnails on disk`() async throws {
    let configuration = ThumbnailCache.Configuration(directory: directory.path("cache"))
    let cache = ThumbnailCache(configuration)
    let made = try await thumbnails("a", specs, in: cache)
    #expect(try await thumbnails("a", specs, in: cache) == made)
    cache.flush()

    #expect(try await thumbnails("a", specs.reversed(), in: ThumbnailCache(configuration)) == made.reversed())
    #expect(reads.value == 1 && made.map(\.size.width) == [16, 8])
  }

  @Test func `Another name, another size and another process are another thumbnail`() async throws {
    let cache = ThumbnailCache()
    let first = try await thumbnails("a 2026-01-01", [specs[0]], in: cache)
    let inverted = PixelProcess(id: "inverted") { pixels in
      pixels.change { samples in
        for index in samples.indices where index % 4 < 3 { samples[index] = 255 - samples[index] }
      }
    }
    #expect(try await thumbnails("a 2026-01-02", [specs[0]], in: cache) == first)
    #expect(try await thumbnails("a 2026-01-01", specs, in: cache)[0] == first[0])
    #expect(try await thumbnails("a 2026-01-01", [specs[0]], in: cache, process: inverted) != first)
    #expect(try await thumbnails("a 2026-01-01", [specs[0]], in: cache) == first)

    #expect(reads.value == 4)
  }

  @Test func `The limits and the ink profile of the renderer apply to what is in the cache`() async throws {
    let cache = ThumbnailCache()
    _ = try await thumbnails("a", specs, in: cache)
    var renderer = Renderer()
    renderer.maxAspectRatio = 1.2
    let error = await #expect(throws: ImageError.self) {
      try await cache.thumbnails(of: "a", specs: specs, renderer: renderer) { photo }
    }
    #expect(error?.code == .tooLong)

    let (cmyk, inks) = (
      try Fixtures.image("cmyk.jpg"), try InkProfile(`Color profiles`.profile(of: "cmyk-profile.jpg"))
    )
    let plain = try await cache.thumbnails(of: "ink", specs: specs) { cmyk }
    let printed = try await cache.thumbnails(of: "ink", specs: specs, renderer: Renderer(inks: inks)) { cmyk }
    #expect(plain != printed)
  }

  @Test func `Thumbnails are made again after their lifetime`() async throws {
    let now = Mutex(Date(timeIntervalSince1970: 1_000_000))
    let cache = ThumbnailCache(now: { now.withLock { $0 } })
    _ = try await thumbnails("a", specs, in: cache, lifetime: .seconds(60))
    now.withLock { $0 += 59 }
    _ = try await thumbnails("a", specs, in: cache, lifetime: .seconds(60))
    #expect(reads.value == 1)
    now.withLock { $0 += 1 }
    _ = try await thumbnails("a", specs, in: cache, lifetime: .seconds(60))

    #expect(reads.value == 2)
  }

  @Test func `A failure is thrown and not stored`() async throws {
    struct Missing: Error {}
    let cache = ThumbnailCache()
    await #expect(throws: Missing.self) {
      try await cache.thumbnails(of: "a", specs: specs) { () throws -> [UInt8] in throw Missing() }
    }
    let error = await #expect(throws: ImageError.self) {
      try await cache.thumbnails(of: "a", specs: specs) { [1, 2, 3] as [UInt8] }
    }
    #expect(error?.code == .notAnImage)
    #expect(try await thumbnails("a", specs, in: cache).count == 2)
  }
}
