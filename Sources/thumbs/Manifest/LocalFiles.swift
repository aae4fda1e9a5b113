import BatchFetch
import Glibc
import ImageCache

/// The place of a local image that the command line names. Unlike the files in a list, it needs no permission.
enum LocalPlace: Hashable, Sendable {
  /// An argument itself. Its folders are those of a relative argument.
  case argument(folders: [String])
  /// Below a directory that is an argument, in these folders of it.
  case directory(folders: [String])

  /// The folders for `{dir}` and `{path}`.
  var folders: [String] {
    switch self {
    case .argument(let folders), .directory(let folders): folders
    }
  }

  /// True for an image below a directory that is an argument.
  var isInDirectory: Bool { if case .directory = self { true } else { false } }
}

/// A local image or directory that is an argument.
struct LocalArgument: Hashable, Sendable {
  /// The argument.
  let name: String
  /// The path without links, except that an image may be one itself.
  let path: String
  /// True for a directory.
  let isDirectory: Bool

  /// Looks at the file that `argument` names; nil if it is neither a directory nor an image. A file whose extension is
  /// that of a list is an image only if its first bytes cannot be those of a list.
  init?(_ argument: String) {
    var status = stat()
    guard argument != "-", stat(argument, &status) == 0, let path = Self.absolute(argument, status) else { return nil }
    (name, self.path) = (argument, path)
    isDirectory = status.st_mode & S_IFMT == S_IFDIR
    if !isDirectory {
      guard status.st_mode & S_IFMT == S_IFREG, let start = ImageStart(path: path) else { return nil }
      guard start.isImage(named: Array(argument.utf8)) else { return nil }
      guard ManifestFormat(path: argument) == nil || start.isBinary else { return nil }
    }
  }

  private static func absolute(_ argument: String, _ status: stat) -> String? {
    guard status.st_mode & S_IFMT != S_IFDIR else { return argument.resolvingLinks }
    let slash = argument.utf8.lastIndex(of: UInt8(ascii: "/"))
    let directory = slash.map { $0 == argument.startIndex ? "/" : String(argument[..<$0]) } ?? "."
    let name = slash.map { argument[argument.utf8.index(after: $0)...] } ?? argument[...]
    return directory.resolvingLinks.map { $0 == "/" ? "/\(name)" : "\($0)/\(name)" }
  }

  /// The row of an image.
  var item: ManifestItem {
    let parts = name.split(separator: "/").dropLast().map(String.init)
    let isBelow = !name.hasPrefix("/") && !parts.contains("..")
    return ManifestItem(
      content: .url("file://" + path.percentEncodedPath),
      place: .argument(folders: isBelow ? parts.filter { $0 != "." } : []))
  }
}

/// The first bytes of a file, which decide whether it is an image.
struct ImageStart {
  private let hasImage: Bool
  private let isCompressed: Bool
  /// True unless the bytes may be text, plain or compressed.
  let isBinary: Bool

  private static let lengths = [4 << 10, 64 << 10]

  /// Reads the file at `path`; nil if that fails.
  init?(path: String) {
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    self.init(file)
  }

  /// Reads the open `file` from its beginning; nil if that fails.
  init?(_ file: Int32) {
    var start: [UInt8] = []
    for length in Self.lengths {
      start = [UInt8](unsafeUninitializedCapacity: length) { $1 = max(0, pread(file, $0.baseAddress, length, 0)) }
      if start.isEmpty || start.count < length || SourceFormat.isImage(startingWith: start) != nil { break }
    }
    hasImage = SourceFormat.isImage(startingWith: start) ?? false
    isCompressed = start.starts(with: [0x1F, 0x8B])
    isBinary = start.contains(0) && !isCompressed
  }

  /// Returns true for an image in a format that can be decoded. Compressed data is one, a drawing, only if `name` says
  /// so.
  func isImage(named name: [UInt8]) -> Bool { hasImage && (!isCompressed || Self.isCompressedDrawing(name)) }

  private static func isCompressedDrawing(_ name: [UInt8]) -> Bool {
    let end = String(decoding: name.suffix(7), as: UTF8.self).lowercased()
    return end.hasSuffix(".svgz") || end.hasSuffix(".svg.gz")
  }
}

/// The images below a directory, in the order of the bytes of their names: a directory comes before what follows its
/// name. Hidden files and directories, links, and other file systems are left out.
///
/// Memory does not depend on the number of files: of a large directory, only the next names are kept.
struct DirectoryRows: RowSource {
  /// The most directories inside each other.
  private static let deepest = 100

