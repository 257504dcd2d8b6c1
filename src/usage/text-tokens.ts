/**
 * An estimate of the tokens of a text, by the classes of its characters: about four letters make a token, and fewer of everything else. Linear
 * in the length of the text.
 */
export function textTokens(text: string): number {
  let tokens = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    tokens += code < 128 ? (ASCII[code] ?? 0) : code < 0x2e80 ? 0.5 : 1
  }
  return Math.ceil(tokens)
}

/** The share of a token that each character of ASCII makes: letters and blanks, then digits, then all else. */
const ASCII = Float64Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[a-zA-Z ]/.test(character)) return 0.25
  return /[0-9]/.test(character) ? 0.5 : 0.6
})
