import TestSupport
import Testing

@testable import ImageCache

@Suite struct `The table of the codecs` {
  @Test func `The Accept field lists the formats that can be decoded`() {
    let others = "image/jpeg, image/png, image/gif, image/bmp, image/vnd.microsoft.icon, */*;q=0.1"
    #if WebP
      #expect(SourceFormat.accept == "image/webp, \(others)")
    #else
      #expect(SourceFormat.accept == others)
    #endif
  }

  @Test func `A format is found by its name`() {
    for format in SourceFormat.all { #expect(SourceFormat(rawValue: format.rawValue) == format) }
    for format in OutputFormat.all { #expect(OutputFormat(rawValue: format.rawValue) == format) }
    #expect(OutputFormat(rawValue: "rgba") == .rgba && !OutputFormat.all.contains(.rgba))
    #expect(SourceFormat(rawValue: "JPEG") == nil && OutputFormat(rawValue: "auto") == nil)
    // The cache may hold thumbnails from a build with other package traits.
    #expect(SourceFormat(rawValue: "webp") == .webp && OutputFormat(rawValue: "webp") == .webp)
    #expect(SourceFormat.all.map(\.description).starts(with: CodecTable.decoders.map { $0.format.rawValue }))
  }

  @Test func `Each output format has a file name extension, and only output that depends on the image has none`() {
    let outputs = ThumbnailSpec.Format.allCases.map(\.output)
    #if WebP
      #expect(outputs == [nil, .jpeg, .png, .webp, .avif, .gif, nil, .rgba, .placeholder, .perceptualHash, .original])
      #expect(OutputFormat.inProcess.map(\.fileExtension) == ["jpg", "png", "gif", "webp"])
      #expect(OutputFormat.inProcess.map(\.mediaType) == ["image/jpeg", "image/png", "image/gif", "image/webp"])
    #else
      #expect(outputs == [nil, .jpeg, .png, nil, .avif, .gif, nil, .rgba, .placeholder, .perceptualHash, .original])
      #expect(OutputFormat.inProcess.map(\.fileExtension) == ["jpg", "png", "gif"])
    #endif
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

  @Test(arguments: ThumbnailSpec.Format.allCases.filter { $0.encoder != nil })
  func `Encoders accept gray and RGB, and their files are recognized`(format: ThumbnailSpec.Format) throws {
    let spec = ThumbnailSpec(width: 1, format: format)
    let encoder = try #require(format.encoder).init(spec)
    #expect(encoder.accepts(.gray) && encoder.accepts(.rgb))

    let bitmap = try Bitmap(size: PixelSize(width: 3, height: 2), layout: .gray)
    bitmap.fill([128])
    let bytes = try encoder.encode(bitmap)
    let file = try ImageFile(bytes.span, limits: DecodingLimits(maxPixels: 6), decoders: .missing)

    #expect(file.start == 0 && file.decoder.header.format.rawValue == type(of: encoder).format.rawValue)
    let automatic = file.decoder.automaticEncoder(for: spec)
    // No source becomes a GIF file unless its spec says so.
    #expect(type(of: automatic).format == (format == .gif ? .png : type(of: encoder).format))
  }

  @Test func `Without its package trait, WebP is unsupported, and the message names the trait`() throws {
    #if WebP
      #expect(SourceFormat.all.contains(.webp) && OutputFormat.all.contains(.webp))
    #else
      let error = #expect(throws: ImageError.self) {
        try Renderer().judge(prefix: Array("RIFF....WEBPVP8 ".utf8).span)
      }
      #expect(error?.code == .unsupportedFormat && error?.message.contains("package trait WebP") == true)
      #expect(!SourceFormat.all.contains(.webp) && !OutputFormat.all.contains(.webp))
    #endif
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
