import Foundation
import Testing

@testable import ImageCache

@Suite struct `The prologue of an XML document` {
  /// Documents up to their root element, and its name.
  private static let documents: [(text: String, name: String)] = [
    ("<svg>", "svg"), ("<svg:svg xmlns:svg='a'>", "svg"), ("<rss/>", "rss"),
    ("<?xml version='1.0' encoding='UTF-16'?>\n<!-- an <icon> ' -->\n<svg ", "svg"),
    // The end of a comment has no characters in common with its beginning.
    ("<!--><html>--><svg>", "svg"),
    ("<!DOCTYPE svg PUBLIC 'a>' \"b'>\"><svg>", "svg"),
    ("<!DOCTYPE svg [<!ENTITY a \"]><html>\">]><svg>", "svg"), ("<!DOCTYPE svg [<!ENTITY a '[\">'>]><svg>", "svg"),
    ("<!DOCTYPE svg [<!-- ]><html> it's [ -->]><svg>", "svg"), ("<!DOCTYPE svg [<?a ]><html> \" [?>%b;]><svg>", "svg"),
    ("<!DOCTYPE svg [<!ELEMENT svg ANY><!ATTLIST svg a CDATA '>' >] ><svg>", "svg"),
    ("<!doctype HTML><svg>", "html"), ("<!DOCTYPE html SYSTEM 'about:legacy-compat'><svg>", "html"),
  ]

  private static let encodings: [(encoding: String.Encoding, mark: [UInt8])] = [
    (.utf8, []), (.utf8, [0xEF, 0xBB, 0xBF]), (.utf16LittleEndian, [0xFF, 0xFE]), (.utf16BigEndian, [0xFE, 0xFF]),
  ]

  @Test(arguments: documents, encodings)
  func `The root element is found in all encodings, and no part of the document has another one`(
    document: (text: String, name: String), encoding: (encoding: String.Encoding, mark: [UInt8])
  ) throws {
    let bytes = encoding.mark + Array(try #require(document.text.data(using: encoding.encoding)))

    #expect(MarkupPrologue.root(of: bytes.span) == .element(document.name))
    for count in 4..<bytes.count {
      let root = MarkupPrologue.root(of: bytes.span.extracting(first: count))
      #expect([.undecided, .element(document.name)].contains(root), "\(count)")
    }
  }

  @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian])
  func `A document in UTF-16 without a byte order mark is recognized by its declaration`(
    encoding: String.Encoding
  ) throws {
    let bytes = Array(try #require("<?xml version='1.0' encoding='UTF-16'?><svg>".data(using: encoding)))

    #expect(MarkupPrologue.root(of: bytes.span) == .element("svg"))
  }

  @Test(arguments: ["x<svg>", "\u{FEFF}x", "{}", "<?xml version='1.0'?>text<svg>"])
  func `Other text has no root element`(text: String) {
    #expect(MarkupPrologue.root(of: Array(text.utf8).span) == MarkupPrologue.Root.none)
  }

  @Test(arguments: ["<!-- ", "<!DOCTYPE svg [", "<!DOCTYPE svg '"])
  func `A prologue without an end is no document`(start: String) {
    let bytes = Array(start.utf8) + Array(repeating: 0x20, count: 64 << 10)

    #expect(MarkupPrologue.root(of: bytes.span.extracting(first: 1000)) == .undecided)
    #expect(MarkupPrologue.root(of: bytes.span) == MarkupPrologue.Root.none)
  }
}
