import { charCodeAt } from '../../../lib/char-code-at.ts'
import { ESCAPE_STARTS, isUnfinishedEscape, mayBeDoubleEscaped, mayStartEscape, readEscape } from './decode-escapes.ts'
import { createMarkupReader, MARKUP_STARTS } from './drop-markup.ts'
import { EXPANDED_FLAG, expandFold, type FoldedLetter, foldCode, foldPair, readLetters } from './fold-text.ts'

/** A word that ends in a state. */
export interface WordEnd {
  length: number
  /** Set if only accents or alphabets distinguish the word from others that fold to the same characters. */
  letters: readonly FoldedLetter[] | undefined
  /** Whether the match must not follow a letter. */
  startsAtBoundary: boolean
  endsAtBoundary: boolean
}

/** Builds an automaton that finds words in a single pass over a string. */
export function buildAutomaton(words: readonly string[]) {
  const { columns, table, depths, endsByState, fallbacks, isEnd: endStates, isIdle: idleFlags } = buildTables(words)

  /** Kept separate because the other branches of `scan` would make this loop four times slower. */
  function skipIdle(text: string, from: number): number {
    const { length } = text
    let index = from
    while (index < length && idleFlags[charCodeAt(text, index)] === 1) index++
    return index
  }

  const step = (state: number, code: number) => {
    const nextState = table[state + (columns[code] ?? 0)] ?? 0
    return nextState < 0 ? ~nextState : nextState
  }
  const getDepth = (state: number) => depths.get(state) ?? 0
  let hint: Hint = CLEAR

  /** Returns whether a word may continue or begin after the markup or escape at a position. */
  function peek(text: string, start: number, state: number): Hint {
    if (state === 0 && !mayStartEscape(text, start)) return start + 1 < text.length ? CLEAR : UNFINISHED
    const markup = createMarkupReader(text)
    let hasTag = false
    let minHint: Hint = CLEAR
    for (let position = start; position < text.length; ) {
      const code = charCodeAt(text, position)
      const escapeSequence = readEscape(text, position)
      const isMarkupStart = !escapeSequence && markupFlags[code] === 1
      if (isMarkupStart && (markup.isUnfinished(position) || isUnfinishedEscape(text, position))) return UNFINISHED
      if (escapeSequence?.end === text.length && isUnfinishedEscape(text, position)) minHint = UNFINISHED
      const end = escapeSequence?.end ?? (isMarkupStart ? markup.findEnd(position) : position)
      hasTag ||= isMarkupStart && end > position && code === LESS_THAN
      const unit = escapeSequence
        ? readUnit(escapeSequence.decoded, 0)
        : end > position
          ? NO_UNIT
          : readUnit(text, position)
      position = Math.max(end, position + (escapeSequence ? 0 : unit.length))
      if (unit.code === 0) continue
      if (unit.code === RIGHT_TO_LEFT) return HIDDEN
      if (escapeSequence && markupFlags[unit.code] === 1) {
        if (state !== 0 || mayBeDoubleEscaped(escapeSequence.decoded, text, position)) return HIDDEN
      }
      const nextState = step(state, unit.code)
      if (nextState !== 0 && nextState === state) continue // another space
      if (getDepth(nextState) >= (state === 0 ? 1 : 2)) return HIDDEN
      return hasTag && getDepth(step(step(state, 0x20), unit.code)) > 2 ? HIDDEN : minHint
    }
    return UNFINISHED
  }

  /**
   * Steps through the text and returns the last state. Calls `onEnd` with each state in which a word ends, the index after the word, and whether the
   * word ends inside a character, such as a ligature.
   */
  function scan(
    text: string,
    onEnd: (state: number, end: number, endsInsideCharacter: boolean) => void,
    initialState = 0,
  ): number {
    const { length } = text
    let state = initialState
    hint = CLEAR
    const peekAt = (start: number, previousState: number) => {
      if (hint !== HIDDEN) hint = Math.max(hint, peek(text, start, previousState)) as Hint
    }
    for (let position = 0; position < length; position++) {
      if (state === 0) {
        position = skipIdle(text, position)
        if (position === length) break
      }
      let code = charCodeAt(text, position)
      if (code >= 0x7f || code < 0x20) {
        const unit = code
        const isPair = code >= 0xd800 && code <= 0xdbff && position + 1 < length
        const pair = isPair ? foldPair(code, charCodeAt(text, position + 1)) : undefined
        if (pair !== undefined) position++
        code = pair ?? foldCode(code)
        if (code === 0) {
          if (unit === RIGHT_TO_LEFT) hint = HIDDEN
          else if (unit === ESC && state !== 0) peekAt(position, state)
          continue
        }
        if (code >= EXPANDED_FLAG) {
          const codes = expandFold(code)
          for (const [index, foldedCode] of codes.entries()) {
            state = step(state, foldedCode)
            if (endStates.has(state)) onEnd(state, position + 1, index < codes.length - 1)
          }
          continue
        }
        if (state === 0 && table[columns[code] ?? 0] === 0 && (unit < 0xd800 || unit > 0xdfff)) idleFlags[unit] = 1
      }
      const previousState = state
      state = table[state + (columns[code] ?? 0)] ?? 0
      if (state < 0) {
        state = ~state
        if (markupFlags[code] === 1) peekAt(position, previousState)
        if (endStates.has(state)) onEnd(state, position + 1, false)
      }
    }
    return state
  }

  return {
    scan,
    /** Whether any word contains a space. */
    hasPhrases: columns[0x20] !== 0,
    getDepth,
    /** Returns whether markup or escapes hid a word in the last scan. */
    getHint: (): Hint => hint,
    /** Lists the words that end in a state, longest first. */
    *listEnds(state: number): Iterable<WordEnd> {
      for (let index = state; index !== 0; index = fallbacks.get(index) ?? 0) yield* endsByState.get(index) ?? []
    },
  }
}

