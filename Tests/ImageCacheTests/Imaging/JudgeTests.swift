import ImageCache
import TestSupport
import Testing

@Suite struct `Judging the first bytes of a file` {
  private func judge(_ bytes: some Collection<UInt8>, maxPixels: Int = 100_000_000) throws(ImageError) -> SourceImage? {
    try Renderer(maxPixels: maxPixels).judge(prefix: Array(bytes).span)
  }

  private func failure(_ bytes: some Collection<UInt8>) -> ImageError? {
    do throws(ImageError) {
      _ = try judge(bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: Fixtures.names)
  func `More bytes never change a source once it is recognized`(name: String) throws {
    let bytes = try Fixtures.image(name)
    let source = try Renderer().render(bytes, specs: []).source
    // The orientation follows the image data, so the header alone gives the stored size.
    let hidesOrientation = name == "exif-behind.png"

    var known: SourceImage?
    for count in (0..<bytes.count + 1).cutPositions(count: 600) {
      let now = try Renderer().judge(prefix: bytes.span.extracting(first: count))
      #expect(now == nil || now == source || hidesOrientation)
      #expect(known == nil || now == known)
      known = now
    }

    #expect(known == source || hidesOrientation)
  }

  /// Files whose first bytes match two formats, one character per byte.
  private static let ambiguous = [
    // A combining mark joins the bracket before it into one character.
    "\u{89}</title>\u{CD}\u{8B} and some more",
    "BM\u{FF}\u{D8}\u{FF}\u{DB}\0\0\0\0\u{36}\0\0\0\u{28}\0\0\0" + String(repeating: "\0", count: 36),
    "<title>A page</title>\0 and then a control character",
    "<title>A page</title>\u{FF}\u{D8}\u{FF}\u{DB}\0\0 and then a segment that is too short",
    "<b>A page</title><svg> and more",
  ]

  /// JPEG files that begin so close to the end of the window that only some of their first bytes are inside.
  private static let atTheEdge = (2042...2048).map { count in
    String(repeating: "x", count: count) + "\u{FF}\u{D8}\u{FF}\u{DB}\0\0 and then a segment that is too short"
  }

  @Test(arguments: ambiguous + atTheEdge)
  func `More bytes never change the error for a file that matches two formats`(start: String) {
    let bytes = start.unicodeScalars.map { UInt8($0.value) }

    // The files at the edge begin with the same letters, so one of them is enough for the prefixes of these.
    let first = Self.atTheEdge.dropLast().contains(start) ? 2000 : 0
    let failures = (first...bytes.count).map { failure(bytes.prefix($0)) }

    let final = failures.drop { $0 == nil }
    #expect(!final.isEmpty && final.allSatisfy { $0?.code == final.last??.code })
    // The message about a text quotes as much of it as has arrived.
    #expect(Set(final.map { $0?.code == .notAnImage ? "text" : $0?.message }).count == 1)
  }

  @Test(arguments: [(1 << 17, 1, true), (1, 1 << 17, true), ((1 << 17) + 1, 1, false), (1, 100_000_000, false)])
  func `A side that is too long is refused even if the image has few pixels`(
    width: Int, height: Int, isAccepted: Bool
  ) {
    let failure = failure(SampleImage.pngHeader(width: width, height: height) + SampleImage.pngChunk("IDAT", []))

    #expect(failure?.code == (isAccepted ? nil : .tooManyPixels))
  }

  @Test func `A repeated flaw causes one warning`() throws {
    let image = SampleImage.png(width: 8, height: 8)
    let bad = SampleImage.pngChunk("eXIf", [1, 2, 3])
    let repeated = image.prefix(33) + Array(repeating: bad, count: 100).joined() + image.dropFirst(33)

    let rendering = try Renderer().render(Array(repeated), specs: [ThumbnailSpec(width: 4)])

    #expect(rendering.warnings.filter { $0.contains("EXIF") }.count == 1)
  }

  @Test func `The size of a source is its displayed size`() throws {
    let upright = try judge(Fixtures.image("orientation-1.jpg"))
    let rotated = try judge(Fixtures.image("orientation-6.jpg"))

    #expect(upright?.size == PixelSize(width: 120, height: 80))
    #expect(rotated?.size == PixelSize(width: 80, height: 120))
  }

  @Test func `Too many pixels are refused as soon as the header is complete`() {
    let bytes = SampleImage.pngHeader(width: 60000, height: 60000)

    #expect(failure(bytes.prefix(32)) == nil)
    #expect(failure(bytes.prefix(33))?.code == .tooManyPixels)
    #expect(failure(bytes.prefix(33))?.message.contains("60000x60000") == true)
  }

  @Test func `A size whose pixel count overflows has too many pixels`() {
    let bytes = SampleImage.pngHeader(width: 0xFFFF_FFFF, height: 0xFFFF_FF15)

    #expect(failure(bytes.prefix(33))?.code == .tooManyPixels)
  }

  @Test func `A JPEG of 65500 pixels per side is refused after a few bytes`() {
    let frame: [UInt8] = [0xFF, 0xC0, 0, 17, 8, 0xFF, 0xDC, 0xFF, 0xDC, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]

    #expect(failure([0xFF, 0xD8] + frame)?.code == .tooManyPixels)
  }

  /// The names of formats and the first bytes of their files, one character per byte.
  private static let otherFormats: [(name: String, start: String)] = [
    ("PostScript", "%!PS-Adobe-3.0"),
    ("DDS", "DDS |\0\0\0"),
  ]

  @Test(arguments: otherFormats)
  func `Other formats are refused by name`(name: String, start: String) {
    let bytes = start.unicodeScalars.map { UInt8($0.value) }

    #expect(failure(bytes) == ImageError(.unsupportedFormat, "\(name) is not supported."))
  }

  @Test(arguments: [
    ("Lossless JPEG", UInt8(0xC3), UInt8(8)), ("12 bits", 0xC1, 12), ("Hierarchical JPEG", 0xC5, 8),
    ("JPEG-LS", 0xF7, 8),
  ])
  func `Unsupported JPEG variants are refused by name`(words: String, marker: UInt8, precision: UInt8) {
    let error = failure([0xFF, 0xD8, 0xFF, marker, 0, 11, precision, 0, 8, 0, 8, 1, 1, 0x11, 0])

    #expect(error?.code == .unsupportedFormat)
    #expect(error?.message.contains(words) == true)
  }

  @Test func `The error for a web page quotes its title`() {
    let page = "\n<!DOCTYPE html><html><head><title lang=en>\n  Sign in –\n your bank </title></head>"
    #expect(failure(page.utf8) == ImageError(.notAnImage, "Not an image: a web page titled \"Sign in – your bank\"."))
    #expect(failure("<!DOCTYPE html><html><head>".utf8) == nil)

    let endless = "<html><body>" + String(repeating: "word ", count: 500)
    #expect(failure(endless.utf8)?.message == "Not an image: a web page.")
  }

  @Test(arguments: [
    ("{\"error\": \"not\nfound\"}", "JSON."), ("[\"secret\"]", "JSON."), ("Not secret", "text."),
    ("AKIA secret key", "text."), ("<?xml version=\"1.0\"?><Error>secret</Error>", "XML."),
    ("<html><title></title>secret", "a web page."), ("", "the file is empty."),
  ])
  func `The error for a complete text names its kind, and quotes nothing that may be secret`(
    text: String, words: String
  ) {
    let error = #expect(throws: ImageError.self) { try Renderer().render(Array(text.utf8), specs: []) }

    #expect(error == ImageError(.notAnImage, "Not an image: \(words)"))
  }

  @Test(arguments: ["a", "e\u{301}", "e" + String(repeating: "\u{301}", count: 500)])
  func `A quoted title is short`(text: String) {
    let error = failure("<html><title>\(String(repeating: text, count: 100))</title>".utf8)

    #expect(error?.message.hasPrefix("Not an image: a web page titled \"") == true)
    #expect(error?.message.utf8.count ?? .max < 200)
  }

  @Test func `Bytes without a known signature are not an image`() {
    #expect(failure([1, 2, 3, 4]) == nil)
    #expect(failure(Array(repeating: 4, count: 3000))?.code == .notAnImage)
    let error = #expect(throws: ImageError.self) { try Renderer().render([1, 2, 3, 4], specs: []) }
    #expect(error?.code == .notAnImage)
  }

  @Test func `A header of endless segments exceeds a limit`() {
    let segments = Array(repeating: [0xFF, 0xE5, 0, 2] as [UInt8], count: 5000).joined()
    #expect(failure([0xFF, 0xD8] + segments)?.code == .decodeLimit)
    #expect(failure([0xFF, 0xD8] + Array(repeating: 0xFF, count: 9000))?.code == .decodeLimit)

    let chunks = Array(repeating: SampleImage.pngChunk("teXt", []), count: 5000).joined()
    #expect(failure(SampleImage.pngHeader(width: 1, height: 1).prefix(33) + chunks)?.code == .decodeLimit)
  }
}
