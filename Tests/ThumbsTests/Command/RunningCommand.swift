import Foundation
import Synchronization
import TestSupport

@testable import thumbs

/// A process that runs the built `thumbs`.
final class RunningCommand: Sendable {
  /// The standard input of a command.
  enum Input: Sendable {
    /// Empty.
    case none
    /// The bytes passed to ``write(_:)`` until ``closeInput()``.
    case pipe
  }

  /// The standard output or standard error of a command.
  enum Output: Hashable, Sendable {
    /// A pipe that is read to its end.
    case pipe
    /// A pipe that the reader closes after this many lines; for 0, before the command starts.
    case reader(lines: Int)
    /// A pipe that is neither read nor closed.
    case unread
    /// A terminal of 80 columns.
    case terminal
  }

  struct Failure: Error {
    let call: String
    let errno: Int32
  }

  let processID: Int32
  let output: CommandStream
  let errors: CommandStream
  private let ending = Recorder<CommandResult.Ending>()
  private let input: Int32
  private let unread: [Int32]
  private let inputQueue = DispatchQueue(label: "thumbs.tests.input")

  /// The command in the directory of the test bundle.
  static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("thumbs")

  /// Starts the command in `directory`, which is also its home, after the shell commands in `setup`. Its environment is
  /// `environment` and the variables that it needs to be found and loaded, but no proxy or other user setting.
  init(
    _ arguments: [String], in directory: String, environment: [String: String] = [:], setup: String? = nil,
    input: Input = .none, output: Output = .pipe, errors: Output = .pipe
  ) throws {
    let process = Process()
    process.executableURL = setup == nil ? Self.executable : URL(fileURLWithPath: "/bin/sh")
    process.arguments =
      setup.map { ["-c", $0 + "; exec \"$0\" \"$@\"", Self.executable.path] + arguments } ?? arguments
    process.currentDirectoryURL = URL(fileURLWithPath: directory)
    process.environment = Self.baseEnvironment.merging(["HOME": directory]) { $1 }.merging(environment) { $1 }
    process.terminationHandler = { [ending] process in
      let status = process.terminationStatus
      ending.record(process.terminationReason == .exit ? .exit(status) : .signal(status))
    }
    let ends = try Self.starting.withLock { _ in try Self.run(process, output: output, errors: errors) }
    processID = process.processIdentifier
    self.input = ends.input
    self.output = Self.stream(ends.output, of: output)
    self.errors = Self.stream(ends.errors, of: errors)
    unread = [(output, ends.output), (errors, ends.errors)].filter { $0.0 == .unread }.map(\.1)
    if input == .none { closeInput() }
  }

  deinit {
    // A test that failed early must not leave the command running.
    if ending.values.isEmpty { kill(processID, SIGKILL) }
    for descriptor in unread { close(descriptor) }
  }

  /// Writes text to standard input. Returns immediately; later writes follow in order.
  func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes bytes to standard input. Returns immediately; later writes follow in order.
  func write(_ bytes: [UInt8]) {
    inputQueue.async { [input] in
      // If the command is gone, the write fails with EPIPE. The blocked signal must not end the test process.
      var broken = sigset_t()
      sigemptyset(&broken)
      sigaddset(&broken, SIGPIPE)
      pthread_sigmask(Int32(SIG_BLOCK), &broken, nil)
      _ = FileDescriptor.writeAll(bytes[...], to: input)
    }
  }

  /// Closes standard input after all earlier writes.
  func closeInput() { inputQueue.async { [input] in close(input) } }

  /// Sends a signal to the command.
  func send(_ signal: Int32) { kill(processID, signal) }

  /// Sends two signals; the second when the command has noticed the first.
  ///
  /// Does not suspend in between: while many tests run, a task may be resumed after the time that a command has to end.
  func send(_ first: Int32, then second: Int32) {
    send(first)
    while hasPending(first) { sched_yield() }
    send(second)
  }

  /// True if the command has not noticed a signal yet (`ShdPnd` of proc(5)).
  private func hasPending(_ signal: Int32) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("ShdPnd:") }
    let mask = line.flatMap { UInt64($0.dropFirst(7).drop { $0 == "\t" }, radix: 16) } ?? 0
    return mask & 1 << UInt64(signal - 1) != 0
  }

  /// Waits for the command to end, and returns its ending and output.
  func result() async -> CommandResult {
    let ending = await ending.values(count: 1)[0]
    await output.waitForEnd()
    await errors.waitForEnd()
    return CommandResult(ending: ending, output: output.text, errors: errors.text)
  }

  /// The peak memory of the command so far, in KiB, from the kernel (`VmHWM` of proc(5)). The figure from `wait4` would
  /// include the memory of the process before `exec`.
  var peakMemory: Int? {
    let status = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) }
  }

  private static let baseEnvironment = ProcessInfo.processInfo.environment.filter { name, _ in
    ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "TSAN_OPTIONS", "ASAN_OPTIONS"].contains(name)
  }

  /// A lock for starting one command at a time, so that no command inherits the pipes of another.
  private static let starting = Mutex(())

  /// Starts `process` and returns the test's ends of its three streams.
  private static func run(
    _ process: Process, output: Output, errors: Output
  ) throws -> (input: Int32, output: Int32, errors: Int32) {
    let (inputEnds, outputEnds, errorEnds) = (try makePipe(), try ends(of: output), try ends(of: errors))
    for descriptor in [inputEnds.writing, outputEnds.reading, errorEnds.reading] {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
    // The reader must be gone before the command can write.
    if case .reader(lines: 0) = output { close(outputEnds.reading) }
    process.standardInput = FileHandle(fileDescriptor: inputEnds.reading, closeOnDealloc: false)
    process.standardOutput = FileHandle(fileDescriptor: outputEnds.writing, closeOnDealloc: false)
    process.standardError = FileHandle(fileDescriptor: errorEnds.writing, closeOnDealloc: false)
    // The command inherits ignored signals, and a test run that was started in the background ignores SIGINT.
    for number in [SIGINT, SIGHUP] { signal(number, SIG_DFL) }
    try process.run()
    for descriptor in [inputEnds.reading, outputEnds.writing, errorEnds.writing] { close(descriptor) }
    return (inputEnds.writing, outputEnds.reading, errorEnds.reading)
  }

  private static func stream(_ descriptor: Int32, of output: Output) -> CommandStream {
    switch output {
    case .pipe, .terminal: CommandStream(descriptor)
    case .unread: CommandStream(-1)
    case .reader(let lines): CommandStream(lines == 0 ? -1 : descriptor, lineLimit: lines)
    }
  }

  private static func ends(of output: Output) throws -> (reading: Int32, writing: Int32) {
    if case .terminal = output { try PseudoTerminal.open(columns: 80) } else { try makePipe() }
  }

  private static func makePipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Failure(call: "pipe", errno: errno) }
    return (ends[0], ends[1])
  }
}
