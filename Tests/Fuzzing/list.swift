import Synchronization

// The readers below the formats of a list: bytes, encodings, lines, and the rows in an object of JSON.

/// Reads the bytes after the first as a list, in one piece and in small pieces. What is read must not depend on that.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzzList(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let bytes = [UInt8](UnsafeBufferPointer(start: data, count: size))
  guard let first = bytes.first else { return 0 }
  let step = Int(first % 7) + 1
  let text = Array(bytes.dropFirst())
  let whole = lines(of: text, step: text.count + 1, chunkLength: 64 << 10)
  let parts = lines(of: text, step: step, chunkLength: step)
  precondition(whole == parts, "The lines depend on the size of a read.")
  precondition(whole.map(\.number) == Array(1..<whole.count + 1), "A line number is missing.")
  check(whole)
  check(JSONRowFinder(path: nil), text)
  check(JSONRowFinder(path: ["items", "a"]), text)
  return 0
}

private func lines(of bytes: [UInt8], step: Int, chunkLength: Int) -> [LineReader.Line] {
  let rest = Mutex(bytes[...])
  let source = ByteSource(name: "list") { buffer throws(InputError) in
    rest.withLock { rest in
      let count = min(step, buffer.count, rest.count)
      buffer.copyBytes(from: rest.prefix(count))
      rest.removeFirst(count)
      return count
    }
  }
  var reader = LineReader(source.decodingUTF16(), chunkLength: chunkLength, longestLine: 1000)
  var lines: [LineReader.Line] = []
  while let line = try? reader.next() { lines.append(line) }
  return lines
}

/// Text in UTF-8 stays as it is, and the encoding of the rest gives a character for each byte.
private func check(_ lines: [LineReader.Line]) {
  var decoder = TextDecoder()
  for bytes in lines.compactMap(\.bytes) {
    let text = decoder.text(bytes)
    if let valid = String(validating: bytes, as: UTF8.self) {
      precondition(text == valid || text?.unicodeScalars.count == bytes.count, "The text of a line is wrong.")
    }
  }
}

/// The rows begin at most once.
private func check(_ finder: JSONRowFinder, _ bytes: [UInt8]) {
  var finder = finder
  for byte in bytes {
    guard let step = try? finder.take(byte) else { return }
    if case .found = step { return }
  }
}

/// A number of bytes in an error. The command's own is for options, too.
struct ByteSize {
  init(count: Int) {}
}

extension String {
  /// The text in an error.
  var printable: String { self }
}
