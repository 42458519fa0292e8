/// Archives among the sources of a run.
extension LoadRun {
  /// Replaces each archive by the files in it, in its own order.
  /// - Throws: `badInput` for an archive that is not whole, and for one whose files have different kinds of records.
  func unpacked(_ sources: [Source]) throws(UpsurgeError) -> [Source] {
    var unpacked: [Source] = []
    for source in sources {
      try job.checkSheet(source)
      if job.options.input.compression == .none {
        unpacked.append(source)
        continue
      }
      guard let archive = try job.unpack(source, cancellation: readCancellation) else {
        unpacked.append(source)
        continue
      }
      if !members.isEmpty { throw FileLoads.unfit("a file is an archive") }
      say(archive, of: source)
      unpacked += archive.members
    }
    return unpacked
  }

  private func say(_ archive: UnpackedArchive, of source: Source) {
    if let remark = archive.workbookRemark {
      note(RunNote(.info, remark))
      return
    }
    let count = Words.count(UInt64(archive.members.count), "file")
    note(RunNote(.info, "\(source.shown): \(archive.kind.name) · \(count)"))
    guard let first = archive.leftOut.first else { return }
    let more = archive.leftOut.count - 1
    note(
      RunNote(
        .warning,
        "\(source.shown)/\(first.escapedForTerminal)\(more > 0 ? " and \(Words.count(UInt64(more), "other member"))" : "") "
          + "of the archive: links, devices and pipes are not read"))
  }
}

extension LoadJob {
  /// The files of an archive; nil for any other source.
  func unpack(_ source: Source, cancellation: ReadCancellation?) throws(UpsurgeError) -> UnpackedArchive? {
    let archives = options.environment.archives ?? OpenArchives(options)
    let archive = try SourceList.unpack(
      source, asking: options.environment.question, archives: archives, cancellation: cancellation)
    if let archive { try archive.checkRecords(source, options: options, cancellation: cancellation) }
    return archive
  }

  /// - Throws: `usage` where a sheet is named, and the source is no workbook, or names a sheet itself.
  func checkSheet(_ source: Source) throws(UpsurgeError) {
    guard let sheet = options.input.sheet else { return }
    let archives = options.environment.archives ?? OpenArchives(options)
    switch try source.sheetNaming(archives, asking: options.environment.question) {
    case .workbook: return
    case .otherSheet:
      throw UpsurgeError(
        .usage,
        "\(source.shown) is another sheet than \(.sheet, sheet.escapedForTerminal.quotedForShell) names",
        hint: "leave out \(.sheet)")
    case .other:
      throw UpsurgeError(
        .usage,
        "\(.sheet, sheet.escapedForTerminal.quotedForShell) names a sheet of a workbook, and \(source.shown) is not one",
        hint: "leave out \(.sheet)")
    }
  }
}

extension UnpackedArchive {
  /// What the records of a file are, as far as those of one table have it in common.
  private enum RecordKind: Hashable {
    case json
    case csv(Set<String>)

    /// nil where there is neither a header nor a record.
    init?(_ source: PreparedSource) {
      if source.isBlank { return nil }
      switch source.shape {
      case .json: self = .json
      case .csv(let sniffed): self = .csv(Set(sniffed.headerNames.map(SQLName.folded)))
      }
    }
  }

  /// - Throws: `badInput` where files differ in their columns: they are of several tables.
  fileprivate func checkRecords(
    _ source: Source, options: LoadOptions, cancellation: ReadCancellation?
  ) throws(UpsurgeError) {
    if members.count < 2 { return }
    var kinds: Set<RecordKind> = []
    var found: [(name: String, fields: String)] = []
    var readable: [Source] = []
    var fault: UpsurgeError?
    for member in members {
      let prepared: PreparedSource
      do throws(UpsurgeError) {
        prepared = try PreparedSource.prepare(member, options: options, cancellation: cancellation)
      } catch {
        // Others may hold records.
        guard error.code == .badInput else { throw fault ?? error }
        fault = fault ?? error
        continue
      }
      guard let kind = RecordKind(prepared) else { continue }
      readable.append(member)
      if kinds.insert(kind).inserted { found.append((member.shown, prepared.fieldWords)) }
    }
    let example = readable.first(where: \.isNamedAsData) ?? readable.first
    if var fault {
      guard let example else { throw fault }
      let hint: Wording =
        example.siblings.map { "name \(example.shown), or \($0)" } ?? "name \(example.shown)"
      fault.remedy = fault.remedy.map { "\(saying: hint); \(saying: $0)" } ?? hint
      throw fault
    }
    guard found.count > 1, let example else { return }
    let list = found.prefix(6).map { "\($0.name) has \($0.fields)" }.joined(separator: "; ")
    throw UpsurgeError(
      .badInput,
      "the files of \(source.shown) have different records: \(list)\(found.count > 6 ? "; and \(found.count - 6) more" : "")",
      position: Position(file: source.name),
      hint: "name those of one table, such as \(example.shown), or a pattern for several")
  }
}

extension Source {
  private static let dataEndings: Set = ["csv", "tsv", "tab", "psv", "ndjson", "jsonl", "json"]
  private static let codecEndings: Set = ["gz", "zst", "xz", "bz2", "lz4", "z"]

  private var endings: [String] {
    shown.split(separator: "/").last?.split(separator: ".").dropFirst().map { $0.lowercased() } ?? []
  }

  /// Whether its name ends as those of data do: `.csv`, `.json.gz`.
  fileprivate var isNamedAsData: Bool {
    endings.last { !Self.codecEndings.contains($0) }.map(Self.dataEndings.contains) ?? false
  }

  /// A pattern for the files beside it that are called alike; nil for a name without an ending.
  fileprivate var siblings: String? {
    guard isNamedAsData, let slash = shown.lastIndex(of: "/"), let dot = shown[slash...].firstIndex(of: ".")
    else { return nil }
    return "\(shown[...slash])*\(shown[dot...])"
  }
}

extension PreparedSource {
  /// The source's fields in a few words, for a message.
  fileprivate var fieldWords: String {
    guard case .csv(let sniffed) = shape else { return "JSON" }
    let names = sniffed.headerNames.prefix(4).map { String($0.escapedForTerminal.prefix(40)) }.joined(
      separator: ", ")
    let more = sniffed.headerNames.count - 4
    return more > 0 ? "\(names) and \(more) more" : names
  }
}
