#if Postgres
import Glibc
import KiiPushCore

final class UnsavedStates: Sendable {
    private let states = Locked<[String: (row: FleetRow, text: String)]>([:])

    subscript(_ name: String) -> String? { self.states.withLock { $0[name]?.text } }

    func note(_ text: String, of row: FleetRow) { self.states.withLock { $0[row.name] = (row, text) } }

    func saved(_ text: String, of name: String) {
        self.states.withLock { if $0[name]?.text == text { $0[name] = nil } }
    }

    func forget(_ name: String) { self.states.withLock { $0[name] = nil } }

    func of(_ shards: some Sequence<Int64>) -> [(row: FleetRow, text: String)] {
        let shards = Set(shards)
        return self.states.withLock { $0.values.filter { shards.contains($0.row.shard) } }
    }
}

final class FleetAgentState: AgentStatePlace {
    let path: String
    private let row: FleetRow
    private let store: LoopIsolated<PostgresStore>
    private let unsaved: UnsavedStates
    private let text: Locked<String?>

    init(_ row: FleetRow, in store: LoopIsolated<PostgresStore>, unsaved: UnsavedStates) {
        self.path = "the state of agent \(row.name)"
        (self.row, self.store, self.unsaved) = (row, store, unsaved)
        self.text = Locked(unsaved[row.name] ?? row.state)
    }

    func load() throws(FileError) -> AgentState? {
        guard let text = self.text.withLock({ $0 }) else { return nil }
        return try AgentStateFile.state(in: Array(text.utf8), path: self.path)
    }

    func save(_ state: AgentState, completion: @escaping (Result<Void, FileError>) -> Void) {
        let text = String(decoding: state.json.serialized(), as: UTF8.self)
        self.text.withLock { $0 = text }
        self.unsaved.note(text, of: self.row)
        self.store.value.save(text, of: self.row) { result in
            if case .success = result { self.unsaved.saved(text, of: self.row.name) }
            completion(result.mapError { _ in .system(path: self.path, operation: "write", code: EIO) })
        }
    }
}
#endif
