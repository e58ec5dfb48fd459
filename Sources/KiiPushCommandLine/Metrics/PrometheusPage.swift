/// Lines of Prometheus' text format. Names, labels and help are this program's own texts and need no escapes.
package struct PrometheusPage {
    package private(set) var text = ""

    package init() {}

    mutating func head(_ name: String, _ type: String, _ help: String) {
        self.text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    mutating func sample(_ name: String, _ labels: [(String, String)], _ value: String) {
        let list = labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
        self.text += name + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
    }

    package mutating func family(
        _ name: String, _ type: String, _ help: String, _ samples: [(labels: [(String, String)], value: String)]
    ) {
        self.head(name, type, help)
        for sample in samples { self.sample(name, sample.labels, sample.value) }
    }
}
