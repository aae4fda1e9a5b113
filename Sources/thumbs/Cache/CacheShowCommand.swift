import ArgumentParser
import Foundation
import ImageCache

/// `thumbs cache show`: shows everything about one source.
struct CacheShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show a source in the cache, or write one of its thumbnails.",
    discussion: """
      Examples:
        thumbs cache show --explain https://cdn.example/a.jpg
        thumbs cache show 5f2b60c1 --spec 256x256 --body > a.jpg
      """)

  @OptionGroup var cache: CacheOptions
  @Argument(help: "URL of the source, or at least the first six digits of its key.") var source: SourceSelector
  @Option(help: ArgumentHelp("Thumbnail to show, such as 256x256. (default: the largest)", valueName: "size"))
  var spec: String?
  @Flag(help: "Write the thumbnail's bytes to standard output, which must not be a terminal.") var body = false
  @Flag(help: "Explain why the source is fresh or stale, and what a request would do now.") var explain = false
  @OptionGroup var formats: CacheFormatOptions
  @Flag(name: .customLong("full-urls"), help: "Show queries, users and passwords in URLs.") var fullURLs = false

  func run() throws {
    try reportingCacheErrors {
      let inspector = try CacheInspector(directory: try cache.directory())
      let found = try source.source(in: inspector)
      if body { return try write(try thumbnail(of: found, in: inspector)) }
      let shown = ShownSource(
        found, placeholder: try found.placeholder(in: inspector), hash: try found.perceptualHash(in: inspector),
        explains: explain, showsFullURL: fullURLs, now: Date()
      )
      print(try shown.text(formats.chosen))
      // The image is optional: one that cannot be drawn is left out.
      if formats.chosen == .table, let terminal = TerminalImage.standardOutput,
        let drawn = try? thumbnail(of: found, in: inspector)
      {
        terminal.draw(drawn)
      }
    }
  }

  private func thumbnail(of found: ListedSource, in inspector: CacheInspector) throws -> Thumbnail {
    let candidates = found.files.filter { spec == nil || $0.label == spec }.sorted { $0.bytes > $1.bytes }
    guard let spec = candidates.lazy.compactMap(\.spec).first,
      let thumbnail = try inspector.thumbnail(spec, of: found.key, url: found.source.url)
    else { throw MissingThumbnail(label: spec, available: found.files.map(\.label)) }
    return thumbnail
  }

  private func write(_ thumbnail: Thumbnail) throws {
    guard isatty(STDOUT_FILENO) == 0 else {
      throw ValidationError("--body writes image data; redirect standard output to a file or a pipe.")
    }
    let (_, code) = FileDescriptor.writeAll(thumbnail.bytes[...], to: STDOUT_FILENO)
    if code != 0 {
      printToStandardError("thumbs cache: \(String(cString: strerror(code)))")
      throw ExitCode.ioError
    }
  }

  /// The error for a source that lacks the requested thumbnail.
  struct MissingThumbnail: Error, CustomStringConvertible {
    let label: String?
    let available: [String]

    var description: String {
      let known = available.isEmpty ? "none" : available.sorted().joined(separator: ", ")
      return "The source has no usable thumbnail\(label.map { " " + $0 } ?? ""). Available: \(known)."
    }
  }
}

/// `thumbs cache why`: explains what a request for a source would do, and why.
struct CacheWhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Explain why a source is fresh or stale, and what a request would do now.",
    discussion: """
      Same as show --explain.

      Examples:
        thumbs cache why https://cdn.example/a.jpg
        thumbs cache why --json 5f2b60c1
      """)

  @OptionGroup var cache: CacheOptions
  @Argument(help: "URL of the source, or at least the first six digits of its key.") var source: SourceSelector
  @OptionGroup var formats: CacheFormatOptions
  @Flag(name: .customLong("full-urls"), help: "Show queries, users and passwords in URLs.") var fullURLs = false

  func run() throws {
    try reportingCacheErrors {
      let inspector = try CacheInspector(directory: try cache.directory())
      let found = try source.source(in: inspector)
      let shown = ShownSource(
        found, placeholder: try found.placeholder(in: inspector), hash: try found.perceptualHash(in: inspector),
        explains: true, showsFullURL: fullURLs, now: Date())
      print(try shown.text(formats.chosen))
    }
  }
}

/// The output of `cache show`. Its JSON fields are the properties: fields may be added; existing ones do not change.
private struct ShownSource: Encodable {
  struct Thumbnail: Encodable {
    let spec, format: String
    let width, height, bytes: Int
  }

  struct ShownPlaceholder: Encodable {
    let thumbhash: String
    let color: String?
  }

