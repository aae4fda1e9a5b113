import Glibc

/// The few socket calls that the server needs.
enum LoopbackSocket {
  struct Failure: Error {
    let errno: Int32
  }

  /// Listens on a free port of 127.0.0.1.
  static func listen() throws -> (socket: Int32, port: UInt16) {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw Failure(errno: errno) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        guard bind(socket, pointer, length) == 0, Glibc.listen(socket, 1024) == 0 else { return Int32(-1) }
        return getsockname(socket, pointer, &length)
      }
    }
    guard result == 0 else { throw Failure(errno: errno) }
    return (socket, UInt16(bigEndian: address.sin_port))
  }

  /// The next connection; nil after the listener was shut down.
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

  /// False when the client is gone.
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

  /// Closing with a zero linger time sends a reset in place of a proper end.
  static func reset(_ connection: Int32) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
  }

  static func shutDown(_ socket: Int32) { shutdown(socket, Int32(SHUT_RDWR)) }

  static func close(_ socket: Int32) { Glibc.close(socket) }
}
