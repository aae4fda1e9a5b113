import Foundation
import ImageCache

/// A terminal that can show pictures among its text.
enum TerminalPicture: Hashable, Sendable {
  /// The graphics protocol of kitty, which takes PNG: https://sw.kovidgoyal.net/kitty/graphics-protocol/
  case kitty
  /// The inline images of iTerm2, which take any format: https://iterm2.com/documentation-images.html
  case iTerm2

  /// What the environment says of the terminal; nil where pictures would be rubbish.
  init?(environment: [String: String]) {
    // Between here and the terminal, tmux and screen keep such sequences for themselves.
    if environment["TMUX"] != nil || environment["STY"] != nil { return nil }
    if environment["KITTY_WINDOW_ID"] != nil || environment["TERM"] == "xterm-kitty" {
      self = .kitty
    } else if ["iTerm.app", "WezTerm"].contains(environment["TERM_PROGRAM"]) {
      self = .iTerm2
    } else {
      return nil
    }
  }

  /// The terminal that standard output is; nil where it is none, or shows no pictures.
  static var standardOutput: TerminalPicture? {
    isatty(STDOUT_FILENO) == 0 ? nil : TerminalPicture(environment: ProcessInfo.processInfo.environment)
  }

  /// Writes the picture to standard output, if it can be shown.
  func draw(_ thumbnail: Thumbnail) {
    guard let sequence = sequence(for: thumbnail) else { return }
    print(sequence)
  }

  /// What shows the picture where the cursor is.
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

  /// Pieces of at most 4096 characters, of which all but the last announce another.
  private static func kittySequence(_ png: [UInt8]) -> String {
    let body = Array(Data(png).base64EncodedString().utf8)
    let pieces = stride(from: 0, to: body.count, by: 4096).map { body[$0..<min($0 + 4096, body.count)] }
    return pieces.enumerated().map { index, piece in
      let keys = (index == 0 ? "a=T,f=100," : "") + (index == pieces.count - 1 ? "m=0" : "m=1")
      return "\u{1b}_G\(keys);\(String(decoding: piece, as: UTF8.self))\u{1b}\\"
    }.joined()
  }
}
