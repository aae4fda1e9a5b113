import TestSupport
import Testing

@testable import Downloads

/// Bytes that count how often they are read.
private struct CountedBytes: RandomAccessCollection {
  let bytes: [UInt8]
  let reads = Counter()

  var startIndex: Int { 0 }
  var endIndex: Int { bytes.count }

  subscript(index: Int) -> UInt8 {
    reads.next()
    return bytes[index]
  }
}

@Suite(.timeLimit(.minutes(20))) struct RobotsLimitTests {
  private func file(_ text: String) -> RobotsFile { RobotsFile(text.utf8, productToken: "thumbs") }

  private static let many = 10_000

  @Test(arguments: [
    (String(repeating: "*", count: many), true), (String(repeating: "*a", count: many), true),
    (String(repeating: "a*", count: many) + "b", false), (String(repeating: "*a", count: many + 1), false),
    ("*" + String(repeating: "a", count: many / 2) + "b", false), ("*b*" + String(repeating: "a*", count: many), false),
    (String(repeating: "*aa", count: many / 2), true), (String(repeating: "a", count: many), true),
  ])
  func `The number of steps does not grow with the number of wildcards`(pattern: String, isMatch: Bool) {
    let path = CountedBytes(bytes: Array(repeating: UInt8(ascii: "a"), count: Self.many))

    #expect(RobotsPattern(bytes: Array(pattern.utf8)[...], isAnchored: false).matches(path) == isMatch)
    #expect(RobotsPattern(bytes: Array(pattern.utf8)[...], isAnchored: true).matches(path) == isMatch)

    #expect(path.reads.value <= 4 * path.count + 2)
  }

  @Test func `Only the first 500 KiB are read, without a line that continues after them`() {
    let head = "User-agent: *\nDisallow: /a\n"
    let padding = String(repeating: "#", count: RobotsFile.maxBytes - head.utf8.count - "\nDisallow: /b".utf8.count)

    let exact = file(head + padding + "\nDisallow: /b")
    #expect(!exact.allows(path: "/a") && !exact.allows(path: "/b"))

    let complete = file(head + padding + "\nDisallow: /b\nDisallow: /c")
    #expect(!complete.allows(path: "/b") && complete.allows(path: "/c"))

    let partial = file(head + padding + "\nDisallow: /bcd\nDisallow: /c")
    #expect(!partial.allows(path: "/a") && partial.allows(path: "/b") && partial.allows(path: "/bcd"))
  }

  @Test(arguments: [
    "User-agent: *", "User-agent: thumbs\nDisallow: /", String(repeating: "x", count: RobotsFile.maxBytes + 1),
  ])
  func `A single line longer than 500 KiB is not a rule`(head: String) {
    let text = head + String(repeating: "*a", count: RobotsFile.maxBytes)
    #expect(file(text).allows(path: "/aaaa"))
    #expect(file(text).byteCount == 0)
  }

  @Test(arguments: [
    "Allow:a\n", "Disallow:\u{1}\n", "Disallow: /*a*b*c*d\n", "Disallow: ::::::::::::::::\n", "Disallow: /?//////\n",
  ])
  func `The rules of a large file take a few times its size`(line: String) {
    let text = "User-agent: *\n" + String(repeating: line, count: (1 << 20) / line.utf8.count)

    #expect(file(text).byteCount <= 4 * RobotsFile.maxBytes)
    #expect(file(text).allows(path: "/" + String(repeating: "a", count: 100)))
  }

  @Test func `Any bytes are judged`() {
    var generator = SystemRandomNumberGenerator()
    let alphabet = Array("User-agent: *\nDisallow: /a*%$?#\r\u{FEFF}\0".utf8)
    for _ in 0..<50 {
      let bytes = (0..<2000).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
      _ = RobotsFile(Array("User-agent: *\nDisallow:".utf8) + bytes, productToken: "a").allows(path: "/a%/?%a%")
    }
    let garbage = (0..<RobotsFile.maxBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
    #expect(RobotsFile(garbage, productToken: "thumbs").allows(path: "/a"))
  }
}
