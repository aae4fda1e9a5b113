import Foundation
import ImageCache
import TestSupport
import Testing

@testable import thumbs

@Suite("Images in terminals") struct TerminalImageTests {
  @Test(arguments: [
    (["KITTY_WINDOW_ID": "1"], TerminalImage.kitty), (["TERM": "xterm-kitty"], .kitty),
    (["TERM_PROGRAM": "iTerm.app"], .iTerm2), (["TERM_PROGRAM": "WezTerm"], .iTerm2),
    (["TERM": "xterm-256color"], nil), ([:], nil), (["TERM": "xterm-kitty", "TMUX": "/tmp/tmux"], nil),
  ])
  func `Only terminals known to show images get them`(environment: [String: String], image: TerminalImage?) {
    #expect(TerminalImage(environment: environment) == image)
  }

  private static func thumbnail(_ bytes: [UInt8]) -> Thumbnail {
    Thumbnail(
      spec: ThumbnailSpec(width: 80), size: PixelSize(width: 80, height: 60), format: .png, bytes: bytes)
  }

  @Test func `The iTerm2 sequence contains the file unchanged`() throws {
    let sequence = try #require(TerminalImage.iTerm2.sequence(for: Self.thumbnail([1, 2, 3])))
    #expect(sequence == "\u{1b}]1337;File=inline=1;size=3:AQID\u{7}")
  }

  @Test(arguments: [3, 3072, 3073, 10_000])
  func `The kitty sequence contains a PNG in chunks of 4096 characters with the last one marked`(length: Int) throws {
    let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let sequence = try #require(TerminalImage.kitty.sequence(for: Self.thumbnail(bytes)))
    let pieces = sequence.components(separatedBy: "\u{1b}\\").dropLast().map { $0.split(separator: ";", maxSplits: 1) }

    #expect(pieces.first?[0].hasPrefix("\u{1b}_Ga=T,f=100,") == true)
    #expect(pieces.map { $0[0].hasSuffix("m=0") } == pieces.indices.map { $0 == pieces.count - 1 })
    #expect(pieces.allSatisfy { $0[1].utf8.count <= 4096 })
    #expect(Data(base64Encoded: pieces.map { $0[1] }.joined()) == Data(bytes))
  }

  @Test func `The kitty sequence contains a JPEG converted to PNG`() throws {
    let rendering = try Renderer().render(
      SampleImage.png(width: 40, height: 30, seed: 1), specs: [ThumbnailSpec(width: 40, format: .jpeg)])
    let sequence = try #require(TerminalImage.kitty.sequence(for: rendering.thumbnails[0]))
    let body = sequence.components(separatedBy: "\u{1b}\\").compactMap { $0.split(separator: ";").last }.joined()

    #expect(try #require(Data(base64Encoded: body)).starts(with: [0x89, 0x50, 0x4e, 0x47]))
  }
}
