import CDecodeChannel
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ImageCache

/// The limits of a decoder, and the ways in which it ends.
@Suite(.timeLimit(.minutes(10)), .decoderLibraries) struct DecoderLimitTests {
  private let spec = ThumbnailSpec(width: 16, format: .rgba)

  @Test(arguments: ["open", "decode"], [("exhaust", ImageError.Code.decodeLimit), ("abort", .decodeError)])
  func `A decoder that ends for lack of memory has reached a limit, and one that ends itself has failed`(
    step: String, end: (attempt: String, code: ImageError.Code)
  ) {
    var settings = DecoderIsolation()
    settings.program = HostileDecoder.program
    let error = #expect(throws: ImageError.self) {
      try Renderer(isolation: settings).render(HostileDecoder.image(step, end.attempt), specs: [spec])
    }
    let reason = end.code == .decodeLimit ? "it ran out of memory" : "signal \(SIGABRT) ended it"
    #expect(error == ImageError(end.code, "The process of thumbs-decode failed: \(reason).", origin: .machine))
  }

  @Test func `A decoder that reports a lack of memory has reached a limit of this machine`() throws {
    var reply = DecodeReply()
    reply.status = DecodeStatusOutOfMemory.rawValue

    let error = try reply.error()
    #expect(error?.code == .decodeLimit && error?.origin == .machine)
  }

  @Test(arguments: [1, 2, 3, 4])
  func `A renderer without its first descriptors starts a decoder`(count: Int) throws {
    let renderer = Process()
    renderer.executableURL = URL(filePath: HostileDecoder.program)
    renderer.arguments = ["--render", "\(count)"]
    try renderer.run()
    renderer.waitUntilExit()

    #expect(renderer.terminationStatus == 0)
  }

  /// Returns the states of the threads of a process: a letter (proc_pid_stat(5)), and the lines of its status.
  private static func threads(of process: Int32) -> [String] {
    let folder = "/proc/\(process)/task"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { try? String(contentsOfFile: "\(folder)/\($0)/status", encoding: .utf8) }
  }

  @Test(arguments: ["wait", "spin", "stop"])
  func `A decoder that was taken over ends with its renderer`(attempt: String) async throws {
    let (renderer, output) = (Process(), Pipe())
    renderer.executableURL = URL(filePath: HostileDecoder.program)
    (renderer.arguments, renderer.standardOutput) = (["--wait", attempt], output)
    try renderer.run()
    let line = try #require(try output.fileHandleForReading.read(upToCount: 16))
    let decoder = try #require(
      Int32(String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(Self.threads(of: decoder).count == 2)

    kill(renderer.processIdentifier, SIGKILL)
    renderer.waitUntilExit()

    // Nobody may collect its exit status in a container.
    await eventually { Self.threads(of: decoder).allSatisfy { $0.contains("State:\tZ") || $0.contains("State:\tX") } }
  }

  @Test func `A decoder outlives the thread for which it was started`() throws {
    let program = DecoderProgram(path: HostileDecoder.program, name: "thumbs-decode")
    let started = Mutex<DecoderProcess?>(nil)
    let thread = DispatchSemaphore(value: 0)
    Thread {
      started.withLock { $0 = try? DecoderProcess(program, DecoderIsolation()) }
      thread.signal()
    }.start()
    thread.wait()

    var process = try #require(started.withLock { $0 })
    defer { process.end() }
    let image = HostileDecoder.image("no", "attempt")
    for _ in 0..<200 {
      var request = DecodeRequest(step: DecodeStepOpen)
      (request.format, request.byteCount) = (DecodeFormatSVG.rawValue, UInt64(image.count))
      let memory = try SharedMemory(holding: image.span)
      let reply = try process.exchange(request, memory.descriptor, until: .now + .seconds(30))
      #expect(reply.status == DecodeStatusOK.rawValue)
    }
  }

  @Test(
    .disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."),
    arguments: ["hostile-decode", "thumbs-decode", "thumbs"])
  func `No thread of another process has capabilities, or system calls outside of the filter`(name: String) throws {
    let path = HostileDecoder.folder.appending(path: name).path
    let program = DecoderProgram(path: path, name: name == "thumbs" ? "thumbs-render" : name)
    let threads = try DecoderPool(program, DecoderIsolation()).withProcess { process throws(DecoderFailure) in
      Self.threads(of: process.id)
    }

    #expect(threads.count >= (name == "hostile-decode" ? 2 : 1))
    for thread in threads {
      for line in ["CapInh", "CapPrm", "CapEff", "CapAmb"].map({ "\($0):\t0000000000000000" }) {
        #expect(thread.contains(line))
      }
      #expect(thread.contains("NoNewPrivs:\t1") && thread.contains("Seccomp:\t2"))
    }
  }

  @Test(arguments: [(1, 54), (1000, 4050), (.max, 4 * 20 * 86400 + 50)])
  func `The processor time of a decoder suffices for its last image`(timeout: Int64, limit: Int) throws {
    var settings = DecoderIsolation()
    settings.timeout = .seconds(timeout)
    let program = DecoderProgram(path: HostileDecoder.program, name: "thumbs-decode")
    let limits = try DecoderPool(program, settings).withProcess { process throws(DecoderFailure) in
      try? String(contentsOfFile: "/proc/\(process.id)/limits", encoding: .utf8)
    }

    let line = try #require(limits?.split(separator: "\n").first { $0.hasPrefix("Max cpu time") })
    #expect(line.split(separator: " ").dropFirst(3).map(String.init) == ["\(limit)", "\(limit)", "seconds"])
  }

  @Test func `A decoder may have any amount of time`() throws {
    var settings = DecoderIsolation()
    (settings.program, settings.timeout) = (HostileDecoder.program, .seconds(Int64.max))
    let image = HostileDecoder.image("decode", "nothing")
    #expect(try Renderer(isolation: settings).render(image, specs: [spec]).thumbnails.count == 1)

    settings.timeout = .seconds(Int64.min)
    #expect(settings.boundedTimeout == .zero)
  }

  @Test(
    .disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."),
    .enabled(if: DecoderCondition(measuring: DecoderIsolation()).formats.contains(.svg)))
  func `A drawing for which the library gets no memory has reached a limit`() {
    var settings = DecoderIsolation()
    (settings.maxMemory, settings.timeout) = (350 << 20, .seconds(300))
    let elements = String(repeating: "<g a='' b='' c='' d=''/>", count: 300_000)
    let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'>\(elements)</svg>"

    let error = #expect(throws: ImageError.self) {
      try Renderer(isolation: settings).render(Array(drawing.utf8), specs: [spec])
    }
    #expect(error?.code == .decodeLimit && error?.message.contains("memory") == true)
  }
}
