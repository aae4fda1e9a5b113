import ImageCache
import Testing

@testable import thumbs

/// FNV-1a as 32 hexadecimal digits, the first eight of them zero for URLs that contain `same8`.
private func hash(_ url: String) -> String {
  let value = url.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  let digits = String(value, radix: 16)
  let padded = String(repeating: "0", count: 16 - digits.count) + digits
  return url.contains("same8") ? "00000000" + padded + padded.prefix(8) : padded + padded
}

private func row(_ url: String, name: String? = nil, index: Int = 0) -> ManifestRow {
  ManifestRow(index: index, line: nil, name: name, url: url)
}

private func thumbnail(_ width: Int = 256, _ height: Int = 192, size: Int = 256, _ format: OutputFormat = .jpeg)
  -> Thumbnail
{
  Thumbnail(
    spec: ThumbnailSpec(width: size), size: PixelSize(width: width, height: height), format: format, bytes: [])
}

private let one = [ThumbnailSpec(width: 256)]

extension OutputNames {
  /// Claims the names of a row with one size.
  fileprivate mutating func claim(_ row: ManifestRow) -> OutputName { claim(row, specs: one) }
}

private func fileName(_ template: String, _ row: ManifestRow) throws -> String {
  var names = OutputNames(try NameTemplate(template), hash: hash)
  return names.claim(row).fileName(of: thumbnail())
}

@Suite struct OutputNamesTests {
  @Test(
    arguments: [
      ("{stem}.{ext}", "photo.jpg"), ("{name}.{ext}", "My Photo.jpg"), ("{index}-{host}.{ext}", "7-cdn.example.jpg"),
      ("{stem}-{spec}.{ext}", "photo-256x256.jpg"), ("{width}x{height}-{stem}.{ext}", "256x192-photo.jpg"),
      ("{stem}", "photo"), ("{host}/{stem}.{ext}", "cdn.example/photo.jpg"), ("{stem:2}/{name:4}.{ext}", "ph/My P.jpg"),
      ("{spec}/{ext}/{index}", "256x256/jpg/7"), ("v1.0/.{stem:99}", "v1.0/_photo"),
    ])
  func `Every field of a pattern has its value`(template: String, expected: String) throws {
    let row = row("https://u:p@CDN.example:8080/a/photo.png?w=1#x", name: "My Photo", index: 7)

    #expect(try fileName(template, row) == expected)
    #expect(try fileName("{hash}.{ext}", row) == hash(row.url).prefix(8) + ".jpg")
    #expect(try fileName("{hash:2}/{hash:32}", row) == hash(row.url).prefix(2) + "/" + hash(row.url))
  }

  @Test(
    arguments: [
      ("http://h/a/b/c.png", "a/b/c.jpg"), ("http://h/c.png", "c.jpg"), ("http://h/a/b/", "a/b.jpg"),
      ("http://h//a///b.png", "a/b.jpg"), ("http://h/a/../b/c.png", "b/c.jpg"), ("http://h/%2e%2e/a.png", "a.jpg"),
      ("http://h/a%2F..%2Fb/c.png", "a_.._b/c.jpg"), ("http://h/.git/x.png", "_git/x.jpg"),
      ("http://h/con/x.png", "_con/x.jpg"), ("http://h/-rf/x.png", "_rf/x.jpg"),
      ("http://h/caf%C3%A9/x.png", "café/x.jpg"),
      ("http://h", "image.jpg"), ("/home/me/a.png", "home/me/a.jpg"),
      ("http://h/1/2/3/4/5/6/7/8/9/10/x.png", "1/2/3/4/5/6/7/x.jpg"),
    ])
  func `The folders of a URL are subdirectories, without a way out`(url: String, expected: String) throws {
    #expect(try fileName("{dir}/{stem}.{ext}", row(url)) == expected)
    let deep = url.contains("/10/")
    #expect(try fileName("{path}.{ext}", row(url)) == (deep ? "1/2/3/4/5/6/7/8/x.jpg" : expected))
    let name = try fileName("{host}/{path}.{ext}", row(url))
    #expect(name.hasSuffix("/" + expected))
  }

