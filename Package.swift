// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "thumbs",
  products: [
    .library(name: "Downloads", targets: ["Downloads"]),
    .library(name: "ImageCache", targets: ["ImageCache"]),
    .library(name: "BatchFetch", targets: ["BatchFetch"]),
    // A stub transport and a clock for the tests of programs that use the libraries.
    .library(name: "DownloadsTesting", targets: ["DownloadsTesting"]),
    .executable(name: "thumbs", targets: ["thumbs"]),
    // The program that the libraries start for AVIF, HEIC, JPEG 2000, JPEG XL, PSD, SVG, TIFF and camera raw files.
    .executable(name: "thumbs-decode", targets: ["thumbs-decode"]),
    // The program for PDF. It is linked with poppler, and so has the license of that, the GNU GPL.
    .executable(name: "thumbs-decode-pdf", targets: ["thumbs-decode-pdf"]),
  ],
  // Without a trait, the libraries do not need its system library or its package.
  traits: [
    .default(enabledTraits: ["WebP"]),
    .trait(name: "WebP", description: "Decodes and encodes WebP. Needs libwebp."),
    .trait(name: "ServiceLifecycle", description: "A pipeline is a service of swift-service-lifecycle."),
    .trait(name: "Tracing", description: "A request with `await` is a span of swift-distributed-tracing."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
  ],
  targets: [
    // System libraries. If one is missing, the build names it and the package that provides it.
    .system("CJPEG", pkgConfig: "libjpeg", package: "libjpeg-dev"),
    .system("CPNG", pkgConfig: "libpng", package: "libpng-dev"),
    .system("CWebP", pkgConfig: "libwebp", package: "libwebp-dev"),
    .system("CWebPMux", pkgConfig: "libwebpmux", package: "libwebp-dev"),
    .system("CDeflate", pkgConfig: "libdeflate", package: "libdeflate-dev"),
    .system("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
    .system("CLCMS", pkgConfig: "lcms2", package: "liblcms2-dev"),
    .system("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
    .system("CCrypto", pkgConfig: "libcrypto", package: "libssl-dev"),
    .system("CXXHash", pkgConfig: "libxxhash", package: "libxxhash-dev"),
    // The libraries of thumbs-decode. Each may be missing; then the program lacks its format.
    .system("CAVIF", pkgConfig: "libavif", package: "libavif-dev"),
    .system("CHEIF", pkgConfig: "libheif", package: "libheif-dev"),
    .system("COpenJPEG", pkgConfig: "libopenjp2", package: "libopenjp2-7-dev"),
    .system("CJXL", pkgConfig: "libjxl", package: "libjxl-dev"),
    .system("CTIFF", pkgConfig: "libtiff-4", package: "libtiff-dev"),
    .system("CRaw", pkgConfig: "libraw", package: "libraw-dev"),
    .system("CRSVG", pkgConfig: "librsvg-2.0", package: "librsvg2-dev"),
    .system("CPoppler", pkgConfig: "poppler-glib", package: "libpoppler-glib-dev"),
    .system("CSeccomp", pkgConfig: "libseccomp", package: "libseccomp-dev"),
    // C declarations that Swift's own modules lack.
    .system("CGlibc"),
    .system("CSQLiteSetup"),

    // Reads TOML; toml++ has headers only. Debian and Ubuntu: libtomlplusplus-dev.
    .target(name: "CTOML"),

    // The modules, lowest first. Each imports only those below it; `Downloads` and `ImageCache` do not know each other.
    .target(name: "Basics", dependencies: ["CCrypto"]),
    .target(
      name: "Downloads",
      dependencies: [
        "Basics", "CCurl",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .target(name: "DownloadsTesting", dependencies: ["Downloads"]),
    .target(
      name: "CImage",
      dependencies: [
        "CJPEG", "CPNG", .target(name: "CWebP", condition: .when(traits: ["WebP"])),
        .target(name: "CWebPMux", condition: .when(traits: ["WebP"])), "CDeflate", "CLCMS",
      ]),
    // The messages to the program that decodes formats which are not trusted, and that program.
    .target(name: "CDecodeChannel", cSettings: [.define("_GNU_SOURCE")]),
    .target(
      name: "CDecoder", dependencies: ["CDecodeChannel", "CSeccomp"], cSettings: [.define("_GNU_SOURCE")],
      linkerSettings: [.linkedLibrary("m")]),
    .executableTarget(
      name: "thumbs-decode-pdf", dependencies: ["CDecoder", "CPoppler"], cSettings: [.define("_GNU_SOURCE")]),
    .executableTarget(
      name: "thumbs-decode",
      dependencies: ["CDecoder", "CAVIF", "CHEIF", "COpenJPEG", "CJXL", "CTIFF", "CRSVG", "CRaw", "CJPEG", "CZlib"],
      cSettings: [.define("_GNU_SOURCE")],
      // libheif finds our function for worker threads, which must not start, only if it is exported.
      linkerSettings: [
        .linkedLibrary("m"), .unsafeFlags(["-Xlinker", "--export-dynamic-symbol=de265_start_worker_threads"]),
      ]),
    .target(
      name: "ImageCache",
      dependencies: [
        "Basics", "CDecodeChannel", "CImage", "CCrypto", "CDeflate", "CGlibc", "CSQLiteSetup", "CXXHash",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "BatchFetch",
      dependencies: [
        "Basics", "Downloads", "ImageCache",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["ServiceLifecycle"])),
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
      ]),
    .executableTarget(
      name: "thumbs",
      dependencies: [
        "BatchFetch", "ImageCache", "CDecoder", "CGlibc", "CSQLiteSetup", "CTOML", "CXXHash", "CZlib",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
      ],
      resources: [
        .embedInCode("Help/advice.txt"), .embedInCode("Gallery/gallery.css"), .embedInCode("Gallery/gallery.js"),
        .embedInCode("Gallery/gallery-live.css"), .embedInCode("Gallery/gallery-live.js"),
      ]),

    .target(name: "TestSupport", dependencies: ["ImageCache", "CImage", "CDeflate"], path: "Tests/TestSupport"),
    .target(
      name: "DownloadSupport",
      dependencies: [
        "Downloads", "DownloadsTesting", "TestSupport", .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Tests/DownloadSupport"),
    .target(name: "CPowerLoss", path: "Tests/PowerLoss"),
    // A decoder that does what its image says, to try the sandbox.
    .executableTarget(
      name: "hostile-decode", dependencies: ["CDecoder"], path: "Tests/HostileDecoder",
      cSettings: [.define("_GNU_SOURCE")]),
    .testTarget(
      name: "ImageCacheTests",
      dependencies: [
        "ImageCache", "CImage", "CPNG", .target(name: "CWebP", condition: .when(traits: ["WebP"])), "TestSupport",
        "CPowerLoss",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "DownloadsTests",
      dependencies: [
        "Downloads", "DownloadSupport", "TestSupport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .testTarget(
      name: "BatchFetchTests",
      dependencies: [
        "BatchFetch", "Downloads", "DownloadSupport", "ImageCache", "TestSupport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ]),
    .testTarget(
      name: "ThumbsTests",
      dependencies: [
        "thumbs", "BatchFetch", "Downloads", "DownloadSupport", "ImageCache", "TestSupport", "CGlibc", "CZlib",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)

// The sanitizers build only these targets, and those on which they depend.
if let names = Context.environment["THUMBS_TARGETS"]?.split(separator: " ").map(String.init) {
  var needed: Set<String> = []
  var pending = names
  while let name = pending.popLast() {
    guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
    pending += target.dependencies.compactMap(\.targetName)
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products.removeAll { !needed.contains($0.name) }
}

/// In CI, warnings are errors.
let isCI = Context.environment["CI"] != nil

for target in package.targets where target.type != .system {
  if isCI { target.cSettings = (target.cSettings ?? []) + [.treatAllWarnings(as: .error)] }
  target.cxxSettings = isCI ? [.treatAllWarnings(as: .error)] : []
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]
  if isCI { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
  if target.name == "CImage" {
    target.cSettings = (target.cSettings ?? []) + [.define("CIMAGE_WEBP", .when(traits: ["WebP"]))]
  }
}

extension Target {
  /// A module map in `Sources/System`, with the Debian package of its library, if that is not the C library.
  static func system(_ name: String, pkgConfig: String? = nil, package: String? = nil) -> Target {
    .systemLibrary(
      name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: package.map { [.apt([$0])] })
  }
}

extension Target.Dependency {
  /// The name of the target in this package; nil for a product of another package.
  var targetName: String? {
    switch self {
    case .targetItem(let name, _), .byNameItem(let name, _): name
    default: nil
    }
  }
}
