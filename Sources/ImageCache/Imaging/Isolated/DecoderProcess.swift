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

/// The memory files that a process gets for one image after another.
///
/// New memory is slow, because the system allocates and clears each page: that takes longer than to copy an image. The
/// process could read the end of an image that it has decoded before, but nothing of another process.
struct DecoderMemory: Sendable {
  /// The size of a file that is kept, in bytes. Larger images have separate files.
  private static let keptBytes = 16 << 20

  private var input: SharedMemory?
  private var output: SharedMemory?

  /// Returns memory that begins with `bytes`, which the process cannot change.
  mutating func holding(_ bytes: Span<UInt8>) throws(ImageError) -> SharedMemory {
    guard bytes.count <= Self.keptBytes else { return try SharedMemory(holding: bytes) }
    if let input {
      input.replace(with: bytes)
      return input
    }
    let input = try SharedMemory(holding: bytes, capacity: Self.keptBytes)
    self.input = input
    return input
  }

  /// Returns memory that begins with `count` zeros.
  mutating func zeros(_ count: Int) throws(ImageError) -> SharedMemory {
    guard count <= Self.keptBytes else { return try SharedMemory(count: count) }
    if let output {
      output.clear(count)
      return output
    }
    let output = try SharedMemory(count: Self.keptBytes)
    self.output = output
    return output
  }
}

/// A memory file that is shared with a process of `thumbs-decode`. Its size never changes.
final class SharedMemory: Sendable {
  let descriptor: Int32
  /// The first byte, for writing. `nonisolated(unsafe)` is correct: a process has one image at a time, and only the
  /// thread with that image uses the memory of the process. The other process may change the bytes at any time, also
  /// between two reads of the same byte, so they are only read by ``copy(_:to:)`` and ``copied(_:)``.
  nonisolated(unsafe) let start: UnsafeMutableRawPointer
  let count: Int

  /// Creates `count` bytes, all zero.
  init(count: Int) throws(ImageError) {
    (descriptor, start) = try Self.allocate(count)
    self.count = count
  }

  /// Creates a copy of `bytes`, which the other process cannot change, with room for `capacity` bytes.
  init(holding bytes: Span<UInt8>, capacity: Int = 1) throws(ImageError) {
    count = max(capacity, bytes.count)
    (descriptor, start) = try Self.allocate(count)
    replace(with: bytes)
    // This process can still write through its mapping.
    guard decode_freeze(descriptor) == 0 else { throw Self.outOfMemory }
  }

  private static func allocate(_ count: Int) throws(ImageError) -> (Int32, UnsafeMutableRawPointer) {
    let descriptor = decode_memory(count)
    guard descriptor >= 0 else { throw outOfMemory }
    guard let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), start != MAP_FAILED else {
      close(descriptor)
      throw outOfMemory
    }
    return (descriptor, start)
  }

  private static let outOfMemory = ImageError(.outOfMemory, "Out of memory for the image.")

  /// Copies bytes to the start. They must fit.
  func write(_ bytes: [UInt8]) {
    precondition(bytes.count <= count)
    start.copyMemory(from: bytes, byteCount: bytes.count)
  }

  /// Copies bytes, which must fit, to the start. Nothing of an earlier content follows them in their last page.
  func replace(with bytes: Span<UInt8>) {
    let used = Self.pages(of: bytes.count, within: count)
    bytes.withUnsafeBytes { bytes in
      if let first = bytes.baseAddress { start.copyMemory(from: first, byteCount: bytes.count) }
    }
    memset(start + bytes.count, 0, used - bytes.count)
  }

  /// Sets the pages of the first `count` bytes to zero.
  func clear(_ count: Int) { memset(start, 0, Self.pages(of: count, within: self.count)) }

  /// Returns the end of the page in which `count` bytes end: a decoder that maps them can read that far by mistake. One
  /// that was taken over can map the whole file.
  private static func pages(of count: Int, within limit: Int) -> Int {
    let page = sysconf(Int32(_SC_PAGESIZE))
    return min((count + page - 1) / page * page, limit)
  }

  /// Copies bytes, each of which is read once. They must be within the memory.
  func copy(_ range: Range<Int>, to target: UnsafeMutableRawPointer) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    target.copyMemory(from: start + range.lowerBound, byteCount: range.count)
  }

  /// Returns a copy of bytes, which must be within the memory.
  func copied(_ range: Range<Int>) -> [UInt8] {
    // For no bytes, the initializer writes to memory that all empty arrays share, which the thread sanitizer reports.
    guard !range.isEmpty else { return [] }
    return [UInt8](unsafeUninitializedCapacity: range.count) { bytes, count in
      if let first = bytes.baseAddress { copy(range, to: first) }
      count = range.count
    }
  }

  deinit {
    munmap(start, count)
    close(descriptor)
  }
}
