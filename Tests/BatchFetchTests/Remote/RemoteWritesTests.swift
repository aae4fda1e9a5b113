import ImageCache
import Testing

@testable import BatchFetch

@Suite struct RemoteWritesTests {
  private static func write(_ number: Int, bytes: Int) -> RemoteWrite {
    let thumbnail = Thumbnail(
      spec: ThumbnailSpec(width: 1), size: PixelSize(width: 1, height: 1), format: .png,
      bytes: [UInt8](repeating: 0, count: bytes))
    return RemoteWrite(
      key: SourceKey(url: "\(number)"), source: nil, digest: BodyDigest(of: []), thumbnails: [thumbnail], unusable: [])
  }

  @Test func `Uploads run in order, and no more at once than the width`() {
    var writes = RemoteWrites(limit: 1 << 20, width: 2)
    let all = (0..<3).map { Self.write($0, bytes: 10) }
    for write in all { #expect(writes.add(write) == true) }

    let running = [writes.next(), writes.next()].compactMap(\.self)
    #expect(running.map(\.key) == all[..<2].map(\.key))
    #expect(writes.next() == nil)
    writes.ended(running[0])
    #expect(writes.next()?.key == all[2].key)
    #expect(writes.runningCount == 2)
  }

  @Test func `Uploads that would exceed the limit in bytes are refused until others have ended`() {
    let (small, large) = (Self.write(1, bytes: 1000), Self.write(2, bytes: 2000))
    var writes = RemoteWrites(limit: small.cost + large.cost, width: 1)
    #expect(writes.add(small) == true)
    #expect(writes.add(large) == true)
    #expect(writes.add(Self.write(3, bytes: 0)) == false)

    // Those that run still occupy memory.
    let running = writes.next()
    #expect(writes.add(Self.write(3, bytes: 0)) == false)
    running.map { writes.ended($0) }
    #expect(writes.add(Self.write(3, bytes: 1000)) == true)
    #expect(writes.add(Self.write(4, bytes: 0)) == false)
    #expect(writes.bytes == small.cost + large.cost)
  }

  @Test func `Removing the uploads that wait frees their room`() {
    let write = Self.write(1, bytes: 100)
    var writes = RemoteWrites(limit: 3 * write.cost, width: 1)
    for _ in 0..<3 { #expect(writes.add(write) == true) }
    let running = writes.next()
    #expect(writes.removeWaiting() == 2)
    #expect(writes.bytes == write.cost)
    #expect(writes.next() == nil)
    running.map { writes.ended($0) }
    #expect(writes.bytes == 0)
    #expect(writes.runningCount == 0)
  }

  @Test func `An upload takes its thumbnails, and twice the largest one for its object and the copy that is sent`() {
    let one = Self.write(1, bytes: 1000)
    #expect(one.cost == 1024 + 3000)
    let thumbnails = one.thumbnails + Self.write(2, bytes: 200).thumbnails
    let two = RemoteWrite(key: one.key, source: nil, digest: one.digest, thumbnails: thumbnails, unusable: [])
    #expect(two.cost == 1024 + 3200)
  }

  @Test func `After closing, nothing is added anymore`() {
    var writes = RemoteWrites(limit: 1 << 20, width: 1)
    #expect(writes.add(Self.write(1, bytes: 0)) == true)
    writes.close()
    #expect(writes.add(Self.write(2, bytes: 0)) == false)
    #expect(writes.removeWaiting() == 1)
  }

  @Test func `A limit below zero lets nothing through`() {
    var writes = RemoteWrites(limit: -1, width: 1)
    #expect(writes.add(Self.write(1, bytes: 0)) == false)
  }
}
