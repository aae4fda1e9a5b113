// The clock of the tests is that of programs which test with these libraries.
@_exported public import DownloadsTesting
