import Foundation
import Testing

/// The pictures that `Tests/Fixtures/make-fixtures.py` made, and Pillow's renderings of them.
enum Fixtures {
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures")

  /// The file names of all pictures.
  static let names: [String] = list("pictures")

  /// Small files of every kind, by name.
  static let tiny: [String: [UInt8]] = Dictionary(
    uniqueKeysWithValues: list("tiny").map { ($0, (try? read("tiny/\($0)")) ?? []) })

  /// The bytes of a picture.
  static func picture(_ name: String) throws -> [UInt8] {
    try read("pictures/\(name)")
  }

  /// The bytes of a file that would take far more work than a picture of its size.
  static func bomb(_ name: String) throws -> [UInt8] {
    try read("bombs/\(name)")
  }

  /// The bytes of a JPEG picture whose profile was in one segment, which is left out.
  static func pictureWithoutProfile(_ name: String) throws -> [UInt8] {
    let bytes = try picture(name)
    let start = try #require(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xE2 })
    let length = Int(bytes[start + 2]) << 8 | Int(bytes[start + 3])
    return Array(bytes[..<start] + bytes[(start + 2 + length)...])
  }

  /// Pillow's rendering of a picture, whose size is part of its file's name.
  static func reference(for name: String) throws -> Pixels {
    let file = try #require(list("references").first { $0.hasPrefix("\(name)-") })
    return try reference(file)
  }

  /// A reference by its file's name.
  static func reference(_ file: String) throws -> Pixels {
    try Pixels(png: read("references/\(file)"))
  }

  /// Pictures with a flaw that does no harm, and a word of the warning it gives.
  static let flaws = [
    "garbage-before.jpg": "6 bytes before the picture", "no-end-mark.jpg": "Premature end", "odd-sos.jpg": "SOS",
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
