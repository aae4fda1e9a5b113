import CCrypto
import CImage
import CXXHash
import GRDBSQLite

extension LibraryVersion {
  /// The libraries for images, first, and those of the cache.
  public static var imageCache: [LibraryVersion] { imaging + caching }

  private static var imaging: [LibraryVersion] {
    var (libraries, library) = ([LibraryVersion](), CImageLibrary())
    while cimage_library(Int32(libraries.count), &library) != 0 {
      libraries.append(LibraryVersion(String.text(inArray: library.name), String.text(inArray: library.version)))
    }
    return libraries
  }

  private static var caching: [LibraryVersion] {
    [
      LibraryVersion("SQLite", String(cString: sqlite3_libversion())),
      LibraryVersion("libcrypto", String(cString: OpenSSL_version(OPENSSL_FULL_VERSION_STRING))),
      LibraryVersion("xxHash", "\(XXH_VERSION_MAJOR).\(XXH_VERSION_MINOR).\(XXH_VERSION_RELEASE)"),
    ]
  }
}
