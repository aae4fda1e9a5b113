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
  private let outputDirectory: String
  private let images: GalleryImages
  private let state: Mutex<State>
  /// The page during the run; nil for a pipe or a device.
  private let live: LiveGallery?

  /// Prepares a gallery of the thumbnails in `outputDirectory`, which must exist. Symbolic links are followed. The page
  /// stays in `reserved` when it is replaced. `size` is that of an empty page.
  init(
    _ file: NamedFile, title: String, outputDirectory: String, reserved: ReservedFiles = ReservedFiles(),
    size: EmbeddedSize = EmbeddedSize()
  ) throws(OutputError) {
    self.title = title
    self.outputDirectory = outputDirectory
    let place = try ReplacedFile(file, workplace: outputDirectory, as: .gallery, in: reserved)
    self.place = place
    live = place.isRegular ? LiveGallery(title: title, place: place) : nil
    images = GalleryImages(of: outputDirectory, from: place.directory)
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
    let card = GalleryCard(line, subtitle: subtitle, images: images).html
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
    let frame = GalleryPage(title: title, counts: counts)
    try page.append(frame.head)
    var count = 0
    try spool.forEach { card throws(OutputError) in
      if count > 0, count % GalleryPage.listLength == 0 { try page.append(GalleryPage.listBreak) }
      count += 1
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
    let code = FileDescriptor.writeAll(buffer[...], to: descriptor).code
    buffer.removeAll(keepingCapacity: true)
    if code != 0 { throw OutputError(action: .write, path: path, code: code) }
  }
}
