// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "bench-fetch",
  dependencies: [.package(name: "thumbs", path: "../..")],
  targets: [
    .systemLibrary(name: "SystemCurl", path: "Sources/SystemCurl", pkgConfig: "libcurl"),
    .target(name: "BareLoop", dependencies: ["SystemCurl"]),
    .executableTarget(
      name: "bench-fetch", dependencies: ["BareLoop", .product(name: "BatchFetch", package: "thumbs")]),
  ],
  swiftLanguageModes: [.v6]
)
