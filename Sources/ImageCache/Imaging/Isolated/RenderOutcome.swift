import CDecodeChannel

/// The text of the outcome of rendering in another process: `whole`, `damaged` or `failed CODE MESSAGE`, then one line
/// for each thumbnail with its format, size and bytes, then the warnings.
///
/// `thumbnail jpeg 256 171 10240`
package struct RenderOutcome: Sendable {
  /// A thumbnail, whose bytes are elsewhere.
  struct Output: Hashable, Sendable {
    var format: OutputFormat
    var size: PixelSize
    var byteCount: Int
  }

  private(set) var outputs: [Output] = []
  private(set) var warnings: [String] = []
  private(set) var isDamaged = false
  /// The failure; nil if the thumbnails are rendered.
  private(set) var error: ImageError?

  /// The outcome of rendering in this process.
  package init(_ result: Result<Renderer.Rendering, ImageError>) {
    switch result {
    case .success(let rendering):
      outputs = rendering.thumbnails.map { Output(format: $0.format, size: $0.size, byteCount: $0.bytes.count) }
      (warnings, isDamaged) = (rendering.warnings, rendering.isDamaged)
    case .failure(let error): self.error = error
    }
  }

  /// The most warnings, and the most bytes of a warning or of the message of an error; the rest is left out.
  private static let (maxWarnings, maxLineBytes) = (64, 512)

  /// Returns the most bytes of a ``text`` about `count` thumbnails: with a generous line for each.
  static func maxTextBytes(of count: Int) -> Int { 128 * (count + 1) + maxWarnings * (maxLineBytes + 4) }

  /// Returns a line of bounded length. The end of a character that is cut becomes U+FFFD.
  private static func bounded(_ line: String) -> String {
    line.utf8.count <= maxLineBytes ? line : String(decoding: line.utf8.prefix(maxLineBytes), as: UTF8.self)
  }

  /// The text.
  package var text: String {
    if let error { return "failed \(error.code.rawValue) \(Self.bounded(error.message))" }
    let lines = outputs.map { "thumbnail \($0.format.rawValue) \($0.size.width) \($0.size.height) \($0.byteCount)" }
    let oddities = warnings.prefix(Self.maxWarnings).map(Self.bounded)
    return ([isDamaged ? "damaged" : "whole"] + lines + oddities).joined(separator: "\n")
  }

  /// Parses a ``text``; nil for any other.
  init?(_ text: String) {
    var lines = text.split(separator: "\n").map(String.init)[...]
    let first = lines.popFirst() ?? ""
    if first.hasPrefix("failed ") {
      let words = first.split(separator: " ", maxSplits: 2)
      guard words.count == 3, let code = ImageError.Code(rawValue: String(words[1])) else { return nil }
      error = ImageError(code, DecodeText.clean(Self.bounded(String(words[2]))))
      // The limit of the process, so that another attempt would reach it, too.
      if code == .outOfMemory { error = ImageError(DecoderFailure.memory, of: "thumbs") }
      return
    }
    guard ["whole", "damaged"].contains(first) else { return nil }
    isDamaged = first == "damaged"
    while let line = lines.first, line.hasPrefix("thumbnail ") {
      guard let output = Output(line) else { return nil }
      outputs.append(output)
      lines.removeFirst()
    }
    warnings = lines.prefix(Self.maxWarnings).map { DecodeText.clean(Self.bounded($0)) }
  }
}

extension RenderOutcome.Output {
  /// Parses the line of a thumbnail.
  fileprivate init?(_ line: String) {
    let words = line.split(separator: " ")
    let numbers = words.dropFirst(2).compactMap { Int($0) }
    guard words.count == 5, numbers.count == 3, numbers.allSatisfy({ $0 > 0 }),
      let format = OutputFormat(rawValue: String(words[1]))
    else { return nil }
    self.init(format: format, size: PixelSize(width: numbers[0], height: numbers[1]), byteCount: numbers[2])
  }
}
