import Foundation
import Synchronization
import Testing

@testable import thumbs

private func state(finished: Int, failed: Int = 0, total: Int?, bytes: Int = 0) -> ProgressState {
  var state = ProgressState(total: total.map(RowTotal.exactly) ?? .unknown)
  for number in 0..<finished { state.finish(number, number < failed ? .failed : .ok, bytes: number == 0 ? bytes : 0) }
  return state
}

@Suite struct ProgressTests {
  @Test(
    arguments: [
      (80, "[=========>         ] 50 of 100  3 failed  ETA 0:10  1 MiB/s"),
      (39, "50 of 100  3 failed  ETA 0:10  1 MiB/s"), (33, "50 of 100  3 failed  ETA 0:10"),
      (20, "50 of 100  3 failed"), (10, "50 of 100"), (4, "50 "), (1, ""), (0, ""),
    ])
  func `The live line fits the window, and drops the least important details first`(width: Int, expected: String) {
    let line = state(finished: 50, failed: 3, total: 100, bytes: 10 << 20).line(width: width, at: .seconds(10))

    #expect(line.count < max(width, 1))
    if width == 80 {
      #expect(line.hasPrefix("[") && line.hasSuffix("] 50 of 100  3 failed  ETA 0:10  1 MiB/s"))
      #expect(line.count(where: { $0 == "=" }) == 19)
    } else {
      #expect(line == expected)
    }
  }

  @Test func `Without a total, the live line has no ETA and an empty bar`() {
    let line = state(finished: 50, total: nil).line(width: 40, at: .seconds(10))
    #expect(line.hasSuffix("] 50") && !line.contains("=") && !line.contains("ETA"))
    #expect(state(finished: 0, total: 0).line(width: 40, at: .zero).hasSuffix("] 0 of 0"))
  }

  @Test func `With an estimated total, a percentage and an ETA are shown, and the end never is`() throws {
    var state = state(finished: 1204, failed: 2, total: nil)
    state.total = .about(10_000)

    #expect(state.plainLine(at: .seconds(10)) == "1,204 items, ~12 %, 2 failed, ETA 1:14")
    let line = state.line(width: 80, at: .seconds(10))
    #expect(line.hasPrefix("[====>") && line.hasSuffix("] 1,204  ~12 %  2 failed  ETA 1:14"))
    #expect(state.jsonLine(at: .seconds(10)).hasPrefix(#"{"finished":1204,"estimatedTotal":10000,"#))

    state.total = .about(1000)

    #expect(state.plainLine(at: .seconds(10)) == "1,204 items, ~99 %, 2 failed")
  }

  @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1000, "-1,000")])
  func `Numbers are grouped by thousands`(number: Int, text: String) {
    #expect(number.grouped == text)
  }

  @Test func `An estimate is used until the total is known, and a background job draws no bar`() {
    let written = Mutex<[String]>([])
    let time = Mutex(Duration.zero)
    let isForeground = Mutex(true)
    let output = ProgressOutput(
      isTerminal: true, isForeground: { isForeground.withLock { $0 } }, width: { 30 },
      write: { text in written.withLock { $0.append(text) } })
    let meter = ProgressMeter(
      .auto, output: output, environment: ["TERM": "xterm"], elapsed: { time.withLock { $0 } })
    meter.setEstimate { .about(4) }
    meter.finish(0, .ok, bytes: 0)
    func tick() -> String? {
      time.withLock { $0 += .seconds(1) }
      written.withLock { $0 = [] }
      meter.tick()
      return written.withLock { $0.last }
    }

    #expect(tick()?.contains("1  ~25 %  ETA 0:03") == true)

    isForeground.withLock { $0 = false }
    #expect(tick() == nil)

    isForeground.withLock { $0 = true }
    meter.setTotal(5)
    #expect(tick()?.contains("1 of 5  ETA 0:12") == true)
  }

  @Test func `A job that starts in the background has plain progress`() {
    let text = Mutex("")
    let output = ProgressOutput(
      isTerminal: true, isForeground: { false }, width: { 30 }, write: { new in text.withLock { $0 += new } })
    let meter = ProgressMeter(
      .auto, output: output, environment: ["TERM": "xterm"], elapsed: { .seconds(10) })

    meter.tick()

    #expect(text.withLock { $0 } == "0 items\n")
  }

  @Test func `The rate covers the last ten seconds`() {
    var state = ProgressState(total: .exactly(10_000))
    for second in 1...100 {
      for _ in 0..<(second <= 50 ? 10 : 20) { state.finish(0, .ok, bytes: 1024) }
      state.tick(at: .seconds(second))
    }

    #expect(abs(state.perSecond(at: .seconds(100)).items - 20) < 0.01)
    #expect(state.secondsLeft(at: .seconds(100)) == 425)
    #expect(state.plainLine(at: .seconds(100)) == "1,500 of 10,000 items, ETA 7:05, 20 KiB/s")
  }

  @Test func `The host of the longest-running row is shown once the row has run for three seconds`() {
    var state = ProgressState(total: .exactly(3))
    for (row, host) in ["a", "b", "c"].enumerated() { state.begin(row, url: "http://\(host)/", at: .seconds(row)) }

    #expect(state.slowest(at: .milliseconds(2999)) == nil)
    #expect(state.slowest(at: .seconds(3)) == RunningRows.Slow(host: "a", seconds: 3))

    state.finish(0, .ok, bytes: 0)

    #expect(state.slowest(at: .seconds(5)) == RunningRows.Slow(host: "b", seconds: 4))
    #expect(state.plainLine(at: .seconds(70)) == "1 of 3 items, ETA 2:20, b slow: 1:09")

    state.finish(1, .ok, bytes: 0)
    state.finish(2, .ok, bytes: 0)

    #expect(state.slowest(at: .seconds(100)) == nil)
  }

  @Test func `The line for programs is one JSON object`() throws {
    let line = state(finished: 50, failed: 3, total: 100, bytes: 7).jsonLine(at: .seconds(10))
    #expect(
      line
        == #"{"finished":50,"total":100,"failed":3,"bytes":7,"milliseconds":10000,"itemsPerSecond":5,"secondsLeft":10}"#
    )

    var slow = state(finished: 0, total: 1)
    slow.begin(0, url: "http://me:secret@a.example:80/b?c", at: .seconds(2))
    for line in [line, slow.jsonLine(at: .seconds(9))] {
      #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any])
    }
    #expect(slow.jsonLine(at: .seconds(9)).hasSuffix(#""slow":{"host":"a.example","seconds":7}}"#))
  }

  @Test(
    arguments: [
      (ProgressMode.auto, true, "xterm", .bar), (.auto, false, "xterm", .plain), (.auto, true, "dumb", .plain),
      (.auto, true, "", .plain), (.auto, true, nil, .plain), (.bar, true, nil, .bar),
      (.bar, false, "xterm", .bar), (.none, true, "xterm", .none), (.json, true, "xterm", .json),
    ] as [(ProgressMode, Bool, String?, ProgressMode)])
  func `The automatic mode depends on the terminal, and other modes do not`(
    mode: ProgressMode, isTerminal: Bool, type: String?, expected: ProgressMode
  ) {
    #expect(mode.resolved(isTerminal: isTerminal, terminalType: type) == expected)
  }
}

