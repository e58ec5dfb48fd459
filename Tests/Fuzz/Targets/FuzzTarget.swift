/// The fuzzer's targets, and the claims that must hold for every input.
package enum FuzzTarget: String, Sendable, CaseIterable {
    case json
    case message
    case mqtt
    /// WebSocket's handshake and frames, of client and server.
    case webSocket
    /// The whole session with a broker, with the detection of repeated messages.
    case session
    /// Any answer of an HTTP server.
    case http
    /// Lines of the control socket, and lines between an activator and its program.
    case lines
    case recording
    /// Files in which an agent and an inbox keep facts between runs.
    case state
    /// Files of the command line tool.
    case configuration
    /// Rows of an inbox file.
    case rows
    case emulator
    case script

    /// The broken claims for `input`. A trap ends the process instead.
    package func violations(_ input: [UInt8]) -> [String] {
        switch self {
        case .json: JSONFuzzing.violations(input)
        case .message: MessageFuzzing.violations(input)
        case .mqtt: MQTTFuzzing.violations(input)
        case .webSocket: WebSocketFuzzing.violations(input)
        case .session: SessionFuzzing.run(input).violations
        case .http: HTTPFuzzing.violations(input)
        case .lines: LinesFuzzing.violations(input)
        case .recording: RecordingFuzzing.violations(input)
        case .state: StateFuzzing.violations(input)
        case .configuration: ConfigurationFuzzing.violations(input)
        case .rows: RowsFuzzing.violations(input)
        case .emulator: EmulatorFuzzing.run(input).violations
        case .script: ScriptFuzzing.violations(input)
        }
    }
}

/// Claims about one input, with the broken ones.
struct Claims {
    private(set) var violated: [String] = []

    mutating func require(_ holds: Bool, _ claim: @autoclosure () -> String) {
        if !holds { self.violated.append(claim()) }
    }
}
