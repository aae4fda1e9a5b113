import TestSupport
import Testing

@testable import BatchFetch

/// One behavior of a server, and the failure code that it must cause.
struct Trap: Sendable, CustomTestStringConvertible {
  let name: String
  /// The failure code; empty if the image must arrive anyway.
  var code = ""
  /// The steps of the server on every new connection, before the first request.
  var greeting: [ServerReply.Step] = []
  var reply = ServerReply.http()
  var testDescription: String { code.isEmpty ? name : "\(name): \(code)" }
}

extension Trap {
  static let image = SampleImage.jpeg(width: 200, height: 150)
  static let half = Array(image[..<(image.count / 2)])

  /// A reply with `head` and the image, which must arrive.
  static func ok(_ name: String, _ head: String, _ body: [UInt8] = image) -> Trap {
    Trap(name: name, reply: .raw(head, body))
  }

  static func bad(_ name: String, _ code: String, _ head: String, _ body: [UInt8] = []) -> Trap {
    Trap(name: name, code: code, reply: .raw(head, body))
  }

  static func bad(_ name: String, _ code: String, _ steps: ServerReply.Step...) -> Trap {
    Trap(name: name, code: code, reply: ServerReply(steps))
  }
}

extension String {
  var step: ServerReply.Step { .send(Array(utf8)) }
}

/// A receiver that ignores all events.
final class IgnoringReceiver: TransferReceiver {
  func receive(head: TransferHead) {}
  func receive(bytes: UnsafeRawBufferPointer) {}
  func receiveEnd(_ failure: FetchFailure?) {}
}
