import Foundation
import HTTPTypes
import ImageCache
import Logging
import TestSupport
import Testing

// The example in the documentation of `ThumbnailCache`, word for word.
private func thumbnail(
  _ spec: ThumbnailSpec, of url: String, in cache: ThumbnailCache, download: () throws -> (HTTPResponse, [UInt8])
) throws -> Thumbnail? {
  let key = SourceKey(url: url)
  if let entry = cache.entry(for: key, url: url, specs: [spec]), let thumbnail = entry.thumbnails[spec],
    entry.source.policy.state(at: Date()) == .fresh
  {
    return thumbnail
  }
  let requestedAt = Date()
  let (response, bytes) = try download()
  let policy = CachePolicy.ofAny(response: response, requestedAt: requestedAt, respondedAt: Date())
  let rendering = try Renderer().render(bytes, specs: [spec])
  let source = StoredSource(
    url: url, status: response.status.code, policy: policy,
    content: .image(rendering.source, digest: BodyDigest(of: bytes), bytes: bytes.count))
  cache.store(source, thumbnails: rendering.thumbnails, for: key)
  return rendering.thumbnails.first
}

@Suite("The examples in the documentation of the cache")
struct CachingDocumentationExamples {
  private struct DownloadError: Error {}

  @Test func `The example of ThumbnailCache renders a thumbnail once and then serves it from the cache`() throws {
    let cache = ThumbnailCache(.init(), logger: Logger(label: "example"))
    let (spec, url) = (ThumbnailSpec(width: 32), "https://images.example/photo.jpg")
    let response = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=3600"])

    let first = try thumbnail(spec, of: url, in: cache) { (response, SampleImage.jpeg(width: 64, height: 48)) }
    let second = try thumbnail(spec, of: url, in: cache) { throw DownloadError() }

    #expect(first?.size == PixelSize(width: 32, height: 24))
    #expect(second == first)
  }

  private func restoredSource(_ object: [UInt8], of url: String) -> StoredSource? {
    RemoteObjectCodec(secret: nil).source(in: object, key: SourceKey(url: url), url: url)
  }

  @Test func `The example of RemoteObjectCodec restores nothing from other bytes`() {
    #expect(restoredSource(Array("<html>".utf8), of: "https://images.example/photo.jpg") == nil)
  }

  @Test func `The example of ThumbnailCache downloads again if the cached response is stale`() throws {
    let cache = ThumbnailCache(.init(), logger: Logger(label: "example"))
    let (spec, url) = (ThumbnailSpec(width: 32), "https://images.example/photo.jpg")
    let response = HTTPResponse(status: .ok, headerFields: [.cacheControl: "no-cache"])

    let downloads = Counter()
    for _ in 0..<2 {
      _ = try thumbnail(spec, of: url, in: cache) {
        downloads.next()
        return (response, SampleImage.jpeg(width: 64, height: 48))
      }
    }

    #expect(downloads.value == 2)
  }
}
