import Foundation
import TestSupport
import Testing

@testable import ImageCache

/// Thumbnails in AVIF, which `thumbs-decode` encodes. `make test-decoders` compares their pixels with another decoder.
@Suite(.timeLimit(.minutes(10)), .decoderLibraries) struct AVIFEncoderTests {
  private static let hasEncoder = DecoderCondition(measuring: DecoderIsolation()).outputs == [.avif]

  private static let spec = ThumbnailSpec(width: 40, format: .avif)

  private static func render(_ source: [UInt8], _ spec: ThumbnailSpec = spec) throws -> Thumbnail {
    try #require(try Renderer().render(source, specs: [spec]).thumbnails.first)
  }

  /// Returns the samples of a thumbnail, decoded from its file.
  private static func samples(_ file: [UInt8]) throws -> [UInt8] {
    try render(file, ThumbnailSpec(width: 4000, format: .rgba)).bytes
  }

  @Suite(
    .disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."),
    .enabled(if: hasEncoder, "thumbs-decode has no encoder."))
  struct `With the encoder` {
    @Test(arguments: [
      SampleImage.jpeg(width: 64, height: 48), SampleImage.png(width: 64, height: 48),
      SampleImage.png(width: 2, height: 1),
    ])
    func `A thumbnail shows the image, and has the mark`(source: [UInt8]) throws {
      let thumbnail = try render(source)
      let pixels = try render(source, ThumbnailSpec(width: 40, format: .rgba))

      #expect(thumbnail.format == .avif && thumbnail.size == pixels.size)
      #expect(thumbnail.bytes[4..<12] == Array("ftypavif".utf8)[...])
      #expect(ThumbnailMark.isPresent(in: thumbnail.bytes))
      #expect(AVIFEncoder.size(of: thumbnail.bytes.span) == thumbnail.size)
      let (prefix, suffix) = (Array(thumbnail.bytes.prefix(96)), Array(thumbnail.bytes.suffix(96)))
      #expect(ThumbnailMark.mayBePresent(inFileStartingWith: prefix, endingWith: suffix))
      #expect(!ThumbnailMark.mayBePresent(inFileStartingWith: prefix, endingWith: Array(suffix.dropLast())))
      let differences = zip(try samples(thumbnail.bytes), pixels.bytes).map { abs(Int($0) - Int($1)) }
      #expect(differences.count == pixels.bytes.count)
      #expect(differences.reduce(0, +) < 8 * differences.count)
    }

    /// Transparent at the left, and in rows at the top, in the middle and at the bottom.
    private static func pixels(_ color: (_ x: Int, _ y: Int) -> [Int]) -> [UInt8] {
      (0..<64 * 64).flatMap { place in
        let (x, y) = (place % 64, place / 64)
        let alpha = [0...7, 30...33, 60...63].contains { $0.contains(y) } ? 0 : min(255, max(0, x * 6 - 120))
        return (color(x, y) + [alpha]).map { UInt8($0) }
      }
    }

    @Test(arguments: [PixelLayout.rgba, .grayAlpha])
    func `Alpha has no losses, and transparent colors do not matter`(layout: PixelLayout) throws {
      let samples = Self.pixels { x, y in layout.isGray ? [x, x, x] : [x * 4, y * 4, 200] }
      let size = PixelSize(width: 64, height: 64)
      let encoder = AVIFEncoder(spec, Renderer().caches.encoders)
      var hidden = samples
      for index in samples.indices where index % 4 < 3 && samples[index | 3] == 0 { hidden[index] = UInt8(index % 251) }

      let file = try encoder.file(of: samples, size).bytes
      let decoded = try AVIFEncoderTests.samples(file)
      #expect(stride(from: 3, to: samples.count, by: 4).allSatisfy { decoded[$0] == samples[$0] })
      #expect(try encoder.file(of: hidden, size).bytes == file)
    }

    @Test func `A thumbnail is the same after it was written to a remote cache and read`() throws {
      let source = SampleImage.jpeg(width: 64, height: 48)
      let (thumbnail, digest) = (try render(source), BodyDigest(of: source))
      let codec = RemoteObjectCodec(secret: nil)

      let object = try #require(codec.object(of: thumbnail, from: digest))
      #expect(codec.thumbnail(in: object, spec, from: digest) == thumbnail)
      let wrong = Thumbnail(
        spec: spec, size: PixelSize(width: 40, height: 31), format: .avif, bytes: thumbnail.bytes)
      let other = try #require(codec.object(of: wrong, from: digest))
      #expect(codec.thumbnail(in: other, spec, from: digest) == nil)
    }

    @Test func `Only an unchanged file has the mark`() throws {
      let file = try render(SampleImage.jpeg(width: 64, height: 48)).bytes

      for place in stride(from: 0, to: file.count, by: 7) {
        var edited = file
        edited[place] ^= 0x40
        #expect(!ThumbnailMark.isPresent(in: edited), "byte \(place)")
      }
      #expect(!ThumbnailMark.isPresent(in: file + [0]))
      for count in 0..<file.count { #expect(!ThumbnailMark.isPresent(in: Array(file[..<count]))) }
    }

    @Test(arguments: [
      ThumbnailSpec(width: 40, format: .avif), ThumbnailSpec(width: 30, height: 40, fit: .pad, format: .avif),
    ])
    func `A renderer in another process gives the same file`(spec: ThumbnailSpec) throws {
      var isolation = DecoderIsolation()
      (isolation.scope, isolation.renderer) = (.all, HostileDecoder.folder.appending(path: "thumbs").path)
      let specs = [ThumbnailSpec(width: 20, format: .png), spec]

      for source in [SampleImage.jpeg(width: 300, height: 200), SampleImage.png(width: 64, height: 48)] {
        let there = try Renderer(isolation: isolation).render(source, specs: specs)
        #expect(there.thumbnails == (try Renderer().render(source, specs: specs)).thumbnails)
      }
    }

    @Test func `A higher quality gives a larger file`() throws {
      let source = try Fixtures.image("large-444.jpg")
      let sizes = try [1, 30, 60, 82, 90, 100].map { quality in
        try render(source, ThumbnailSpec(width: 128, format: .avif, quality: quality)).bytes.count
      }

      #expect(sizes == sizes.sorted() && Set(sizes).count == sizes.count, "\(sizes)")
    }
  }

  @Test func `The quantizer falls from its largest to its smallest value`() {
    let quantizers = (1...100).map(AVIFQuality.quantizer)

    #expect(zip(quantizers, quantizers.dropFirst()).allSatisfy { $0 >= $1 })
    #expect(quantizers.first == 63 && quantizers.allSatisfy { 0...63 ~= $0 })
  }

  @Test func `Files of other formats, and cut ones, have no size in AVIF`() {
    let cut: [UInt8] = [0, 0, 0, 8] + Array("ftypavif".utf8) + [0, 0, 0, 0]
    let files = [[], cut, cut + Array(repeating: 0xFF, count: 40), SampleImage.png(width: 2, height: 1)]
    // A box that ends before the header of the next one does.
    let small = (8...20).map { count -> [UInt8] in
      let type: [UInt8] = [0, 0, 0, 16] + Array("ftypavif".utf8) + [0, 0, 0, 0]
      return type + [0, 0, 0, UInt8(count)] + Array("meta".utf8) + Array(repeating: 0, count: 32)
    }
    for file in files + small {
      #expect(AVIFEncoder.size(of: file.span) == nil)
    }
  }

  @Test func `Without the program, the spec is refused`() {
    var isolation = DecoderIsolation()
    isolation.program = ""

    let error = #expect(throws: ImageError.self) { try Renderer(isolation: isolation).check([Self.spec]) }
    #expect(error?.code == .badSpec && error?.message.contains("thumbs-decoders") == true)
  }

  /// Encodes four pixels with a program that does what the first one says.
  private static func encode(_ program: String, first: UInt8) throws(ImageError) -> EncodedFile {
    var settings = DecoderIsolation()
    settings.timeout = .seconds(1)
    let pool = DecoderPool(DecoderProgram(path: program, name: "thumbs-decode"), settings)
    let samples = [first] + Array(repeating: 255, count: 15)
    return try AVIFEncoder(spec, pool).file(of: samples, PixelSize(width: 2, height: 2))
  }

  @Test(arguments: 1...9)
  func `An encoder that misbehaves fails the image, which is the fault of the machine`(attempt: UInt8) throws {
    let error = #expect(throws: ImageError.self) { try Self.encode(HostileDecoder.program, first: attempt) }

    #expect([.decodeError, .decodeLimit].contains(error?.code) && error?.origin == .machine, "\(error as Any)")
    #expect(error?.message.hasPrefix("The AVIF thumbnail cannot be encoded: ") == true)
    #expect(try Self.encode(HostileDecoder.program, first: 0).bytes.count > 1)
  }

  @Test func `A program that does not start fails the thumbnail with the reason`() {
    let error = #expect(throws: ImageError.self) { try Self.encode("/bin/true", first: 0) }

    #expect(error?.code == .unsupportedFormat && error?.origin == .machine)
  }
}
