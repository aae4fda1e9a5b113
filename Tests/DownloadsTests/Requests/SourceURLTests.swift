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
    ("http://h/100%", "http://h/100%"),
    ("http://h/%zz", "http://h/%zz"),
    ("http://h/ä?ö=ü", "http://h/%C3%A4?%C3%B6=%C3%BC"),
    ("http://h/a|b{c}", "http://h/a|b%7Bc%7D"),
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
    ("http://127.0.0.1./", "http://127.0.0.1/"),
    ("http://2852039166./latest", "http://169.254.169.254/latest"),
    ("http://0xA9FEA9FE./", "http://169.254.169.254/"),
    ("http://0xa9.0xfe.0xa9.0xfe./", "http://169.254.169.254/"),
    ("http://0251.0376.0251.0376.:81/", "http://169.254.169.254:81/"),
    ("http://169.254.43518./", "http://169.254.169.254/"),
    ("http://169.16689662./", "http://169.254.169.254/"),
    ("http://169。254。169。254。/", "http://169.254.169.254/"),
    ("http://%31%36%39.254.169.254./", "http://169.254.169.254/"),
    ("http://0x/", "http://0.0.0.0/"),
    ("http://4294967295/", "http://255.255.255.255/"),
    ("http://h./a", "http://h./a"),
    ("http://H.example.:81/a", "http://h.example.:81/a"),
    ("http://1.2.3.4a/", "http://1.2.3.4a/"),
    ("http://1.2.3.0xg/", "http://1.2.3.0xg/"),
    ("http://BÜCHER.example:8080/", "http://xn--bcher-kva.example:8080/"),
    ("http://bu\u{308}cher.example/", "http://xn--bcher-kva.example/"),
    ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
    ("http://h/a\tb", "http://h/ab"),
    ("http://h/\"a\"<b>^`\\", "http://h/%22a%22%3Cb%3E%5E%60/"),
    ("http://h/%2e%2E/a", "http://h/a"), ("http://h/b/.%2e/a?x=/%2e%2e/", "http://h/a?x=/%2e%2e/"),
    ("http://h/b/%2E./c/%2e/a", "http://h/c/a"), ("http://h/%2ea/%2e%2eb", "http://h/%2ea/%2e%2eb"),
    ("http://h/a%2Fb", "http://h/a%2Fb"),
    ("http://h/%", "http://h/%"),
    ("http://h/%4", "http://h/%4"),
    ("http://h/?a=%&b=1 2", "http://h/?a=%&b=1%202"),
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
    "http://a,b/", "http://h:0/",
  ])
  func `An invalid host is rejected`(text: String) {
    let failure = #expect(throws: FetchFailure.self) { try SourceURL(text) }

    #expect(failure?.code == .badURL)
  }

  @Test(arguments: [
    "4294967296", "4294967296.", "256.0.0.1", "1.2.3.256.", "1.2.65536", "1.16777216.", "1.2.3.4.5", "1.2.3.4.5.",
    "a.1", "a.1.", "a.b.0x7f", "0251.0376.0251.0378.", "08", "1.2.3.08.", "1..2.", "0xffffffffffffffffffffff",
    "99999999999999999999999999", "0xa9fea9fe.169.", "1.2.3.4..", "[::1].", "[v1.a]", "[1.2.3.4]",
  ])
  func `A host whose last label is a number is an IPv4 address or rejected`(host: String) {
    let failure = #expect(throws: FetchFailure.self) { try SourceURL("http://\(host)/") }

    #expect(failure?.code == .badURL)
  }

  @Test(arguments: [
    ("http://h./a", "h"), ("http://h.:81/a", "h:81"), ("http://a.example./", "a.example"),
    ("http://127.0.0.1.:81/", "127.0.0.1:81"), ("http://2130706433./", "127.0.0.1"),
  ])
  func `Rules and limits of a host apply with and without a final dot`(text: String, host: String) throws {
    let url = try SourceURL(text)

    #expect(url.host == host)
    #expect(url.pathAndQuery == text.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" })
  }

  @Test(arguments: [8192, 8193]) func `A URL has at most 8 KiB`(length: Int) throws {
    let url = "http://h/" + String(repeating: "a", count: length - 9)
    let base = try SourceURL("http://h/" + String(repeating: "b", count: 4000) + "/")
    let relative = String(repeating: "a", count: length - base.description.utf8.count)
    for read in [
      { try SourceURL(url) }, { try SourceURL(parsing: url) }, { try SourceURL(relative, relativeTo: base) },
    ] {
      if length <= 8192 {
        #expect(throws: Never.self) { _ = try read() }
      } else {
        #expect((#expect(throws: FetchFailure.self) { _ = try read() })?.code == .badURL)
      }
    }
  }

  @Test func `A URL that is longer than 8 KiB only in canonical form is rejected with a short message`() {
    let odd = String(repeating: "\u{301}", count: 2000)
    for text in ["http://h/" + odd, "http://h/" + odd + odd + odd + odd + odd, "http://\(odd)/"] {
      let failure = #expect(throws: FetchFailure.self) { try SourceURL(text) }
      #expect(failure?.code == .badURL && failure?.message.utf8.count ?? .max < 500)
    }
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
    ("http://a1.b2/", 80, "a1.b2"), ("file:///a", 80, nil),
  ])
  func `A name is looked up unless it is an IP address or local`(text: String, port: Int, name: String?) throws {
    let url = try SourceURL(text)

    #expect(url.port == port && url.nameToLookUp == name)
    #expect(url.isLoopbackName == text.contains("//localhost") || text.contains(".localhost"))
    #expect(url.hasFinalDot == (!text.contains("127") && (text.contains(".:") || text.contains("./"))))
  }
}
