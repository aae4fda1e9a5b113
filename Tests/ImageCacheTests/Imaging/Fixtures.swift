import Foundation
import Testing

/// The files that `Tests/Fixtures/make-fixtures.py` made, and Pillow's renderings of them.
enum Fixtures {
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures")

  /// The file names of all images.
  static let names: [String] = list("pictures")

  /// Small files of every kind, by file name.
  static let tiny: [String: [UInt8]] = Dictionary(
    uniqueKeysWithValues: list("tiny").map { ($0, (try? read("tiny/\($0)")) ?? []) })

  /// The names of the WebP files that `Tests/Fixtures/make-webp.py` made, without their extension.
  static let webp: [String] = list("webp").filter { $0.hasSuffix(".webp") }.map { String($0.dropLast(5)) }

  /// Returns the bytes of a WebP file.
  static func webp(_ name: String) throws -> [UInt8] { try read("webp/\(name).webp") }

  /// Returns the pixels of a WebP file by an independent implementation, as stored; nil for those with metadata.
  static func storedPixels(ofWebP name: String) throws -> DecodedPixels? {
    list("webp").contains("\(name).png") ? try DecodedPixels(file: read("webp/\(name).png")) : nil
  }

  /// Returns Pillow's rendering of a WebP file with metadata.
  static func seenPixels(ofWebP name: String) throws -> DecodedPixels {
    let file = try #require(list("webp").first { $0.hasPrefix("seen-\(name)-") && !$0.hasPrefix("seen-\(name)-l") })
    return try DecodedPixels(file: read("webp/\(file)"))
  }

  /// Returns the bytes of an image file.
  static func image(_ name: String) throws -> [UInt8] {
    try read("pictures/\(name)")
  }

  /// Returns the bytes of a file that would take far more work to decode than an image of its size should.
  static func bomb(_ name: String) throws -> [UInt8] {
    try read("bombs/\(name)")
  }

  /// The file names of the images that `Tests/Fixtures/make-exact-fixtures.py` made, whose every pixel is known.
  static let exact: [String] = list("exact").filter { file in !file.hasSuffix(".png") }

  /// Returns the bytes of an image whose every pixel is known.
  static func exactImage(_ name: String) throws -> [UInt8] { try read("exact/\(name)") }

  /// Returns the pixels of an image, decoded or computed independently. Transparent pixels are black.
  static func exactPixels(_ name: String) throws -> DecodedPixels { try DecodedPixels(file: read("exact/\(name).png")) }

  /// Returns the bytes of a JPEG file without the single segment that holds its profile.
  static func imageWithoutProfile(_ name: String) throws -> [UInt8] {
    let bytes = try image(name)
    let start = try #require(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xE2 })
    let length = Int(bytes[start + 2]) << 8 | Int(bytes[start + 3])
    return Array(bytes[..<start] + bytes[(start + 2 + length)...])
  }

  /// Returns Pillow's rendering of an image. Its size is part of its file name.
  static func reference(for name: String) throws -> DecodedPixels {
    let file = try #require(list("references").first { $0.hasPrefix("\(name)-") })
    return try reference(file)
  }

  /// Returns a reference by its file name.
  static func reference(_ file: String) throws -> DecodedPixels {
    try DecodedPixels(file: read("references/\(file)"))
  }

  /// Images with a harmless flaw, and a part of the warning for each.
  static let flaws = [
    "garbage-before.jpg": "6 bytes before the image", "no-end-mark.jpg": "Premature end", "odd-sos.jpg": "SOS",
    "broken-exif.jpg": "EXIF ignored", "bad-text-crc.png": "CRC", "broken-profile.png": "iCCP",
    "no-end-chunk.png": "ends before", "srgb-and-gamma.png": "gamma",
  ]

  private static func read(_ path: String) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: folder.appending(path: path)))
  }

  private static func list(_ kind: String) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: kind).path)
    return (names ?? []).sorted()
  }
}
