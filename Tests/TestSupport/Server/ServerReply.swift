import Foundation

/// The steps with which the server responds to one request.
public struct ServerReply: Sendable {
  public enum Step: Sendable {
    /// Sends the bytes unchanged.
    case send([UInt8])
    /// Sends the bytes repeatedly until the client closes the connection.
    case sendForever([UInt8])
    /// Sends the bytes repeatedly until the client closes the connection, and counts each time.
    case sendCounting([UInt8], Counter)
    /// Waits until the client sends any bytes.
    case receive
    /// Sends single bytes with a pause after each, `count` times or until the client closes the connection.
    case drip(Duration, count: Int = .max)
    /// Waits until the gate opens.
    case wait(Gate)
    /// Closes the connection in an orderly way.
    case close
    /// Closes the server's side of the connection; the client may still send.
    case halfClose
    /// Resets the connection.
    case reset
  }

  public var steps: [Step]

  public init(_ steps: [Step]) { self.steps = steps }

  /// Returns a complete response with the correct Content-Length.
  public static func http(_ status: Int = 200, _ fields: [String: String] = [:], _ body: [UInt8] = []) -> ServerReply {
    ServerReply([.send(head(status, fields.merging(["Content-Length": "\(body.count)"]) { own, _ in own }) + body)])
  }

  /// Returns a reply that sends `text` and `body` unchanged and then closes the connection.
  public static func raw(_ text: String, _ body: [UInt8] = []) -> ServerReply {
    ServerReply([.send(Array(text.utf8) + body), .close])
  }

  /// Returns the same reply, delayed until the gate opens.
  public func after(_ gate: Gate) -> ServerReply { ServerReply([.wait(gate)] + steps) }

  /// Returns the bytes of a response head.
  public static func head(_ status: Int, _ fields: [String: String]) -> [UInt8] {
    let lines = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }
    return Array("HTTP/1.1 \(status) X\r\n\(lines.joined())\r\n".utf8)
  }

  /// Performs the steps. Returns false if the connection has ended.
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
          // This blocks only the server's own thread. libcurl measures speed with the system clock, so a slow response
          // takes real time. Tests wait for the reaction of the client, never for a pause.
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