/**
 * Builds the tables of an Aho-Corasick automaton. `table` has one row per state and one column per folded character that the words contain. A state
 * is the index at which its row starts. A next state is negative (`~state`) if a word ends there or if markup interrupts a word, so a single test in
 * the loop covers both.
 */
function buildTables(words: readonly string[]) {
  const columns = new Uint16Array(0x1_0000)
  let width = 1
  const patterns = readPatterns(words)
  for (const { codes } of patterns) for (const code of codes) if (columns[code] === 0) columns[code] = width++
  const spaceColumn = columns[0x20] ?? 0
  const otherMarkupColumn = width++ // markup that isn't in words
  for (let code = 0; code < 0x80; code++)
    if (markupFlags[code] === 1 && columns[code] === 0) columns[code] = otherMarkupColumn
  const markupColumns = new Set([...columns.subarray(0, 0x80)].filter((_, code) => markupFlags[code] === 1))
  const escapeColumns = new Set(Array.from(ESCAPE_STARTS, (start) => columns[start.charCodeAt(0)] ?? 0))
  const size = patterns.reduce((sum, { codes }) => sum + codes.length, 1)
  const table = new Int32Array(size * width)
  const depths = new Map<number, number>()
  const endsByState = new Map<number, WordEnd[]>()
  let lastState = 0
  for (const { codes, ...boundaries } of patterns) {
    let state = 0
    for (const [index, code] of codes.entries()) {
      const cell = state + (columns[code] ?? 0)
      if (table[cell] === 0) {
        lastState += width
        table[cell] = lastState
        depths.set(lastState, index + 1)
      }
      state = table[cell] ?? 0
      if (code === 0x20) table[state + spaceColumn] = state // additional spaces are ignored
    }
    if (state !== 0)
      endsByState.set(state, [...(endsByState.get(state) ?? []), { length: codes.length, ...boundaries }])
  }

  const { fallbacks, isEnd: endStates } = linkFallbacks(table, width, endsByState)
  for (const [cell, state] of table.entries()) {
    const column = cell % width
    const isBeforeMarkup = markupColumns.has(column) && (cell >= width || escapeColumns.has(column))
    if (endStates.has(state) || isBeforeMarkup) table[cell] = ~state
  }

  for (let code = 0; code < 0x80; code++) columns[code] = columns[foldCode(code)] ?? 0
  /** Characters that can't start a word or markup, by code. */
  const idleFlags = new Uint8Array(0x1_0000)
  for (let code = 0; code < 0x7f; code++) if (table[columns[code] ?? 0] === 0) idleFlags[code] = 1
  return { columns, table, depths, endsByState, fallbacks, isEnd: endStates, isIdle: idleFlags }
}

