import BatchFetch
import Testing

@testable import thumbs

/// The images of web pages. `make test-pages` compares the parser with that of a browser.
@Suite struct WebPageTests {
  private func page(_ text: String) throws -> WebPage {
    WebPage(Array(text.utf8), at: try SourceURL("https://a.example/s/page"))
  }

  @Test(
    arguments: [
      ("<meta property=og:image content=a><meta name=twitter:image content=b>", "a"),
      ("<meta name=twitter:image:src content=b><meta property=og:image content=''>", "b"),
      ("<link rel=image_src href=c><meta itemprop=image content=d>", "c"), ("<meta itemprop=image content=d>", "d"),
      ("<img src=s width=10><img src=l width=900 height=600><img src=m width=300>", "l"),
      ("<img src=s><img srcset='m 400w, l 1200w'>", "m"), ("<p>nothing", nil),
    ] as [(String, String?)])
  func `The preview is the declared image, or else the largest one`(text: String, url: String?) throws {
    #expect(try page(text).found(.preview, side: 256).map(\.url) == [url].compactMap { $0 })
  }

  @Test(arguments: [
    (16, "16.png"), (17, "32.png"), (64, "any.svg"), (256, "any.svg"),
  ])
  func `The icon is the smallest one that is no smaller than the thumbnail`(side: Int, url: String) throws {
    let text = """
      <link rel="icon" sizes="16x16" href="16.png"><link rel='shortcut icon' sizes="32x32 48X48" href="32.png">
      <link rel="icon" type="image/svg+xml" href="any.svg"><link rel=icon type=image/x-unknown href=no.png>
      """
    #expect(try page(text).found(.icon, side: side).map(\.url) == [url])
    let touch = try page("<link rel=apple-touch-icon href=t.png><link rel=icon href=i.ico>")
    #expect(
      touch.found(.icon, side: 64).map(\.url) == ["t.png"] && touch.found(.icon, side: 20).map(\.url) == ["i.ico"])
  }

  @Test(
    arguments: [
      ("a 100w, b 300w, c 800w", 256, "b"), ("a 100w, b 200w", 256, "b"), ("a, b 2x", 256, "a"),
      ("a 1x,b 2x", 300, "a"), (" , a.jpg,b?x=1,2 2x", 300, "a.jpg,b?x=1,2"), ("a (x, y) 300w, b 200w", 256, "b"),
      ("data:image/png;base64,AA 300w, b 200w", 256, "b"), ("a -5w, b 100w", 50, "b"), ("a 0w", 50, nil),
    ] as [(String, Int, String?)])
  func `The file of an image is the one nearest above the size`(set: String, side: Int, url: String?) throws {
    #expect(try page("<img srcset=\"\(set)\">").found(.images, side: side).map(\.url) == [url].compactMap { $0 })
  }

  @Test func `Images have their sources, stand-ins their files, and each URL counts once`() throws {
    let text = """
      <base href="/b/"><picture><source type="image/x-new" srcset="no"><source media="(width < 9px)" srcset="no">
      <source type="image/webp" srcset="w.webp 300w"><img src="j.jpg"></picture><img src="k.jpg" alt=" K ">
      <img src="data:image/gif;base64,R0" data-src="lazy.jpg"><img src="/b/k.jpg"><img src=""><img>
      """
    let page = try page(text)
    let found = page.found(.images, side: 256)
    #expect(found.map { page.resolved($0.url) } == ["w.webp", "k.jpg", "lazy.jpg"].map { "https://a.example/b/\($0)" })
    #expect(found.map(\.text) == [nil, "K", nil])
  }

  @Test(
    arguments: [
      ("text/html; charset=iso-8859-1", "<title>caf\u{E9}</title>", false),
      (nil, "<meta charset=latin1><title>caf\u{E9}", false),
      (nil, "<title>caf\u{E9}</title>", false), ("text/html; charset=UTF-8", "<title>caf\u{E9}</title>", true),
      (nil, "<meta http-equiv=content-type content='text/html; charset=windows-1252'><title>caf\u{E9}</title>", false),
      (nil, "<meta charset=utf-16><title>caf\u{E9}</title>", true),
    ] as [(String?, String, Bool)])
  func `The encoding is that of the response, of the page, or a guess`(type: String?, text: String, isUTF8: Bool) {
    let bytes = isUTF8 ? Array(text.utf8) : text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    #expect(WebPage(PageEncoding.utf8(bytes, contentType: type), at: nil).title == "café")
  }

  @Test(arguments: ["<!-->", "<!--->", "<!-- -->", "a"])
  func `A comment in a script that has ended hides no end tag`(comment: String) throws {
    let page = try page("<script>\(comment)<script></script><img src=a.png>")
    #expect(page.found(.images, side: 8).map(\.url) == ["a.png"])
  }

  @Test func `Marks decide before anything else, and other encodings are converted`() {
    let units = Array("<title>é</title>".utf16)
    let wide: [UInt8] = [0xFF, 0xFE] + units.flatMap { unit -> [UInt8] in [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
    let marked = [0xEF, 0xBB, 0xBF] + Array("<title>é</title>".utf8)
    for bytes in [wide, marked] {
      #expect(WebPage(PageEncoding.utf8(bytes, contentType: "text/html; charset=koi8-r"), at: nil).title == "é")
    }
    let cyrillic: [UInt8] = Array("<title>".utf8) + [0xCD, 0xC9, 0xD2]
    #expect(WebPage(PageEncoding.utf8(cyrillic, contentType: "text/html;charset=koi8-r"), at: nil).title == "мир")
    let unknown = PageEncoding.utf8([0xE9], contentType: "text/html; charset=nonsense")
    #expect(String(decoding: unknown, as: UTF8.self) == "é")
  }

  @Test(arguments: [
    "windows-1252", "iso-8859-1", "shift_jis", "gb18030", "euc-jp", "utf-16", "utf-7", "nonsense", "koi8-r",
  ])
  func `Bytes that are not valid in an encoding are replaced, in linear time`(name: String) {
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 / 256) }
    let text = PageEncoding.utf8(bytes, contentType: "text/html; charset=\(name)")

    #expect(text.count >= bytes.count / 4 && String(validating: text, as: UTF8.self) != nil)
  }

  @Test(arguments: [
    ("https://a.example/p", "https://b.example/i", true), ("http://a.example/p", "http://b.example/i", true),
    ("http://a.example/p", "https://b.example/i", true), ("https://a.example/p", "http://b.example/i", false),
  ])
  func `A secure page is not named in an insecure request`(page: String, image: String, isNamed: Bool) {
    #expect(RowPage(url: page, search: .images).referer(for: image) == (isNamed ? page : nil))
  }

  @Test func `A page of only opening brackets takes no quadratic time`() throws {
    for unit in ["<", "<a ", "<!--", "<script>", "<title>", "<svg/onload=", "&", "<img srcset='a,"] {
      let text = String(repeating: unit, count: 200_000)
      #expect(try page(text).images.count <= WebPage.maxImages, "\(unit)")
    }
  }
}

