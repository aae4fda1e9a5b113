import TestSupport
import Testing

@testable import ImageCache

@Suite struct `The table of the codecs` {
  @Test func `The Accept field lists the formats that can be decoded`() {
    #expect(SourceFormat.accept == "image/jpeg, image/png, image/gif, image/bmp, image/vnd.microsoft.icon, */*;q=0.1")
  }

  @Test func `A format is found by its name`() {
    for format in SourceFormat.all { #expect(SourceFormat(rawValue: format.rawValue) == format) }
    for format in OutputFormat.all { #expect(OutputFormat(rawValue: format.rawValue) == format) }
    #expect(SourceFormat(rawValue: "JPEG") == nil && OutputFormat(rawValue: "auto") == nil)
    #expect(SourceFormat.all.map(\.description) == ["jpeg", "png", "gif", "bmp", "ico"])
  }

  @Test func `Each output format has a file name extension, and only automatic output has no format yet`() {
    #expect(ThumbnailSpec.Format.allCases.map(\.output) == [nil, .jpeg, .png])
    #expect(OutputFormat.all.map(\.fileExtension) == ["jpg", "png"])
    #expect(OutputFormat.all.map(\.mediaType) == ["image/jpeg", "image/png"])
  }

  @Test func `No signature begins like that of another decoder`() {
    let signatures = CodecTable.decoders.flatMap { decoder in decoder.signatures.map { (decoder.format, $0) } }

    for (format, signature) in signatures {
      let bytes = signature.bytes.map { $0 ?? 0 }
      for (other, second) in signatures where other != format {
        let isAmbiguous = second.mayMatch(bytes.span)
        #expect(!isAmbiguous, "\(format), \(other)")
      }
    }
  }

  @Test(arguments: ThumbnailSpec.Format.allCases.filter { $0 != .auto })
  func `Encoders accept gray and RGB, and their files are recognized`(format: ThumbnailSpec.Format) throws {
    let spec = ThumbnailSpec(width: 1, format: format)
    let encoder = try #require(format.encoder).init(spec)
    #expect(encoder.accepts(.gray) && encoder.accepts(.rgb))

    let bitmap = try Bitmap(size: PixelSize(width: 3, height: 2), layout: .gray)
    bitmap.fill([128])
    let bytes = try encoder.encode(bitmap)
    let file = try ImageFile(bytes.span, limits: DecodingLimits(maxPixels: 6))

    #expect(file.start == 0 && file.decoder.header.format.rawValue == type(of: encoder).format.rawValue)
    let automatic = file.decoder.automaticEncoder
    #expect(automatic.format == type(of: encoder).format)
  }

  @Test func `A signature matches its bytes and any bytes in place of wildcards`() {
    let signature = FileSignature(FileSignature.any(2) + FileSignature.ascii("ab"))
    func matches(_ text: String) -> Bool { signature.matches(Array(text.utf8).span) }
    func mayMatch(_ text: String) -> Bool { signature.mayMatch(Array(text.utf8).span) }

    #expect(matches("xyab") && matches("xyabc") && !matches("xya") && !matches("xybb"))
    #expect(mayMatch("xya") && mayMatch("xyabc") && !mayMatch("xyb") && !mayMatch("xy") && !mayMatch(""))
  }

  @Test func `A signature can require any byte but zero`() {
    let signature = FileSignature([1, nil, 2], nonzero: 1)
    func matches(_ bytes: [UInt8]) -> Bool { signature.matches(bytes.span) }
    func mayMatch(_ bytes: [UInt8]) -> Bool { signature.mayMatch(bytes.span) }

    #expect(matches([1, 9, 2]) && !matches([1, 0, 2]) && !matches([1, 9]))
    #expect(mayMatch([1, 9]) && mayMatch([1]) && !mayMatch([1, 0]))
  }
}
