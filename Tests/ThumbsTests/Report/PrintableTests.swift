import Testing

@testable import thumbs

/// The characters that a terminal may interpret, or that reorder the text around them.
let hostile: [Unicode.Scalar] =
  (0...0x1F).map { Unicode.Scalar(UInt8($0)) } + (0x7F...0x9F).map { Unicode.Scalar(UInt8($0)) }
  + [0x061C, 0x200E, 0x200F, 0x2028, 0x2029].compactMap { Unicode.Scalar($0 as UInt32) }
  + ((0x202A...0x202E) as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)
  + ((0x2066...0x2069) as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)

@Suite struct PrintableTests {
  @Test(arguments: hostile)
  func `A character that a terminal may interpret is replaced in text and escaped in JSON`(scalar: Unicode.Scalar)
    throws
  {
    let text = "a\(scalar)é"

    #expect(text.printable == "aé" || text.printable == "a é" || text.printable == "a\u{FFFD}é")
    #expect(text.printable.unicodeScalars.count == 3)
    #expect(!text.printableLines.unicodeScalars.contains { $0.isUnprintable && $0 != "\n" })
    var json = JSONText()
    json.value(text)
    let written = String(decoding: json.bytes, as: UTF8.self)
    #expect(!written.unicodeScalars.contains { $0.isUnprintable })
    let read = try JSONDocument.parse(json.bytes) as? String
    #expect(read == text)
    #expect("[\"a\(scalar)\"]".printableJSON.unicodeScalars.allSatisfy { !$0.isUnprintable })
  }

  @Test(arguments: ["", "plain ~", "é漢😀", "e\u{301}\u{200D}", "\u{FEFF}"])
  func `Text without control characters is shown unchanged`(text: String) {
    #expect(text.printable == text && text.printableLines == text && text.printableJSON == text)
  }
}
