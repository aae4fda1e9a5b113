import BatchFetch
import CGlibc
import Glibc
import ImageCache
import Synchronization

/// Writes files into one directory and its subdirectories. A reader sees each file whole or not at all.
///
/// A file is written under a temporary name in the directory itself, then renamed into place. It is not flushed with
/// `fsync`: the next run detects a thumbnail that a power failure damaged, and writes it again.
final class OutputWriter: Sendable {
  /// The result of writing a file.
  enum WriteResult: Hashable, Sendable {
    /// The file is new or has new contents.
    case written
    /// The file had the same bytes already and was left alone, including its modification time.
    case unchanged
  }

  /// The rule for files that exist already.
  enum Replacement: Hashable, Sendable {
    /// Replace only thumbnails, which ``ThumbnailMark`` recognizes.
    case own
    /// Replace any file except those that the run itself uses.
    case any
  }

  /// The path of the directory, as given by the caller.
  let directory: String
  let descriptor: Int32
  let replacement: Replacement
  let reserved: ReservedFiles
  /// The number of temporary files created so far.
  let temporaries = Atomic<Int>(0)
  private let owners = Mutex(FileOwners())

  /// Opens `directory`, creating it and its parents if missing, and checks that files can be created in it.
  init(
    directory: String, replacement: Replacement = .own, reserved: ReservedFiles = ReservedFiles()
  ) throws(OutputError) {
    self.directory = directory
    self.replacement = replacement
    self.reserved = reserved
    _ = try NewDirectories(for: directory)
    descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw OutputError(action: .create, path: directory, code: errno) }
    do throws(OutputError) {
      let (file, name) = try createTemporary()
      Glibc.close(file)
      unlinkat(descriptor, name, 0)
    } catch {
      throw OutputError(.create, directory, error.cause)
    }
    removeLeftovers()
  }

  deinit {
    if descriptor >= 0 { Glibc.close(descriptor) }
  }

  /// Writes `bytes` to the file `name`, a path relative to the directory as ``OutputNames`` assigns it. Creates missing
  /// subdirectories.
  ///
  /// An existing file is replaced only if ``replacement`` allows it, and never if it is reserved or was written for
  /// another `owner`. Without an owner, the caller guarantees that nobody else uses the name.
  ///
  /// - Parameters:
  ///   - labelsUnchanged: True if a file that has these bytes already gets the label, too. Default false: its label, if
  ///     it has one, is of the same bytes.
  ///   - label: Returns the label of a thumbnail of this size; nil for none. Default: none.
  func write(
    _ bytes: [UInt8], as name: String, for owner: String? = nil, labelsUnchanged: Bool = false,
    label: () -> (OutputLabel, PixelSize)? = { nil }
  ) throws(OutputError) -> WriteResult {
    if let owner, !owners.withLock({ $0.take(name, for: owner) }) { throw OutputError(.write, path(name), .taken) }
    let place = try place(of: name)
    if let role = reserved.role(ofFilesIn: place.directory) { throw OutputError(.write, path(name), .reserved(role)) }
    while true {
      let target = try occupant(of: place, expecting: bytes, labeling: labelsUnchanged ? label() : nil)
      switch target {
      case .same: return .unchanged
      case .reserved(let role): throw OutputError(.write, path(name), .reserved(role))
      case .other where replacement == .own: throw OutputError(.write, path(name), .notOwn)
      case .nothing, .thumbnail, .other: break
      }
      let isDone = try fill(place, onlyIfFree: target == .nothing) { file throws(OutputError) in
        try FileDescriptor.write(bytes[...], to: file, path: path(name))
        if let (label, size) = label() { label.add(to: file, size) }
      }
      // False if another process created the file after this thread found none. The next pass judges that file.
      if isDone { return .written }
    }
  }

  func path(_ name: String) -> String { directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)" }
}

// MARK: Occupant

extension OutputWriter {
  /// The thing at the path of a file to write.
  enum Occupant: Hashable {
    /// Nothing.
    case nothing
    /// A file with the expected bytes.
    case same
    /// Another thumbnail made by `thumbs`.
    case thumbnail
    /// A file with another purpose in this run.
    case reserved(FileRole)
    /// A file of another program, a link or a pipe.
    case other
  }

