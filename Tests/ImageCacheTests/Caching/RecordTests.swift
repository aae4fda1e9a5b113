import TestSupport
import Testing

@testable import ImageCache

@Suite("Records")
struct RecordTests {
  private typealias Fixtures = CacheFixtures

  /// A record with its body, and a function that decodes both.
  struct Sample: Sendable, CustomTestStringConvertible {
    let kind: RecordFrame.Kind
    let record: [UInt8]
    var body: [UInt8] = []

    var testDescription: String { "\(kind)" }

    func isAccepted(_ record: [UInt8], body: [UInt8]) -> Bool {
      record.withUnsafeBytes { record in
        body.withUnsafeBytes { body in
          switch kind {
          case .source: SourceRecord(record) != nil
          case .thumbnail: ThumbnailRecord(record, body: body) != nil
          case .original: OriginalRecord(record) != nil
          case .verdict: VerdictRecord(record) != nil
          }
        }
      }
    }
  }

  private static let digest = BodyDigest(of: [1, 2, 3])
  static let samples: [Sample] = [
    Sample(kind: .source, record: SourceRecord.encode(Fixtures.source(1), key: Fixtures.key(1)) ?? []),
    Sample(kind: .source, record: SourceRecord.encode(Fixtures.failure(2), key: Fixtures.key(2)) ?? []),
    Sample(
      kind: .thumbnail,
      record: ThumbnailRecord.encode(Fixtures.thumbnail(1, bytes: 50), specText: "64x64", digest: digest) ?? [],
      body: Fixtures.thumbnail(1, bytes: 50).bytes),
    Sample(kind: .original, record: OriginalRecord.encode(digest)),
    Sample(kind: .verdict, record: VerdictRecord.encode(ImageError(.decodeError, "Damaged."), of: digest)),
  ]

  @Test(arguments: samples)
  func `Only the whole record with its whole body is accepted`(sample: Sample) {
    #expect(sample.isAccepted(sample.record, body: sample.body))
    for length in 0..<sample.record.count {
      #expect(!sample.isAccepted(Array(sample.record[..<length]), body: sample.body))
    }
    #expect(!sample.isAccepted(sample.record + [0], body: sample.body))
    guard sample.kind == .thumbnail else { return }
    #expect(!sample.isAccepted(sample.record, body: sample.body.dropLast()))
    #expect(!sample.isAccepted(sample.record, body: sample.body + [0]))
  }

  @Test(arguments: samples)
  func `Any flipped bit is noticed`(sample: Sample) {
    for bit in 0..<sample.record.count * 8 {
      var record = sample.record
      record[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!sample.isAccepted(record, body: sample.body))
    }
    for bit in 0..<sample.body.count * 8 {
      var body = sample.body
      body[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!sample.isAccepted(sample.record, body: body))
    }
  }

  @Test(arguments: samples, 0..<40)
  func `Damaged fields under a valid checksum give a record or nothing, and no trap`(sample: Sample, seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<50 {
      var fields = Array(sample.record.dropFirst(2).dropLast(8))
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        fields[Int.random(in: fields.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      let record = RecordFrame.seal(sample.kind, body: sample.body) { $0.add(raw: fields) }
      _ = sample.isAccepted(record, body: sample.body)
    }
  }

  @Test func `A source is decoded as it was encoded`() throws {
    for source in [Fixtures.source(1), Fixtures.failure(1)] {
      let record = try #require(SourceRecord.encode(source, key: Fixtures.key(1)))
      let decoded = try #require(record.withUnsafeBytes { SourceRecord($0) })
      #expect(decoded.source == source)
      #expect(decoded.key == Fixtures.key(1))
      #expect(!decoded.isOutdated)
    }
  }

  @Test func `A failure of another renderer edition counts as missing, an image does not`() throws {
    for (source, isOutdated) in [(Fixtures.failure(1), true), (Fixtures.source(1), false)] {
      let record = try #require(
        SourceRecord.encode(source, key: Fixtures.key(1), rendererEdition: Renderer.edition + 1))
      #expect(record.withUnsafeBytes { SourceRecord($0) }?.isOutdated == isOutdated)
    }
  }

  @Test func `Builds of different versions or formats are different editions of the renderer`() {
    let hashes = [["jpeg", "png"], ["jpeg", "png", "webp"], ["png"], []].map(Renderer.formatsHash)
    #expect(Set(hashes).count == 4 && hashes.allSatisfy { 0..<1 << 16 ~= $0 })
    #expect(Renderer.formatsHash(["png", "jpeg"]) == hashes[0])
    #expect(Renderer.edition >> 16 == Renderer.version)
    #expect(
      Renderer.edition & 0xFFFF
        == Renderer.formatsHash((SourceFormat.inProcess + IsolatedFormat.all.map(\.format)).map(\.rawValue)))
  }

  @Test func `A record of another version is not read`() {
    var record = Self.samples[0].record
    #expect(record.withUnsafeBytes { RecordFrame.fields(of: $0, .source) } != nil)
    record[0] += 1
    // This function does not compare the checksum.
    #expect(record.withUnsafeBytes { RecordFrame.fields(of: $0, .source) } == nil)
  }

  @Test(arguments: [(1 << 17, true), ((1 << 17) + 1, false)])
  func `A source with a URL above the limit is not stored`(length: Int, fits: Bool) {
    var source = Fixtures.source(1)
    source.url = String(repeating: "a", count: length)
    let record = SourceRecord.encode(source, key: Fixtures.key(1))
    #expect((record != nil) == fits)
    if let record { #expect(record.withUnsafeBytes { SourceRecord($0) }?.source.url.utf8.count == length) }
  }
}
