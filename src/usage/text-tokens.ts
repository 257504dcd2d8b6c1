/*
 * Tokens of texts, without the tokenizer of any vendor. Tokenizers split texts into words, at changes from lower to upper case too, and words
 * into the pieces that they know: common words are one token, rare ones and other languages several, figures and signs about one each.
 */

/**
 * More tokens than nearly all tokenizers make of a text; the figures are fitted to the recorded requests of all vendors (README.md). Linear in
 * the length of the text.
 */
export function mostTokens(text: string): number {
  let cents = 0
  let state = START
  let runStart = 0 // of the characters that are no sign and no blank
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const kind = code < 128 ? (kinds[code] ?? SIGN) : wideKind(code)
    const step = state * KINDS + kind
    cents += costs[step] ?? 0
    state = nextStates[step] ?? START
    if (kind < SIGN) continue
    if (at - runStart >= LONG_RUN) cents += costOfRun(text.slice(runStart, at))
    runStart = at + 1
  }
  if (text.length - runStart >= LONG_RUN) cents += costOfRun(text.slice(runStart))
  return cents / 100
}

/** About as many tokens as tokenizers make of a text: what a model has said, where its provider does not count it. */
export const likelyTokens = (text: string): number => mostTokens(text) / SURPLUS

/** How many times the tokens of usual answers `mostTokens` is, in the median. */
const SURPLUS = 1.3

/** Kinds of characters. */
const LOWER = 0
const UPPER = 1
const DIGIT = 2
/** Signs that are in base64 and in names. */
const JOINER = 3
const SIGN = 4
const BLANK = 5
const LINE = 6
/** Latin, Greek and Cyrillic letters outside ASCII; other scripts; half an emoji; ideograms. */
const EUROPEAN = 7
const SCRIPT = 8
const HALF_PAIR = 9
const IDEOGRAM = 10
const KINDS = 11

const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[a-z]/.test(character)) return LOWER
  if (/[A-Z]/.test(character)) return UPPER
  if (/[0-9]/.test(character)) return DIGIT
  if (/[+/_=-]/.test(character)) return JOINER
  if (character === ' ') return BLANK
  return /[\t\n\r]/.test(character) ? LINE : SIGN
})

function wideKind(code: number): number {
  if (code < 0x2e80) return code < 0x590 ? EUROPEAN : SCRIPT
  return code >= 0xd800 && code < 0xe000 ? HALF_PAIR : IDEOGRAM
}

/**
 * What a character costs, in hundredths of a token, depends on those before it: states 1 to `SHORT_WORD` are so many small letters of a word,
 * and the next one is a longer word.
 */
const START = 0
const SHORT_WORD = 4
const LONG_WORD = 5
const CAPITAL = 6
const CAPITALS = 7
const ONE_BLANK = 8
const BLANKS = 9
const LINES = 10
const STATES = 11

/** The costs by kind, where those before do not matter. */
const usual = [100, 100, 60, 70, 70, 0, 60, 80, 100, 125, 110]
/** Of a letter of a long word, a further capital, and a run of blanks: a single blank belongs to the word after it. */
const LETTER = 40
const FURTHER_CAPITAL = 50
const RUN_OF_BLANKS = 60

/** The state after a character and its cost, by the state before it and its kind. */
function stepOf(state: number, kind: number): [next: number, cents: number] {
  if (kind === LOWER) {
    if (state === CAPITAL) return [2, 0]
    if (state >= SHORT_WORD && state <= LONG_WORD) return [LONG_WORD, LETTER]
    return state > START && state < SHORT_WORD ? [state + 1, 0] : [1, 100]
  }
  if (kind === UPPER) return state === CAPITAL || state === CAPITALS ? [CAPITALS, FURTHER_CAPITAL] : [CAPITAL, 100]
  if (kind === BLANK) {
    if (state === ONE_BLANK) return [BLANKS, RUN_OF_BLANKS]
    return state === BLANKS ? [BLANKS, 0] : [ONE_BLANK, 0]
  }
  if (kind === LINE) return [LINES, state === LINES ? 0 : (usual[LINE] ?? 0)]
  return [START, usual[kind] ?? 0]
}

const steps = Array.from({ length: STATES * KINDS }, (_, at) => stepOf(Math.floor(at / KINDS), at % KINDS))
const nextStates = Uint8Array.from(steps, ([next]) => next)
const costs = Uint8Array.from(steps, ([, cents]) => cents)

/** What keys, hashes and base64 cost in addition, which are no words: letters and figures without a break. */
const costOfRun = (run: string): number => (/[0-9]/.test(run) && /[a-z]/i.test(run) ? run.length * RUN : 0)

const LONG_RUN = 25
/** For each of its characters, in hundredths of a token. */
const RUN = 60
