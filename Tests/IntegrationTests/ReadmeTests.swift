import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct ReadmeTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func block(_ marker: String, of page: String = "README.md") throws -> String {
        let text = try String(contentsOf: self.root.appendingPathComponent(page), encoding: .utf8)
        let after = try #require(text.components(separatedBy: "<!-- \(marker) -->\n```").dropFirst().first)
        let lines = after.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.dropFirst().prefix { $0 != "```" }.joined(separator: "\n") + "\n"
    }

    /// Runs a block with bash beside an emulator, as a reader would paste it.
    private func run(_ script: String, beside emulator: Emulator, in directory: String) async throws -> String {
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = productsDirectory.path + ":" + (environment["PATH"] ?? "")
        for (name, value) in ["RUNTIME_DIR": "run", "STATE_HOME": "state", "CONFIG_HOME": "config"] {
            environment["XDG_" + name] = "\(directory)/\(value)"
        }
        let result = try await ForeignProgram(
            ["bash", "-euo", "pipefail", "-c", script], environment: environment
        ).run()
        guard result.status == 0 else {
            throw TestFailure("status \(result.status): \(result.output)\(result.errors)")
        }
        return result.output
    }

    @Test func theExampleIsTheProgramThatIsBuilt() throws {
        let source = self.root.appendingPathComponent("Examples/MinimalAgent/MinimalAgent.swift")
        #expect(try self.block("example: MinimalAgent") == String(contentsOf: source, encoding: .utf8))
        #expect(try String(contentsOf: source, encoding: .utf8).split(separator: "\n").count < 60)
    }

    /// `fflush(nil)` locks every stream, so it would wait for a `readLine()` of the program until a line is typed.
    @Test func noExampleFlushesEveryStream() throws {
        let examples = self.root.appendingPathComponent("Examples")
        let sources = try FileManager.default.subpathsOfDirectory(atPath: examples.path).filter {
            $0.hasSuffix(".swift")
        }
        #expect(sources.count >= 10)
        for name in sources {
            let source = try String(contentsOf: examples.appendingPathComponent(name), encoding: .utf8)
            #expect(!source.contains("fflush"), "\(name)")
        }
    }

    /// In another package beside a clone, the README's lines find the library.
    @Test func thePackageFindsTheLibrary() async throws {
        try await withTemporaryDirectory { directory in
            let package = "\(directory)/my-agent"
            try FileManager.default.createDirectory(
                atPath: package + "/Sources/my-agent", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory)/kii-push", withDestinationPath: self.root.path)
            try self.block("package: Package.swift").write(
                toFile: package + "/Package.swift", atomically: true, encoding: .utf8)
            let result = try await ForeignProgram(
                "swift", "package", "--package-path", package, "show-dependencies", "--format", "text"
            ).run()
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains("kii-push<"), "\(result.output)")
        }
        let page = try String(contentsOf: self.root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(!page.contains("example.com/kii-push"), "nothing is there")
    }

    /// The README's agent links KiiPushCore alone.
    @Test func anAgentNeedsLibcurlAndSQLiteAlone() async throws {
        let program = productsDirectory.appendingPathComponent("MinimalAgent").path
        let result = try await ForeignProgram("readelf", "--dynamic", program).run()
        let libraries = result.output.matches(of: /Shared library: \[(.+?)\.so/).map { String($0.output.1) }
        // Libraries of Swift, of C and of sanitizers.
        let isOfLanguage =
            /libswift.*|lib_.*|libc|libm|libresolv|libgcc_s|libstdc\+\+|libdispatch|libBlocksRuntime|libpthread|libdl/
        let others = libraries.filter { $0.wholeMatch(of: isOfLanguage) == nil && !$0.hasPrefix("ld-linux") }
        #expect(Set(others) == ["libcurl", "libsqlite3"], "\(result.output) \(result.errors)")
    }

    @Test func thePushMadeByHandArrives() async throws {
        try await withEmulator { emulator, directory in
            let script = try self.block("run: by hand", of: "Documentation/emulator.md")
            let output = try await self.run(script, beside: emulator, in: directory)
            let payload = try #require(output.split(separator: "\n").last)
            let message = try ReceivedMessage(payload: Array(payload.utf8))
            #expect(message.sourceTopic == Topic("by-hand"))
            #expect(message["msg"]?.string == "hi")
        }
    }

    @Test func theCommandsShowAPushAndItsVerdict() async throws {
        try await withEmulator { emulator, directory in
            let output = try await self.run(try self.block("run: command line"), beside: emulator, in: directory)
            #expect(output.contains("--> push-to-user"))
            #expect(output.contains("msg=\"hi\""))
            #expect(output.contains("<-- newData"))
            #expect(output.contains("done          newData, attempt 1"))
            #expect(output.contains("received      1\n"))
        }
    }

    @Test func aUsersCommandsShowAPush() async throws {
        try await withEmulator { emulator, directory in
            let lines = try self.block("run: from packages").split(separator: "\n")
            // `script/package --check` tests the installation; here the test's own emulator runs.
            #expect(lines.count == 5 && lines[0].contains("apt install") && lines[1].contains("kii-push emulator"))
            let output = try await self.run(
                lines.dropFirst(2).joined(separator: "\n"), beside: emulator, in: directory)
            #expect(output.contains("msg=\"hi\"") && output.contains("<-- newData"))
        }
    }

    @Test func theExampleReceives() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/sender")
            let client = runtime.client(for: emulator.app)
            let admin = try await emulator.adminToken(client)
            try await client.session(admin).createTopic(Topic("alerts"))
            let example = ForeignProgram(
                [productsDirectory.appendingPathComponent("MinimalAgent").path],
                environment: [
                    "KII_APP_ID": emulator.appID, "KII_APP_KEY": emulator.appKey.reveal(),
                    "KII_BASE_URL": emulator.baseURL, "KII_CA_FILE": emulator.certificateAuthorityFile,
                    "XDG_STATE_HOME": "\(directory)/state", "XDG_RUNTIME_DIR": "\(directory)/run",
                ])
            let line = try await example.whileRunning { lines in
                try await withThrowingTaskGroup(of: String?.self) { group in
                    group.addTask { await lines.first { $0.hasPrefix("pushToUser") } }
                    // The agent starts meanwhile, so the test sends until the agent is subscribed.
                    group.addTask {
                        while true {
                            _ = try await client.session(admin).send(
                                PushMessage(data: ["msg": "hi"]), to: .topic(Topic("alerts")))
                            try await Task.sleep(for: .milliseconds(50))
                        }
                    }
                    defer { group.cancelAll() }
                    return try await group.next() ?? nil
                }
            }
            #expect(line?.contains(#""msg":"hi""#) == true)
            await runtime.shutdown()
        }
    }

    private func environment(of emulator: Emulator, in directory: String) -> [String: String] {
        [
            "KII_APP_ID": emulator.appID, "KII_APP_KEY": emulator.appKey.reveal(), "KII_BASE_URL": emulator.baseURL,
            "KII_CA_FILE": emulator.certificateAuthorityFile, "XDG_STATE_HOME": "\(directory)/state",
            "XDG_RUNTIME_DIR": "\(directory)/run",
        ]
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func theExampleStopsGracefullyAndSaysWhyItIsNotSubscribed(number: Int32) async throws {
        try await withEmulator { emulator, directory in
            let example = try ChildProgram(
                [productsDirectory.appendingPathComponent("MinimalAgent").path],
                environment: self.environment(of: emulator, in: directory))
            // The topic does not exist.
            let text = example.output.wait(600) { $0.contains("not subscribed: ") }
            #expect(text.contains("not subscribed: "), "\(text)")
            example.signal(number)
            #expect(example.wait() == 0)
        }
    }

    @Test func theExampleExitsWithWhatTellsSystemdWhetherToStartItAgain() async throws {
        try await withEmulator { emulator, directory in
            let program = [productsDirectory.appendingPathComponent("MinimalAgent").path]
            let environment = self.environment(of: emulator, in: directory)
            let running = try ChildProgram(program, environment: environment)
            let text = running.output.wait(600) { $0.contains("not subscribed: ") }
            #expect(text.contains("not subscribed: "), "\(text)")
            // The first process holds the state directory, so a later start may succeed (75).
            #expect(try ChildProgram(program, environment: environment).wait() == 75)
            running.signal(SIGTERM)
            #expect(running.wait() == 0)
            // The state directory belongs to another app, so another start would fail too (78).
            try AgentStateFixture(port: 1, topic: "t", username: "u", password: "p")
                .write(to: "\(directory)/state/kii-push")
            let refused = try ChildProgram(program, environment: environment)
            #expect(refused.wait() == 78)
            #expect(refused.output.all().contains("belongs to another app"))
        }
    }
}
