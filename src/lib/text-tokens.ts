/*
 * Estimates tokens without a vendor's tokenizer. Tokenizers split text into words, including where lowercase changes to uppercase, and words into
 * known pieces. Common words are one token. Rare words and other languages take several. Digits and punctuation take about one each.
 */

import { charCodeAt } from './char-code-at.ts'

/**
 * Returns an upper estimate for nearly all tokenizers, fitted to recorded requests to all vendors
 * (docs/src/content/docs/reference/token-estimates.md). Linear time.
 */
export function countMaxTokens(text: string): number {
  let cents = 0
  let state = START
  let runStart = 0 // the start of the current run of letters, digits, and joiners
  const { length } = text
  for (let index = 0; index < length; index++) {
    const code = charCodeAt(text, index)
    const characterKind = code < 128 ? (asciiKinds[code] ?? SIGN) : getNonAsciiKind(code)
    const transition = state * KIND_COUNT + characterKind
    cents += costs[transition] ?? 0
    state = nextStates[transition] ?? START
    if (characterKind < SIGN) continue
    if (index - runStart >= MIN_LONG_RUN_LENGTH) cents += getRunCost(text.slice(runStart, index))
    runStart = index + 1
  }
  if (length - runStart >= MIN_LONG_RUN_LENGTH) cents += getRunCost(text.slice(runStart))
  return cents / 100
}

/** Estimates the tokens in typical text, for model output that the provider doesn't count. */
export const estimateTokens = (text: string): number => countMaxTokens(text) / SURPLUS_FACTOR

/** The median ratio of `countMaxTokens` to the actual tokens in typical responses. */
const SURPLUS_FACTOR = 1.3

const LOWER = 0
const UPPER = 1
const DIGIT = 2
/** Punctuation in base64 and in names. */
const JOINER = 3
const SIGN = 4
const BLANK = 5
const LINE = 6
/** Latin, Greek, and Cyrillic letters outside ASCII; other scripts; half an emoji; ideograms. */
const EUROPEAN = 7
const SCRIPT = 8
const HALF_PAIR = 9
const IDEOGRAM = 10
const KIND_COUNT = 11

const asciiKinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[a-z]/.test(character)) return LOWER
  if (/[A-Z]/.test(character)) return UPPER
  if (/[0-9]/.test(character)) return DIGIT
  if (/[+/_=-]/.test(character)) return JOINER
  if (character === ' ') return BLANK
  return /[\t\n\r]/.test(character) ? LINE : SIGN
})

function getNonAsciiKind(code: number): number {
  if (code < 0x2e80) return code < 0x590 ? EUROPEAN : SCRIPT
  return code >= 0xd800 && code < 0xe000 ? HALF_PAIR : IDEOGRAM
}

/** A character's cost, in hundredths of a token, depends on the state. States 1 to `SHORT_WORD` count the lowercase letters of a short word. */
const START = 0
const SHORT_WORD = 4
const LONG_WORD = 5
const CAPITAL = 6
const CAPITALS = 7
const ONE_BLANK = 8
const BLANKS = 9
const LINES = 10
const STATE_COUNT = 11

/** The costs by kind if the state doesn't matter. */
const BASE_COSTS = [100, 100, 60, 70, 70, 0, 60, 80, 100, 125, 110]
/** The costs of a letter in a long word, a further capital, and a run of blanks. A single blank belongs to the next word. */
const LETTER_COST = 40
const FURTHER_CAPITAL_COST = 50
const BLANK_RUN_COST = 60

/** Returns the next state and the cost of a character, by the current state and the character's kind. */
function getTransition(state: number, kind: number): [next: number, cents: number] {
  if (kind === LOWER) {
    if (state === CAPITAL) return [2, 0]
    if (state >= SHORT_WORD && state <= LONG_WORD) return [LONG_WORD, LETTER_COST]
    return state > START && state < SHORT_WORD ? [state + 1, 0] : [1, 100]
  }
  if (kind === UPPER) return state === CAPITAL || state === CAPITALS ? [CAPITALS, FURTHER_CAPITAL_COST] : [CAPITAL, 100]
  if (kind === BLANK) {
    if (state === ONE_BLANK) return [BLANKS, BLANK_RUN_COST]
    return state === BLANKS ? [BLANKS, 0] : [ONE_BLANK, 0]
  }
  if (kind === LINE) return [LINES, state === LINES ? 0 : (BASE_COSTS[LINE] ?? 0)]
  return [START, BASE_COSTS[kind] ?? 0]
}

const transitions = Array.from({ length: STATE_COUNT * KIND_COUNT }, (_, index) =>
  getTransition(Math.floor(index / KIND_COUNT), index % KIND_COUNT),
)
const nextStates = Uint8Array.from(transitions, ([next]) => next)
const costs = Uint8Array.from(transitions, ([, cents]) => cents)

/** Returns the extra cost of keys, hashes, and base64: letters and digits without a break. */
const getRunCost = (run: string): number => (/[0-9]/.test(run) && /[a-z]/i.test(run) ? run.length * LONG_RUN_COST : 0)

const MIN_LONG_RUN_LENGTH = 25
/** The extra cost per character, in hundredths of a token. */
const LONG_RUN_COST = 60
