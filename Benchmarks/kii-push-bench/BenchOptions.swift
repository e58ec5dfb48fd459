/// The arguments of `script/bench`: `FOLDER PAYLOADS [--quick] [--repetitions N] [--report FOLDER] [SECTION …]`.
struct BenchOptions {
    var folder: String
    var payloads: String
    var isQuick = false
    var repetitions: Int?
    /// The folder for `performance.md`, `measurements.md` and `performance.svg`.
    var report: String?
    var sections: [Section] = []

    init(_ arguments: [String]) throws {
        guard arguments.count >= 2 else { throw ChildProcess.Failure(description: "usage: table FOLDER PAYLOADS …") }
        (self.folder, self.payloads) = (arguments[0], arguments[1])
        var rest = arguments.dropFirst(2)
        while let word = rest.popFirst() {
            switch word {
            case "--quick": self.isQuick = true
            case "--report":
                guard let folder = rest.popFirst() else { throw Self.failure("--report needs a folder") }
                self.report = folder
            case "--repetitions":
                guard let count = rest.popFirst().flatMap({ Int($0) }), count > 0 else {
                    throw Self.failure("--repetitions needs a number from 1")
                }
                self.repetitions = count
            default:
                guard let section = Section(rawValue: word) else { throw Self.failure("there is no section \(word)") }
                self.sections.append(section)
            }
        }
        if self.report != nil, self.isQuick || !self.sections.isEmpty {
            throw Self.failure("--report is for a whole run: every section, and not --quick")
        }
        if self.sections.isEmpty { self.sections = Section.usual }
    }

    private static func failure(_ description: String) -> ChildProcess.Failure { .init(description: description) }
}
