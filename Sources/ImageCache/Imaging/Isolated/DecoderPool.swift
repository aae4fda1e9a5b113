import CDecodeChannel
import Synchronization

/// The processes of one program for all threads that render. Each thread takes one for an image and gives it back.
final class DecoderPool: Sendable {
  private let settings: DecoderIsolation
  /// Nil if it is not installed.
  private let program: DecoderProgram?
  private let idle = Mutex<[DecoderProcess]>([])

  init(_ program: DecoderProgram?, _ settings: DecoderIsolation) {
    (self.program, self.settings) = (program, settings)
  }

  deinit { idle.withLock { $0 }.forEach { $0.end() } }

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
      process.end()
      throw error
    }
  }

  /// Takes a process, which is new if none is idle.
  func take() throws(DecoderFailure) -> DecoderProcess {
    while let process = idle.withLock({ $0.popLast() }) {
      if process.isIdle { return process }
      process.end()
    }
    guard let program else { throw .missing }
    let process = try DecoderProcess(program, settings)
    guard process.hello.isProtected == 1 || settings.allowsUnprotected else {
      process.end()
      throw .unprotected(isBuiltWithFilter: process.hello.hasFilter == 1)
    }
    return process
  }

  /// Takes back a process that waits for a request.
  func giveBack(_ process: DecoderProcess) {
    if process.isWornOut { return process.end() }
    idle.withLock { $0.append(process) }
  }
}
