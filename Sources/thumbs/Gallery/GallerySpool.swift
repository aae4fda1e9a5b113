import Glibc

/// Cards that come in any order and leave in the order of their rows, in memory that does not grow with them.
///
/// They are kept in one file in the order in which they come, and their places in another, 16 bytes a row. Neither file
/// has a name: nothing is left behind however the process ends.
struct GallerySpool: ~Copyable {
  private struct Place: BitwiseCopyable {
    var start = 0
    /// 0 for a row that never came.
    var count = 0
  }

  private let directory: String
  private let cards: Int32
  private let places: Int32
  private var end = 0
  private var rowCount = 0

  /// An empty spool, on the file system of `directory`.
  init(directory: String) throws(OutputError) {
    let cards = try FileDescriptor.unnamedFile(in: directory)
    do throws(OutputError) {
      self.init(directory: directory, cards: cards, places: try FileDescriptor.unnamedFile(in: directory))
    } catch {
      close(cards)
      throw error
    }
  }

  private init(directory: String, cards: Int32, places: Int32) {
    self.directory = directory
    self.cards = cards
    self.places = places
  }

  deinit {
    close(cards)
    close(places)
  }

  /// Keeps the card of the row `index`. A second one for a row takes the place of the first.
  mutating func append(_ card: [UInt8], index: Int) throws(OutputError) {
    try check(FileDescriptor.writeAll(card[...], to: cards).code)
    let place = withUnsafeBytes(of: Place(start: end, count: card.count)) { Array($0) }
    guard lseek(places, index * place.count, SEEK_SET) >= 0 else { throw failure(errno) }
    try check(FileDescriptor.writeAll(place[...], to: places).code)
    end += card.count
    rowCount = max(rowCount, index + 1)
  }

  /// Gives the cards to `body`, in the order of their rows.
  func forEach(_ body: ([UInt8]) throws(OutputError) -> Void) throws(OutputError) {
    let size = MemoryLayout<Place>.size
    let step = 4096
    for first in stride(from: 0, to: rowCount, by: step) {
      let bytes = try read(places, count: min(step, rowCount - first) * size, at: first * size)
      for offset in stride(from: 0, to: bytes.count, by: size) {
        let place = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Place.self) }
        if place.count > 0 { try body(try read(cards, count: place.count, at: place.start)) }
      }
    }
  }

  private func read(_ file: Int32, count: Int, at start: Int) throws(OutputError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = bytes.withUnsafeMutableBytes { buffer in
        pread(file, buffer.baseAddress?.advanced(by: done), count - done, start + done)
      }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { throw failure(got < 0 ? errno : EIO) }
      done += got
    }
    return bytes
  }

  private func check(_ code: Int32) throws(OutputError) {
    if code != 0 { throw failure(code) }
  }

  private func failure(_ code: Int32) -> OutputError {
    OutputError(action: .write, path: "the gallery's temporary file in \(directory)", code: code)
  }
}
