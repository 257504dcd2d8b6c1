import { LOOKALIKES, STROKES } from './look-alikes.ts'
import { type RewrittenText, TextRewriter } from './rewritten-text.ts'

/**
 * Returns the code unit that a character reads as: lowercase, without accents, and Latin if it looks like a Latin letter. Returns 0 for an invisible
 * character. Values of `EXPANDED_FLAG` and above represent several units; `expandFold` returns them.
 */
export function foldCode(code: number): number {
  if (code < 0x7f) return code >= 0x41 && code <= 0x5a ? code + 0x20 : code >= 0x20 ? code : isSpace(code) ? 0x20 : 0
  const cachedValue = foldedCodes[code]
  if (cachedValue) return cachedValue - 1
  const value = computeFold(String.fromCharCode(code))
  foldedCodes[code] = value + 1
  return value
}

/** Values at or above this number represent several units, such as the letters of a ligature. */
export const EXPANDED_FLAG = 0x1_0000

/** Returns the code units that a value from `foldCode` represents. */
export const expandFold = (value: number): readonly number[] =>
  value < EXPANDED_FLAG ? [value] : (expansions[value - EXPANDED_FLAG] ?? [])

const isSpace = (code: number) => code >= 0x09 && code <= 0x0d

/** By code unit: the folded value plus 1, or 0 if it hasn't been computed. */
const foldedCodes = new Uint32Array(0x1_0000)
const expansions: Array<readonly number[]> = []

function computeFold(character: string): number {
  if (INVISIBLE_PATTERN.test(character)) return 0
  const code = character.charCodeAt(0)
  if (code >= 0x249c && code <= 0x24b5) return code - 0x249c + 0x61 // parenthesized letters
  if (SPACE_PATTERN.test(character)) return 0x20
  const units: number[] = []
  for (const part of decompose(character)) {
    if (MARK_PATTERN.test(part)) continue
    const lowerCase = part.toLowerCase()
    for (const unit of findLookalike(part) ?? readDigit(lowerCase) ?? lowerCase) units.push(unit.charCodeAt(0))
  }
  const [first = 0] = units
  return units.length < 2 ? first : EXPANDED_FLAG + expansions.push(units) - 1
}

/**
 * Returns the folded code unit of a surrogate pair, such as a styled letter or an invisible tag that mirrors ASCII. Returns `undefined` if the pair
 * should be read as two units.
 */
export function foldPair(high: number, low: number): number | undefined {
  const code = (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x1_0000
  const cachedValue = foldedPairs.get(code)
  if (cachedValue !== undefined) return cachedValue < 0 ? undefined : cachedValue
  const value = computePairFold(code)
  if (foldedPairs.size < MAX_PAIRS) foldedPairs.set(code, value ?? -1)
  return value
}

/** Folded values by code point. -1 marks a pair that is read as two units. */
const foldedPairs = new Map<number, number>()
const MAX_PAIRS = 10_000

function computePairFold(code: number): number | undefined {
  if (code >= 0xe_0020 && code <= 0xe_007e) return foldCode(code - 0xe_0000)
  if (code >= 0xe_0000 && code <= 0xe_0fff) return 0
  if (code >= 0x1_f1e6 && code <= 0x1_f1ff) return code - 0x1_f1e6 + 0x61 // the letters that make up flags
  if (code >= 0x1_f150 && code <= 0x1_f189) return foldCode(0x41 + ((code - 0x1_f150) % 0x20)) // white letters on black
  if (code >= 0x1_f110 && code <= 0x1_f129) return code - 0x1_f110 + 0x61 // parenthesized letters
  const character = String.fromCodePoint(code)
  if (INVISIBLE_PATTERN.test(character) || MARK_PATTERN.test(character)) return 0
  const lowerCase = character.normalize('NFKC').toLowerCase()
  if (lowerCase.length === 1) return foldCode(lowerCase.charCodeAt(0))
  return (findLookalike(lowerCase) ?? readDigit(lowerCase))?.charCodeAt(0)
}

/** Folds a string's non-ASCII characters, but preserves their case. Returns `undefined` if there are none. */
export function foldText(text: string): RewrittenText | undefined {
  if (!NON_ASCII_PATTERN.test(text)) return undefined
  const rewriter = new TextRewriter()
  const codes = new Uint16Array(MAX_PIECE_LENGTH)
  let from = 0
  let count = 0
  const finishPiece = (until: number) => {
    rewriter.add(String.fromCharCode(...codes.subarray(0, count)), { from, until })
    count = 0
  }
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const isPair = code >= 0xd800 && code <= 0xdbff && index + 1 < text.length
    const pair = isPair ? foldPair(code, text.charCodeAt(index + 1)) : undefined
    const value = code < 0x80 ? code : (pair ?? foldCode(code))
    if (count === 0) from = index
    if (value !== 0 && value < EXPANDED_FLAG && pair === undefined) {
      codes[count++] = code >= 0x80 && isUpper(code) ? toUpper(value) : value
      if (count === MAX_PIECE_LENGTH) finishPiece(index + 1)
      continue
    }
    finishPiece(index)
    const until = index + (pair === undefined ? 1 : 2)
    if (value !== 0)
      rewriter.add(String.fromCharCode(...expandFold(value)), { from: index, until, isReplacement: true })
    index = until - 1
  }
  finishPiece(text.length)
  return rewriter.finish()
}

