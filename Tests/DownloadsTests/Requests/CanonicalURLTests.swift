import TestSupport
import Testing

@testable import Downloads

@Suite struct CanonicalURLTests {
  @Test(arguments: [
    ("http://h/", "h"), ("https://images.example/a/b_c-1.jpg", "images.example"),
    ("http://127.0.0.1:8080/a?b=c&d=/e", "127.0.0.1:8080"), ("https://a.b-c.example:80/x;y,z", "a.b-c.example:80"),
  ])
  func `A URL in canonical form is recognized`(text: String, authority: String) {
    #expect(CanonicalURL(text)?.authority == authority)
  }

  @Test(arguments: [
    "http://h", "HTTP://h/", "http://H/", "http://h:80/", "https://h:443/", "http://h:080/", "http://h:0/",
    "http://h:/", "http://h:65536/", "http://h:x/", "http://1/", "http://127.1/", "http://0.0.0.010/",
    "http://1.2.3.256/", "http://a.0x7f/", "http://[::1]/", "http://u@h/", "http://h/@", "http://h/a b",
    "http://h/%41", "http://h/.a", "http://h/a/../b", "http://h/a#b", "http://h/?", "http://h/a?", "http://h?a",
    "http://.h/", "http://h../", "http://h./", "http://bücher.example/", "http://h/ä", "http://h/\0", "http://h/[",
    "file:///a", "ftp://h/", "http:///", "", "/a", "http://h/\\a", "http://xn--bcher-kva.example/\t",
  ])
  func `Any other URL is left to the parser`(text: String) {
    #expect(CanonicalURL(text) == nil)
  }

  @Test func `Each recognized URL is read as by the parser`() throws {
    var random = SeededGenerator(seed: 5)
    let parts = [
      "a", "b.c", "h", "xn--x", "0", "1", "127", "255", "256", "0x7f", "-", "_", ".", "..", ":", "80", "443", "8080",
      "/", "//", "/.", "/a", "?", "#", "@", "%41", "%", "~", "!$&'()*+,;=", "[", "]", " ", "\\", "\"", "ü", "A",
      "localhost",
    ]
    var recognized = 0

    for _ in 0..<200_000 {
      let rest = (0..<Int.random(in: 1..<8, using: &random)).compactMap { _ in parts.randomElement(using: &random) }
      let text = (Bool.random(using: &random) ? "http://" : "https://") + rest.joined()
      guard let canonical = CanonicalURL(text) else { continue }
      recognized += 1
      let (read, parsed) = (try SourceURL(text), try SourceURL(parsing: text))
      #expect(read == parsed && read.description == text)
      #expect(read.host == canonical.authority && read.host == parsed.host)
      #expect(read.port == parsed.port && read.hostName == parsed.hostName && read.scheme == parsed.scheme)
      #expect(read.nameToLookUp == parsed.nameToLookUp && read.credentials == nil)
    }

    #expect(recognized > 1000)
  }
}