@Suite struct ProgressScreenTests {
  private let some = state(finished: 1, total: 2)

  @Test func `The bar is drawn at most ten times per second, and cleared at the end`() {
    var screen = ProgressScreen(.bar)
    #expect(screen.draw(some, width: 20, at: .milliseconds(99)) == "")
    let first = screen.draw(some, width: 20, at: .milliseconds(100))
    #expect(first.hasSuffix("1 of 2  ETA 0:01\u{1B}[?7h\u{1B}[J\r") && !first.contains("\n"))
    #expect(screen.draw(some, width: 20, at: .milliseconds(150)) == "")
    #expect(screen.draw(some, width: 20, at: .milliseconds(200)).hasPrefix("\u{1B}[?7l1 of 2"))
    #expect(screen.end(some, at: .milliseconds(201)) == "\r\u{1B}[J")
    #expect(screen.draw(some, width: 20, at: .seconds(9)) == "")
  }

  @Test func `A note replaces the live line, which is drawn again below it`() {
    var screen = ProgressScreen(.bar)
    _ = screen.draw(some, width: 20, at: .milliseconds(100))

    let text = screen.draw(some, notes: ["hello"], width: 20, at: .milliseconds(101))

    #expect(text.hasPrefix("\r\u{1B}[Jhello\n"))
    #expect(text.hasSuffix("1 of 2  ETA 0:01\u{1B}[?7h\u{1B}[J\r"))
  }

  @Test(arguments: ScreenModel.Narrowing.allCases)
  func `A window that became narrower during the drawing keeps no row of the line`(narrowing: ScreenModel.Narrowing) {
    var (screen, model) = (ProgressScreen(.bar), ScreenModel(width: 20, narrowing: narrowing))
    // The width was read before the window changed.
    model.show(screen.draw(some, width: 60, at: .milliseconds(100)))
    #expect(model.rows.count == 1)
    model.show(screen.draw(some, notes: ["hello"], width: 20, at: .milliseconds(200)))
    #expect(model.rows.count == 2 && model.rows.first == "hello" && model.unknown.isEmpty)
  }

  @Test func `Plain and JSON progress are whole lines at their own intervals`() {
    var plain = ProgressScreen(.plain)
    #expect(plain.draw(some, width: 80, at: .seconds(9)) == "")
    #expect(plain.draw(some, notes: ["hello"], width: 80, at: .seconds(9)) == "hello\n")
    #expect(plain.draw(some, width: 80, at: .seconds(10)) == "1 of 2 items, ETA 0:10\n")
    #expect(plain.end(some, at: .seconds(11)) == "")

    var json = ProgressScreen(.json)
    #expect(json.draw(some, width: 80, at: .seconds(1)).hasPrefix("{\"finished\":1"))
    #expect(json.end(some, at: .seconds(2)).hasSuffix("}\n"))
  }

  @Test func `The meter writes only at ticks and at the end, and nothing after that`() {
    let written = Mutex<[String]>([])
    let time = Mutex(Duration.zero)
    let output = ProgressOutput(
      isTerminal: true, width: { 20 }, write: { text in written.withLock { $0.append(text) } })
    let meter = ProgressMeter(
      .auto, output: output, environment: ["TERM": "xterm"], elapsed: { time.withLock { $0 } })
    meter.setTotal(2)
    meter.finish(0, .ok, bytes: 10)

    meter.tick()

    #expect(written.withLock { $0 }.isEmpty)

    time.withLock { $0 = .milliseconds(100) }
    meter.tick()
    meter.end()
    meter.tick()

    #expect(written.withLock { $0 }.count == 2)
    #expect(written.withLock { $0 }.last == "\r\u{1B}[J")
  }

  @Test func `Without progress, notes are still printed`() {
    var screen = ProgressScreen(.none)
    #expect(screen.draw(some, width: 20, at: .seconds(100)) == "")
    #expect(screen.draw(some, notes: ["a", "b"], width: 20, at: .seconds(100)) == "a\nb\n")
    #expect(screen.end(some, at: .seconds(100)) == "")
  }
}
