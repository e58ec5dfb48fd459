/// Where one agent's ``AgentState`` is kept.
struct AgentStateFile: Sendable {
    let path: String

    /// The state file of the agent `name` below a state directory.
    init(stateDirectory: String, name: String) {
        self.path = "\(stateDirectory)/agents/\(name).json"
    }

    /// Reads the state; `nil` when there is none yet.
    func load() throws(FileError) -> AgentState? {
        guard let bytes = try PrivateFile.read(self.path) else { return nil }
        let json: JSONValue
        do {
            json = try JSONValue(parsing: bytes)
        } catch {
            throw .malformed(path: self.path, reason: "\(error)")
        }
        do throws(AgentStateError) {
            return try AgentState(json: json)
        } catch {
            switch error {
            case .missing(let name): throw .malformed(path: self.path, reason: "no \(name)")
            case .newer(let version): throw .newerFormat(path: self.path, version: version)
            }
        }
    }

    /// Writes the state, whole or not at all.
    func save(_ state: AgentState) throws(FileError) {
        if let slash = self.path.lastIndex(of: "/") { try PrivateFile.makeDirectory(String(self.path[..<slash])) }
        try PrivateFile.replace(self.path, with: state.json.serialized(pretty: true))
    }

    /// Whether `name` can be a file's name: 1 to 64 of letters, digits, `-`, `_`, `.`, not beginning with a dot.
    static func isValidName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
            && name.utf8.allSatisfy(\.isKiiNameByte)
    }
}