  /// Returns what is at `place`. Neither reads through a link nor waits for a pipe.
  /// Labels a file that has the expected bytes already, while it is open.
  private func occupant(
    of place: borrowing OutputPlace, expecting bytes: [UInt8], labeling label: (OutputLabel, PixelSize)?
  ) throws(OutputError) -> Occupant {
    let file = place.name.withCString { openat(place.directory, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
    guard file >= 0 else { return try unreadableOccupant(of: place) }
    defer { Glibc.close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw place.failure }
    guard status.st_mode & S_IFMT == S_IFREG else { return try occupant(of: place, status) }
    if status.st_size == bytes.count, FileDescriptor.reads(bytes, from: file) {
      if let label { label.0.add(to: file, label.1) }
      return .same
    }
    if let role = FileIdentity(status).flatMap({ reserved.role(of: $0) }) { return .reserved(role) }
    return isThumbnail(file, status) ? .thumbnail : .other
  }

  /// Returns what is at a place that could not be opened.
  private func unreadableOccupant(of place: borrowing OutputPlace) throws(OutputError) -> Occupant {
    // Running out of descriptors, for example, does not mean that the file is another program's.
    guard [ENOENT, ELOOP, EACCES, ENXIO].contains(errno) else { throw place.failure }
    if errno == ENOENT { return .nothing }
    var status = stat()
    guard fstatat(place.directory, place.name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return .nothing }
      throw place.failure
    }
    return try occupant(of: place, status)
  }

  /// Returns what is at a place whose contents cannot be read.
  private func occupant(of place: borrowing OutputPlace, _ status: stat) throws(OutputError) -> Occupant {
    switch status.st_mode & S_IFMT {
    case S_IFREG: return FileIdentity(status).flatMap { reserved.role(of: $0) }.map(Occupant.reserved) ?? .other
    case S_IFDIR: throw OutputError(action: .write, path: place.path, code: EISDIR)
    default: return role(ofTarget: place).map(Occupant.reserved) ?? .other
    }
  }

  /// Returns the role of the file that a link leads to. The run may reach that file only through the link.
  private func role(ofTarget place: borrowing OutputPlace) -> FileRole? {
    var target = stat()
    guard fstatat(place.directory, place.name, &target, 0) == 0 else { return nil }
    return FileIdentity(target).flatMap { reserved.role(of: $0) }
  }

  private func isThumbnail(_ file: Int32, _ status: stat) -> Bool {
    // The first and the last bytes rule out most other files, which then need not be read.
    let count = Int(status.st_size)
    let length = min(count, ThumbnailMark.endLength)
    guard lseek(file, 0, SEEK_SET) == 0, let prefix = FileDescriptor.contents(of: file, count: length),
      lseek(file, off_t(-length), SEEK_END) >= 0, let suffix = FileDescriptor.contents(of: file, count: length),
      ThumbnailMark.mayBePresent(inFileStartingWith: prefix, endingWith: suffix),
      lseek(file, 0, SEEK_SET) == 0, let bytes = FileDescriptor.contents(of: file, count: count)
    else { return false }
    return ThumbnailMark.isPresent(in: bytes)
  }
}

// MARK: Existing

/// The proof of what a thumbnail was made from, in the extended attribute `user.thumbs` of its file: a digest of the
/// URL and of everything that decides about its pixels, and its size. File systems without such attributes, and copies
/// that leave them out, have no proof.
struct OutputLabel: Hashable, Sendable {
  private static let attribute = "user.thumbs"

  /// 32 hexadecimal digits.
  private let digest: String

  /// The label of the thumbnail of `row` with `spec`. Credentials are not part of it, because others may read it.
  init(_ row: ManifestRow, _ spec: ThumbnailSpec) {
    let expected = row.options.digest?.description ?? ""
    digest = SourceKey(url: Redaction.url(row.url), variant: "\(expected)\0\(spec.fingerprint)").description
  }

