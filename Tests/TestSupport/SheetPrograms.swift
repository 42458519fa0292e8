import Foundation

/// Programs that write workbooks, as people have them: openpyxl and LibreOffice.
public enum SheetPrograms {
  /// A Python that has openpyxl: that of UPSURGE_OPENPYXL, the first one, or that of Debian's packages; nil where none has.
  public static let python: String? = {
    let named = ProcessInfo.processInfo.environment["UPSURGE_OPENPYXL"]
    return [named, "python3", "/usr/bin/python3"].compactMap { $0 }.first {
      (try? Packing.python("import openpyxl", interpreter: $0)) != nil
    }
  }()

  public static let needPython =
    "needs python3 with openpyxl, which is not here (UPSURGE_OPENPYXL names a Python)"

  /// Whether LibreOffice's Calc is there.
  public static let hasOffice = (try? Packing.run(["soffice", "--version"])) != nil

  public static let needOffice = "needs soffice with LibreOffice Calc, which is not here"

  /// Opens a workbook with LibreOffice, and saves it in another form.
  /// - Parameters:
  ///   - form: `xlsx` or `ods`.
  ///   - folder: for the new file, and for what LibreOffice remembers.
  /// - Returns: the path of the new file.
  public static func saved(_ path: String, as form: String, in folder: String) throws -> String {
    try Packing.run(
      [
        "soffice", "-env:UserInstallation=file://\(folder)/profile", "--headless", "--convert-to", form,
        "--outdir", folder + "/" + form, path,
      ], in: folder)
    let name = (path as NSString).lastPathComponent as NSString
    return "\(folder)/\(form)/\(name.deletingPathExtension).\(form)"
  }
}
