import CDecodeChannel
import Foundation
import Glibc
import TestSupport
import Testing

/// The messages between a process and its renderer.
@Suite struct DecodeChannelTests {
  /// The two ends of a pair of sockets.
  private final class Ends {
    let near: Int32
    let far: Int32

    init() {
      var ends: [Int32] = [-1, -1]
      socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends)
      (near, far) = (ends[0], ends[1])
    }

    /// Sends bytes with descriptors, all in one message.
    func send(_ text: [UInt8], _ descriptors: [Int32]) -> Bool {
      var (text, control) = (text, Self.control(descriptors))
      return text.withUnsafeMutableBytes { text in
        control.withUnsafeMutableBytes { control in
          var part = iovec(iov_base: text.baseAddress, iov_len: text.count)
          return withUnsafeMutablePointer(to: &part) { part in
            var message = msghdr()
            (message.msg_iov, message.msg_iovlen) = (part, 1)
            if !descriptors.isEmpty {
              (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
            }
            return sendmsg(far, &message, 0) == text.count
          }
        }
      }
    }

    /// Returns the control data with descriptors (cmsg(3)): a length, a level, a type, and the descriptors, in all a
    /// multiple of 8 bytes.
    private static func control(_ descriptors: [Int32]) -> [UInt8] {
      let length = 16 + 4 * descriptors.count
      let words = [Int32(length), 0, SOL_SOCKET, 1] + descriptors
      return words.withUnsafeBytes { Array($0) } + Array(repeating: 0, count: (8 - length % 8) % 8)
    }

    deinit {
      close(near)
      close(far)
    }
  }

  /// Returns the number of descriptors of this process that are open for the file at `path`.
  private static func count(of path: String) throws -> Int {
    let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    return links.count { link in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(link)")
      return target == path
    }
  }

  @Test(arguments: [0, 1, 2, 3, 64, 253], [(true, 4), (false, 4), (true, 3), (false, 3)])
  func `Of all descriptors that come with a message, only one that is due stays open`(
    count: Int, due: (isDue: Bool, size: Int)
  ) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("file")
    let file = open(path, O_CREAT | O_RDWR, 0o600)
    defer { close(file) }
    let ends = Ends()
    try #require(ends.send(Array(repeating: 7, count: due.size), Array(repeating: file, count: count)))

    var (message, received) = ([UInt8](repeating: 0, count: 4), Int32(-1))
    let result =
      due.isDue
      ? decode_receive(ends.near, &message, 4, 1000, &received) : decode_receive(ends.near, &message, 4, 1000, nil)
    let reason = errno

    let isAccepted = due.size == 4 && count <= (due.isDue ? 1 : 0)
    #expect((result == 0) == isAccepted && (isAccepted || reason == EBADMSG))
    #expect((received >= 0) == (isAccepted && count == 1))
    if received >= 0 { close(received) }
    #expect(try Self.count(of: path) == 1)
  }
}
