import TestSupport
import Testing

@testable import BatchFetch

/// One thing that a server does, and what must come of it.
struct Trap: Sendable, CustomTestStringConvertible {
  let name: String
  /// The stable code; empty where the picture must come all the same.
  var code = ""
  /// What the server does on every new connection.
  var greeting: [ServerReply.Step] = []
  var reply = ServerReply.http()
  var testDescription: String { code.isEmpty ? name : "\(name): \(code)" }
}

extension Trap {
  static let picture = SampleImage.jpeg(width: 200, height: 150)
  static let half = Array(picture[..<(picture.count / 2)])

  /// The picture, with these words for a head.
  static func ok(_ name: String, _ head: String, _ body: [UInt8] = picture) -> Trap {
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
