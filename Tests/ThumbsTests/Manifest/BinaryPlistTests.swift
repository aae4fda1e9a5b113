import Foundation
import Testing

@testable import thumbs

/// Returns a binary plist of `objects`. The first is the top-level object; references take one byte.
private func plist(_ objects: [[UInt8]]) -> [UInt8] {
  var bytes = Array("bplist00".utf8)
  var offsets: [UInt8] = []
  for object in objects {
    offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
    bytes += object
  }
  func number(_ value: Int) -> [UInt8] { (0..<8).reversed().map { UInt8(value >> (8 * $0) & 0xFF) } }
  let start = bytes.count
  return bytes + offsets + [0, 0, 0, 0, 0, 0, 2, 1] + number(objects.count) + number(0) + number(start)
}

private let url: [UInt8] = [0x5A] + Array("http://a/1".utf8)

@Suite struct BinaryPlistTests {
  @Test func `Nested references are charged to the budget before they are built`() throws {
    // 2^30 strings in 200 bytes.
    let arrays = (0..<30).map { level in [0xA2, UInt8(level + 3), UInt8(level + 3)] as [UInt8] }
    let bomb = plist([[0xA3, 1, 2, 1], url] + arrays + [[0x51, 0x78]])

    #expect(bomb.count < 250)

    let entries = try entries(bomb)
    #expect(entries.map(\.url) == ["http://a/1", nil, "http://a/1"])
    #expect(entries[1].reason == "list, item 2: longer than 16 MiB.")
  }

  @Test func `A long string is charged to the budget for each reference to it`() throws {
    let text = [0x5F, 0x12, 0, 0x10, 0, 0] + [UInt8](repeating: 0x78, count: 1 << 20)
    var bytes = plist([[0xA1, 1], [0xAF, 0x10, 20] + [UInt8](repeating: 2, count: 20), []])
    // The text is inserted as the last object, so only the offset table and the trailer move.
    let trailer = bytes.count - 32 - 6
    let start = bytes.count - 32 - 6
    bytes.insert(contentsOf: text, at: start)
    let moved = trailer + text.count
    bytes.replaceSubrange((bytes.count - 4)..., with: (0..<4).reversed().map { UInt8(moved >> (8 * $0) & 0xFF) })

    #expect(try entries(bytes).map(\.reason) == ["list, item 1: longer than 16 MiB."])
  }

  @Test func `An object that contains itself fails only its own row`() throws {
    let entries = try entries(plist([[0xA3, 1, 2, 1], url, [0xA1, 2]]))
    #expect(entries.map(\.url) == ["http://a/1", nil, "http://a/1"])
    #expect(entries[1].reason == "list, item 2: it is nested too deeply.")
  }

  @Test(
    arguments: [
      [0x5E, 0x78], [0xA1, 200], [0xD1, 1, 200], [0xD1, 3, 1], [0x5F, 0x13, 0xFF, 0, 0, 0, 0, 0, 0, 0], [0x5F, 0x40],
      [0x2F], [0x70], [0x6F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    ] as [[UInt8]])
  func `A damaged object fails only its own row`(object: [UInt8]) throws {
    let entries = try entries(plist([[0xA3, 1, 2, 1], url, object, [0x10, 1]]))
    #expect(entries.map(\.url) == ["http://a/1", nil, "http://a/1"])
    #expect(entries[1].reason == "list, item 2: the binary plist is damaged.")
  }

  @Test func `Every type of value is read as Foundation reads it`() throws {
    let value: [Any] = [
      "ASCII", "é 漢 😀", String(repeating: "long ", count: 100), 0, 127, 128, 65_536, 1 << 40, -1, Int.min, 1.5, true,
      false, Data([1, 2, 3]), [1, ["a": ["b"]]] as [Any], ["k": "v", "n": 1] as [String: Any], [Any](), [String: Any](),
    ]
    let bytes = try PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0)
    let plist = try BinaryPlist(Array(bytes))
    let read = try (0..<plist.count).map { try plist.element($0) }

    #expect(read as NSArray == value as NSArray)
  }

  @Test func `A damaged plist never crashes the process`() throws {
    func read(_ bytes: [UInt8]) {
      guard let plist = try? BinaryPlist(bytes) else { return }
      for index in 0..<min(plist.count, 10) { _ = try? plist.element(index, budget: 20_000) }
    }
    let rows = (0..<5).map { ["name": "é\($0)", "icon": "http://a/\($0)", "n": $0] as [String: Any] }
    let bytes = Array(try PropertyListSerialization.data(fromPropertyList: rows, format: .binary, options: 0))
    for index in 8..<bytes.count {
      for byte in [0, 0x7F, 0xFF, bytes[index] ^ 0x80] as [UInt8] {
        var damaged = bytes
        damaged[index] = byte
        read(damaged)
      }
      read(Array(bytes[..<index]))
    }
  }

  @Test func `A binary plist above the size limit is rejected as a whole`() {
    let bytes = plist([[0xA1, 1], url])

    let message = message {
      _ = try BinaryPlistRows(LineReader(.bytes(bytes)), keys: ManifestKeys(), limit: bytes.count - 1)
    }

    #expect(message == "list: a binary plist larger than 56 B uncompressed; split it, or use JSON or CSV.")
  }
}
