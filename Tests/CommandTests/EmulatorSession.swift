import Foundation
import KiiPushCore
import TestSupport
import Testing

/// A running emulator and a home directory in which the tool finds it.
final class EmulatorSession {
    let tool: Tool
    private let keepsState: Bool
    private var emulator: RunningTool

    /// - Parameters:
    ///   - keepsState: whether its state, certificates included, outlives it.
    ///   - options: further options of its command line.
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

    /// Options that keep the emulator off its usual ports, as far as `options` name no others.
    static func freePorts(besides options: [String] = []) -> [String] {
        self.portOptions.filter { !options.contains($0) }.flatMap { [$0, "0"] }
    }

    /// The options that name a port.
    static let portOptions = ["--port", "--https-port", "--mqtt-port", "--mqtts-port", "--ws-port", "--wss-port"]

    /// Ends the emulator and starts another.
    func restart(options: [String] = []) throws {
        #expect(self.stop().exit == 0)
        try self.startAgain(options: options)
    }

    /// Starts another emulator, after ``stop(_:)``.
    func startAgain(options: [String] = []) throws {
        self.emulator = try Self.start(self.tool, keepsState: self.keepsState, options)
    }

    /// Runs a command that has to succeed and returns what it printed.
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

    /// Starts a command that receives, and waits until its subscription stands.
    func ready(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) throws -> RunningTool {
        let tool = try self.tool.start(arguments)
        let text = tool.error(containing: "> Ready. ")
        try #require(text.contains("> Ready. "), "\(arguments): \(text)", sourceLocation: sourceLocation)
        return tool
    }

    /// The text of one label of what `config show` prints.
    func whoami(_ label: String, profile: String = "default") throws -> String {
        let lines = try self.succeed("config", "show", "-p", profile).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix(label + " ") })
        return line.dropFirst(label.count).trimmingCharacters(in: .whitespaces)
    }

    /// Where the emulator is and what it is spoken to with: its runtime file.
    func runtimeFile() throws -> JSONValue {
        let path = self.tool.home.appending(path: "run/kii-push/emulator.json")
        return try JSONValue(parsing: [UInt8](Data(contentsOf: path)))
    }

    /// Sends a control below `/__kii` as the administrator, and returns the body of the answer.
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

    /// What the emulator has shown once `text` is among it.
    func shown(containing text: String) -> String { self.emulator.output(containing: text) }

    /// Ends the emulator with a signal and says how it ended.
    func stop(_ signal: Int32 = SIGTERM) -> Tool.Result {
        self.emulator.signal(signal)
        return self.emulator.waitForExit()
    }
}