  @Test func `Names with folders survive a report`() throws {
    var names = OutputNames(.mirror, hash: hash)
    let name = names.claim(row("https://cdn.example/a/{b}/x.png"))
    #expect(try OutputName(pattern: name.pattern).fileName(of: thumbnail()) == "cdn.example/a/{b}/x.jpg")
    let other = names.claim(row("https://cdn.example/a/{b}/x.gif"))
    #expect(other.fileName(of: thumbnail()) != name.fileName(of: thumbnail()))
  }

  @Test(
    arguments: [
      ("http://h/a.b.png", "a.b"), ("http://h/", "image"), ("http://h", "image"), ("http://h/dir/", "dir"),
      ("http://h/.hidden", "_hidden"), ("http://h/caf%C3%A9.jpg", "café"), ("http://h/%ff.jpg", "%ff"),
      ("http://h/100%.jpg", "100%"), ("http://h/a%2Fb.jpg", "a_b"), ("http://h/x.php?f=/etc/y.png", "x"),
      ("http://h/a%00b.png", "a_b"), ("no URL", "no URL"), ("", "image"),
      ("http:\\\\h\\d\\a.png", "a"), ("http:/h/a.png", "a"), ("ht\ttp://h/a\n.png", "a"),
      ("http://u@v@h/d/../a.png", "a"),
    ])
  func `The stem is the last path component, decoded and without its extension`(url: String, expected: String) throws {
    #expect(try fileName("{stem}.{ext}", row(url)) == expected + ".jpg")
  }

  @Test(
    arguments: [
      ("http://A.example:8/x", "a.example"), ("http://0x7f.1/x", "127.0.0.1"), ("http:\\\\h\\x", "h"),
      ("http:/h/x", "h"),
      ("http://u:p@h@i/x", "i"), ("http://BÜCHER.example/x", "bücher.example"), ("http://h:x/y", "h"),
    ])
  func `The host is that of the request, in the letters that are written`(url: String, expected: String) throws {
    #expect(try fileName("{host}.{ext}", row(url)) == expected + ".jpg")
  }

  @Test(
    arguments: [
      ("../../etc/passwd", "___.._etc_passwd"),
      ("..", "__"), (".", "_"), ("/", "_"), ("a/b\\c:d", "a_b_c_d"), ("-rf", "_rf"), ("--x", "__x"),
      (".bashrc", "_bashrc"), (".\u{301}a", "_\u{301}a"),
      ("a\u{0}b\nc\u{7F}", "a_b_c_"), ("a\u{202E}gpj", "a_gpj"),
      ("a\u{200E}b\u{200F}c\u{61C}", "a_b_c_"), ("con", "_con"), ("COM1.x", "_COM1.x"),
      ("Über \u{1F469}\u{200D}\u{1F680}", "Über \u{1F469}\u{200D}\u{1F680}"),
    ])
  func `No file name leaves the directory, is hidden, or looks like an option`(name: String, expected: String) throws {
    #expect(try fileName("{name}.{ext}", row("http://h/x.png", name: name)) == expected + ".jpg")
  }

  @Test(arguments: ["..", ".", "../..", "/", "", "con", "-", "\u{301}", "a/../../b"])
  func `A subdirectory that is named by a row stays below the directory`(name: String) throws {
    for template in ["{name}/{name}", "{name:1}/{name:2}.{ext}", "{name}/{spec}"] {
      let file = try fileName(template, row("http://h/", name: name))
      // A slash with a combining accent is one character, but ends a name for the system.
      let parts = file.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
      #expect(parts.count == 2 && parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") && !$0.hasPrefix("-") })
    }
  }

  @Test func `Long values are truncated in each subdirectory`() throws {
    let row = row("http://h/" + String(repeating: "y", count: 300), name: String(repeating: "x", count: 300))

    let parts = try fileName("{name}/{stem}.{ext}", row).split(separator: "/").map(\.utf8.count)

    #expect(parts.count == 2 && parts.allSatisfy { (200...255).contains($0) })
  }

