import CKiiPush
import Foundation
import TestSupport
import Testing

/// Builds C programs against the library's debug build.
enum CProgram {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let headers = CProgram.root.appending(path: "Sources/CKiiPush/include")
    static let library = productsDirectory.appending(path: "libkiipush.so")

    /// `script/test --sanitize` names a compiler whose programs have the sanitizer of the library.
    private static let compiler = (ProcessInfo.processInfo.environment["KII_TEST_CC"] ?? "cc")
        .split(whereSeparator: \.isWhitespace).map { String($0) }

    /// Compiles a file of the project with all warnings, and returns the program's path.
    static func build(_ source: String, in directory: String) async throws -> String {
        let program = "\(directory)/program"
        let words = [
            "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I", CProgram.headers.path,
            CProgram.root.appending(path: source).path, CProgram.library.path,
            "-Wl,-rpath,\(productsDirectory.path)", "-o", program,
        ]
        let result = try await ForeignProgram(CProgram.compiler + words).run()
        try #require(result.status == 0, "\(result.errors)")
        return program
    }
}

/// A function's code and its error structure.
struct ToldFailure {
    let code: kii_push_code
    let error: kii_push_error

    var text: String { ToldFailure.text(self.error.text) }

    fileprivate static func text(_ field: some Any) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// Calls a function and returns its failure, or `nil` for success. Expects that the error structure has the returned
/// code.
func failure(
    sourceLocation: SourceLocation = #_sourceLocation, _ function: (UnsafeMutablePointer<kii_push_error>) -> Int32
) -> ToldFailure? {
    var error = kii_push_error()
    error.code = -1
    let code = function(&error)
    #expect(error.code == (code == 0 ? -1 : code), sourceLocation: sourceLocation)
    return code == 0 ? nil : ToldFailure(code: kii_push_code(rawValue: UInt32(bitPattern: code)), error: error)
}

/// Calls a function, and expects a failure with `code`.
///
/// These tests avoid macros that expand around closures. The compiler gives such a closure the name of another closure
/// of the same function, and then calls one closure in place of both.
func expectFailure(
    _ code: kii_push_code, sourceLocation: SourceLocation = #_sourceLocation,
    _ function: (UnsafeMutablePointer<kii_push_error>) -> Int32
) {
    let failure = failure(sourceLocation: sourceLocation, function)
    #expect(failure?.code == code, sourceLocation: sourceLocation)
}

func expectFailures(
    _ failures: [ToldFailure?], _ code: kii_push_code, sourceLocation: SourceLocation = #_sourceLocation
) {
    for (index, failure) in failures.enumerated() {
        #expect(failure?.code == code, "\(index)", sourceLocation: sourceLocation)
    }
}

func succeed(
    sourceLocation: SourceLocation = #_sourceLocation, _ function: (UnsafeMutablePointer<kii_push_error>) -> Int32
) throws {
    let text = failure(sourceLocation: sourceLocation, function)?.text
    try #require(text == nil, sourceLocation: sourceLocation)
}
