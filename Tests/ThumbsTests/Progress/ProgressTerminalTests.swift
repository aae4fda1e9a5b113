import Glibc
import Synchronization
import Testing

@testable import thumbs

/// A meter that draws on a pseudo-terminal, and a model of the screen.
private final class Window {
  let meter: ProgressMeter
  private(set) var model: ScreenModel
  /// Everything written so far.
  private(set) var text = ""
  private let reading: Int32
  private let writing: Int32
  private let time: Time

  private final class Time: Sendable {
    let now = Mutex(Duration.zero)
  }

  init(columns: Int, narrowing: ScreenModel.Narrowing, environment: [String: String] = ["TERM": "xterm"]) throws {
    let ends = try PseudoTerminal.open(columns: UInt16(columns))
    (reading, writing) = ends
    let time = Time()
    self.time = time
    model = ScreenModel(width: columns, narrowing: narrowing)
    meter = ProgressMeter(
      .auto, output: ProgressOutput(descriptor: ends.writing), environment: environment,
      elapsed: { time.now.withLock { $0 } })
  }

  deinit {
    close(reading)
    close(writing)
  }

  /// Advances the time by `seconds` and draws.
  func tick(after seconds: Int = 1) {
    time.now.withLock { $0 += .seconds(seconds) }
    meter.tick()
    look()
  }

  /// Runs `call`, and updates the model with everything written so far.
  func look(after call: () -> Void = {}) {
    call()
    // A marker that nothing else writes: once it has arrived, so has everything before it.
    _ = FileDescriptor.writeAll([0x05], to: writing)
    var bytes: [UInt8] = []
    while bytes.last != 0x05 {
      var chunk = [UInt8](repeating: 0, count: 4096)
      let count = read(reading, &chunk, chunk.count)
      guard count > 0 else { break }
      bytes += chunk[..<count]
    }
    let piece = String(decoding: bytes.dropLast(), as: UTF8.self)
    text += piece
    model.show(piece.replacing("\r\n", with: "\n"))
  }

  func resize(to columns: Int) {
    var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(reading, UInt(TIOCSWINSZ), &size)
    model.resize(to: columns)
  }
}

@Suite struct ProgressTerminalTests {
  @Test(arguments: [20, 80, 200], ScreenModel.Narrowing.allCases)
  func `The live line takes one row at every width of the window, and is gone at the end`(
    columns: Int, narrowing: ScreenModel.Narrowing
  ) throws {
    let window = try Window(columns: columns, narrowing: narrowing)
    window.meter.setTotal(100)
    for row in 0..<50 { window.meter.finish(row, row < 3 ? .failed : .ok, bytes: 1 << 20) }
    window.meter.begin(50, url: "https://slow.example/a.png")
    window.meter.note("a note")

    for width in [columns, 30, 7, 100, 12, 250, 80] {
      window.resize(to: width)
      window.tick(after: 4)
      let rows = window.model.rows
      #expect(rows.count == 2 && rows.first?.hasPrefix("a note".prefix(width)) == true, "\(width): \(rows)")
      #expect(rows.last.map { $0.count < width } == true)
      #expect(rows.last?.contains("50 of 10".prefix(width - 1)) == true)
      if width >= 80 { #expect(rows.last?.contains("slow.example slow: ") == true) }
    }

    window.look { window.meter.end() }

    #expect(window.model.rows == ["a note"])
    #expect(window.model.unknown == [])
  }

  @Test(arguments: [
    (["TERM": "xterm"], true), (["TERM": "xterm", "NO_COLOR": "1"], false), (["TERM": "xterm", "NO_COLOR": ""], true),
  ])
  func `With NO_COLOR, the live line has no colors`(environment: [String: String], isColored: Bool) throws {
    let window = try Window(columns: 80, narrowing: .wraps, environment: environment)
    window.meter.finish(0, .failed, bytes: 0)

    window.tick()

    #expect(window.text.contains("1 failed"))
    #expect(window.text.contains("\u{1B}[31m") == isColored)
    #expect(window.model.rows.count == 1)
  }

  @Test func `With TERM=dumb, progress is plain lines`() throws {
    let window = try Window(columns: 80, narrowing: .cuts, environment: ["TERM": "dumb"])
    window.meter.setTotal(2)
    window.meter.finish(0, .failed, bytes: 0)

    window.tick(after: 10)

    #expect(window.text == "1 of 2 items, 1 failed, ETA 0:10\r\n")
  }

  @Test func `Escape sequences from a manifest do not reach the terminal`() throws {
    let window = try Window(columns: 200, narrowing: .wraps)
    window.meter.begin(0, url: "http://a\u{1B}[2Jé漢.example/")
    window.meter.note("http://a/\u{1B}]0;title\u{7}\r\u{9B}2J\nnext")

    window.tick(after: 5)

    #expect(window.model.unknown == [])
    #expect(window.model.rows.count == 3)
    #expect(window.model.rows.last?.contains("a?[2j??.example slow: 0:05") == true)
  }
}