  @Test(arguments: ["a.b/{stem}", "{hash:2}.d/{stem}.{ext}", "x/{stem}-{spec}.{ext}"])
  func `The hash of a later source is in the file name, not in a subdirectory`(template: String) throws {
    var names = OutputNames(try NameTemplate(template), hash: hash)
    let files = ["http://same8/1/icon.png", "http://same8/2/icon.png"].map {
      names.claim(row($0)).fileName(of: thumbnail()).split(separator: "/")
    }

    #expect(files[0][0] == files[1][0] && files[0][1] != files[1][1])
    #expect(files[1][1].hasPrefix("icon-"))
  }

  @Test func `Rows with several sizes get them in the file name, not in a subdirectory`() throws {
    var names = OutputNames(try NameTemplate("{host}.{ext}/{stem}"), hash: hash)
    var row = row("http://h/x.png")
    row.options.sizes = [64, 128].map { SizeOption(box: PixelSize(width: $0, height: $0), scale: 1) }

    let name = names.claim(row, specs: [ThumbnailSpec(width: 64), ThumbnailSpec(width: 128)])

    #expect(name.fileName(of: thumbnail(size: 64)) == "h.jpg/x-64x64")
  }

  @Test(arguments: ["a", "é", "\u{1F469}\u{200D}\u{1F680}", "\u{65}\u{301}"])
  func `A long value is truncated between characters, and the rest of the name is kept`(character: String) throws {
    let name = String(repeating: character, count: 300)
    for template in ["{name}.{ext}", "{name}-{spec}.{ext}", "{name}{stem}-{width}.{ext}", "{name}"] {
      var names = OutputNames(try NameTemplate(template), hash: hash)
      let all = (0..<3).map { names.claim(row("http://h/same8-\($0).png", name: name)).fileName(of: thumbnail()) }
      #expect(Set(all).count == 3)
      for file in all {
        #expect(file.utf8.count <= 255)
        #expect(file.utf8.count > 150)
        #expect(file.prefix(5) == String(repeating: character, count: 5).prefix(5))
        #expect(!file.unicodeScalars.contains("\u{FFFD}"))
        #expect(file.hasSuffix(".jpg") == template.contains("{ext}"))
      }
    }
  }

  @Test func `Two sources never share a file, and the name of the later one contains its hash`() throws {
    var names = OutputNames(.oneSize, hash: hash)
    let (a, b) = (row("http://a/icon.png"), row("http://b/icon.jpg"))

    let first = names.claim(a)
    let second = names.claim(b)

    #expect(first.fileName(of: thumbnail()) == "icon.jpg")
    #expect(second.fileName(of: thumbnail()) == "icon-\(hash(b.url).prefix(8)).jpg")
    #expect(names.claim(a) == first)
    #expect(names.claim(b) == second)
  }

  @Test func `If eight digits of the hash are equal too, more digits distinguish the sources`() throws {
    var names = OutputNames(.severalSizes, hash: hash)
    let files = (0..<4).map { number in
      names.claim(row("http://same8/\(number)/icon.png")).fileName(of: thumbnail(size: 64))
    }

    #expect(files[0] == "icon-64x64.jpg")
    #expect(files[1] == "icon-64x64-00000000.jpg")
    #expect(Set(files).count == 4)
  }

  @Test func `A row gets its own name even if every name with its hash is taken`() throws {
    var names = OutputNames(try NameTemplate("{name}"), hash: hash)
    let url = "http://b/icon.png"
    let taken = ["x"] + [8, 16, 32].map { "x-\(hash(url).prefix($0))" }
    let rows = taken.map { row("http://a/\($0)", name: $0) } + [row(url, name: "x")]
    #expect(Set(rows.map { names.claim($0).fileName(of: thumbnail()) }).count == rows.count)
  }