/**
 * Fills in the transitions of an Aho-Corasick automaton for characters that don't continue a word. They lead to a state's fallback: the longest other
 * word that may have started by then. Returns each state's fallback and the states in which a word ends.
 */
function linkFallbacks(table: Int32Array, width: number, endsByState: ReadonlyMap<number, unknown>) {
  const fallbacks = new Map<number, number>()
  const endStates = new Set<number>()
  const queue = [...table.subarray(1, width)].filter((state) => state !== 0)
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] ?? 0
    const fallback = fallbacks.get(state) ?? 0
    if (endsByState.has(state) || endStates.has(fallback)) endStates.add(state)
    for (let column = 1; column < width; column++) {
      const nextState = table[state + column] ?? 0
      const fallbackState = table[fallback + column] ?? 0
      if (nextState === state) continue
      if (nextState === 0) table[state + column] = fallbackState
      else {
        fallbacks.set(nextState, fallbackState)
        queue.push(nextState)
      }
    }
  }
  return { fallbacks, isEnd: endStates }
}

/** Returns each spelling of the words as the codes of its folded characters. Throws a TypeError for a word without visible characters. */
const readPatterns = (words: readonly string[]): WordPattern[] =>
  words.flatMap((word, index) => {
    const text = word.replace(/^\*|\*$/g, '').trim()
    if (readLetters(text).length === 0)
      throw new TypeError(`words().words[${index}] has no visible characters to find.`)
    const boundaries = {
      startsAtBoundary: !word.startsWith('*') && isLetter(text.at(0)),
      endsAtBoundary: !word.endsWith('*') && isLetter(text.at(-1)),
    }
    const spellings = new Map(
      [text, text.toLowerCase(), text.toUpperCase()].map((variant) => [
        readLetters(variant)
          .map(({ code }) => code)
          .join(),
        variant,
      ]),
    ) // Greek capitals look like letters of other alphabets
    return [...spellings.values()].map((spelling) => {
      const letters = readLetters(spelling)
      const codes = letters.map(({ code }) => code)
      return {
        codes,
        letters: letters.some(({ code, marks }) => code >= 0x80 || marks !== '') ? letters : undefined,
        ...boundaries,
      }
    })
  })

interface WordPattern extends Omit<WordEnd, 'length'> {
  codes: number[]
}

/** Whether markup or escapes hide a word: no, only if later text completes it, or possibly. */
type Hint = typeof CLEAR | typeof UNFINISHED | typeof HIDDEN
export const CLEAR = 0
const UNFINISHED = 1
export const HIDDEN = 2

/** Returns a character's folded code and its length. */
function readUnit(text: string, index: number): { code: number; length: number } {
  const code = text.charCodeAt(index) || 0
  const pair = code >= 0xd800 && code <= 0xdbff ? foldPair(code, text.charCodeAt(index + 1) || 0) : undefined
  const foldedCode = pair ?? (code === RIGHT_TO_LEFT ? code : foldCode(code))
  return {
    code: foldedCode >= EXPANDED_FLAG ? (expandFold(foldedCode)[0] ?? 0) : foldedCode,
    length: pair === undefined ? 1 : 2,
  }
}
const NO_UNIT = { code: 0, length: 0 }

/** Scripts without spaces have no word boundaries, so their letters don't count. */
export const isLetter = (character: string | undefined): boolean =>
  character !== undefined && LETTER_PATTERN.test(character) && !SPACELESS_PATTERN.test(character)
const LETTER_PATTERN = /[\p{L}\p{N}\p{M}]/u
const SPACELESS_PATTERN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** By ASCII code: 1 for characters that begin escapes or markup. */
const markupFlags = new Uint8Array(0x80)
for (const character of MARKUP_STARTS + ESCAPE_STARTS) markupFlags[character.charCodeAt(0)] = 1

const RIGHT_TO_LEFT = 0x202e
const ESC = 0x1b
const LESS_THAN = 0x3c
