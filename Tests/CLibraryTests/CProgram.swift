import CKiiPush
import Foundation
import TestSupport
import Testing

/// C programs that are built against the library as it is built for debugging.
enum CProgram {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let headers = CProgram.root.appending(path: "Sources/CKiiPush/include")
    static let library = productsDirectory.appending(path: "libkiipush.so")

    /// Compiles a file of the project with all warnings, and returns the program's path.
    static func build(_ source: String, in directory: String) async throws -> String {
        let program = "\(directory)/program"
        let result = try await ForeignProgram(
            "cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I", CProgram.headers.path,
            CProgram.root.appending(path: source).path, CProgram.library.path,
            "-Wl,-rpath,\(productsDirectory.path)", "-o", program
        ).run()
        try #require(result.status == 0, "\(result.errors)")
        return program
    }
}

/// What a function has said of its failure.
struct ToldFailure {
    let code: kii_push_code
    let error: kii_push_error

    var text: String { ToldFailure.text(self.error.text) }

    fileprivate static func text(_ field: some Any) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// Calls a function; `nil` where it succeeds. Expects that the error has the code that is returned.
func failure(
    sourceLocation: SourceLocation = #_sourceLocation, _ function: (UnsafeMutablePointer<kii_push_error>) -> Int32
) -> ToldFailure? {
    var error = kii_push_error()
    error.code = -1
    let code = function(&error)
    #expect(error.code == (code == 0 ? -1 : code), sourceLocation: sourceLocation)
    return code == 0 ? nil : ToldFailure(code: kii_push_code(rawValue: UInt32(bitPattern: code)), error: error)
}

/// Calls a function, and expects that it fails in this way.
///
/// Macros that expand around closures are avoided in these tests: the compiler gives such a closure the name of another one
/// of the same function, and one of the two is called in place of both.
func expectFailure(
    _ code: kii_push_code, sourceLocation: SourceLocation = #_sourceLocation,
    _ function: (UnsafeMutablePointer<kii_push_error>) -> Int32
) {
    let failure = failure(sourceLocation: sourceLocation, function)
    #expect(failure?.code == code, sourceLocation: sourceLocation)
}

/// Expects that all functions have failed in this way.
func expectFailures(
    _ failures: [ToldFailure?], _ code: kii_push_code, sourceLocation: SourceLocation = #_sourceLocation
) {
    for (index, failure) in failures.enumerated() {
        #expect(failure?.code == code, "\(index)", sourceLocation: sourceLocation)
    }
}

/// Calls a function, and requires that it succeeds.
func succeed(
    sourceLocation: SourceLocation = #_sourceLocation, _ function: (UnsafeMutablePointer<kii_push_error>) -> Int32
) throws {
    let text = failure(sourceLocation: sourceLocation, function)?.text
    try #require(text == nil, sourceLocation: sourceLocation)
}
