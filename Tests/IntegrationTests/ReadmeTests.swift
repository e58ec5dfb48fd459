import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// The README's code is the code that is built, and its commands do what it says.
@Suite struct ReadmeTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The code block after a marker.
    private func block(_ marker: String) throws -> String {
        let text = try String(contentsOf: self.root.appendingPathComponent("README.md"), encoding: .utf8)
        let after = try #require(text.components(separatedBy: "<!-- \(marker) -->\n```").dropFirst().first)
        let lines = after.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.dropFirst().prefix { $0 != "```" }.joined(separator: "\n") + "\n"
    }

    /// Runs a block with bash beside an emulator, as somebody would who pastes it.
    private func run(_ script: String, beside emulator: Emulator, in directory: String) async throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-euo", "pipefail", "-c", script]
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = productsDirectory.path + ":" + (environment["PATH"] ?? "")
        for (name, value) in ["RUNTIME_DIR": "run", "STATE_HOME": "state", "CONFIG_HOME": "config"] {
            environment["XDG_" + name] = "\(directory)/\(value)"
        }
        process.environment = environment
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { process in
                let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                if process.terminationStatus == 0 {
                    continuation.resume(returning: text)
                } else {
                    continuation.resume(throwing: TestFailure("status \(process.terminationStatus): \(text)"))
                }
            }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
    }

    /// The first line that a program prints, read on a thread that may block.
    private static func firstLine(of file: FileHandle) async -> String {
        await withCheckedContinuation { continuation in
            Thread {
                var bytes: [UInt8] = []
                while true {
                    let more = file.availableData
                    bytes += more
                    guard !more.isEmpty, !bytes.contains(UInt8(ascii: "\n")) else { break }
                }
                let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
                continuation.resume(returning: String(decoding: line, as: UTF8.self))
            }.start()
        }
    }

    private func withPublishedEmulator(_ body: (Emulator, String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try PrivateFile.makeDirectory("\(directory)/run/kii-push")
            var configuration = Emulator.Configuration()
            configuration.directory = "\(directory)/emulator"
            configuration.runtimeFile = "\(directory)/run/kii-push/emulator.json"
            let emulator = try await Emulator.start(configuration)
            do { try await body(emulator, directory) } catch {
                await emulator.stop()
                throw error
            }
            await emulator.stop()
        }
    }

    @Test func theExampleIsTheProgramThatIsBuilt() throws {
        let source = self.root.appendingPathComponent("Examples/MinimalAgent/MinimalAgent.swift")
        #expect(try self.block("example: MinimalAgent") == String(contentsOf: source, encoding: .utf8))
        #expect(try String(contentsOf: source, encoding: .utf8).split(separator: "\n").count < 60)
    }

    @Test(.timeLimit(.minutes(15))) func thePushMadeByHandArrives() async throws {
        try await self.withPublishedEmulator { emulator, directory in
            let output = try await self.run(try self.block("run: by hand"), beside: emulator, in: directory)
            let payload = try #require(output.split(separator: "\n").last)
            let message = try ReceivedMessage(payload: Array(payload.utf8))
            #expect(message.sourceTopic == Topic("by-hand"))
            #expect(message["msg"]?.string == "hi")
        }
    }

    @Test(.timeLimit(.minutes(15))) func theCommandsShowAPushAndItsVerdict() async throws {
        try await self.withPublishedEmulator { emulator, directory in
            let output = try await self.run(try self.block("run: command line"), beside: emulator, in: directory)
            #expect(output.contains("--> push-to-user"))
            #expect(output.contains("msg=\"hi\""))
            #expect(output.contains("<-- newData"))
        }
    }

    @Test(.timeLimit(.minutes(15))) func theExampleReceives() async throws {
        try await self.withPublishedEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/sender")
            let client = runtime.client(for: emulator.app)
            let admin = try await emulator.adminToken(client)
            try await client.createTopic(Topic("alerts"), token: admin)
            let process = Process()
            process.executableURL = productsDirectory.appendingPathComponent("MinimalAgent")
            process.environment = [
                "KII_APP_ID": emulator.appID, "KII_APP_KEY": emulator.appKey.reveal(),
                "KII_BASE_URL": emulator.baseURL, "KII_CA_FILE": emulator.certificateAuthorityFile,
                "XDG_STATE_HOME": "\(directory)/state", "XDG_RUNTIME_DIR": "\(directory)/run",
            ]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            // Sent again until the agent, which starts meanwhile, is subscribed.
            let sending = Task {
                while !Task.isCancelled {
                    _ = try await client.send(PushMessage(data: ["msg": "hi"]), to: Topic("alerts"), token: admin)
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            let line = await Self.firstLine(of: output.fileHandleForReading)
            sending.cancel()
            process.terminate()
            process.waitUntilExit()
            #expect(line.hasPrefix("pushToUser"))
            #expect(line.contains(#""msg":"hi""#))
            await runtime.shutdown()
        }
    }
}