  struct Explanation: Encodable {
    let basis, next: String
    let age, lifetime: Int
    let respondedAt: Date
    let freshUntil, staleOnErrorUntil: Date?
    let cacheControl, etag, lastModified, vary: String?
  }

  let key, url, state: String
  let finalURL: String?
  let status, bytes: Int
  let width, height, sourceBytes: Int?
  let format, digest, code, message: String?
  let lastUsed: Date
  let thumbnails: [Thumbnail]
  let placeholder: ShownPlaceholder?
  let phash: String?
  let explanation: Explanation?

  init(
    _ listed: ListedSource, placeholder: Placeholder?, hash: PerceptualHash?, explains: Bool, showsFullURL: Bool,
    now: Date
  ) {
    let source = listed.source
    let shown = { (url: String) in CacheText.field(showsFullURL ? url : CacheText.redacted(url)) }
    (key, state, status) = (listed.key.description, listed.state(at: now).rawValue, source.status)
    (url, finalURL) = (shown(source.url), source.finalURL.map(shown))
    (bytes, lastUsed) = (listed.bytes, listed.lastUsed)
    self.placeholder = placeholder.map {
      ShownPlaceholder(thumbhash: $0.thumbHash.base64, color: $0.color.map { "#\($0)" })
    }
    phash = hash?.description
    thumbnails = listed.files.sorted { $0.bytes < $1.bytes }.map {
      Thumbnail(
        spec: $0.label, format: $0.format.rawValue, width: $0.size.width, height: $0.size.height, bytes: $0.bytes)
    }
    switch source.content {
    case .image(let image, let digest, let bytes):
      (width, height, sourceBytes) = (image.size.width, image.size.height, bytes)
      (format, self.digest, code, message) = (image.format.rawValue, digest.description, nil, nil)
    case .failure(let code, let message, _):
      (width, height, sourceBytes, format, digest) = (nil, nil, nil, nil, nil)
      (self.code, self.message) = (code, message)
    }
    explanation = explains ? Explanation(listed, now: now) : nil
  }
}

extension ShownSource.Explanation {
  init(_ listed: ListedSource, now: Date) {
    let policy = listed.source.policy.explanation(at: now)
    (basis, age, lifetime, respondedAt) = (policy.basis.rawValue, policy.age, policy.lifetime, policy.respondedAt)
    (freshUntil, staleOnErrorUntil) = (policy.freshUntil, policy.staleOnErrorUntil)
    (cacheControl, etag, lastModified, vary) = (
      policy.cacheControl, policy.entityTag, policy.lastModified, policy.vary
    )
    next = Self.next(listed, policy)
  }

  /// Describes what a request would do now.
  private static func next(_ listed: ListedSource, _ policy: CachePolicy.Explanation) -> String {
    let isFresh = policy.state == .fresh
    if case .failure(let code, _, _) = listed.source.content {
      return isFresh ? "fail with \(code), without contacting the server" : "contact the server again"
    }
    guard !isFresh else { return "be served from the cache, without contacting the server" }
    let reason = policy.isFromTheFuture ? " (the clock was set back)" : ""
    let validators = [
      policy.entityTag.map { _ in "If-None-Match" }, policy.lastModified.map { _ in "If-Modified-Since" },
    ]
    let conditions = validators.compactMap { $0 }.joined(separator: " and ")
    if listed.thumbnails.isEmpty || conditions.isEmpty { return "download the image again\(reason)" }
    return "revalidate with \(conditions)\(reason); a 304 keeps the thumbnails"
  }
}

extension ShownSource {
  /// Returns the source in a format.
  func text(_ format: CacheOutputFormat) throws -> String {
    switch format {
    case .table: table
    case .json, .jsonl: try CacheText.json(self)
    case .tsv: separated
    }
  }

  /// The source as lines for people.
  private var table: String {
    var lines = ["\(key)  \(url)"]
    if let finalURL { lines.append("  final URL    \(finalURL)") }
    lines.append("  response     \(status), \(content)")
    lines.append("  state        \(state), last used \(CacheText.time(lastUsed))")
    for thumbnail in thumbnails {
      let spec = thumbnail.spec.padding(toLength: max(11, thumbnail.spec.count), withPad: " ", startingAt: 0)
      let size = "\(thumbnail.width)x\(thumbnail.height)"
      lines.append("  thumbnail    \(spec)  \(size) \(thumbnail.format), \(CacheText.size(thumbnail.bytes))")
    }
    if let placeholder {
      lines.append("  placeholder  \(placeholder.thumbhash)\(placeholder.color.map { ", " + $0 } ?? "")")
    }
    if let phash { lines.append("  phash        \(phash)") }
    return (lines + (explanation?.lines ?? [])).map(CacheText.field).joined(separator: "\n")
  }

