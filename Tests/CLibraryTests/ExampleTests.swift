import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct ExampleTests {
    @Test func theExampleIsShort() throws {
        let source = try String(contentsOf: CProgram.root.appending(path: "Examples/c/agent.c"), encoding: .utf8)
        #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 60)
    }

    @Test func theHandlerOfTheReadmeCompiles() async throws {
        let readme = try String(contentsOf: CProgram.root.appending(path: "README.md"), encoding: .utf8)
        let handler = try #require(readme.components(separatedBy: "```c\n").dropFirst().first)
        let source = """
            #include <kii_push.h>
            #include <stdio.h>
            \(handler.components(separatedBy: "```")[0])
            kii_push_handler handler = on_message;
            """
        try await withTemporaryDirectory { directory in
            try source.write(toFile: "\(directory)/handler.c", atomically: true, encoding: .utf8)
            let result = try await ForeignProgram(
                "cc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-I", CProgram.headers.path,
                "\(directory)/handler.c"
            ).run()
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    @Test func aKilledExampleHandlesItsMessagesAgain() async throws {
        try await withEmulator { emulator, directory in
            let program = try await CProgram.build("Examples/c/agent.c", in: directory)
            let runtime = try emulator.runtime("\(directory)/sender")
            let admin = try await emulator.adminToken(runtime.client(for: emulator.app))
            let session = runtime.client(for: emulator.app).session(admin)
            try await session.createTopic(Topic("alerts"))
            let environment = [
                "KII_APP_ID": emulator.appID, "KII_APP_KEY": emulator.appKey.reveal(), "KII_BASE_URL": emulator.baseURL,
                "KII_CA_FILE": emulator.certificateAuthorityFile, "STATE_DIRECTORY": "\(directory)/state",
                "XDG_RUNTIME_DIR": "\(directory)/run",
            ]
            let first = try ChildProgram(
                [program], environment: environment.merging(["KII_SLEEP": "600"]) { $1 })
            // The agent starts meanwhile, so the test sends until the agent is subscribed.
            while !first.output.wait(0.1, until: { $0.contains("push 1") }).contains("push 1") {
                _ = try await session.send(PushMessage(data: ["msg": "push 1"]), to: .topic(Topic("alerts")))
            }
            _ = try await session.send(PushMessage(data: ["msg": "push 2"]), to: .topic(Topic("alerts")))
            first.signal(SIGKILL)
            #expect(first.wait() == -SIGKILL)
            let killed = first.output.all().split(separator: "\n").first { $0.hasSuffix(" push 1") }
            let id = try #require(killed?.split(separator: " ").first)
            let second = try ChildProgram([program], environment: environment)
            // The second process handles the interrupted message again, and the message after it too.
            let isAll = { (text: String) in "\n\(text)".contains("\n\(id) ") && text.contains("push 2") }
            let text = second.output.wait(600, until: isAll)
            #expect(isAll(text), "\(text)")
            second.signal(SIGTERM)
            #expect(second.wait() == 0)
            let told = first.errors.all()
            #expect(told.contains(#""state":"connected""#) && told.contains(#""msg":"push 1""#))
            await runtime.shutdown()
        }
    }

    @Test func theExampleSaysWhatIsMissing() async throws {
        try await withTemporaryDirectory { directory in
            let program = try await CProgram.build("Examples/c/agent.c", in: directory)
            let result = try await ForeignProgram([program], environment: ["STATE_DIRECTORY": directory]).run()
            #expect(result.status == 78 && result.errors == "/app/id is missing\n", "\(result)")
        }
    }
}
