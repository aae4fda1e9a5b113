import Synchronization

/// An object store on a loopback port, with `GET`, `PUT` and `If-None-Match: *`. Tests read and change its objects and
/// replace single replies.
public final class ObjectServer: Sendable {
  public typealias Fault = @Sendable (ServerRequest) -> ServerReply?

  fileprivate struct State {
    var objects: [String: [UInt8]] = [:]
    var fault: Fault = { _ in nil }
  }

  private final class Store: Sendable {
    let state = Mutex(State())
  }

  public let server: LoopbackServer
  private let store: Store

  /// Creates a store without objects.
  public init() throws {
    let store = Store()
    self.store = store
    server = try LoopbackServer { request in
      let fault = store.state.withLock { $0.fault }
      return fault(request) ?? store.state.withLock { $0.reply(to: request) }
    }
  }

  /// The URL below which the objects are.
  public var url: String { server.url("/cache") }

  /// The objects by path.
  public var objects: [String: [UInt8]] {
    get { store.state.withLock { $0.objects } }
    set { store.state.withLock { $0.objects = newValue } }
  }

  /// The requests with `method` so far, in order of arrival.
  public func requests(_ method: String) -> [ServerRequest] { server.requests.filter { $0.method == method } }

  /// Replaces the reply to each request for which `fault` does not return nil.
  public func setFault(_ fault: @escaping Fault) { store.state.withLock { $0.fault = fault } }
}

extension ObjectServer.State {
  fileprivate mutating func reply(to request: ServerRequest) -> ServerReply {
    switch request.method {
    case "GET": return objects[request.target].map { .http(200, [:], $0) } ?? .http(404)
    case "PUT":
      if request.fields["if-none-match"] == "*", objects[request.target] != nil { return .http(412) }
      objects[request.target] = request.body
      return .http(201)
    default: return .http(405)
    }
  }
}
