import Glibc

/// The socket calls that the server needs.
enum LoopbackSocket {
  struct Failure: Error {
    let errno: Int32
  }

  enum Family {
    case v4, v6
  }

  /// Listens on `port` of a loopback address, or on a free port for 0. `backlog` limits the queue of connections that
  /// are not accepted yet. `address` is used for IPv4 only.
  static func listen(
    on family: Family, address: String = "127.0.0.1", port: UInt16 = 0, backlog: Int32 = 1024
  ) throws -> (Int32, port: UInt16) {
    let socket = try make(family)
    var on: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    let result = withAddress(family, address, port) { address, length in
      bind(socket, address, length) == 0 ? Glibc.listen(socket, backlog) : -1
    }
    guard result == 0 else { throw Failure(errno: errno) }
    return (socket, try Self.port(of: socket, family))
  }

  /// Starts to connect to `port` without waiting for the connection.
  static func connect(to port: UInt16, on family: Family) throws -> Int32 {
    let socket = try make(family)
    _ = fcntl(socket, F_SETFL, O_NONBLOCK)
    let result = withAddress(family, "127.0.0.1", port) { address, length in Glibc.connect(socket, address, length) }
    guard result == 0 || errno == EINPROGRESS else { throw Failure(errno: errno) }
    return socket
  }

  private static func make(_ family: Family) throws -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let socket = Glibc.socket(family == .v4 ? AF_INET : AF_INET6, type, 0)
    guard socket >= 0 else { throw Failure(errno: errno) }
    return socket
  }

  private static func withAddress<T>(
    _ family: Family, _ v4: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T
  ) -> T {
    switch family {
    case .v4:
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = inet_addr(v4)
      return rebound(&address, body)
    case .v6:
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      address.sin6_addr = in6addr_loopback
      return rebound(&address, body)
    }
  }

  private static func rebound<Address, T>(
    _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T
  ) -> T {
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<Address>.size))
      }
    }
  }

  private static func port(of socket: Int32, _ family: Family) throws -> UInt16 {
    // Both families store the port at the same offset.
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
    }
    guard result == 0 else { throw Failure(errno: errno) }
    return UInt16(bigEndian: address.sin6_port)
  }

  /// Waits for the next connection; nil after the listener was shut down.
  static func accept(_ listener: Int32) -> Int32? {
    while true {
      let connection = Glibc.accept(listener, nil, nil)
      if connection >= 0 {
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        var on: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return connection
      }
      if errno != EINTR && errno != ECONNABORTED {
        Glibc.close(listener)
        return nil
      }
    }
  }

  static func receive(_ connection: Int32, into buffer: inout [UInt8]) -> Int {
    recv(connection, &buffer, buffer.count, 0)
  }

  /// Sends all bytes. Returns false if the client closed the connection.
  static func send(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { rest in
        Glibc.send(connection, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Makes the next `close` send a reset instead of an orderly end, by a linger time of zero.
  static func reset(_ connection: Int32) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
  }

  /// Ends this side of the connection and reads until the client ends the other side.
  static func halfClose(_ connection: Int32) {
    shutdown(connection, Int32(SHUT_WR))
    var buffer = [UInt8](repeating: 0, count: 4096)
    while receive(connection, into: &buffer) > 0 {}
  }

  static func shutDown(_ socket: Int32) { shutdown(socket, Int32(SHUT_RDWR)) }

  static func close(_ socket: Int32) { Glibc.close(socket) }
}
