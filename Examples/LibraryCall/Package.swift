// swift-tools-version: 6.2
import PackageDescription

let libraries: [Target.Dependency] = [
  .product(name: "BatchFetch", package: "thumbs"),
  .product(name: "ImageCache", package: "thumbs"),
]

let package = Package(
  name: "LibraryCall",
  dependencies: [
    .package(name: "thumbs", path: "../..", traits: [.defaults, "ServiceLifecycle", "Tracing"]),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
  ],
  targets: [
    // The program for AVIF, HEIC, JPEG 2000, JPEG XL, PSD, SVG, TIFF and camera raw files, which is built next to this
    // one.
    .executableTarget(
      name: "LibraryCall", dependencies: libraries + [.product(name: "thumbs-decode", package: "thumbs")]),
    .executableTarget(name: "TableOfIcons", dependencies: libraries),
    .executableTarget(name: "ScrollingTable", dependencies: libraries),
    .executableTarget(
      name: "PhotoFolder", dependencies: [.product(name: "ImageCache", package: "thumbs")]),
    .executableTarget(name: "PackageDownloader", dependencies: [.product(name: "Downloads", package: "thumbs")]),
    .testTarget(
      name: "StubTransportTests",
      dependencies: ["ScrollingTable", .product(name: "DownloadsTesting", package: "thumbs")] + libraries),
    // Tests of what the traits of the libraries add.
    .testTarget(
      name: "TraitTests",
      dependencies: [
        .product(name: "BatchFetch", package: "thumbs"),
        .product(name: "DownloadsTesting", package: "thumbs"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
