// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "bench-pixels",
  dependencies: [.package(name: "thumbs", path: "../..")],
  targets: [
    .systemLibrary(name: "SystemJPEG", path: "Sources/SystemJPEG", pkgConfig: "libjpeg"),
    .systemLibrary(name: "SystemPNG", path: "Sources/SystemPNG", pkgConfig: "libpng"),
    .target(name: "BareLoop", dependencies: ["SystemJPEG", "SystemPNG"]),
    .executableTarget(
      name: "bench-pixels", dependencies: ["BareLoop", .product(name: "ImageCache", package: "thumbs")]),
  ],
  swiftLanguageModes: [.v6]
)
