import Synchronization
import Testing

@testable import thumbs

@Suite struct LineReaderTests {
  private func lines(_ text: String, step: Int = .max, chunkLength: Int = 8, longestLine: Int = 100) throws -> [String?]
  {
    var reader = LineReader(.bytes(Array(text.utf8), step: step), chunkLength: chunkLength, longestLine: longestLine)
    var lines: [String?] = []
    while let line = try reader.next() {
      #expect(line.number == lines.count + 1)
      lines.append(line.bytes.map { String(decoding: $0, as: UTF8.self) })
    }
    #expect(try reader.next() == nil)
    return lines
  }

  @Test(
    arguments: [
      ("", []), ("a", ["a"]), ("a\n", ["a"]), ("\n\n", ["", ""]), ("a\r\nb\r\n", ["a", "b"]),
      ("\u{FEFF}a\nb", ["a", "b"]), ("\u{FEFF}", []), ("a\u{FEFF}\n", ["a\u{FEFF}"]),
      ("0123456789abcdef\nx\n", ["0123456789abcdef", "x"]), ("a\rb\n", ["a", "b"]), ("a\rb\r", ["a", "b"]),
      ("a\r\rb", ["a", "", "b"]),
      ("a\rb\r\nc\n", ["a", "b", "c"]), ("a\nb\rc\n", ["a", "b\rc"]), ("a\r", ["a"]), ("\na", ["", "a"]),
    ] as [(String, [String])], [1, 2, 3, 1000])
  func `Lines are the same, whatever the size of the reads`(sample: (text: String, lines: [String]), step: Int) throws {
    #expect(try lines(sample.text, step: step) == sample.lines)
  }

  @Test(arguments: [1, 2, 3, 1000])
  func `Lines without content are skipped, and counted`(step: Int) throws {
    let text = "\n\r\n  \na\n \t\n b\n\n\r\n\rc\n\t \r\n  "
    func lines(_ blanks: LineReader.Blanks) throws -> [String] {
      var reader = LineReader(.bytes(Array(text.utf8), step: step), chunkLength: 8)
      var lines: [String] = []
      while let line = try reader.next(skipping: blanks) {
        lines.append("\(line.number) \(String(decoding: line.bytes ?? [], as: UTF8.self))")
      }
      return lines
    }

    #expect(try lines(.nothing).count == 11)
    #expect(try lines(.spaces) == ["4 a", "5  \t", "6  b", "9 \rc", "10 \t ", "11   "])
    #expect(try lines(.spacesAndTabs) == ["4 a", "6  b", "9 \rc", "11   "])
  }

  @Test(arguments: [1, 7, 1000])
  func `A line above the length limit is skipped, and the next line is read`(step: Int) throws {
    let long = String(repeating: "x", count: 300)

    #expect(try lines("a\n\(long)\nb\n\(long)", step: step) == ["a", nil, "b", nil])

    let atLimit = String(repeating: "x", count: 100)
    #expect(try lines("\(atLimit)\n\(atLimit)y\n", step: step) == [atLimit, nil])
  }

  @Test(arguments: [1, 64, 101, 4096])
  func `A first line above the length limit does not decide whether CR ends lines`(chunkLength: Int) throws {
    let long = String(repeating: "x", count: 300)

    #expect(try lines("\(long)\rb\rc\nd\re", chunkLength: chunkLength) == [nil, "d\re"])
    let atLimit = String(repeating: "x", count: 100)
    #expect(try lines("\(atLimit)\rb\rc", chunkLength: chunkLength) == [atLimit, "b", "c"])
  }

  @Test func `Peeked bytes are read again, without the byte-order mark`() throws {
    var reader = LineReader(text: "\u{FEFF}http://a/1\nb\n", step: 1)

    #expect(Array(try reader.peek(atLeast: 8)) == Array("http://a".utf8))
    #expect(try reader.next()?.bytes == Array("http://a/1".utf8))
    #expect(try reader.rest(limit: 2) == Array("b\n".utf8))
    #expect(try reader.next() == nil)
  }

  @Test func `Reading 100,000 lines never buffers more than one chunk`() throws {
    let row = Array("https://example.com/icons/image.png\n".utf8)
    let count = 100_000
    let position = Mutex(0)
    let source = ByteSource(name: "endless") { buffer in
      position.withLock { position in
        let length = min(buffer.count, row.count * count - position)
        for offset in 0..<length { buffer[offset] = row[(position + offset) % row.count] }
        position += length
        return length
      }
    }
    var reader = LineReader(source, chunkLength: 4096)
    var (lines, most) = (0, 0)

    while try reader.next() != nil {
      lines += 1
      most = max(most, reader.pendingCount)
      if lines == 1 { #expect(position.withLock { $0 } == 4096, "the first line comes after one read") }
    }

    #expect(lines == count)
    #expect(most <= 4096 + row.count)
  }
}
