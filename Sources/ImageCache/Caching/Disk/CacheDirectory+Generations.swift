import Foundation

// The directories of the generations.
extension CacheDirectory {
  /// The files of a generation: SQLite's database, its log, the index of the log, and its journal. The database is the
  /// last to be removed, because a directory without one is not recognized.
  private static let generationFiles = ["cache.db-wal", "cache.db-shm", "cache.db-journal", databaseName]
  private static let databaseName = "cache.db"

  func generationPath(_ number: Int) -> String { path + "/" + Self.generationName(number) }

  func databasePath(_ number: Int) -> String { generationPath(number) + "/" + Self.databaseName }

  /// Throws an error if a file of generation `number` is a link, or belongs to another user. Files may be missing. Its
  /// directory must be one that only this user can change.
  func checkFiles(of number: Int) throws(DiskCacheError) {
    for name in Self.generationFiles {
      let path = generationPath(number) + "/" + name
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
        throw DiskCacheError(.io, "\(path) is not a file of this user; the disk cache is off.", isLasting: true)
      }
    }
  }

  private static func generationName(_ number: Int) -> String {
    let digits = String(number)
    return "g" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }

  /// Creates the empty directory of a generation newer than all others and than `last`. The caller holds the lock.
  func createGeneration(after last: Int) throws(DiskCacheError) -> Int {
    let number = max(generations().max() ?? 0, last) + 1
    guard mkdir(generationPath(number), 0o700) == 0 else {
      throw DiskCacheError(systemCall: "mkdir", path: generationPath(number))
    }
    return number
  }

  /// Removes the files of generation `number` and its directory, unless it has any other file.
  func removeGeneration(_ number: Int) {
    for name in Self.generationFiles { unlink(generationPath(number) + "/" + name) }
    rmdir(generationPath(number))
  }

  /// Removes all generations before `current` that no process uses. The caller holds the lock.
  ///
  /// A directory with any file that the cache does not make is left alone, whatever its name. If a generation cannot be
  /// removed now, the next change of generations tries again.
  func removeGenerations(before current: Int) {
    for number in generations() where number < current && isGeneration(number) {
      _ = try? FileLock.withFreeDirectory(generationPath(number)) { removeGeneration(number) }
    }
  }

  /// Returns true if the directory of generation `number` contains a database and no unknown file, and if no other user
  /// may change it.
  private func isGeneration(_ number: Int) -> Bool {
    var status = stat()
    guard lstat(generationPath(number), &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == geteuid(), status.st_mode & 0o022 == 0,
      let names = try? FileManager.default.contentsOfDirectory(atPath: generationPath(number))
    else { return false }
    return names.contains(Self.databaseName) && names.allSatisfy(Self.generationFiles.contains)
  }

  /// Returns the numbers of all existing generations, in no particular order.
  private func generations() -> [Int] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasPrefix("g") && $0.utf8.count <= 16 }.compactMap { name in
      Int(name.dropFirst()).flatMap { Self.generationName($0) == name ? $0 : nil }
    }
  }
}
