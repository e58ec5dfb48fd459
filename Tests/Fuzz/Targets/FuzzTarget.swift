/// What the fuzzer feeds with bytes, and what must hold whatever they are.
package enum FuzzTarget: String, Sendable, CaseIterable {
    /// The JSON parser and writer.
    case json
    /// What a push payload means.
    case message
    /// MQTT's frames and packets.
    case mqtt
    /// WebSocket's handshake and frames, of either end.
    case webSocket
    /// The whole session with a broker, and what a message may repeat.
    case session
    /// Everything that an HTTP server may answer.
    case http
    /// Lines of the control socket, and between an activator and its program.
    case lines
    /// Recordings of messages.
    case recording
    /// Files in which an agent and an inbox remember something.
    case state
    /// Files of the command line tool.
    case configuration
    /// Rows of an inbox file.
    case rows
    /// Requests to the emulator.
    case emulator
    /// Scripts of faults.
    case script

    /// What does not hold for `input`; a trap tells of itself.
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

/// Claims about one input, and which of them do not hold.
struct Claims {
    private(set) var violated: [String] = []

    mutating func require(_ holds: Bool, _ claim: @autoclosure () -> String) {
        if !holds { self.violated.append(claim()) }
    }
}