  @Test func `A row whose name equals another row's name with its hash does not share its file`() throws {
    var names = OutputNames(.oneSize, hash: hash)
    let b = row("http://b/icon.png")
    let rows = [row("http://a/icon.png"), row("http://c/icon-\(hash(b.url).prefix(8)).png"), b]
    #expect(Set(rows.map { names.claim($0).fileName(of: thumbnail()) }).count == 3)
  }

  @Test func `File names depend on the manifest alone`() throws {
    let rows = (0..<1000).map { row("http://h\($0 % 50)/\($0 % 7).png") }
    func run(_ rows: [ManifestRow]) -> [String] {
      var names = OutputNames(.oneSize, hash: hash)
      return rows.map { names.claim($0).fileName(of: thumbnail()) }
    }

    let first = run(rows)

    // The first source with a name keeps it; every other source with that name gets its own hash.
    for (file, row) in zip(first, rows) {
      let stem = row.url.split(separator: "/").last?.dropLast(4) ?? ""
      let isFirst = rows.first { $0.url.hasSuffix("/\(stem).png") }?.url == row.url
      #expect(file == (isFirst ? "\(stem).jpg" : "\(stem)-\(hash(row.url).prefix(8)).jpg"))
    }
    let owners = Dictionary(grouping: zip(first, rows.map(\.url)), by: \.0).mapValues { Set($0.map(\.1)) }
    #expect(owners.values.allSatisfy { $0.count == 1 })
  }

  /// Two rows that could reach the same file name.
  struct Pair: Sendable, CustomTestStringConvertible {
    let template: String
    let rows: [ManifestRow]
    /// The sizes of each row in its manifest.
    var sizes: [[Int]] = [[96], [96]]
    var testDescription: String { "\(template): \(rows.map { "\($0.name ?? "") \($0.url)" })" }
  }

  static let pairs = [
    Pair(
      template: "{stem}.{ext}", rows: [row("http://h/x-64x64.jpg"), row("http://h/x.jpg")], sizes: [[96], [64, 128]]),
    Pair(
      template: "{stem}.{ext}", rows: [row("http://h/x.jpg"), row("http://h/x-64x64.jpg")], sizes: [[64, 128], [96]]),
    Pair(template: "{stem}.{ext}", rows: [row("http://h/x.png?q=\u{E9}"), row("http://h/x.png?q=e\u{301}")]),
    Pair(
      template: "{stem}-{width}-{name}.{ext}",
      rows: [row("http://h/a.png", name: "96-b"), row("http://h/a-96.png", name: "b")]),
    Pair(
      template: "{stem}.{ext}.{name}",
      rows: [row("http://h/a.png", name: "jpg.b"), row("http://h/a.jpg.png", name: "b")]),
    Pair(
      template: "{stem}.{ext}.{name}",
      rows: [row("http://h/a.png", name: "JPG.b"), row("http://h/a.JPG.png", name: "b")]),
    Pair(template: "{stem}.{ext}", rows: [row("http://h/x.png"), row("http://h/x.png\n64")], sizes: [[64], [64]]),
    Pair(template: "{stem}.{ext}", rows: [row("http://h/Logo.png"), row("http://h/logo.png")]),
    Pair(template: "{name}.{ext}", rows: [row("http://h/1", name: "\u{E9}"), row("http://h/2", name: "e\u{301}")]),
  ]

  @Test(arguments: pairs)
  func `Two sources never get the same file, or names that some file systems treat as equal`(pair: Pair) throws {
    var names = OutputNames(try NameTemplate(pair.template), hash: hash)
    let files = zip(pair.rows, pair.sizes).flatMap { row, sizes in
      var row = row
      if sizes.count > 1 {
        row.options.sizes = sizes.map { SizeOption(box: PixelSize(width: $0, height: $0), scale: 1) }
      }
      let name = names.claim(row, specs: sizes.map { ThumbnailSpec(width: $0) })
      return sizes.map { name.fileName(of: thumbnail($0, $0, size: $0)) }
    }

    #expect(Set(files.map { $0.lowercased() }).count == files.count, "\(files)")
  }
}
