import CKiiPush
import Foundation
import TestSupport
import Testing

/// Parts of the interface that existing binaries depend on.
@Suite struct InterfaceTests {
    private static let functions = [
        "kii_push_agent_new", "kii_push_api", "kii_push_call", "kii_push_close", "kii_push_complete",
        "kii_push_dead_letters", "kii_push_drop", "kii_push_fail", "kii_push_field", "kii_push_free",
        "kii_push_observe",
        "kii_push_open", "kii_push_register", "kii_push_reject", "kii_push_retry", "kii_push_run", "kii_push_send",
        "kii_push_source", "kii_push_start", "kii_push_stop", "kii_push_wait",
    ]

    @Test func theLibraryExportsWhatTheHeaderDeclares() async throws {
        let symbols = try await ForeignProgram("nm", "-D", "--defined-only", CProgram.library.path).run()
        let exported = symbols.output.split(separator: "\n").compactMap { $0.split(separator: " ").last }
            .filter { $0.hasPrefix("kii_push_") }
        #expect(exported.map(String.init).sorted() == Self.functions)
        let header = try String(contentsOf: CProgram.headers.appending(path: "kii_push.h"), encoding: .utf8)
        let declared = header.matches(of: /(?m)^(?:int32_t|uint32_t|void) (kii_push_\w+)\(/).map { String($0.1) }
        #expect(declared.sorted() == Self.functions)
    }

    @Test func structuresAreLaidOutAsTheyWere() {
        #expect(MemoryLayout<kii_push_error>.size == 1100)
        #expect(MemoryLayout<kii_push_error>.offset(of: \.refusal) == 12)
        #expect(MemoryLayout<kii_push_error>.offset(of: \.text) == 76)
        let offsets = [
            MemoryLayout<kii_push_message>.offset(of: \.completion), MemoryLayout<kii_push_message>.offset(of: \.id),
            MemoryLayout<kii_push_message>.offset(of: \.received_at),
            MemoryLayout<kii_push_message>.offset(of: \.attempt), MemoryLayout<kii_push_message>.offset(of: \.kind),
            MemoryLayout<kii_push_message>.offset(of: \.payload),
            MemoryLayout<kii_push_message>.offset(of: \.payload_length),
            MemoryLayout<kii_push_message>.offset(of: \.fields),
        ]
        #expect(offsets == [0, 8, 16, 24, 28, 32, 40, 48])
        #expect(MemoryLayout<kii_push_message>.size == 56)
    }

    @Test(arguments: [
        (UInt32(KII_PUSH_API) + 1, "install a newer libkiipush"), (2000, "install a newer libkiipush"),
        (0, "build the program anew"), (999, "build the program anew"),
    ])
    func anotherInterfaceIsRefused(api: UInt32, advice: String) {
        var runtime: kii_push_runtime = 0
        let failure = failure { kii_push_open(api, nil, 0, &runtime, $0) }
        #expect(failure?.code == KII_PUSH_E_VERSION)
        #expect(failure?.text.hasSuffix(advice) == true && failure?.text.contains("\(api)") == true)
        #expect(runtime == 0)
    }

    @Test func aForkIsAnswered() async throws {
        try await withTemporaryDirectory { directory in
            let program = try await CProgram.build("Tests/CLibraryTests/Programs/forked.c", in: directory)
            let result = try await ForeignProgram(program, #"{"stateDirectory": "\#(directory)/state"}"#).run()
            #expect(result.status == 0, "\(result.errors)")
            let lines = result.output.split(separator: "\n").map(String.init)
            #expect(lines.dropLast() == ["11", "11", "11", "11", "70"])
            #expect(lines.last?.contains("fork") == true)
        }
    }
}
