import Foundation

/// What the server does to answer one request, step by step.
public struct ServerReply: Sendable {
  public enum Step: Sendable {
    /// These bytes, as they are.
    case send([UInt8])
    /// These bytes again and again, until the client is gone.
    case sendForever([UInt8])
    /// The same, counted each time they were sent.
    case sendCounting([UInt8], Counter)
    /// Waits until the client sends something, whatever that is.
    case receive
    /// A byte, a pause, and so on: `count` times, or until the client is gone.
    case drip(Duration, count: Int = .max)
    /// Nothing, until the gate opens.
    case wait(Gate)
    /// A proper end of the connection.
    case close
    /// The end of this side only: the client may still speak.
    case halfClose
    /// An end without good-bye.
    case reset
  }

  public var steps: [Step]

  public init(_ steps: [Step]) { self.steps = steps }

  /// A whole answer with the right Content-Length.
  public static func http(_ status: Int = 200, _ fields: [String: String] = [:], _ body: [UInt8] = []) -> ServerReply {
    ServerReply([.send(head(status, fields.merging(["Content-Length": "\(body.count)"]) { own, _ in own }) + body)])
  }

  /// These words as they are, then the proper end of the connection.
  public static func raw(_ text: String, _ body: [UInt8] = []) -> ServerReply {
    ServerReply([.send(Array(text.utf8) + body), .close])
  }

  /// The same reply, after the gate opens.
  public func after(_ gate: Gate) -> ServerReply { ServerReply([.wait(gate)] + steps) }

  /// The bytes of an answer's head.
  public static func head(_ status: Int, _ fields: [String: String]) -> [UInt8] {
    let lines = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }
    return Array("HTTP/1.1 \(status) X\r\n\(lines.joined())\r\n".utf8)
  }

  /// False when the connection is over.
  func play(on connection: Int32) -> Bool {
    for step in steps {
      switch step {
      case .send(let bytes):
        guard LoopbackSocket.send(connection, bytes) else { return false }
      case .sendForever(let bytes):
        while LoopbackSocket.send(connection, bytes) {}
        return false
      case .sendCounting(let bytes, let counter):
        while LoopbackSocket.send(connection, bytes) { counter.next() }
        return false
      case .receive:
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        guard LoopbackSocket.receive(connection, into: &buffer) > 0 else { return false }
      case .drip(let pause, let count):
        for _ in 0..<count {
          guard LoopbackSocket.send(connection, [UInt8(ascii: "\n")]) else { return false }
          // The server's own thread. libcurl measures speed by the machine's clock, so what is slow takes real time; no
          // test waits for a pause, only for what the client makes of it.
          Thread.sleep(forTimeInterval: pause / .seconds(1))
        }
      case .wait(let gate): gate.wait()
      case .close: return false
      case .halfClose:
        LoopbackSocket.halfClose(connection)
        return false
      case .reset:
        LoopbackSocket.reset(connection)
        return false
      }
    }
    return true
  }
}
