package import KiiPushCore

package enum SettingOrigin: Sendable, Hashable {
    case option(String)
    case environment(EnvironmentVariable)
    case file(path: String, place: String, pointer: String)
    case registration(path: String)
    case emulator(path: String)
    case standard

    package var text: String {
        switch self {
        case .option(let name): name
        case .environment(let variable): "environment \(variable.name)"
        case .file(_, let place, let pointer): "\(place) \(pointer)"
        case .registration(let path): "registration \(path)"
        case .emulator(let path): "emulator \(path)"
        case .standard: "default"
        }
    }

    package var json: JSONValue {
        switch self {
        case .option(let name): ["kind": "option", "name": JSONValue(name)]
        case .environment(let variable): ["kind": "environment", "name": JSONValue(variable.name)]
        case .file(let path, let place, let pointer):
            ["kind": "file", "path": JSONValue(path), "place": JSONValue(place), "pointer": JSONValue(pointer)]
        case .registration(let path): ["kind": "registration", "path": JSONValue(path)]
        case .emulator(let path): ["kind": "emulator", "path": JSONValue(path)]
        case .standard: ["kind": "default"]
        }
    }
}

package struct Setting<Value: Sendable>: Sendable {
    package var value: Value
    package var origin: SettingOrigin

    package init(_ value: Value, _ origin: SettingOrigin) { (self.value, self.origin) = (value, origin) }

    package init?(_ value: Value?, _ origin: SettingOrigin) {
        guard let value else { return nil }
        self.init(value, origin)
    }
}
