import BatchFetch
import FoundationEssentials
import Glibc
import ImageCache
import Synchronization

/// Writes a gallery: a page with a card for each row, in the order of the rows.
///
/// As rows finish, their cards are collected in a ``GallerySpool``. The page is assembled at the end of the run, even
/// of a canceled one, and then renamed into place. Until then, a ``LiveGallery`` keeps a page with the progress there.
final class GalleryWriter: Sendable {
  private struct State: ~Copyable {
    var spool: GallerySpool
    var counts: [ReportLine.Status: Int] = [:]
    var size: EmbeddedSize
  }

  private let place: ReplacedFile
  private let title: String
  private let date: Date
  private let outputDirectory: String
  private let images: GalleryImages
  private let state: Mutex<State>
  /// The page during the run; nil for a pipe or a device.
  private let live: LiveGallery?

  /// Prepares a gallery of the thumbnails in `outputDirectory`, which must exist. Symbolic links are followed. The page
  /// stays in `reserved` when it is replaced. `size` is that of an empty page.
  ///
  /// - Parameters:
  ///   - date: The time of the run. Default: now.
  ///   - workplace: A directory for temporary files. Default nil: the output directory.
  ///   - images: The location of the images. Default nil: it depends on the two directories.
  init(
    _ file: NamedFile, title: String, date: Date = Date(), outputDirectory: String, workplace: String? = nil,
    images: GalleryImages? = nil,
    reserved: ReservedFiles = ReservedFiles(), size: EmbeddedSize = EmbeddedSize()
  ) throws(OutputError) {
    self.title = title
    self.date = date
    self.outputDirectory = outputDirectory
    let place = try ReplacedFile(file, workplace: workplace ?? outputDirectory, as: .gallery, in: reserved)
    self.place = place
    live = place.isRegular ? LiveGallery(title: title, date: date, place: place) : nil
    self.images = images ?? GalleryImages(of: outputDirectory, from: place.directory)
    state = Mutex(State(spool: try GallerySpool(directory: place.workplace), size: size))
  }

  /// Writes the page of a run that has not finished, and newer versions as rows finish, until ``finish()``. `onError`
  /// receives an error of a later write.
  func start(onError: @escaping @Sendable (OutputError) -> Void) throws(OutputError) {
    try live?.start(onError: onError)
  }

  /// Shows a row that was read, as long as it has not finished.
  func expect(_ entry: ManifestEntry) { live?.expect(entry) }

  /// Shows the number of all rows, once it is known.
  func setTotal(_ total: Int) { live?.setTotal(total) }

  /// Adds the card for the row of `line`. `subtitle` is its second line; nil for the host. Returns a warning if this
  /// card makes a page of embedded thumbnails large.
  @discardableResult
  func append(_ line: ReportLine, subtitle: String?) throws(OutputError) -> String? {
    let card = GalleryCard(line, subtitle: subtitle, images: images).json
    let size = try state.withLock { state throws(OutputError) in
      try state.spool.append(card, index: line.index)
      state.counts[line.status, default: 0] += 1
      return images == .embedded ? state.size.add(card.count) : nil
    }
    live?.finish(card, index: line.index, line.status)
    return size?.warning(of: place.path, outputDirectory: outputDirectory)
  }

  /// Writes the page and replaces the file with it. A pipe or a device is written directly.
  func finish() throws(OutputError) {
    live?.end()
    try place.replace { descriptor throws(OutputError) in
      try state.withLock { state throws(OutputError) in
        try write(state.spool, state.counts, to: descriptor)
      }
    }
  }

  private func write(
    _ spool: borrowing GallerySpool, _ counts: [ReportLine.Status: Int], to file: Int32
  ) throws(OutputError) {
    var page = LargeWrites(file, path: place.path)
    let frame = GalleryPage(title: title, counts: counts, date: date)
    try page.append(frame.head)
    var isFirst = true
    try spool.forEach { card throws(OutputError) in
      if !isFirst { try page.append(GalleryPage.separator) }
      isFirst = false
      try page.append(card)
    }
    try page.append(frame.tail)
    try page.flush()
  }
}

/// A buffer that combines small writes into large ones.
private struct LargeWrites {
  private static let limit = 256 << 10

