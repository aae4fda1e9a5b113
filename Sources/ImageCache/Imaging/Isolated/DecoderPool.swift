import CDecodeChannel
import Dispatch
import Synchronization

/// The processes of one program for all threads that render. Each thread takes one for an image and gives it back, or
/// ends it.
final class DecoderPool: Sendable {
  private let settings: DecoderIsolation
  /// Nil if it is not installed.
  private let program: DecoderProgram?
  private let places: DecoderPlaces

  /// - Parameter places: The places that the processes share with those of other pools. Default: any number.
  init(_ program: DecoderProgram?, _ settings: DecoderIsolation, places: DecoderPlaces = DecoderPlaces()) {
    (self.program, self.settings, self.places) = (program, settings, places)
  }

  /// The maximum time for one image.
  var timeout: Duration { settings.boundedTimeout }

  /// True if the program is installed.
  var isInstalled: Bool { program != nil }

  /// Throws `unsupportedFormat` if the program is not installed. Starts no process.
  func check(for format: IsolatedFormat) throws(ImageError) {
    if !isInstalled { throw ImageError(.missing, for: format) }
  }

  /// Passes a process to `body`, after which it is idle, or ends if `body` throws.
  func withProcess<Value>(
    _ body: (inout DecoderProcess) throws(DecoderFailure) -> Value
  ) throws(DecoderFailure) -> Value {
    var process = try take()
    do throws(DecoderFailure) {
      let value = try body(&process)
      giveBack(process)
      return value
    } catch {
      end(process)
      throw error
    }
  }

  /// Takes a process, which is new if none is idle. Blocks until there is a place for it.
  func take() throws(DecoderFailure) -> DecoderProcess {
    guard let program else { throw .missing }
    if let process = places.take(for: program) {
      if process.isIdle { return process }
      process.end()
    }
    do throws(DecoderFailure) {
      let process = try DecoderProcess(program, settings)
      if process.hello.isProtected == 1 || settings.allowsUnprotected { return process }
      process.end()
      throw .unprotected(isBuiltWithFilter: process.hello.hasFilter == 1)
    } catch {
      places.free()
      throw error
    }
  }

  /// Takes back a process that waits for a request.
  func giveBack(_ process: DecoderProcess) {
    guard let program, !process.isWornOut else { return end(process) }
    places.giveBack(process, of: program)
  }

  /// Ends a process that was taken.
  func end(_ process: DecoderProcess) {
    process.end()
    places.free()
  }
}

/// The processes that decode images, by their program.
struct DecoderPools: Sendable {
  /// Those of `thumbs-decode`, and of `thumbs-decode-pdf`.
  let images, documents: DecoderPool

  /// The processes that decode a format.
  subscript(format: IsolatedFormat) -> DecoderPool {
    switch format.program {
    case .images: images
    case .documents: documents
    }
  }
}

/// The places of all processes that may be alive at once, whatever their program, and the processes that are idle.
///
/// The memory that a process may take is reserved as long as it is alive: an image that has taken it over can keep that
/// memory while the process is idle.
///
/// A thread takes its place before it waits for the memory of a ``MemoryGate``, never the other way round.
final class DecoderPlaces: Sendable {
  fileprivate struct State {
    /// The places that are taken, by idle processes, too.
    var taken = 0
    var idle: [(program: DecoderProgram, process: DecoderProcess)] = []
    /// The threads that wait for a place.
    var sleepers: [DispatchSemaphore] = []
  }

  /// A way to get a place.
  fileprivate enum Step {
    /// With the process that was idle in it.
    case with(DecoderProcess)
    /// After the end of a process of another program.
    case after(DecoderProcess)
    case free
    case wait(DispatchSemaphore)
  }

  private let limit: Int
  private let state = Mutex(State())

  /// Creates places for `limit` processes, at least 1. Default: any number.
  init(limit: Int = .max) { self.limit = max(1, limit) }

  deinit { for (_, process) in state.withLock({ $0.idle }) { process.end() } }

  /// The number of processes that are alive, or about to be.
  var takenCount: Int { state.withLock { $0.taken } }

