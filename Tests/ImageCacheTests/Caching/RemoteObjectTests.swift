import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ImageCache

@Suite("Objects of a remote cache")
struct RemoteObjectTests {
  private typealias Fixtures = CacheFixtures

  private static let secret = Array("a key of more than 16 bytes".utf8)
  private static let png = SampleImage.png(width: 40, height: 30)
  private static let digest = BodyDigest(of: png)
  private static let codecs = [RemoteObjectCodec(secret: nil), RemoteObjectCodec(secret: secret)]

  private static func thumbnail() throws -> Thumbnail {
    try #require(try Renderer().render(png, specs: [Fixtures.spec]).thumbnails.first)
  }

  private static func undecodable(
    _ code: String = "decode_error", digest: BodyDigest? = digest, policy: CachePolicy = Fixtures.policy()
  ) -> StoredSource {
    StoredSource(
      url: Fixtures.url(1), status: 200, policy: policy,
      content: .failure(code: code, message: "The file is damaged.", digest: digest))
  }

  @Test(arguments: codecs)
  func `A source and a thumbnail are the same after they were written and read`(codec: RemoteObjectCodec) throws {
    let source = Fixtures.source(1)
    let object = try #require(codec.object(of: source, key: Fixtures.key(1)))
    #expect(codec.source(in: object, key: Fixtures.key(1), url: source.url) == source)

    let thumbnail = try Self.thumbnail()
    let file = try #require(codec.object(of: thumbnail, from: Self.digest))
    #expect(codec.thumbnail(in: file, thumbnail.spec, from: Self.digest) == thumbnail)
  }

  @Test(arguments: codecs) func `Pixels are the same after they were written and read`(codec: RemoteObjectCodec) throws
  {
    let spec = ThumbnailSpec(width: 16, format: .rgba)
    let pixels = try #require(try Renderer().render(Self.png, specs: [spec]).thumbnails.first)
    let object = try #require(codec.object(of: pixels, from: Self.digest))

    #expect(pixels.bytes.count == 16 * 12 * 4)
    #expect(codec.thumbnail(in: object, spec, from: Self.digest) == pixels)
  }

  @Test(arguments: codecs)
  func `No object with a flipped bit or another length is accepted`(codec: RemoteObjectCodec) throws {
    let source = try #require(codec.object(of: Fixtures.source(1), key: Fixtures.key(1)))
    let thumbnail = try Self.thumbnail()
    let file = try #require(codec.object(of: thumbnail, from: Self.digest))
    func isAccepted(_ object: [UInt8]) -> Bool {
      codec.source(in: object, key: Fixtures.key(1), url: Fixtures.url(1)) != nil
        || codec.thumbnail(in: object, thumbnail.spec, from: Self.digest) != nil
    }
    for object in [source, file] {
      #expect(isAccepted(object))
      for place in object.indices {
        var changed = object
        changed[place] ^= 1 << UInt8(place % 8)
        #expect(!isAccepted(changed))
      }
      for length in stride(from: 0, to: object.count, by: 7) { #expect(!isAccepted(Array(object[..<length]))) }
      #expect(!isAccepted(object + [0]))
    }
  }

  @Test func `An object under the name of another one is not accepted`() throws {
    let codec = Self.codecs[0]
    let object = try #require(codec.object(of: Fixtures.source(1), key: Fixtures.key(1)))
    #expect(codec.source(in: object, key: Fixtures.key(2), url: Fixtures.url(1)) == nil)
    #expect(codec.source(in: object, key: Fixtures.key(1), url: Fixtures.url(2)) == nil)

    let thumbnail = try Self.thumbnail()
    let file = try #require(codec.object(of: thumbnail, from: Self.digest))
    #expect(codec.thumbnail(in: file, thumbnail.spec, from: BodyDigest(of: [1])) == nil)
    #expect(codec.thumbnail(in: file, ThumbnailSpec(width: 65), from: Self.digest) == nil)
  }

  @Test func `An object is accepted only with the key of its writer`() throws {
    let other = RemoteObjectCodec(secret: Array("another key of 16 bytes or more".utf8))
    for (writer, reader) in [(0, 1), (1, 0)].map({ (Self.codecs[$0], Self.codecs[$1]) }) + [(Self.codecs[1], other)] {
      let object = try #require(writer.object(of: Fixtures.source(1), key: Fixtures.key(1)))
      #expect(reader.source(in: object, key: Fixtures.key(1), url: Fixtures.url(1)) == nil)
    }
  }

  @Test func `The tag of a signed object is the HMAC of its name, a zero byte and its other bytes`() throws {
    // RFC 4231, test case 2.
    let tag = try #require(hmacSHA256(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)))
    let text = tag.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    #expect(text == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")

    let codec = Self.codecs[1]
    let object = try #require(codec.object(of: Fixtures.source(1), key: Fixtures.key(1)))
    let message = Array(codec.name(of: Fixtures.key(1)).utf8) + [0] + object.dropLast(32)
    #expect(Array(object.suffix(32)) == hmacSHA256(message, key: Self.secret))
  }

  @Test func `Names consist of hexadecimal digits, hyphens and slashes behind their prefix`() {
    let codec = Self.codecs[0]
    #expect(codec.name(of: Fixtures.key(1)).wholeMatch(of: #/s/[0-9a-f]{32}/#) != nil)
    let name = codec.name(of: Fixtures.spec, from: Self.digest)
    #expect(name.wholeMatch(of: #/t/r[0-9]+/([0-9a-f]{2})/\1[0-9a-f]{62}-[0-9a-f]{32}/#) != nil)
    #expect(name != codec.name(of: ThumbnailSpec(width: 65), from: Self.digest))
  }

  @Test func `The names of objects differ by key and by space, and do not show the key`() {
    let secrets = [nil, Self.secret, Array("another key of 16 bytes or more".utf8)]
    let codecs = secrets.flatMap { secret in ["", "private"].map { RemoteObjectCodec(secret: secret, space: $0) } }
    let names = codecs.flatMap { [$0.name(of: Fixtures.key(1)), $0.name(of: Fixtures.spec, from: Self.digest)] }
    #expect(Set(names).count == 12)
    #expect(codecs[1].name(of: Fixtures.key(1)).hasPrefix("s/private/"))
    #expect(codecs[3].name(of: Fixtures.key(1)).wholeMatch(of: #/s/[0-9a-f]{8}-private/[0-9a-f]{32}/#) != nil)
    #expect(
      codecs[2].name(of: Fixtures.spec, from: Self.digest).hasPrefix("t/\(RemoteObjectFrame(key: Self.secret).keyID)/r")
    )
    #expect(RemoteObjectFrame(key: Self.secret).keyID == RemoteObjectFrame(key: Self.secret).keyID)
  }

