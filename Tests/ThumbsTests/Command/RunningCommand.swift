import Foundation
import Synchronization
import TestSupport

@testable import thumbs

/// The built `thumbs` in a process of its own.
final class RunningCommand: Sendable {
  /// What its standard input is.
  enum Input: Sendable {
    /// Nothing: the end comes at once.
    case none
    /// What ``write(_:)`` puts in, until ``closeInput()``.
    case pipe
  }

  /// What its standard output or standard error is.
  enum Output: Hashable, Sendable {
    /// A pipe that is read to its end.
    case pipe
    /// A pipe whose reader goes away after so many lines; at once for 0.
    case reader(lines: Int)
    /// A pipe that nobody reads, and nobody closes either.
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

  /// The command beside the test bundle.
  static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("thumbs")

  /// Starts the command. Its environment is `environment` and what a program needs to be found and loaded: no proxy,
  /// no home, nothing of whoever runs the tests. `setup` are commands of a shell that becomes the command.
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
    // A test that gave up must not leave it running.
    if ending.values.isEmpty { kill(processID, SIGKILL) }
    for descriptor in unread { close(descriptor) }
  }

  /// Puts text into its standard input. Returns at once; the pieces keep their order.
  func write(_ text: String) { write(Array(text.utf8)) }

  /// Puts bytes into its standard input, likewise.
  func write(_ bytes: [UInt8]) {
    inputQueue.async { [input] in
      // A command that is gone is an error of the write here, not the end of the tests.
      var broken = sigset_t()
      sigemptyset(&broken)
      sigaddset(&broken, SIGPIPE)
      pthread_sigmask(Int32(SIG_BLOCK), &broken, nil)
      _ = FileDescriptor.writeAll(bytes[...], to: input)
    }
  }

  /// Ends its standard input, after what was written before.
  func closeInput() { inputQueue.async { [input] in close(input) } }

  /// Sends it a signal.
  func send(_ signal: Int32) { kill(processID, signal) }

  /// How it ended, when it has, with all of what it said.
  func result() async -> CommandResult {
    let ending = await ending.values(count: 1)[0]
    await output.waitForEnd()
    await errors.waitForEnd()
    return CommandResult(ending: ending, output: output.text, errors: errors.text)
  }

  /// The most memory it has had in use so far, in KiB. The kernel's own figure (`VmHWM` of proc(5)): that of `wait4`
  /// would count what the process had before it became this command.
  var peakMemory: Int? {
    let status = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) }
  }

  private static let baseEnvironment = ProcessInfo.processInfo.environment.filter { name, _ in
    ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "TSAN_OPTIONS", "ASAN_OPTIONS"].contains(name)
  }

  /// One command is started at a time: none may hold an end of another's pipes.
  private static let starting = Mutex(())

  /// Runs `process` and returns this side's ends of its three streams.
  private static func run(
    _ process: Process, output: Output, errors: Output
  ) throws -> (input: Int32, output: Int32, errors: Int32) {
    let (inputEnds, outputEnds, errorEnds) = (try makePipe(), try ends(of: output), try ends(of: errors))
    for descriptor in [inputEnds.writing, outputEnds.reading, errorEnds.reading] {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
    // A reader that is gone must be so before the command can write.
    if case .reader(lines: 0) = output { close(outputEnds.reading) }
    process.standardInput = FileHandle(fileDescriptor: inputEnds.reading, closeOnDealloc: false)
    process.standardOutput = FileHandle(fileDescriptor: outputEnds.writing, closeOnDealloc: false)
    process.standardError = FileHandle(fileDescriptor: errorEnds.writing, closeOnDealloc: false)
    // The command inherits what is ignored: a test run that was started in the background ignores SIGINT.
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
