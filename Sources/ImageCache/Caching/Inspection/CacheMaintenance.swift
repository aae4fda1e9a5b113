/// Changes a cache directory as a whole, also while others use it.
public enum CacheMaintenance {
  /// Empties the cache in `directory` at once, however large it is: a new generation takes the place of the old one,
  /// which is removed as soon as no process uses it.
  ///
  /// - Throws: `noCache` when there is none, `busy` when another process holds its lock for too long.
  public static func clear(directory path: String) throws(DiskCacheError) {
    let directory = CacheDirectory(path: path)
    guard directory.currentGeneration() != nil else {
      throw DiskCacheError(.noCache, "There is no cache in \(path).")
    }
    var store = DiskStore(directory, byteLimit: .max)
    try store.startOver()
    store.close()
  }
}