  private var content: String {
    if let code { return "\(code): \(message ?? "")" }
    return "\(format ?? "") \(width ?? 0)x\(height ?? 0), \(CacheText.size(sourceBytes ?? 0))"
  }

  /// The source as tab-separated values: a line of names and a line of values.
  private var separated: String {
    let columns: [(String, String)] = [
      ("key", key), ("state", state), ("status", "\(status)"), ("bytes", "\(bytes)"),
      ("lastUsed", CacheText.time(lastUsed)), ("thumbnails", thumbnails.map(\.spec).joined(separator: ",")),
      ("code", code ?? ""), ("url", url),
    ]
    return [columns.map(\.0), columns.map { CacheText.field($0.1) }].map { $0.joined(separator: "\t") }.joined(
      separator: "\n")
  }
}

extension ShownSource.Explanation {
  fileprivate var lines: [String] {
    let headers = [
      cacheControl.map { "Cache-Control: \($0)" }, etag.map { "ETag: \($0)" },
      lastModified.map { "Last-Modified: \($0)" }, vary.map { "Vary: \($0)" },
    ]
    return [
      "  received     \(CacheText.time(respondedAt)), age \(age) s of \(lifetime) s (\(basis))",
      "  fresh until  \(freshUntil.map(CacheText.time) ?? "never; revalidated on every use")",
      "  on errors    \(staleOnErrorUntil.map { "served stale until " + CacheText.time($0) } ?? "never served stale")",
      "  headers      \(headers.compactMap { $0 }.joined(separator: "; "))",
      "  a request now would \(next)",
    ]
  }
}

/// A terminal that can show images inline.
enum TerminalImage: Hashable, Sendable {
  /// The kitty graphics protocol, which accepts PNG: https://sw.kovidgoyal.net/kitty/graphics-protocol/
  case kitty
  /// The iTerm2 inline image protocol, which accepts any format: https://iterm2.com/documentation-images.html
  case iTerm2

  /// Detects the terminal from its environment variables; nil if it is not known to show images.
  init?(environment: [String: String]) {
    // tmux and screen do not pass these sequences on to the terminal.
    if environment["TMUX"] != nil || environment["STY"] != nil { return nil }
    if environment["KITTY_WINDOW_ID"] != nil || environment["TERM"] == "xterm-kitty" {
      self = .kitty
    } else if ["iTerm.app", "WezTerm"].contains(environment["TERM_PROGRAM"]) {
      self = .iTerm2
    } else {
      return nil
    }
  }

  /// The terminal on standard output; nil if it is not a terminal or shows no images.
  static var standardOutput: TerminalImage? {
    isatty(STDOUT_FILENO) == 0 ? nil : TerminalImage(environment: ProcessInfo.processInfo.environment)
  }

  /// Writes the thumbnail to standard output, unless it cannot be encoded for the terminal.
  func draw(_ thumbnail: Thumbnail) {
    guard let sequence = sequence(for: thumbnail) else { return }
    print(sequence)
  }

  /// Returns the escape sequence that shows the thumbnail at the cursor; nil if it cannot be encoded.
  func sequence(for thumbnail: Thumbnail) -> String? {
    switch self {
    case .iTerm2:
      let body = Data(thumbnail.bytes).base64EncodedString()
      return "\u{1b}]1337;File=inline=1;size=\(thumbnail.bytes.count):\(body)\u{7}"
    case .kitty:
      return Self.png(thumbnail).map(Self.kittySequence)
    }
  }

  private static func png(_ thumbnail: Thumbnail) -> [UInt8]? {
    if thumbnail.format == .png { return thumbnail.bytes }
    let spec = ThumbnailSpec(width: thumbnail.size.width, height: thumbnail.size.height, format: .png)
    return (try? Renderer().render(thumbnail.bytes, specs: [spec]))?.thumbnails.first?.bytes
  }

  /// Returns the PNG in chunks of at most 4096 characters. `m=1` announces a further chunk.
  private static func kittySequence(_ png: [UInt8]) -> String {
    let body = Array(Data(png).base64EncodedString().utf8)
    let pieces = stride(from: 0, to: body.count, by: 4096).map { body[$0..<min($0 + 4096, body.count)] }
    return pieces.enumerated().map { index, piece in
      let keys = (index == 0 ? "a=T,f=100," : "") + (index == pieces.count - 1 ? "m=0" : "m=1")
      return "\u{1b}_G\(keys);\(String(decoding: piece, as: UTF8.self))\u{1b}\\"
    }.joined()
  }
}