  private let descriptor: Int32
  private let path: String
  private var buffer: [UInt8] = []

  init(_ descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  mutating func append(_ bytes: [UInt8]) throws(OutputError) {
    buffer += bytes
    if buffer.count >= Self.limit { try flush() }
  }

  mutating func flush() throws(OutputError) {
    defer { buffer.removeAll(keepingCapacity: true) }
    try FileDescriptor.write(buffer[...], to: descriptor, path: path)
  }
}

/// Sorts cards by row, in memory that does not grow with the number of cards.
///
/// One temporary file holds the cards in the order of arrival, and another one holds their positions, 24 bytes per
/// card. Neither file has a name, so nothing is left behind however the process ends.
private struct GallerySpool: ~Copyable {
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

/// The location of the images that a gallery shows.
enum GalleryImages: Hashable, Sendable {
  /// In files. `directory` is the output directory relative to the page's directory: empty, or with a trailing `/`.
  case files(directory: String)
  /// Embedded in the page.
  case embedded
}

extension GalleryImages {
  /// Chooses files if `outputDirectory` is `pageDirectory` or below it, so that the two can be moved together.
  /// Otherwise the images are embedded, and the page can be moved alone. Both directories must exist.
  init(of outputDirectory: String, from pageDirectory: String) {
    guard let output = Self.realPath(outputDirectory), let page = Self.realPath(pageDirectory) else {
      self = .embedded
      return
    }
    let base = page == "/" ? page : page + "/"
    if output == page {
      self = .files(directory: "")
    } else if output.hasPrefix(base) {
      self = .files(directory: output.dropFirst(base.count) + "/")
    } else {
      self = .embedded
    }
  }

  /// Returns the URL that the page loads to show `thumbnail`, the file `name` in the output directory.
  func url(of thumbnail: Thumbnail, at name: String) -> String {
    switch self {
    case .files(let directory): (directory + name).percentEncodedPath
    case .embedded: "data:\(thumbnail.format.mediaType);base64,\(Data(thumbnail.bytes).base64EncodedString())"
    }
  }

  /// The longest side of a blurred image in pixels: enough for the waves of a ThumbHash.
  private static let blurredSide = 16

  /// Returns the URL of a blurred image to show until the file of `thumbnail` has loaded. Nil if there is nothing to
  /// wait for, and if it would stay visible behind the thumbnail, because parts of that are transparent.
  func blur(_ placeholder: Placeholder?, for thumbnail: Thumbnail) -> String? {
    guard case .files = self, let hash = placeholder?.thumbHash, !hash.hasAlpha, thumbnail.spec.fit != .pad else {
      return nil
    }
    let (size, longer) = (thumbnail.size, max(thumbnail.size.width, thumbnail.size.height, 1))
    let side = { max(1, $0 * Self.blurredSide / longer) }
    let file = try? hash.png(in: PixelSize(width: side(size.width), height: side(size.height)))
    return file.map { "data:image/png;base64,\(Data($0).base64EncodedString())" }
  }

  private static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// The size of a gallery that embeds its thumbnails. A plain value: it is informed of each card.
struct EmbeddedSize: Hashable, Sendable {
  /// The size in bytes from which a page is large: browsers read it whole, and take seconds to open it.
  static let large = 64 << 20

  private let limit: Int
  private var bytes = 0

  /// Creates the size of an empty page, which is large from `limit` bytes on. Default ``large``.
  init(limit: Int = large) { self.limit = limit }

  /// Adds a card of `count` bytes. Returns the size of the page if this card makes it large, and nil otherwise.
  mutating func add(_ count: Int) -> ByteSize? {
    defer { bytes += count }
    return bytes < limit && bytes + count >= limit ? ByteSize(count: bytes + count) : nil
  }
}

extension ByteSize {
  /// The warning about a gallery of this size at `path`, which embeds the thumbnails in `outputDirectory`.
  func warning(of path: String, outputDirectory: String) -> String {
    let name = path.split(separator: "/").last ?? "index.html"
    return "The gallery already has \(self), because it embeds its thumbnails; browsers open it slowly. "
      + "To link them instead, put it into their directory: --gallery \(outputDirectory)/\(name)"
  }
}
