import Testing

@testable import BatchFetch

@Suite struct SourceURLTests {
  @Test(arguments: [
    ("http://h", "http://h/"),
    ("HTTP://Example.COM/A", "http://example.com/A"),
    ("http://h:80/a", "http://h/a"),
    ("https://h:443/a", "https://h/a"),
    ("http://h:8080/a", "http://h:8080/a"),
    ("http://h/a/../b/./c", "http://h/b/c"),
    ("http://h/a#part", "http://h/a"),
    ("http://h/a b", "http://h/a%20b"),
    ("http://h/a%20b", "http://h/a%20b"),
    ("http://h/100%", "http://h/100%25"),
    ("http://h/%zz", "http://h/%25zz"),
    ("http://h/ä?ö=ü", "http://h/%C3%A4?%C3%B6=%C3%BC"),
    ("http://h/a|b{c}", "http://h/a%7Cb%7Bc%7D"),
    ("http://h/a+b?c+d", "http://h/a+b?c+d"),
    ("http://h/a,b;c'd", "http://h/a,b;c'd"),
    ("http://h?q=1", "http://h/?q=1"),
    ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ("http://[::1]:8080/a", "http://[::1]:8080/a"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("file:///tmp/a b.png", "file:///tmp/a%20b.png"),
  ])
  func `An address has one canonical form`(text: String, expected: String) throws {
    let url = try SourceURL(text)
    #expect(url.description == expected)
    #expect(try SourceURL(url.description) == url)
  }

  @Test func `Credentials are kept for the request and shown nowhere`() throws {
    let url = try SourceURL("http://user:pass%40word@h/a")
    #expect(url.description == "http://h/a")
    #expect(url.requestString == "http://user:pass%40word@h/a")
  }

  @Test(arguments: ["http://user:secret@h:99999/", "http://user:secret@/", "user:secret@h/a"])
  func `The message about a bad address shows no password`(text: String) {
    let failure = #expect(throws: FetchFailure.self) { try SourceURL(text) }
    #expect(failure?.message.contains("secret") == false)
  }

  @Test func `What stands before an at sign is not the host`() throws {
    #expect(try SourceURL("http://ok.example@evil.example/").host == "evil.example")
  }
}
