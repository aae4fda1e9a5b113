import Foundation
import TestSupport
import Testing

@testable import ImageCache

/// Thumbnails that are the file of the source.
@Suite(.timeLimit(.minutes(10))) struct SourceFileTests {
  private static let specs = [ThumbnailSpec(width: 24), .original, .placeholder]

  private static func files() throws -> [(name: String, bytes: [UInt8])] {
    let samples = [SampleImage.jpeg(width: 64, height: 48), SampleImage.png(width: 64, height: 48)]
    return [("sample.jpg", samples[0]), ("sample.png", samples[1])]
      + (try ["orientation-6.jpg", "cmyk.jpg"].map { ($0, try Fixtures.image($0)) })
  }

  @Test func `An original is the file as it is, and changes no other thumbnail`() throws {
    for (name, bytes) in try Self.files() {
      let rendering = try Renderer().render(bytes, specs: Self.specs)
      let original = rendering.thumbnails[1]

      #expect(original.bytes == bytes && original.size == rendering.source.size, "\(name)")
      let others = try Renderer().render(bytes, specs: [Self.specs[0], Self.specs[2]]).thumbnails
      #expect([rendering.thumbnails[0], rendering.thumbnails[2]] == others, "\(name)")
    }
  }

  @Test func `A file that cannot be decoded to its end has no original`() throws {
    for (name, bytes) in try Self.files() {
      #expect(throws: ImageError.self, "\(name)") {
        try Renderer().render(bytes.prefix(bytes.count - 40), specs: [.original])
      }
    }
    #expect(throws: ImageError.self) { try Renderer().render(Array("<html>".utf8), specs: [.original]) }
  }

  @Test(
    .disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."), .decoderLibraries,
    arguments: [false, true])
  func `Another process gives the same files, with a process for pixels too`(hasProcess: Bool) throws {
    var isolation = DecoderIsolation.patient
    (isolation.scope, isolation.renderer) = (.all, HostileDecoder.folder.appending(path: "thumbs").path)
    var (here, there) = (Renderer(), Renderer(isolation: isolation))
    if hasProcess {
      here.process = PixelProcess(id: "dark") { pixels in
        pixels.change { samples in for index in samples.indices where index % 4 < 3 { samples[index] /= 2 } }
      }
      there.process = here.process
    }
    let specs =
      Self.specs + [ThumbnailSpec(width: 16, fit: .pad, format: .jpeg), ThumbnailSpec(width: 30, format: .png)]
    for (name, bytes) in try Self.files() {
      let thumbnails = try here.render(bytes, specs: specs).thumbnails
      #expect(try there.render(bytes, specs: specs).thumbnails == thumbnails, "\(name)")
      let alone = try there.render(bytes, specs: [specs[0]]).thumbnails
      #expect(try there.render(bytes, specs: [specs[0], .original]).thumbnails.prefix(1) == alone[...], "\(name)")
      #expect(thumbnails[1].bytes == bytes)
    }
  }

  @Test func `An original comes back from the disk, and from a remote cache`() throws {
    let (place, key) = (try CachePlace(), CacheFixtures.key(1))
    let bytes = SampleImage.png(width: 64, height: 48)
    let thumbnails = try Renderer().render(bytes, specs: Self.specs).thumbnails
    #expect(ThumbnailSpec(fingerprint: ThumbnailSpec.original.fingerprint) == .original)

    let cache = ThumbnailCache(diskAt: place.path)
    cache.store(CacheFixtures.source(1), thumbnails: thumbnails, for: key)
    cache.flush()
    let entry = ThumbnailCache(diskAt: place.path).entry(for: key, url: CacheFixtures.url(1), specs: [.original])
    #expect(entry?.origin == .disk && entry?.thumbnails[.original]?.bytes == bytes)

    let (codec, digest) = (RemoteObjectCodec(secret: nil), BodyDigest(of: bytes))
    let object = try #require(codec.object(of: thumbnails[1], from: digest))
    #expect(codec.thumbnail(in: object, .original, from: digest) == thumbnails[1])
    let other = BodyDigest(of: [1])
    let forged = try #require(codec.object(of: thumbnails[1], from: other))
    #expect(codec.thumbnail(in: forged, .original, from: other) == nil)
  }

  @Test func `The example of an original compares it with the file`() throws {
    let (renderer, bytes) = (Renderer(), SampleImage.jpeg(width: 640, height: 480))
    var printed: [String] = []
    func print(_ format: SourceFormat, _ isEqual: Bool) { printed = ["\(format)", "\(isEqual)"] }

    let rendering = try renderer.render(bytes, specs: [ThumbnailSpec(width: 256), .original])
    print(rendering.source.format, rendering.thumbnails[1].bytes == bytes)

    #expect(printed == ["jpeg", "true"])
  }
}
