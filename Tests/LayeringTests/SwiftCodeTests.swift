import Testing

@Suite struct SwiftCodeTests {
    @Test func wordsKnowTheirLineAndDepth() {
        let code = SwiftCode("a {\n  \"}}\" /* { */ b.c // {\n}\nd")
        #expect(
            code.words == [
                .init(text: "a", line: 1, depth: 0, before: ""),
                .init(text: "b", line: 2, depth: 1, before: "{"),
                .init(text: "c", line: 2, depth: 1, before: "."),
                .init(text: "d", line: 4, depth: 0, before: "}"),
            ]
        )
        #expect(code.words.map(\.isMember) == [false, false, true, false])
    }

    /// Each source text with its remaining lines.
    @Test(arguments: [
        ("", []),
        ("\n  \n// a\n    /// b\n", []),
        ("let a = 1", ["let a = 1"]),
        ("    let a = 1   // one\n\n\n        + 2  \n", ["let a = 1", "+ 2"]),
        ("a /* b\n\n c */ + d", ["a", "+ d"]),
        ("a/* b /* c */ d */e", ["ae"]),
        ("a = \"// b /* c\" // d", ["a = \"// b /* c\""]),
        ("a = \"\\\"// b\"", ["a = \"\\\"// b\""]),
        ("a = \"\"\"\n    // b\n\n    \" /*\n    \"\"\" // c", ["a = \"\"\"", "// b", "\" /*", "\"\"\""]),
        (##"a = #"b"// c \"# // d"##, [##"a = #"b"// c \"#"##]),
        (##"a = #"\#(b /* c */)"#"##, [##"a = #"\#(b )"#"##]),
        (#"a = "\(b /* c */ + "// \(d)") // e" // f"#, [#"a = "\(b  + "// \(d)") // e""#]),
        ("a = \"é\" // ü", ["a = \"é\""]),
    ])
    func bytesOfCode(text: String, lines: [String]) {
        #expect(SwiftCode(text).count(.bytes) == lines.joined().utf8.count)
    }

    @Test(arguments: [
        ("struct A {\n    enum B { case c }\n}\nfinal class D {}\nactor E {}\nprotocol F: AnyObject {}", 5),
        ("extension A {\n    private struct B {}\n}\ntypealias C = A\n@freestanding(expression) macro d() = #e", 1),
        ("class func a() {}\nclass var b = 1\nimport struct Glibc.Stat\nimport class A", 0),
        ("let actor: A = .actor\nlet a = b.protocol\nf(class: C.self)", 0),
        ("// struct A {}\nlet a = \"struct A {}\"", 0),
        ("indirect enum A<B: C> {}\nstruct D<E> where E: F {}", 2),
    ])
    func types(text: String, count: Int) {
        #expect(SwiftCode(text).count(.types) == count)
    }

    @Test(arguments: [
        ("public struct A {\n    public private(set) var b = 1\n    public init() {}\n    var c = 2\n}", 3),
        ("public import A\nlet b = \"public let c\" // public let d", 0),
        ("public(set) var a = 1\nlet b: C = .public\npackage func d() {}", 0),
    ])
    func publicDeclarations(text: String, count: Int) {
        #expect(SwiftCode(text).count(.publicDeclarations) == count)
    }

    @Test(arguments: [
        ("struct A: Error {}\nenum B: Sendable, Error, Hashable {\n    case c\n}\nextension D.E: Swift.Error {}", 3),
        ("struct A: @unchecked Sendable, Error {}\nstruct B<C: D>: Error where C: Hashable {}", 2),
        ("struct A {\n    struct B: Error {}\n}", 1),
        ("struct A<B: Error> {}\nstruct C<D>: E where D: Error {}\nextension F where G == Error {}", 0),
        ("struct A {}\nlet b: any Error\nfunc c() -> Result<D, Error> {}\nstruct E: F {\n    var g: Error\n}", 0),
    ])
    func errorTypes(text: String, count: Int) {
        #expect(SwiftCode(text).count(.errorTypes) == count)
    }
}
