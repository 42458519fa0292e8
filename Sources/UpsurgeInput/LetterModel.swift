/// How often a language has each of its letters beyond ASCII, among all such letters.
struct LetterModel {
  /// How likely each letter is, as a logarithm.
  private let likelihoods: [Unicode.Scalar: Double]
  /// How likely every other letter is, as a logarithm.
  private let other: Double

  /// - Parameter weights: letters, each with its weight: `é55 à12`.
  init(_ weights: String) {
    let pairs = weights.split(separator: " ").compactMap { part -> (Unicode.Scalar, Double)? in
      guard let letter = part.unicodeScalars.first, let weight = Double("0" + part.dropFirst()) else { return nil }
      return (letter, weight)
    }
    let sum = pairs.reduce(0) { $0 + $1.1 }
    var likelihoods: [Unicode.Scalar: Double] = [:]
    for (letter, weight) in pairs { likelihoods[letter] = naturalLogarithm(weight / sum) }
    self.likelihoods = likelihoods
    other = -8
  }

  /// Every letter of an alphabet is as likely as every other.
  init(_ alphabet: ClosedRange<UInt32>, letterCount: Double) {
    var likelihoods: [Unicode.Scalar: Double] = [:]
    for scalar in alphabet.compactMap(Unicode.Scalar.init) {
      likelihoods[scalar] = -naturalLogarithm(letterCount)
    }
    self.likelihoods = likelihoods
    other = -8
  }

  func likelihood(of sign: Sign) -> Double { likelihoods[sign.scalar] ?? other }
}

extension LetterModel {
  /// French, German, Spanish, Portuguese, Italian, Swedish, Finnish, Danish and Norwegian, Icelandic, Dutch, Catalan,
  /// Estonian, Irish; and a mixture, as in a list of customers.
  static let western = [
    LetterModel("é55 à12 è9 ê6 ç3 ô2.5 û2 î2 â2 ù1 ë.4 ï.5 œ.5 ü.1 ÿ.02 æ.02"),
    LetterModel("ü35 ä30 ö18 ß15 é1 è.2 à.2 ç.1 á.1 ó.1"),
    LetterModel("ó30 í25 á20 é11 ñ9 ú5 ü.6 ç.1"),
    LetterModel("ã22 ç17 á11 é13 í10 ó9 ê8 õ7 ú3 â3 à2 ô1.5 ü.2"),
    LetterModel("è30 à30 ù12 ò15 ì7 é5 î.1"),
    LetterModel("ä40 å31 ö28 é1 ü.2"),
    LetterModel("ä83 ö13 å2 é1 š.4 ž.2"),
    LetterModel("ø34 å34 æ27 é3 ö.5 ä.5 ü.3 ò.1 ô.1"),
    LetterModel("á20 í18 ð16 ó11 ú8 é7 þ6 ö8 æ7 ý3"),
    LetterModel("ë45 é30 ï12 ö4 ü3 è2 ê1 ó1 á1 ç.5 â.2"),
    LetterModel("à27 è18 é15 í14 ó14 ò7 ú4 ï1.5 ü.7 ç3"),
    LetterModel("ä40 õ27 ü22 ö6 š2 ž.7"),
    LetterModel("á35 é20 í20 ó15 ú10"),
    LetterModel(
      """
      é20 è4 à4 ç5 ê2 ô2 â1.5 î1 û1 ù.6 ï1 ë2 ü12 ä11 ö12 ß3 ñ5 ó6 í6 á8 ú4 ã4 õ1.5 å5 ø5 æ2 ò1 ì.4 ý.5 ð.3 þ.2 \
      š.5 ž.4 œ.3 ÿ.1
      """),
  ]

  /// Czech, Slovak, Polish, Hungarian, Romanian, Croatian and Slovene; and a mixture.
  static let central = [
    LetterModel("í20 á16 é9 ě11 ř9 š6 č7 ž7 ý7 ů4 ú1 ň.6 ť.4 ď.3 ó.3 ö.1 ü.1"),
    LetterModel("á20 í13 é10 č10 ý8 ž9 š8 ú8 ľ5 ť4 ô2 ň2 ä1 ŕ.3 ĺ.3 ď1 ó1"),
    LetterModel("ł23 ę14 ó11 ą13 ś10 ż12 ć5 ń4 ź1"),
    LetterModel("á30 é28 ö10 ó10 ő8 ü6 í5 ú3 ű2"),
    LetterModel("ă38 î14 ş14 ţ14 â6 ș7 ț7 é.2"),
    LetterModel("č30 š25 ž20 ć18 đ8 ö.2 ü.2 á.2 é.2"),
    LetterModel(
      "á12 é11 í9 ó7 č6 š7 ž6 ř4 ě4 ý3 ů1.5 ú2 ł6 ę4 ą4 ś3 ż3 ć3 ń2 ö4 ő2.5 ü3 ű.7 ă5 î2 ş2.5 ţ2.5 â1.5 đ1 ä.5 ô.4"),
  ]

  /// Lithuanian and Latvian.
  static let baltic = [
    LetterModel("ė22 š14 ų15 ž10 ą9 į7 č6 ū5 ę4"),
    LetterModel("ā36 ī18 ē15 š9 ņ5 ļ4 ū4 ž3 ķ1.5 č1 ģ1"),
  ]

  static let turkish = LetterModel("ı33 ü13 ş13 ç9 ğ8 ö6 i8 î.2 â.4 û.2")

  /// Russian, with the letters of its neighbours.
  static let cyrillic = LetterModel(
    """
    о110 е85 а80 и74 н67 т63 с55 р47 в45 л44 к35 м32 д30 п28 у26 я20 ы17 ь17 г17 з16 б16 ч15 й12 х10 ж9 ш7 ю6 ц5 щ4 \
    э3 ф3 ъ5 ё2 і14 ї4 є3 ґ.2 ў1 ј4 љ.5 њ.6 ћ.7 ђ.3 џ.1
    """)

  static let greek = LetterModel(
    """
    α85 ο80 ι65 ε62 τ78 σ45 ν62 η35 υ32 ρ43 π40 κ40 λ28 μ33 ς40 ω16 θ13 γ18 δ17 χ12 φ9 β8 ξ5 ζ4 ψ2 ά18 ό18 έ15 ή14 \
    ί22 ύ8 ώ8 ϊ.5 ϋ.3 ΐ.2
    """)

  static let hebrew = LetterModel(0x5D0...0x5EA, letterCount: 18)
  static let arabic = LetterModel(0x621...0x652, letterCount: 22)
  static let thai = LetterModel(0xE01...0xE4E, letterCount: 32)
}

/// By the series of the inverse hyperbolic tangent, which needs no library: ln x = ln m + e ln 2, 1 <= m < 2.
private func naturalLogarithm(_ x: Double) -> Double {
  let y = (x.significand - 1) / (x.significand + 1)
  let square = y * y
  var (term, sum) = (y, 0.0)
  for n in stride(from: 1.0, through: 21, by: 2) {
    sum += term / n
    term *= square
  }
  return 2 * sum + Double(x.exponent) * 0.693147180559945
}
