/// Which parameters of a URL are secrets, by their names.
///
///     key  api_key  apiKey  licensekey  X-Amz-Signature  client_secret  auth-code  PHPSESSID
///
/// but not `keyword`, `day` and `country_code`.
enum SecretName {
  /// Whether the value of a parameter of this name is shown nowhere. Case does not count.
  static func isSecret(_ name: String) -> Bool {
    let whole = name.lowercased()
    if plainNames.contains(whole) { return false }
    return wholeNames.contains(whole) || prefixes.contains(where: whole.hasPrefix)
      || fragments.contains(where: whole.contains) || parts(of: name).contains(where: words.contains)
      || endings.contains(where: whole.hasSuffix) && !harmless.contains(where: whole.hasSuffix)
  }

  /// Names of which a part looks like a secret: what a server must be that is connected to.
  private static let plainNames: Set<String> = ["target_session_attrs"]

  /// How secrets end that are written as one word: `licensekey`, `passcode`.
  private static let endings = ["key", "passcode", "accesscode", "authcode", "otpcode", "pswd", "psw"]
  /// Words that end so and are none.
  private static let harmless = ["monkey", "turkey", "hockey", "donkey", "jockey", "whiskey", "sortkey"]

  /// Names that say what they are wherever they stand.
  private static let fragments = [
    "token", "secret", "signature", "passw", "passphrase", "credential", "apikey", "accesskey", "authkey",
    "appkey", "privatekey", "sessionid", "sessid", "jwt", "bearer", "oauth",
  ]
  /// Secret as a part of a name that is set off by a mark or a capital: `maps_key`, `apiKey`.
  private static let words: Set<String> = [
    "key", "sig", "pwd", "pw", "pass", "auth", "authorization", "authentication", "session", "sid", "hmac",
    "otp",
    "totp", "cred", "creds", "cookie", "sas", "nonce", "mac", "appid",
  ]
  /// Secret only alone: as parts they are harmless (`country_code`).
  private static let wholeNames: Set<String> = [
    "code", "auth_code", "auth-code", "authcode", "authorization_code", "access_code", "pin", "sign",
    "ticket",
    "awsaccesskeyid",
  ]
  /// What signed links of object stores carry.
  private static let prefixes = ["x-amz-", "x-goog-"]

  /// A name cut at marks and before capitals, in lower case.
  private static func parts(of name: String) -> [String] {
    var parts: [String] = []
    var part = ""
    var wasLower = false
    for character in name {
      let isLetter = character.isLetter || character.isNumber
      if !isLetter || (character.isUppercase && wasLower) {
        parts.append(part.lowercased())
        part = ""
      }
      if isLetter { part.append(character) }
      wasLower = character.isLowercase
    }
    return parts + [part.lowercased()]
  }
}