  /// The number of threads that wait for a place.
  var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Takes a place. Returns the process that is idle in it; nil if it is free. Blocks until there is a place.
  func take(for program: DecoderProgram) -> DecoderProcess? {
    while true {
      switch state.withLock({ $0.step(for: program, limit: limit) }) {
      case .with(let process): return process
      case .free: return nil
      case .after(let process):
        process.end()
        return nil
      case .wait(let sleeper): sleeper.wait()
      }
    }
  }

  /// Leaves an idle process in its place, for this program or in favor of another one.
  func giveBack(_ process: DecoderProcess, of program: DecoderProgram) {
    wake { $0.idle.append((program, process)) }
  }

  /// Frees the place of a process that has ended.
  func free() { wake { $0.taken -= 1 } }

  /// Wakes the thread that has waited longest. It looks again: another thread may be faster.
  private func wake(_ change: (inout State) -> Void) {
    let sleeper = state.withLock { state in
      change(&state)
      return state.sleepers.isEmpty ? nil : state.sleepers.removeFirst()
    }
    sleeper?.signal()
  }
}

extension DecoderPlaces.State {
  fileprivate mutating func step(for program: DecoderProgram, limit: Int) -> DecoderPlaces.Step {
    if let index = idle.lastIndex(where: { $0.program == program }) { return .with(idle.remove(at: index).process) }
    if taken < limit {
      taken += 1
      return .free
    }
    if !idle.isEmpty { return .after(idle.removeFirst().process) }
    let sleeper = DispatchSemaphore(value: 0)
    sleepers.append(sleeper)
    return .wait(sleeper)
  }
}

/// The reason why a process that decodes, encodes or renders gave no result. A process that has started must end.
enum DecoderFailure: Error, Hashable, Sendable {
  /// The program is not installed.
  case missing
  /// There are too few protections: the system offers too few, or the program was built without the filter.
  case unprotected(isBuiltWithFilter: Bool)
  /// The process did not start. The reason is the end of a sentence about it.
  case start(String)
  /// The process did not reply in time.
  case timeout
  /// The process refused the request, for a reason that is a sentence without its period.
  case refusal(ImageError.Code, String)
  /// The process ended because it had reached the limit of its memory.
  case memory
  /// The process ended or did something else that it should not do. The reason is the end of a sentence about it.
  case misbehavior(String)

  /// The code of an image for which it failed.
  var code: ImageError.Code {
    switch self {
    case .missing, .unprotected, .start: .unsupportedFormat
    case .timeout, .memory: .decodeLimit
    case .misbehavior: .decodeError
    case .refusal(let code, _): code
    }
  }

  /// The end of a sentence about the process.
  var reason: String {
    switch self {
    case .missing: "it is not installed"
    case .unprotected(isBuiltWithFilter: true):
      "this system does not allow seccomp filters, which protect against it; --unsafe-decoders does without them"
    case .unprotected(isBuiltWithFilter: false):
      "it was built without libseccomp, which protects against it; install libseccomp-dev and build it again"
    case .start(let reason), .misbehavior(let reason): reason
    case .refusal(_, let reason): "it refused: \(reason)"
    case .timeout: "it took too long"
    case .memory: "it ran out of memory"
    }
  }
}

extension ImageError {
  /// The failure of an image for which a process failed.
  init(_ failure: DecoderFailure, of program: String) {
    self.init(failure.code, "The process of \(program) failed: \(failure.reason).", origin: .machine)
  }
}

extension ImageError {
  /// The failure of an image in `format`, for which no process could be started or a process has failed.
  init(_ failure: DecoderFailure, for format: IsolatedFormat) {
    switch failure {
    case .missing:
      self = .unsupported(format, "the program \(format.program.name); install the package \(format.program.package)")
    case .unprotected, .start: self = .unsupported(format, "the program \(format.program.name), but \(failure.reason)")
    case .timeout, .memory, .misbehavior, .refusal: self.init(failure, of: format.program.name)
    }
  }

  /// The failure of an image in `format` whose decoder was built without its library.
  init(without format: IsolatedFormat) {
    self = .unsupported(format, "\(format.library), which was missing when \(format.program.name) was built")
  }

  private static func unsupported(_ format: IsolatedFormat, _ need: String) -> ImageError {
    ImageError(.unsupportedFormat, "\(format.name) needs \(need).", origin: .machine)
  }
}
