import Glibc

/// Sorts cards by row, in memory that does not grow with the number of cards.
///
/// One temporary file holds the cards in the order of arrival, and another one holds their positions, 24 bytes per
/// card. Neither file has a name, so nothing is left behind however the process ends.
struct GallerySpool: ~Copyable {
  private struct Place: BitwiseCopyable, Comparable {
    var index: Int
    var start: Int
    var count: Int

    /// Orders by row, and within a row by arrival.
    static func < (a: Place, b: Place) -> Bool { (a.index, a.start) < (b.index, b.start) }
  }

  private let directory: String
  private let cards: Int32
  private let places: Int32
  private var end = 0
  private var cardCount = 0

  /// Creates an empty spool on the file system of `directory`.
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

  /// Adds the card of the row `index`, which may be any number. A second card for a row replaces the first.
  mutating func append(_ card: [UInt8], index: Int) throws(OutputError) {
    try check(FileDescriptor.writeAll(card[...], to: cards).code)
    let place = withUnsafeBytes(of: Place(index: index, start: end, count: card.count)) { Array($0) }
    try check(FileDescriptor.writeAll(place[...], to: places).code)
    end += card.count
    cardCount += 1
  }

  /// Calls `body` with each card, in the order of the rows.
  func forEach(_ body: ([UInt8]) throws(OutputError) -> Void) throws(OutputError) {
    if cardCount == 0 { return }
    let length = cardCount * MemoryLayout<Place>.stride
    // A private mapping: sorting copies only the pages that it changes, which are few, as rows finish nearly in order.
    guard let memory = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, places, 0), memory != MAP_FAILED else {
      throw failure(errno)
    }
    defer { munmap(memory, length) }
    var places = UnsafeMutableRawBufferPointer(start: memory, count: length).bindMemory(to: Place.self)
    places.sort()
    for (offset, place) in places.enumerated() {
      let isLast = offset + 1 == places.count || places[offset + 1].index != place.index
      if isLast { try body(try read(cards, count: place.count, at: place.start)) }
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