  @Test func `Only a failure that follows from the bytes alone is accepted`() throws {
    let codec = Self.codecs[0]
    func isAccepted(_ source: StoredSource, edition: Int = Renderer.edition) throws -> Bool {
      let record = try #require(SourceRecord.encode(source, key: Fixtures.key(1), rendererEdition: edition))
      let object = try #require(RemoteObjectFrame(key: nil).seal(codec.name(of: Fixtures.key(1)), record: record))
      return codec.source(in: object, key: Fixtures.key(1), url: source.url) != nil
    }
    #expect(try isAccepted(Self.undecodable()))
    #expect(try !isAccepted(Self.undecodable(), edition: Renderer.edition + 1))
    #expect(try !isAccepted(Self.undecodable(digest: nil)))
    #expect(try !isAccepted(Self.undecodable("too_many_pixels")))
    #expect(try !isAccepted(Self.undecodable("tls")))
    #expect(try !isAccepted(Self.undecodable(policy: Fixtures.policy("private"))))
    #expect(try !isAccepted(Fixtures.failure(1)))
  }

  @Test(arguments: [-1, 0, 99, 203, 404, 1000, 70_000], codecs)
  func `A source whose status is not that of its policy is not accepted`(status: Int, codec: RemoteObjectCodec) throws {
    var source = Self.undecodable()
    source.status = status
    let object = try #require(codec.object(of: source, key: Fixtures.key(1)))
    #expect(codec.source(in: object, key: Fixtures.key(1), url: source.url) == nil)
  }

  @Test func `A thumbnail without the mark of a renderer is not accepted`() throws {
    let codec = Self.codecs[0]
    let page = Thumbnail(
      spec: Fixtures.spec, size: PixelSize(width: 64, height: 48), format: .jpeg, bytes: Array("<script>".utf8))
    let object = try #require(codec.object(of: page, from: Self.digest))
    #expect(codec.thumbnail(in: object, Fixtures.spec, from: Self.digest) == nil)
  }

  @Test func `A thumbnail whose file has another size or format than its record is not accepted`() throws {
    let codec = Self.codecs[0]
    let right = try Self.thumbnail()
    let (width, height) = (right.size.width, right.size.height)
    let other: OutputFormat = right.format == .png ? .jpeg : .png
    for (size, format, isAccepted) in [
      (right.size, right.format, true), (PixelSize(width: width + 1, height: height), right.format, false),
      (PixelSize(width: width, height: 0), right.format, false), (right.size, other, false),
    ] {
      let thumbnail = Thumbnail(spec: right.spec, size: size, format: format, bytes: right.bytes)
      let object = try #require(codec.object(of: thumbnail, from: Self.digest))
      #expect((codec.thumbnail(in: object, right.spec, from: Self.digest) != nil) == isAccepted)
    }
  }

  @Test(arguments: [(1024, true), (1025, false), (20_000, false)])
  func `A source whose validators are longer than a kibibyte is not accepted`(length: Int, isAccepted: Bool) throws {
    let codec = Self.codecs[0]
    for path in [\ResponseFields.entityTag, \.lastModified] {
      var fields = ResponseFields([.cacheControl: "max-age=3600"])
      fields[keyPath: path] = String(repeating: "a", count: length)
      var source = Fixtures.source(1)
      source.policy = CachePolicy(
        status: 200, fields: fields, requestedAt: Fixtures.start.wholeSeconds, respondedAt: Fixtures.start.wholeSeconds)
      let object = try #require(codec.object(of: source, key: Fixtures.key(1)))
      #expect((codec.source(in: object, key: Fixtures.key(1), url: source.url) != nil) == isAccepted)
    }
  }

  @Test func `Objects that are too large are not written`() {
    let codec = Self.codecs[0]
    #expect(
      codec.object(of: Fixtures.thumbnail(1, bytes: RemoteObjectCodec.maxThumbnailBytes), from: Self.digest) == nil)
    var source = Fixtures.source(1)
    source.finalURL = "https://a.example/" + String(repeating: "a", count: RemoteObjectCodec.maxSourceBytes)
    #expect(codec.object(of: source, key: Fixtures.key(1)) == nil)
  }
}
