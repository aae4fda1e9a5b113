public import Foundation

/// Everything about a cache directory that decides if it can be used. Measuring it changes nothing on disk.
public struct CacheCondition: Hashable, Sendable {
  /// The contents of the directory.
  public enum Contents: Hashable, Sendable {
    /// The directory does not exist. The next run creates it.
    case missing
    /// The directory has no cache. The next run creates one.
    case noCache
    /// The directory has a cache that can be read.
    case cache(CacheStatistics)
    /// The directory has a cache that cannot be read.
    case unreadable(DiskCacheError)
  }

  /// The lock around every write.
  public enum Lock: Hashable, Sendable {
    /// There is no lock file. The next run creates it.
    case missing
    /// The lock can be taken.
    case free
    /// Another process holds the lock.
    case held
    /// The lock file cannot be opened or locked, for this reason.
    case unusable(String)
  }

  /// The path of the directory.
  public var directory: String
  /// The contents of the directory.
  public var contents: Contents
  /// The lock around every write.
  public var lock: Lock
  /// The user ID of the owner of the directory; nil if it does not exist.
  public var owner: UInt32?
  /// The user ID of this process.
  public var user: UInt32
  /// True if this process may create files in the directory, or in the nearest parent that exists.
  public var isWritable: Bool
  /// The file system of the directory, or of the nearest parent that exists; nil if it cannot be examined.
  public var fileSystem: FileSystem?
  /// The file that is in the place of the directory or of one of its parents; nil if there is none.
  public var obstacle: String?

  /// Creates a condition from its parts.
  public init(
    directory: String, contents: Contents, lock: Lock, owner: UInt32?, user: UInt32, isWritable: Bool,
    fileSystem: FileSystem?, obstacle: String? = nil
  ) {
    (self.directory, self.contents, self.lock) = (directory, contents, lock)
    (self.owner, self.user) = (owner, user)
    (self.isWritable, self.fileSystem, self.obstacle) = (isWritable, fileSystem, obstacle)
  }
}

extension CacheCondition {
  /// Measures the condition of the cache in `path`, which may not exist. Sources are fresh or stale as of `now`.
  public init(measuring path: String, at now: Date = Date()) {
    let directory = CacheDirectory(path: path)
    let place = Self.nearestPlace(of: path)
    var status = stat()
    let exists = stat(path, &status) == 0
    self.init(
      directory: path, contents: exists ? Self.contents(of: path, at: now) : .missing,
      lock: Self.lock(at: directory.lockPath), owner: exists ? status.st_uid : nil, user: geteuid(),
      isWritable: access(place, W_OK | X_OK) == 0, fileSystem: FileSystem(at: place),
      obstacle: Self.isDirectory(place) ? nil : place)
  }

  private static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private static func contents(of path: String, at now: Date) -> Contents {
    do throws(DiskCacheError) {
      return .cache(try CacheInspector(directory: path).statistics(at: now))
    } catch {
      return error.code == .noCache ? .noCache : .unreadable(error)
    }
  }

  private static func lock(at path: String) -> Lock {
    // Without O_CREAT, because nothing is changed.
    let file = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else {
      return errno == ENOENT || errno == ENOTDIR ? .missing : .unusable(String(cString: strerror(errno)))
    }
    defer { close(file) }
    if flock(file, LOCK_EX | LOCK_NB) == 0 { return .free }
    return errno == EWOULDBLOCK ? .held : .unusable(String(cString: strerror(errno)))
  }

  /// Returns `path`, or else its nearest parent that exists, which may be a file or a link to nothing.
  static func nearestPlace(of path: String) -> String {
    var place = path
    var status = stat()
    while lstat(place, &status) != 0 {
      guard let slash = place.lastIndex(of: "/") else { return "." }
      place = slash == place.startIndex ? "/" : String(place[..<slash])
    }
    return place
  }
}

extension CacheCondition.Lock: CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    switch self {
    case .missing: "missing"
    case .free: "free"
    case .held: "held"
    case .unusable: "unusable"
    }
  }
}

/// A defect found in a cache. Lookups treat defective entries as misses.
public struct CacheProblem: Hashable, Sendable {
  /// The kind of problem, stable across versions.
  public enum Code: String, CaseIterable, Hashable, Sendable {
    /// SQLite reports the database itself as damaged.
    case database
    /// A source record fails its checksum.
    case badSource = "bad_source"
    /// A thumbnail fails its checksum.
    case badThumbnail = "bad_thumbnail"
    /// The number or size of a source's thumbnails differs from its record.
    case wrongCount = "wrong_count"
    /// The stored totals differ from the sums over all sources.
    case wrongTotal = "wrong_total"
    /// Some thumbnails belong to no source.
    case orphans
  }

  /// The kind of problem.
  public var code: Code
  /// The affected source; nil if the problem is not about one source.
  public var key: SourceKey?
  /// One sentence for people.
  public var detail: String
}
