import Contract
import Foundation

/// Writes the generated pages of `Documentation`.
@main
struct ContractPages {
    static func main() {
        do {
            let contract = try Contract.load()
            for page in Page.all {
                let file = Contract.documentation.appending(path: page.name)
                try page.text(contract).write(to: file, atomically: true, encoding: .utf8)
                print("wrote \(file.path)")
            }
        } catch {
            FileHandle.standardError.write(Data("contract-pages: \(error)\n".utf8))
            exit(1)
        }
    }
}
