import KiiPushCore

/// The files in which an agent and an inbox keep facts between runs. The input chooses a file and holds its content.
enum StateFuzzing {
    static func violations(_ input: [UInt8]) -> [String] {
        var claims = Claims()
        var input = FuzzInput(input)
        if input.bool() { Self.checkMark(input.remainder(), &claims) } else { Self.check(input.remainder(), &claims) }
        return claims.violated
    }

    private static func check(_ bytes: [UInt8], _ claims: inout Claims) {
        let state: AgentState
        do throws(FileError) {
            state = try AgentStateFile.state(in: bytes, path: "state.json")
        } catch {
            claims.require(error.description.contains("state.json"), "an error names the file")
            claims.require(!error.description.holdsSecret || bytes.namesSecret, "an error holds no value of the file")
            return
        }
        let written = state.json.serialized(.lines)
        claims.require(
            (try? AgentStateFile.state(in: written, path: "state.json")) == state, "what is written is read again")
        claims.require(
            (state.registration != nil) == (state.installationID != nil && state.endpoint != nil),
            "an installation with its endpoint is a registration")
        var left = state
        left.leaveInstallation()
        claims.require(left.installationID == nil && !left.hasSession, "an installation is left with its session")
        claims.require(left.lostSession == (state.lostSession || state.hasSession), "the loss of a session is kept")
        claims.require(
            state.installationID.map(left.formerInstallationIDs.contains) ?? true, "a former installation is kept")
        var twice = left
        twice.leaveInstallation()
        claims.require(twice == left, "it is left once")
        var next = state
        next.follow(state)
        claims.require(
            next.formerInstallationIDs == left.formerInstallationIDs, "who follows knows former installations")
        claims.require(state.isOfSameOwner(as: state), "an owner is the same")
    }

    private static func checkMark(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let mark = InboxMark(bytes: bytes) else { return }
        claims.require(bytes.starts(with: mark.line.utf8), "a mark is what was written")
        claims.require(InboxMark(bytes: Array(mark.line.utf8)) == mark, "it is read again")
        claims.require(mark.stored >= 0, "a count is no less than nothing")
        // The mark's checksum detects accidental changes.
        for index in [0, 7, 21, 40].filter({ mark.line.utf8.count > $0 }) {
            var damaged = Array(mark.line.utf8)
            damaged[index] ^= 1
            claims.require(InboxMark(bytes: damaged) == nil, "a damaged mark is none")
        }
    }
}
