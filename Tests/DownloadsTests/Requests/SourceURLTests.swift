import Testing

@testable import Downloads

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
    ("http://0177.0.0.1/", "http://127.0.0.1/"),
    ("http://2130706433/", "http://127.0.0.1/"),
    ("http://127.1:80/", "http://127.0.0.1/"),
    ("http://１２７.１/", "http://127.0.0.1/"),
    ("http://0ｘ7f.1:8080/a?b", "http://127.0.0.1:8080/a?b"),
    ("http://[0:0::0001]/", "http://[::1]/"),
    ("http://BÜCHER.example:8080/", "http://xn--bcher-kva.example:8080/"),
    ("http://bu\u{308}cher.example/", "http://xn--bcher-kva.example/"),
    ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
    ("http://h/a\tb", "http://h/a%09b"),
    ("http://h/\"a\"<b>^`\\", "http://h/%22a%22%3Cb%3E%5E%60%5C"),
    ("http://h/%2e%2E/a", "http://h/%2e%2E/a"),
    ("http://h/a%2Fb", "http://h/a%2Fb"),
    ("http://h/%", "http://h/%25"),
    ("http://h/%4", "http://h/%254"),
    ("http://h/?a=%&b=1 2", "http://h/?a=%25&b=1%202"),
    ("http://h/a?w=1#x", "http://h/a?w=1"),
    ("http://h/a?next=http://i/ü", "http://h/a?next=http://i/%C3%BC"),
    ("http://h//a//b", "http://h//a//b"),
    ("http://h/../../a", "http://h/a"),
    ("http://h/🐟.png", "http://h/%F0%9F%90%9F.png"),
    ("http://h/%F0%9F%90%9F.png", "http://h/%F0%9F%90%9F.png"),
    ("file:///tmp/a b.png", "file:///tmp/a%20b.png"),
  ])
  func `A URL has one canonical form`(text: String, expected: String) throws {
    let url = try SourceURL(text)

    #expect(url.description == expected)
    #expect(try SourceURL(url.description) == url)
  }

  @Test func `Credentials are kept for the request, but not in the description`() throws {
    let url = try SourceURL("http://user:pass%40word@h/a")

    #expect(url.description == "http://h/a")
    #expect(url.requestString == "http://user:pass%40word@h/a")
  }

  @Test(arguments: ["http://user:secret@h:99999/", "http://user:secret@/", "user:secret@h/a"])
  func `The message about an invalid URL contains no password`(text: String) {
    let failure = #expect(throws: FetchFailure.self) { try SourceURL(text) }

    #expect(failure?.message.contains("secret") == false)
  }

  @Test func `The part before an at sign is not the host`() throws {
    #expect(try SourceURL("http://ok.example@evil.example/").host == "evil.example")
  }

  @Test(arguments: [
    "http://\u{ad}/", "http://a..b./", "http://h:port/", "http://h:-1/", "http://[::1/", "http://[1]/",
    "http://a b/", "http://h\u{0}/", "http://h:80:80/", "http://%zz/", "http://a|b/", "http://a..b/", "http://.a/",
    "http://a\u{0}b/x", "http://bü cher.example/", "http://a%20b/",
    "http://a\\b/", "http://a,b/",
  ])
  func `An invalid host is rejected`(text: String) {
    let failure = #expect(throws: FetchFailure.self) { try SourceURL(text) }

    #expect(failure?.code == .badURL)
  }

  @Test(arguments: [
    ("http://h/a", "h"), ("http://h:81/a", "h"), ("http://h./a", "h"), ("http://[::1]:81/", "::1"),
    ("http://127.1/", "127.0.0.1"),
  ])
  func `The host name has no port, final dot or brackets`(text: String, name: String) throws {
    #expect(try SourceURL(text).hostName == name)
  }

  @Test(arguments: [
    ("http://h/", 80, "h"), ("https://h/", 443, "h"), ("http://h:81/", 81, "h"), ("http://h.:81/", 81, "h."),
    ("http://h./", 80, "h."), ("http://127.1/", 80, nil), ("http://127.0.0.1.:81/", 81, nil),
    ("http://[::1]/", 80, nil), ("https://[::1]:81/", 81, nil), ("http://localhost:81/", 81, nil),
    ("http://a.localhost./", 80, nil), ("http://notlocalhost/", 80, "notlocalhost"),
    ("http://a1.b2/", 80, "a1.b2"), ("http://1.2.3.4.5/", 80, "1.2.3.4.5"), ("file:///a", 80, nil),
  ])
  func `A name is looked up unless it is an IP address or local`(text: String, port: Int, name: String?) throws {
    let url = try SourceURL(text)

    #expect(url.port == port && url.nameToLookUp == name)
    #expect(url.isLoopbackName == text.contains("//localhost") || text.contains(".localhost"))
    #expect(url.hasFinalDot == (text.contains(".:") || text.contains("./")))
  }
}