  /// Labels the open `file`, unless it is labeled already. On a failure, it has no label.
  func add(to file: Int32, _ size: PixelSize) {
    let text = Array(text(size).utf8)
    if Self.value(of: file) != String(decoding: text, as: UTF8.self) {
      _ = fsetxattr(file, Self.attribute, text, text.count, 0)
    }
  }

  /// The text of the label of a thumbnail with `size`.
  func text(_ size: PixelSize) -> String { "\(digest) \(size.width)x\(size.height)" }

  /// Returns the size of the thumbnail in `file`; nil if it has another label or none.
  func size(of file: Int32) -> PixelSize? { Self.value(of: file).flatMap { size(in: $0) } }

  /// Returns the size of a thumbnail whose label has this text; nil if it is another label.
  func size(in text: String) -> PixelSize? {
    let parts = text.split(separator: " ")
    guard parts.count == 2, parts[0] == digest else { return nil }
    let sides = parts[1].split(separator: "x").compactMap { Int($0) }
    return sides.count == 2 ? PixelSize(width: sides[0], height: sides[1]) : nil
  }

  private static func value(of file: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = fgetxattr(file, attribute, &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}

extension OutputWriter {
  /// Returns the thumbnail in the file `name` if that has this `label`, is intact, and has no other purpose in this
  /// run.
  func existing(_ name: String, _ label: OutputLabel, _ spec: ThumbnailSpec, _ format: OutputFormat) -> Thumbnail? {
    guard let place = try? place(of: name) else { return nil }
    let file = openat(place.directory, place.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    defer { if file >= 0 { Glibc.close(file) } }
    var status = stat()
    guard file >= 0, let size = label.size(of: file), fstat(file, &status) == 0,
      let identity = FileIdentity(status), reserved.role(of: identity) == nil,
      let bytes = FileDescriptor.contents(of: file, count: Int(status.st_size)), ThumbnailMark.isPresent(in: bytes)
    else { return nil }
    return Thumbnail(spec: spec, size: size, format: format, bytes: bytes)
  }
}

extension OutputWriter: ThumbnailOutput {
  /// Directories of images are reserved as a whole: a million images in them take no memory.
  func reserve(_ row: ManifestRow) {
    if row.place?.isInDirectory != true { reserved.insert(sourcesOf: row) }
  }

  func write(
    _ files: [OutputFile],
    completion: @escaping @Sendable (Result<[WriteResult], OutputError>) -> Void
  ) {
    completion(
      Result { () throws(OutputError) in
        try files.map { file throws(OutputError) in
          try write(
            file.thumbnail.bytes, as: file.name, for: file.owner, labelsUnchanged: file.labelsUnchanged,
            label: { file.label.map { ($0, file.thumbnail.size) } })
        }
      })
  }

  func search(for row: PlannedRow) -> (any ExistingSearch)? {
    row.candidates.map { FileSearch(candidates: $0, writer: self) }
  }

  func cancel() {}

  /// Looks at the files when they are wanted: that takes no longer than to start a thread for it.
  private struct FileSearch: ExistingSearch {
    let candidates: [[ExistingCandidate]]
    let writer: OutputWriter

    func start() {}

    func files() -> ExistingFiles? {
      ExistingFiles(
        candidates.map { group in
          group.compactMap { candidate in
            writer.existing(candidate.name, candidate.label, candidate.spec, candidate.format).map { (candidate, $0) }
          }
        })
    }
  }
}

extension OutputName {
  /// Returns the names that a file of `spec` may have, with their formats; none if they depend on its size in pixels.
  func possibleNames(of spec: ThumbnailSpec) -> [(name: String, format: OutputFormat)] {
    guard !dependsOnPixels else { return [] }
    let formats = spec.format.output.map { [$0] } ?? [.jpeg, .png, .webp, .avif]
    return formats.map { format in
      (fileName(of: Thumbnail(spec: spec, size: spec.box, format: format, bytes: [])), format)
    }
  }
}

// MARK: Replacing

extension OutputWriter {
  /// Replaces the contents of the file `name` with what `body` writes to a descriptor. On an error, the file keeps its
  /// old contents.
  func replace(_ name: String, _ body: (Int32) throws(OutputError) -> Void) throws(OutputError) {
    _ = try fill(try place(of: name), onlyIfFree: false, body)
  }

  /// Removes the file `name` if it contains exactly `bytes`, and has no other purpose in this run.
  func remove(_ name: String, containing bytes: [UInt8]) throws(OutputError) {
    let place = try place(of: name)
    guard try occupant(of: place, expecting: bytes, labeling: nil) == .same, !isReserved(place) else { return }
    if unlinkat(place.directory, place.name, 0) != 0, errno != ENOENT { throw place.failure }
  }

  /// Returns true if `name` is a file of `length` bytes.
  func contains(_ name: String, length: Int) -> Bool {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFREG && Int(status.st_size) == length
  }

  private func isReserved(_ place: borrowing OutputPlace) -> Bool {
    var status = stat()
    guard fstatat(place.directory, place.name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    return FileIdentity(status).map { reserved.role(of: $0) != nil } ?? false
  }

  /// Writes a temporary file and renames it to `place`. Returns false if `onlyIfFree` is set and the name is taken.
  func fill(
    _ place: borrowing OutputPlace, onlyIfFree: Bool, _ body: (Int32) throws(OutputError) -> Void
  ) throws(OutputError) -> Bool {
    let (file, temporary) = try createTemporary()
    do throws(OutputError) {
      try close(file, of: place, after: body)
      if try rename(temporary, to: place, onlyIfFree: onlyIfFree) { return true }
      unlinkat(descriptor, temporary, 0)
      return false
    } catch {
      unlinkat(descriptor, temporary, 0)
      throw error
    }
  }

  private func rename(
    _ temporary: String, to place: borrowing OutputPlace, onlyIfFree: Bool
  ) throws(OutputError) -> Bool {
    if onlyIfFree {
      // Another process may create the file at any moment. `linkat` fails if the name is taken; a rename would replace
      // that file.
      if linkat(descriptor, temporary, place.directory, place.name, 0) == 0 {
        unlinkat(descriptor, temporary, 0)
        return true
      }
      if errno == EEXIST { return false }
      // On a file system without hard links, the check before this call has to suffice.
    }
    guard renameat(descriptor, temporary, place.directory, place.name) == 0 else { throw place.failure }
    return true
  }

  /// Fills and closes `file`. An error of `close` counts too: network file systems report an exceeded quota there.
  private func close(
    _ file: Int32, of place: borrowing OutputPlace, after fill: (Int32) throws(OutputError) -> Void
  ) throws(OutputError) {
    do throws(OutputError) {
      try fill(file)
    } catch {
      Glibc.close(file)
      throw error
    }
    if Glibc.close(file) != 0 { throw place.failure }
  }

  /// Creates a temporary file and locks it.
  private func createTemporary() throws(OutputError) -> (descriptor: Int32, name: String) {
    while true {
      let number = temporaries.add(1, ordering: .relaxed).newValue
      let name = "\(TemporaryName(process: getpid(), number: number))"
      let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
      if file >= 0 {
        // The lock tells a run that removes leftovers, and cannot see this process, that the file is in use.
        flock(file, LOCK_SH | LOCK_NB)
        return (file, name)
      }
      // The name may be taken by a leftover of a killed process that had the same process ID.
      if errno != EEXIST { throw OutputError(action: .create, path: path(name), code: errno) }
    }
  }
}

// MARK: Leftovers

extension OutputWriter {
  /// Removes the temporary files of runs that were killed. Files that cannot be removed do no harm and stay.
  ///
  /// A file is a leftover if its process is gone and nobody holds a lock on it. A process on another machine or in
  /// another container is invisible here, but its lock is not.
  private func removeLeftovers() {
    // A separate open file: reading entries moves its position, which `dup` would share.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let entries = fdopendir(copy) else { return }
    defer { closedir(entries) }
    while let entry = readdir(entries) {
      guard let name = Self.temporaryName(entry), let temporary = TemporaryName(name) else { continue }
      if !temporary.isOwnerAlive, !isInUse(name) { unlinkat(descriptor, name, 0) }
    }
  }

  /// Returns the name of `entry` if it has the prefix of temporary files. Other names, of which a directory may have a
  /// million, are not decoded.
  private static func temporaryName(_ entry: UnsafeMutablePointer<dirent>) -> String? {
    withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      guard bytes.starts(with: TemporaryName.prefix.utf8) else { return nil }
      return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  private func isInUse(_ name: String) -> Bool {
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { Glibc.close(file) }
    return flock(file, LOCK_EX | LOCK_NB) != 0
  }
}

/// A failure to write a file or a directory.
struct OutputError: Error, Hashable, Sendable {
  /// The step that failed.
  enum Action: String, Hashable, Sendable {
    /// Creating the directory, or a file in it.
    case create
    /// Writing a file, or renaming it into place.
    case write
  }

  /// The reason for the failure.
  enum Cause: Hashable, Sendable {
    /// A system call failed with this `errno` value.
    case system(Int32)
    /// The file exists and was not made by `thumbs`.
    case notOwn
    /// The file exists and has another purpose in this run.
    case reserved(FileRole)
    /// The path belongs to a link that another user made.
    case foreignLink
    /// The path of a subdirectory belongs to a link or to a file.
    case notDirectory
    /// The run has written the file for another source.
    case taken
    /// Another process is updating the file, or has changed it since it was read.
    case changed
    /// The file is compressed and cannot be updated in place.
    case compressed
    /// A request to the bucket failed.
    case bucket(FetchFailure)
  }

  /// The step that failed.
  var action: Action
  /// The file or the directory.
  var path: String
  /// The reason for the failure.
  var cause: Cause

  /// Creates an error from its parts.
  init(_ action: Action, _ path: String, _ cause: Cause) {
    (self.action, self.path, self.cause) = (action, path, cause)
  }

  /// Creates an error for a system call that failed with the `errno` value `code`.
  init(action: Action, path: String, code: Int32) { self.init(action, path, .system(code)) }

  /// The `errno` value; nil if no system call failed.
  var code: Int32? { if case .system(let code) = cause { code } else { nil } }

  /// True if every further file will fail too: the disk is full, read-only or broken. Ends the command with status 74.
  var isFatal: Bool { code.map([ENOSPC, EDQUOT, EROFS, EIO].contains) ?? false }

  /// True if the same write may succeed later, because the fault is in the system and not in the file.
  private var isPassing: Bool { isFatal || code.map([EFBIG, EMFILE, ENFILE, ENOMEM, EAGAIN].contains) ?? false }

  /// True if the reader of the pipe has closed it.
  var isBrokenPipe: Bool { code == EPIPE }

  /// The failure code of a row that fails with this error.
  var failureCode: FailureCode {
    switch cause {
    case .system: isPassing ? .outputUnavailable : .outputFailed
    case .bucket(let failure) where failure.code == .cancelled: .cancelled
    case .bucket(let failure): failure.code.isRetryable ? .outputUnavailable : .outputFailed
    case .foreignLink, .notDirectory: .outputFailed
    case .notOwn: .outputExists
    case .reserved, .taken, .changed, .compressed: .outputConflict
    }
  }
}

extension FailureCode {
  /// A file that `thumbs` did not make has the name of the output file.
  static let outputExists = FailureCode("output_exists", isRetryable: false, contact: .none)
}

extension OutputError: CustomStringConvertible {
  /// `Cannot write thumbs/a.jpg: No space left on device.`
  var description: String {
    switch cause {
    case .system(let code): "Cannot \(action.rawValue) \(path): \(String(cString: strerror(code)))."
    case .notOwn: "\(path) exists and was not made by thumbs; --overwrite replaces it."
    case .foreignLink: "\(path) is a link of another user, which is not followed."
    case .notDirectory: "\(path) is a link or a file, not a directory; remove it, or change --name-template."
    case .reserved(let role): "\(path) is \(role), which this run never replaces."
    case .taken: "\(path) holds the thumbnail of another source; use {index} or {hash} in --name-template."
    case .changed: "\(path) was changed by another process and is left unchanged."
    case .bucket(let failure): "Cannot \(action.rawValue) \(path): \(failure.message)"
    case .compressed: "\(path) is compressed and cannot be updated; write the new report to another file with --report."
    }
  }
}
