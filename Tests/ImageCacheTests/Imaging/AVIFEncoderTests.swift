import Foundation
import TestSupport
import Testing

@testable import ImageCache

/// Thumbnails in AVIF, which `thumbs-decode` encodes. `make test-decoders` compares their pixels with another decoder.
@Suite(.timeLimit(.minutes(10))) struct AVIFEncoderTests {
  private static let hasEncoder: Bool = {
    let pool = DecoderPool(.decoder(DecoderIsolation()), DecoderIsolation())
    return (try? pool.withProcess { process throws(DecoderFailure) in process.hello.encodes(.avif) }) ?? false
  }()

  private static let spec = ThumbnailSpec(width: 40, format: .avif)

  private static func render(_ source: [UInt8], _ spec: ThumbnailSpec = spec) throws -> Thumbnail {
    try #require(try Renderer().render(source, specs: [spec]).thumbnails.first)
  }

  /// Returns the samples of a thumbnail, decoded from its file.
  private static func samples(_ file: [UInt8]) throws -> [UInt8] {
    try render(file, ThumbnailSpec(width: 4000, format: .rgba)).bytes
  }

  @Suite(.enabled(if: hasEncoder)) struct `With the encoder` {
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
      #expect(ThumbnailMark.mayBePresent(inFileStartingWith: Array(thumbnail.bytes.prefix(16))))
      let differences = zip(try samples(thumbnail.bytes), pixels.bytes).map { abs(Int($0) - Int($1)) }
      #expect(differences.count == pixels.bytes.count)
      #expect(differences.reduce(0, +) < 8 * differences.count)
    }

    @Test func `Alpha has no losses, and transparent colors do not matter`() throws {
      var samples: [UInt8] = []
      for place in 0..<64 * 64 {
        let (x, y) = (place % 64, place / 64)
        samples += [x * 4, y * 4, 200, min(255, max(0, x * 6 - 120))].map { UInt8($0) }
      }
      let size = PixelSize(width: 64, height: 64)
      let encoder = AVIFEncoder(spec, Renderer().caches.encoders)
      var hidden = samples
      for index in samples.indices where index % 4 < 3 && samples[index | 3] == 0 { hidden[index] ^= 255 }

      let file = try encoder.file(of: samples, size).bytes
      let decoded = try AVIFEncoderTests.samples(file)
      #expect(stride(from: 3, to: samples.count, by: 4).allSatisfy { decoded[$0] == samples[$0] })
      #expect(try encoder.file(of: hidden, size).bytes == file)
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

  @Test(arguments: 1...8)
  func `An encoder that misbehaves fails one thumbnail, which is the fault of the machine`(attempt: UInt8) throws {
    let error = #expect(throws: ImageError.self) { try Self.encode(HostileDecoder.program, first: attempt) }

    #expect([.decodeError, .decodeLimit].contains(error?.code) && error?.origin == .machine)
    #expect(try Self.encode(HostileDecoder.program, first: 0).bytes.count > 1)
  }

  @Test func `A program that does not start fails the thumbnail with the reason`() {
    let error = #expect(throws: ImageError.self) { try Self.encode("/bin/true", first: 0) }

    #expect(error?.code == .unsupportedFormat && error?.origin == .machine)
  }
}
