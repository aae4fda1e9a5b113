package import Downloads
package import TestSupport
internal import Testing

/// One behavior of a server, and the failure code that it must cause.
package struct Trap: Sendable, CustomTestStringConvertible {
  package let name: String
  /// The failure code; empty if the image must arrive anyway.
  package var code = ""
  /// The steps of the server on every new connection, before the first request.
  package var greeting: [ServerReply.Step] = []
  package var reply = ServerReply.http()

  package init(
    name: String, code: String = "", greeting: [ServerReply.Step] = [], reply: ServerReply = .http()
  ) {
    self.name = name
    self.code = code
    self.greeting = greeting
    self.reply = reply
  }

  package var testDescription: String { code.isEmpty ? name : "\(name): \(code)" }
}

extension Trap {
  package static let image = SampleImage.jpeg(width: 200, height: 150)
  package static let half = Array(image[..<(image.count / 2)])

  /// A reply with `head` and the image, which must arrive.
  package static func ok(_ name: String, _ head: String, _ body: [UInt8] = image) -> Trap {
    Trap(name: name, reply: .raw(head, body))
  }

  package static func bad(_ name: String, _ code: String, _ head: String, _ body: [UInt8] = []) -> Trap {
    Trap(name: name, code: code, reply: .raw(head, body))
  }

  package static func bad(_ name: String, _ code: String, _ steps: ServerReply.Step...) -> Trap {
    Trap(name: name, code: code, reply: ServerReply(steps))
  }
}

extension String {
  package var step: ServerReply.Step { .send(Array(utf8)) }
}

/// A receiver that ignores all events.
package final class IgnoringReceiver: TransferReceiver {
  package init() {}

  package func receive(head: TransferHead) {}
  package func receive(bytes: UnsafeRawBufferPointer) {}
  package func receiveEnd(_ failure: FetchFailure?) {}
}
