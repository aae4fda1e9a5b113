import CZlib
import TestSupport
import Testing

@testable import thumbs

/// Returns `bytes` compressed as one gzip member.
func gzipped(_ bytes: [UInt8]) throws -> [UInt8] {
  var stream = z_stream()
  let size = Int32(MemoryLayout<z_stream>.size)
  // 16 selects the gzip wrapper, 15 the largest window; 8 is zlib's default memory level.
  try #require(deflateInit2_(&stream, 6, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK)
  defer { deflateEnd(&stream) }
  var input = bytes
  var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
  let status = input.withUnsafeMutableBufferPointer { input in
    output.withUnsafeMutableBufferPointer { output in
      (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
      (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
      return deflate(&stream, Z_FINISH)
    }
  }
  try #require(status == Z_STREAM_END)
  return Array(output.prefix(Int(stream.total_out)))
}

func gzipped(_ text: String) throws -> [UInt8] { try gzipped(Array(text.utf8)) }

private func entries(packed bytes: [UInt8], step: Int = .max, _ format: ManifestFormat? = nil) throws -> [ManifestEntry]
{
  let source = ByteSource.bytes(bytes, step: step).unpacked()
  let list = ManifestList([try Manifest(LineReader(source), format: format)])
  let entries = Array(list)
  if let failure = list.failure { throw failure }
  return entries
}

@Suite struct GzipManifestTests {
  private static let lines = (0..<3000).map { "http://a/\($0)?\($0 &* 2_654_435_761).png" }

  @Test(
    arguments: [
      "http://a/0\nhttp://a/1\n", "[\"http://a/0\", {\"url\": \"http://a/1\"}]",
      "{\"url\": \"http://a/0\"}\n{\"url\": \"http://a/1\"}\n",
      "<plist version=\"1.0\"><array><string>http://a/0</string><string>http://a/1</string></array></plist>",
    ], [1, Int.max])
  func `Every manifest format is decompressed, whatever the size of the reads`(text: String, step: Int) throws {
    #expect(try entries(packed: gzipped(text), step: step).map(\.url) == ["http://a/0", "http://a/1"])
  }

  @Test(arguments: [509, 4096, Int.max])
  func `Several gzip members followed by zeros are one manifest`(step: Int) throws {
    let (first, second) = (Self.lines[..<1000], Self.lines[1000...])
    let packed = try gzipped(first.joined(separator: "\n")) + gzipped("\n" + second.joined(separator: "\n"))

    #expect(try entries(packed: packed + [0, 0, 0], step: step).map(\.url) == Self.lines)
  }

  @Test func `Damaged gzip data is an error with its cause`() throws {
    let packed = try gzipped(Self.lines.joined(separator: "\n"))
    var damaged = packed
    damaged[packed.count - 6] ^= 0xFF
    let cases: [([UInt8], String)] = [
      (packed.dropLast(9), "list: the compressed data ends unexpectedly."),
      (Array(packed.prefix(5)), "list: the compressed data ends unexpectedly."),
      (damaged, "list: the compressed data is damaged."),
      (packed + Array("more".utf8), "list: has other data after the compressed data."),
      (try gzipped(try gzipped("http://a/0")), "list: is binary data, not a manifest."),
    ]

    for (bytes, expected) in cases { #expect(message { _ = try entries(packed: bytes, .text) } == expected) }
  }

  @Test func `Everything that can be decompressed is returned before more is read`() throws {
    let first = try gzipped("http://a/0\n")
    let calls = Counter()
    let source = ByteSource(name: "list") { buffer in
      guard calls.next() == 1 else { return 0 }
      buffer.copyBytes(from: first)
      return first.count
    }.unpacked()
    var reader = LineReader(source)

    #expect(try reader.next()?.bytes == Array("http://a/0".utf8))
    #expect(calls.value == 1)
  }

  @Test(
    arguments: [
      ("a/apps.json.gz", ManifestFormat.json), ("APPS.TSV.GZ", .tsv), ("list.gz", nil), ("a.csv/x.gz", nil),
      ("x.jsonl", .jsonLines),
    ] as [(String, ManifestFormat?)])
  func `The format is chosen by the extension before .gz`(path: String, expected: ManifestFormat?) {
    #expect(ManifestFormat(path: path) == expected)
  }
}