const NON_ASCII_PATTERN = /[\u0080-\uffff]/
const MAX_PIECE_LENGTH = 4_096

const toUpper = (code: number) => (code >= 0x61 && code <= 0x7a ? code - 0x20 : code)

const isUpper = (code: number) => {
  const character = String.fromCharCode(code)
  return character !== character.toLowerCase()
}

/** A letter and its accents. */
export interface FoldedLetter {
  code: number
  marks: string
}

/** Splits a string into its folded letters. */
export function readLetters(text: string): FoldedLetter[] {
  const letters: FoldedLetter[] = []
  for (const character of text) {
    for (const part of decompose(character)) {
      const lastLetter = letters.at(-1)
      if (MARK_PATTERN.test(part)) {
        if (lastLetter) lastLetter.marks += part
        continue
      }
      for (const code of foldCharacter(part))
        if (code !== 0x20 || lastLetter?.code !== 0x20) letters.push({ code, marks: '' })
    }
  }
  return letters
}

/** Returns a character's folded code units. An invisible character has none. */
function foldCharacter(character: string): readonly number[] {
  const pair = character.length === 2 ? foldPair(character.charCodeAt(0), character.charCodeAt(1)) : undefined
  const values =
    pair === undefined
      ? Array.from({ length: character.length }, (_, index) => foldCode(character.charCodeAt(index)))
      : [pair]
  return values.filter((value) => value !== 0).flatMap(expandFold)
}

/**
 * Returns whether a letter in the text matches a letter in a word. It must have at least the same accents. If the word's letter is from another
 * alphabet, such as Cyrillic, it must be the same letter with the same vowel signs. If `isOpenEnded`, more letters or vowel signs may follow.
 */
export const matchesLetter = (wordLetter: FoldedLetter, textLetter: FoldedLetter, isOpenEnded: boolean): boolean =>
  Array.from(wordLetter.marks).every((mark) => textLetter.marks.includes(mark)) &&
  (wordLetter.code < 0x80 ||
    (compose(wordLetter) === compose(textLetter) &&
      (isOpenEnded || getVowelSigns(wordLetter) === getVowelSigns(textLetter))))

/** Lists the marks that turn a letter into a different one: the marks of its own script. */
const getVowelSigns = ({ code, marks }: FoldedLetter) =>
  Array.from(marks)
    .filter((mark) => !ACCENT_PATTERN.test(mark) && mark.charCodeAt(0) >> 8 === code >> 8)
    .sort()
    .join('')

const compose = ({ code, marks }: FoldedLetter) =>
  String.fromCodePoint(String.fromCharCode(code).concat(marks).normalize('NFC').codePointAt(0) ?? 0)

function decompose(character: string): string {
  const baseLetter = STROKES.get(character.toLowerCase())
  return baseLetter ?? (findLookalike(character) === undefined ? character.normalize('NFKD') : character)
}

const findLookalike = (character: string): string | undefined =>
  LOOKALIKES.get(character) ?? LOOKALIKES.get(character.toLowerCase())

/** Converts a digit in any script to an ASCII digit. */
function readDigit(character: string): string | undefined {
  if (!DIGIT_PATTERN.test(character)) return undefined
  const code = character.codePointAt(0) ?? 0
  let zero = code
  while (code - zero < 10 && DIGIT_PATTERN.test(String.fromCodePoint(zero - 1))) zero--
  return code - zero < 10 ? `${code - zero}` : undefined
}

const DIGIT_PATTERN = /^\p{Nd}$/u

/** Matches characters without a glyph and marks that only modify the preceding character. */
const INVISIBLE_PATTERN =
  /[\p{Cf}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u007f-\u0084\u0086-\u009f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufffc\ufffd]/u

const MARK_PATTERN = /^\p{M}$/u

/** Marks that merely decorate a letter within its own script. */
const ACCENT_PATTERN = /[\p{Script=Inherited}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}]/u

const SPACE_PATTERN = /[\s\u0085\u2800]/