  private let root: LocalArgument
  private let scope: LocalScope
  private let device: dev_t
  /// The open directories, the outermost first.
  private var open: [OpenDirectory]
  private var leftOut = LeftOutFiles()

  /// Opens the directory `root`.
  init(_ root: LocalArgument, _ scope: LocalScope) throws(InputError) {
    (self.root, self.scope) = (root, scope)
    var status = stat()
    guard let directory = OpenDirectory(path: root.path), fstat(directory.file.descriptor, &status) == 0 else {
      throw InputError(root.name, "cannot be read: \(String(cString: strerror(errno)))")
    }
    device = status.st_dev
    open = [directory]
  }

  var found: String { "there are no images in this directory" }

  func remark(about name: String) -> String? { leftOut.remark(about: name) }

  mutating func next() throws(InputError) -> ManifestItem? {
    while let directory = open.indices.last {
      guard let entry = open[directory].next(scope.namesAtOnce) else {
        open.removeLast()
        continue
      }
      let item = entry.isDirectory ? enter(entry.name, of: open[directory]) : image(entry.name, in: open[directory])
      if let item { return item }
    }
    return nil
  }

  /// Opens a directory. Returns an unusable item if that fails.
  private mutating func enter(_ name: [UInt8], of parent: OpenDirectory) -> ManifestItem? {
    guard scope.isRecursive else { return nil }
    let components = parent.components + [name]
    guard let directory = OpenDirectory(components, in: parent.file.descriptor) else {
      return errno == ENOENT ? nil : unusable(components, "cannot be read: \(String(cString: strerror(errno)))")
    }
    var status = stat()
    guard fstat(directory.file.descriptor, &status) == 0, status.st_dev == device, !scope.excludes(status) else {
      return nil
    }
    guard open.count < Self.deepest else {
      return unusable(components, "is more than \(Self.deepest) directories deep")
    }
    open.append(directory)
    return nil
  }

  private func unusable(_ components: [[UInt8]], _ fault: String) -> ManifestItem {
    let path = components.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
    return ManifestItem(content: .bad("the directory \(path) \(fault)"))
  }

  /// Returns the item of a file; nil if it is no image.
  private mutating func image(_ name: [UInt8], in directory: OpenDirectory) -> ManifestItem? {
    let path = directory.components + [name]
    let file = directory.file.open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    defer { if file >= 0 { close(file) } }
    // Its row fails with the reason.
    if file < 0, errno != ENOENT, String(decoding: name, as: UTF8.self).hasImageExtension { return item(path) }
    guard file >= 0, ImageStart(file)?.isImage(named: name) == true else {
      if file >= 0 { leftOut.add(path) }
      return nil
    }
    return item(path)
  }

  private func item(_ path: [[UInt8]]) -> ManifestItem {
    let text = Array(path.joined(separator: "/".utf8)).percentEncodedPath
    let base = root.path == "/" ? "" : root.path.percentEncodedPath
    let folders = path.dropLast().map { String(decoding: $0, as: UTF8.self) }
    return ManifestItem(content: .url("file://\(base)/\(text)"), place: .directory(folders: folders))
  }
}

/// The part of the directories among the arguments that is read.
struct LocalScope: Hashable, Sendable {
  /// True to read the directories inside, too.
  var isRecursive = true
  /// The output directory, which is left out.
  var output: String?
  /// The number of names of a directory that are kept at a time. A directory of a million files is read 31 times.
  var namesAtOnce = 32 << 10

  /// Returns true for the output directory.
  fileprivate func excludes(_ directory: stat) -> Bool {
    var status = stat()
    guard let output, stat(output, &status) == 0 else { return false }
    return status.st_dev == directory.st_dev && status.st_ino == directory.st_ino
  }
}

/// The files of a directory that only have the name of an image.
struct LeftOutFiles: Hashable, Sendable {
  private static let shown = 3

  private var names: [String] = []
  private var count = 0

