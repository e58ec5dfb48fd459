import Foundation
import KiiPushCore
import TestSupport
import Testing

/// A running emulator, and a home directory in which the tool finds it.
final class EmulatorSession {
    let tool: Tool
    private let keepsState: Bool
    private var emulator: RunningTool

    /// - Parameters:
    ///   - keepsState: whether the state, with the certificates, outlives the emulator.
    ///   - options: more options of the emulator's command line.
    init(keepsState: Bool = false, options: [String] = []) throws {
        self.tool = try Tool()
        self.keepsState = keepsState
        self.emulator = try Self.start(self.tool, keepsState: keepsState, options)
    }

    private static func start(_ tool: Tool, keepsState: Bool, _ options: [String]) throws -> RunningTool {
        let state = keepsState ? [] : ["--temporary"]
        let emulator = try tool.start(["emulator"] + state + Self.freePorts(besides: options) + options)
        let text = emulator.output(containing: "emulator.json\n")
        try #require(text.hasPrefix("> Ready. http://127.0.0.1:"), "\(emulator.error(containing: "\n"))")
        return emulator
    }

    /// Options that keep the emulator off its usual ports, unless `options` name those ports.
    static func freePorts(besides options: [String] = []) -> [String] {
        self.portOptions.filter { !options.contains($0) }.flatMap { [$0, "0"] }
    }

    static let portOptions = ["--port", "--https-port", "--mqtt-port", "--mqtts-port", "--ws-port", "--wss-port"]

    func restart(options: [String] = []) throws {
        #expect(self.stop().exit == 0)
        try self.startAgain(options: options)
    }

    func startAgain(options: [String] = []) throws {
        self.emulator = try Self.start(self.tool, keepsState: self.keepsState, options)
    }

    /// Runs a command that has to succeed, and returns its output.
    @discardableResult
    func succeed(
        _ arguments: String...,
        input: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        let result = try self.tool.start(arguments, input: input).waitForExit()
        try #require(result.exit == 0, "\(arguments): \(result.error)", sourceLocation: sourceLocation)
        return result.output
    }

    /// Starts a receiving command and waits until it is subscribed.
    func ready(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) throws -> RunningTool {
        let tool = try self.tool.start(arguments)
        let text = tool.error(containing: "> Ready. ")
        try #require(text.contains("> Ready. "), "\(arguments): \(text)", sourceLocation: sourceLocation)
        return tool
    }

    /// The value of one label in the output of `config show`.
    func whoami(_ label: String, profile: String = "default") throws -> String {
        let lines = try self.succeed("config", "show", "-p", profile).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix(label + " ") })
        return line.dropFirst(label.count).trimmingCharacters(in: .whitespaces)
    }

    func runtimeFile() throws -> JSONValue {
        let path = self.tool.home.appending(path: "run/kii-push/emulator.json")
        return try JSONValue(parsing: [UInt8](Data(contentsOf: path)))
    }

    /// Sends an administrator's request below `/__kii`, and returns the body of the answer.
    @discardableResult
    func control(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        let file = try self.runtimeFile()
        let base = try #require(file["baseURL"]?.string)
        let pair = try "\(#require(file["clientID"]?.string)):\(#require(file["clientSecret"]?.string))"
        let request = HTTPRequest.patient(
            method: method, url: base.dropLast("api".count) + "__kii/" + path,
            fields: [HTTPField("Authorization", "Basic " + Data(pair.utf8).base64EncodedString())],
            body: body?.serialized())
        let answer = try await EventLoop.patient().perform(request)
        try #require((200..<300).contains(answer.status), "\(method) /__kii/\(path): \(answer.status)")
        return try answer.body.isEmpty ? .null : JSONValue(parsing: answer.body)
    }

    /// Waits until the emulator has printed `text`, and returns its output.
    func shown(containing text: String) -> String { self.emulator.output(containing: text) }

    func stop(_ signal: Int32 = SIGTERM) -> Tool.Result {
        self.emulator.signal(signal)
        return self.emulator.waitForExit()
    }
}
