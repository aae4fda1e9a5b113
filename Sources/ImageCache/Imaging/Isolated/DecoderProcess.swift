import CDecodeChannel
import Glibc

/// One process that decodes or renders, for one thread at a time. A plain value: its owner must call ``end()`` once, or
/// give it back to its ``DecoderPool``.
struct DecoderProcess: Sendable {
  /// The first message: the formats and the protections, as bits.
  let hello: DecodeHello
  /// Its number among the processes of the system.
  let id: pid_t
  /// The memory that it gets for each image.
  var memory = DecoderMemory()
  private let socket: Int32
  /// The number of the last request.
  private var number: UInt64 = 0
  private var imageCount = 0
  private var work = Duration.zero

  /// Starts a process and waits for its first message.
  init(_ program: DecoderProgram, _ settings: DecoderIsolation) throws(DecoderFailure) {
    var arguments = [program.name, "--memory=\(settings.processMemory)", "--seconds=\(Self.maxSeconds(settings))"]
    if settings.allowsUnprotected { arguments.append("--unsafe") }
    var (id, hello): (pid_t, DecodeHello) = (0, DecodeHello())
    var texts = arguments.map { strdup($0) } + [nil]
    defer { for text in texts { free(text) } }
    socket = decode_spawn(program.path, &texts, &id)
    self.id = id
    guard socket >= 0 else { throw .start("it cannot be started: \(String(cString: strerror(errno)))") }
    // A new process loads its libraries, which may take seconds from a cold disk.
    let isThere = decode_receive(socket, &hello, MemoryLayout<DecodeHello>.size, 30_000, nil) == 0
    self.hello = hello
    guard isThere, hello.version == DecodeVersion else {
      let isOther = isThere || errno == EBADMSG
      end()
      throw .start(isOther ? "it is of another version" : "it ended before it was ready")
    }
  }

  /// True if the process waits for a request: it is alive, and has not sent a message that nobody waits for.
  var isIdle: Bool {
    var ready = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&ready, 1, 0) == 0
  }

  /// True if the process should be replaced: what one image has left behind must not stay for long, and its processor
  /// time is limited.
  var isWornOut: Bool { imageCount >= 200 || work > Self.maxWork }

  /// The time for images after which a process gets no further one.
  private static let maxWork = Duration.seconds(20)

  /// The limit of the processor time of a process in seconds, which only one without a renderer reaches: its work, four
  /// timeouts, because its last thumbnail may take that long, and 30 seconds for its start and for further threads of
  /// its libraries.
  private static func maxSeconds(_ settings: DecoderIsolation) -> Int64 {
    (maxWork + settings.boundedTimeout * 4).components.seconds + 30
  }

  /// Sends a request with a memory file, and waits for the reply.
  ///
  /// - Throws: A failure after which the process must end: it did not reply in time, or not as it should.
  mutating func exchange(
    _ request: DecodeRequest, _ file: Int32, until deadline: ContinuousClock.Instant
  ) throws(DecoderFailure) -> DecodeReply {
    let begin = ContinuousClock.now
    defer { work += begin.duration(to: .now) }
    var (request, reply) = (request, DecodeReply())
    number += 1
    request.number = number
    if request.step != DecodeStepDecode.rawValue { imageCount += 1 }
    guard decode_send(socket, &request, MemoryLayout<DecodeRequest>.size, file) == 0 else { throw fault() }
    let rest = max(0, Int32(clamping: Int64(begin.duration(to: deadline) / .milliseconds(1))))
    guard decode_receive(socket, &reply, MemoryLayout<DecodeReply>.size, rest, nil) == 0 else {
      throw fault()
    }
    guard reply.number == number else { throw .misbehavior("it sent a reply that nobody waits for") }
    return reply
  }

  /// Ends the process, whatever it is doing.
  func end() {
    close(socket)
    kill(id, SIGKILL)
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
  }

  /// Describes why a message could not be sent or received, by `errno`.
  private func fault() -> DecoderFailure {
    switch errno {
    case ETIMEDOUT: .timeout
    case EPIPE, ECONNRESET: ending()
    case EBADMSG: .misbehavior("it sent a message of another size")
    case let code: .misbehavior("a message could not be exchanged: \(String(cString: strerror(code)))")
    }
  }

  /// Describes the end of a process that has closed its socket.
  private func ending() -> DecoderFailure {
    var info = siginfo_t()
    // Without effect on a process that has ended.
    kill(id, SIGKILL)
    guard waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) == 0 else { return .misbehavior("it has ended") }
    let status = info._sifields._sigchld.si_status
    guard info.si_code == CLD_EXITED else { return .misbehavior("signal \(status) ended it") }
    return status == ENOMEM ? .memory : .misbehavior("it ended with status \(status)")
  }
}