  /// Adds the file at `path` if it has the name of an image.
  mutating func add(_ path: [[UInt8]]) {
    guard let name = path.last, String(decoding: name, as: UTF8.self).hasImageExtension else { return }
    count += 1
    if names.count < Self.shown {
      names.append(path.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/"))
    }
  }

  /// Returns a sentence about these files, which are in `directory`; nil without any.
  func remark(about directory: String) -> String? {
    guard count > 0 else { return nil }
    let rest = count > names.count ? " and \(count - names.count) more" : ""
    let verb = count == 1 ? "is not an image and was" : "are not images and were"
    return "In \(directory), \(names.joined(separator: ", "))\(rest) \(verb) left out."
  }
}

/// The extensions of image files, for names whose contents are not known.
private let imageExtensions: Set = [
  "jpg", "jpeg", "png", "gif", "webp", "avif", "heic", "heif", "tif", "tiff", "bmp", "ico", "svg", "svgz", "jxl",
  "jp2", "j2k", "j2c", "jpf", "jpx", "qoi", "pbm", "pgm", "ppm", "pnm", "psd", "psb", "cr2", "cr3", "nef", "arw", "dng",
  "raf", "orf", "rw2", "pef", "srw",
]

extension StringProtocol {
  /// True for a name or a path with the extension of an image.
  var hasImageExtension: Bool {
    let parts = split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, let name = parts.last?.lowercased() else { return false }
    return imageExtensions.contains(name) || (name == "pdf" && SourceFormat.all.contains(.pdf))
  }
}

/// A directory whose names are read in order, a part of them at a time.
private struct OpenDirectory {
  /// An open descriptor, closed when the last reference to this object goes away.
  final class File: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Opens the file `name` of this directory, unless it is a link.
    func open(_ name: [UInt8], _ flags: Int32) -> Int32 {
      name.withFileName { openat(descriptor, $0, flags | O_NOFOLLOW | O_CLOEXEC) }
    }
  }

  struct Entry: Comparable {
    let name: [UInt8]
    let isDirectory: Bool

    static func < (a: Entry, b: Entry) -> Bool { a.name.lexicographicallyPrecedes(b.name) }
  }

  let file: File
  /// The names that lead here from the argument.
  let components: [[UInt8]]
  private var entries: ArraySlice<Entry> = []
  private var last: [UInt8]?
  private var isComplete = false

  /// Opens the directory with the last name of `components` in `parent`; nil if that fails.
  init?(_ components: [[UInt8]], in parent: Int32) {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    let descriptor = (components.last ?? []).withFileName { openat(parent, $0, flags | O_NOFOLLOW) }
    guard descriptor >= 0 else { return nil }
    (file, self.components) = (File(descriptor), components)
  }

  /// Opens the directory at `path`; nil if that fails.
  init?(path: String) {
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    (file, components) = (File(descriptor), [])
  }

  /// Returns the next entry; nil after the last. Keeps at most `limit` entries.
  mutating func next(_ limit: Int) -> Entry? {
    if entries.isEmpty, !isComplete { read(limit) }
    return entries.popFirst()
  }

  /// Reads the next `limit` names.
  private mutating func read(_ limit: Int) {
    var kept: [Entry] = []
    isComplete = true
    forEachEntry { entry in
      if let last, !last.lexicographicallyPrecedes(entry.name) { return }
      kept.append(entry)
      if kept.count == 2 * limit {
        kept.sort()
        kept.removeLast(limit)
        isComplete = false
      }
    }
    kept.sort()
    if kept.count > limit {
      kept.removeLast(kept.count - limit)
      isComplete = false
    }
    last = kept.last?.name
    entries = kept[...]
  }

  private func forEachEntry(_ body: (Entry) -> Void) {
    // The stream has its own descriptor, because closing it closes that.
    let copy = openat(file.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      guard name.first != UInt8(ascii: "."), let isDirectory = isDirectory(name, Int32(entry.pointee.d_type)) else {
        continue
      }
      body(Entry(name: name, isDirectory: isDirectory))
    }
  }

  /// Returns whether an entry is a directory; nil for anything but a directory and a regular file.
  private func isDirectory(_ name: [UInt8], _ type: Int32) -> Bool? {
    switch type {
    case Int32(DT_DIR): return true
    case Int32(DT_REG): return false
    case Int32(DT_UNKNOWN): break
    default: return nil
    }
    // Some file systems do not say.
    var status = stat()
    guard name.withFileName({ fstatat(file.descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return true
    case S_IFREG: return false
    default: return nil
    }
  }
}

extension [UInt8] {
  /// Runs `body` with these bytes as the name of a file.
  fileprivate func withFileName<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
    (map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { preconditionFailure("A name has its final zero.") }
      return body(start)
    }
  }
}
