import Glibc

/// The storage of an ``AgentState``: a file, or a row of a database.
package protocol AgentStatePlace: Sendable {
    var path: String { get }
    /// `nil` if there is no state yet.
    func load() throws(FileError) -> AgentState?
    /// Writes the whole state, or nothing. The caller and `completion` run on the loop's thread. Completions run in the
    /// order of the calls, at once or in a later turn of the loop.
    func save(_ state: AgentState, completion: @escaping (Result<Void, FileError>) -> Void)
}

package struct AgentStateFile: AgentStatePlace {
    package let path: String
    private let obstacle: @Sendable () -> FileError?

    init(stateDirectory: String, name: String, obstacle: @escaping @Sendable () -> FileError? = { nil }) {
        self.path = "\(stateDirectory)/agents/\(name).json"
        self.obstacle = obstacle
    }

    package func load() throws(FileError) -> AgentState? {
        try PrivateFile.read(self.path).map { bytes throws(FileError) in try Self.state(in: bytes, path: self.path) }
    }

    package static func state(in bytes: [UInt8], path: String) throws(FileError) -> AgentState {
        try AgentState(JSONReader(parsing: bytes, in: path))
    }

    package func save(_ state: AgentState, completion: @escaping (Result<Void, FileError>) -> Void) {
        completion(Result { () throws(FileError) in try self.save(state) })
    }

    func save(_ state: AgentState) throws(FileError) {
        if let obstacle = self.obstacle() { throw obstacle }
        try PrivateFile.makeDirectory(Directory.parent(of: self.path))
        try PrivateFile.replace(self.path, with: state.json.serialized(.lines))
    }

    /// The present and former installations of all agents of a state directory; `nil` if they cannot be read.
    package static func installations(stateDirectory: String) -> Set<String>? {
        guard let files = Directory.names(in: "\(stateDirectory)/agents") else { return errno == ENOENT ? [] : nil }
        var installations: Set<String> = []
        for file in files where file.hasSuffix(".json") {
            let name = String(file.dropLast(5))
            guard self.isValidName(name) else { continue }
            let loaded = Result { try AgentStateFile(stateDirectory: stateDirectory, name: name).load() }
            guard case .success(let state) = loaded else { return nil }
            installations.formUnion(state?.formerInstallationIDs ?? [])
            if let id = state?.installationID { installations.insert(id) }
        }
        return installations
    }

    package static func isValidName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
            && name.utf8.allSatisfy(\.isKiiNameByte)
    }
}
