/// Finds violations of the rooms' rules. Takes the files as texts, so that a test can pass invented ones.
struct LayeringChecker {
    struct File {
        var path: String
        var text: String
    }

    private struct DeclaredType {
        var room: String
        /// Other rooms name a nested type through the outer type, so only the outer type is checked.
        var isNested: Bool
    }

    private struct ReadFile {
        var path: String
        var room: Room?
        var code: SwiftCode
    }

    private let files: [ReadFile]

    init(files: [File], rooms: [Room] = Room.all) {
        self.files = files.map { file in
            ReadFile(path: file.path, room: rooms.first { $0.holds(file.path) }, code: SwiftCode(file.text))
        }
    }

    /// One line for each violation: path, line number and subject.
    func violations() -> [String] {
        let types = self.declaredTypes()
        return self.files.flatMap { file -> [String] in
            guard let room = file.room else { return ["\(file.path): is in no room of the architecture"] }
            return self.imports(of: file, in: room) + self.foreignTypes(in: file, of: room, types: types)
                + self.forbiddenWords(in: file) + self.impureWords(in: file, of: room)
        }
    }

    func filesLonger(than limit: Int) -> [String] {
        self.files.filter { $0.code.lineCount > limit }.map { "\($0.path): \($0.code.lineCount) lines" }
    }

    /// One entry for each folder whose ceiling does not fit: an instruction, and the ceiling's new line.
    func misfits(_ ceilings: [Ceiling] = Ceiling.all) -> [String] {
        ceilings.compactMap { ceiling in
            let today = self.today(for: ceiling)
            let complaints = SwiftCode.Measure.allCases.compactMap { measure in
                today.limits[measure].flatMap { ceiling.complaint(about: measure, count: $0) }
            }
            guard !complaints.isEmpty else { return nil }
            return (complaints + ["    \(today.line)"]).joined(separator: "\n")
        }
    }

    private func today(for ceiling: Ceiling) -> Ceiling {
        var today = Ceiling(ceiling.folder, ceiling.limits.mapValues { _ in 0 })
        for file in self.files where file.path.hasPrefix(ceiling.folder + "/") {
            for measure in ceiling.limits.keys { today.limits[measure]? += file.code.count(measure) }
        }
        return today
    }

    private func imports(of file: ReadFile, in room: Room) -> [String] {
        let words = file.code.words
        return words.indices.dropLast().compactMap { index in
            guard words[index].text == "import", words[index].depth == 0 else { return nil }
            // `import struct Glibc.stat` names the kind before the module.
            let kinds: Set<String> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
            let next = kinds.contains(words[index + 1].text) ? index + 2 : index + 1
            guard next < words.count, !room.modules.contains(words[next].text) else { return nil }
            return "\(file.path):\(words[index].line): \(room.name) may not import \(words[next].text)"
        }
    }

    private func foreignTypes(in file: ReadFile, of room: Room, types: [String: [DeclaredType]]) -> [String] {
        var reported: Set<String> = []
        return file.code.words.compactMap { word in
            guard !word.isMember, let declared = types[word.text] else { return nil }
            let foreign = declared.filter { !$0.isNested }
            let isAllowed = declared.contains { type in
                if type.room == room.name { return true }
                guard !type.isNested else { return false }
                return room.alsoSees.contains(word.text) || room.knows.contains(type.room)
            }
            guard !isAllowed, !foreign.isEmpty, reported.insert(word.text).inserted else { return nil }
            let homes = foreign.map(\.room).joined(separator: ", ")
            return "\(file.path):\(word.line): \(room.name) may not name \(word.text) of \(homes)"
        }
    }

    private func forbiddenWords(in file: ReadFile) -> [String] {
        file.code.words.filter { Room.forbiddenWords.contains($0.text) }.map {
            "\(file.path):\($0.line): no room may say \($0.text)"
        }
    }

    private func impureWords(in file: ReadFile, of room: Room) -> [String] {
        guard room.isPure else { return [] }
        var words = file.code.words.filter { Room.impureWords.contains($0.text) && !$0.isMember }
        // A pure room may take a `MonotonicInstant` as an argument, but may not read the clock.
        for (first, second) in zip(file.code.words, file.code.words.dropFirst())
        where first.text == "MonotonicInstant" && second.text == "now" && second.isMember {
            words.append(second)
        }
        return words.map { "\(file.path):\($0.line): \(room.name) is pure and may not say \($0.text)" }
    }

    /// All types that rooms declare, except private ones.
    private func declaredTypes() -> [String: [DeclaredType]] {
        let keywords = SwiftCode.typeKeywords.union(["typealias"])
        var types: [String: [DeclaredType]] = [:]
        for file in self.files {
            guard let room = file.room else { continue }
            let words = file.code.words
            for index in file.code.declarations(by: keywords) {
                let modifiers = Set(words[..<index].reversed().prefix { $0.line == words[index].line }.map(\.text))
                let isNested = words[index].depth > 0
                guard isNested || modifiers.isDisjoint(with: ["private", "fileprivate"]) else { continue }
                types[words[index + 1].text, default: []].append(
                    DeclaredType(room: room.name, isNested: isNested)
                )
            }
        }
        return types
    }
}
