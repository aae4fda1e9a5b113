import Foundation
import ImageCache

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