/// The images of feeds and sitemaps.
@Suite struct FeedTests {
  private func items(_ text: String) -> [String] {
    Feed(Array(text.utf8), at: nil).items.map { "\($0.url) \($0.title ?? "-")" }
  }

  @Test func `An entry of a feed gives its best image`() {
    let rss = """
      <?xml version="1.0"?><!DOCTYPE rss [<!ENTITY x "y">]><rss><channel><title>C</title>
      <image><url>no.png</url></image><itunes:image href="no.png"/>
      <item><title>A &amp; 1</title><media:thumbnail url="no"/><media:content medium="image" url="m.png"/></item>
      <item><enclosure url="song.mp3" type="audio/mpeg"/><enclosure url="e.png?a=1&amp;b=2" type="image/png"/></item>
      <item><title>T</title><itunes:image href="i.png"/></item><item><title>none</title></item>
      <item><description>&lt;p&gt;&lt;img src="d.png?a&amp;amp;b"&gt;</description></item>
      <item><content:encoded><![CDATA[<p><IMG SRC='c.png'>]]></content:encoded><title>later</title></item>
      </channel></rss>
      """
    #expect(items(rss) == ["m.png A & 1", "e.png?a=1&b=2 -", "i.png T", "d.png?a&b -", "c.png later"])
    let atom = """
      <feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><entry><title>E</title>
      <link rel="alternate" href="x"/><link rel="enclosure" type="image/jpeg" href="a.jpg"/></entry></feed>
      """
    #expect(items(atom) == ["a.jpg E"])
  }

  @Test func `A sitemap gives all of its images`() {
    let map = """
      <urlset xmlns:image="x"><url><loc>p</loc><image:image><image:loc>a.png</image:loc><image:title>T</image:title>
      </image:image><image:image><image:loc> b.png?x=1&amp;y=2 </image:loc></image:image></url></urlset>
      """
    #expect(items(map) == ["a.png T", "b.png?x=1&y=2 -"])
    #expect(Feed(Array("<sitemapindex><sitemap/></sitemapindex>".utf8), at: nil).kind == .sitemapIndex)
  }
}
