internal import Foundation
internal import Synchronization

// The end of a part file: checked, and renamed.
extension PartFile {
  /// Checks the file of `length` bytes, and gives it its name. Reads all of it, and waits for the disk.
  ///
  /// - Throws: `hash_mismatch` if it is not the expected one: then it is removed, and the next download starts over.
  func commit(length: Int) throws(FetchFailure) -> DownloadedFile {
    try state.withLock { state throws(FetchFailure) in
      guard ftruncate(descriptor, off_t(length)) == 0 else {
        throw FetchFailure(errno, "cannot be written", target.partPath)
      }
      let digest = try digest(length)
      do throws(FetchFailure) {
        try target.expected.check(digest, length: length)
      } catch {
        unlink(target.recordPath)
        ftruncate(descriptor, 0)
        unlink(target.partPath)
        throw error
      }
      guard fsync(descriptor) == 0, rename(target.partPath, target.path) == 0 else {
        throw FetchFailure(errno, "cannot be written", target.path)
      }
      // The file with this name is complete: no writer may change it any more.
      state.writer += 1
      unlink(target.recordPath)
      return DownloadedFile(
        url: URL(filePath: target.path), length: length, digest: digest, resumed: state.resumed)
    }
  }

  private func digest(_ length: Int) throws(FetchFailure) -> BodyDigest {
    let stream = DigestStream()
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    var offset = 0
    while offset < length {
      let count = pread(descriptor, &chunk, min(chunk.count, length - offset), off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FetchFailure(errno, "cannot be read", target.partPath) }
      chunk.withUnsafeBytes { stream.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      offset += count
    }
    guard let digest = stream.finish() else { throw FetchFailure(ENOMEM, "cannot be checked", target.partPath) }
    return digest
  }
}
