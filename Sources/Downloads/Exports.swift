// Errors, digests and versions of libraries are part of the interface of this module.
@_exported public import Basics
// Header fields are part of the interface of this module.
@_exported public import HTTPTypes
