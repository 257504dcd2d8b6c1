import type { GuardPart } from '../guard.ts'
import { FOUND, type TextScreen, UNCLEAR } from '../text-screen.ts'
import { ESCAPE_STARTS, isUnfinishedEscape, mayEscape, mayEscapeTwice, readEscape } from './decode-escapes.ts'
import { createMarkupReader, MARKUP_STARTS } from './drop-markup.ts'
import { countHidden, listViews } from './find-hidden.ts'
import {
  EXPANDED_FLAG,
  expandFold,
  type FoldedLetter,
  foldCode,
  foldPair,
  isSameLetter,
  readLetters,
} from './fold-text.ts'
import { linkFallbacks } from './link-fallbacks.ts'
import type { RewrittenText } from './rewritten-text.ts'

/** A match in a string, in UTF-16 code units; `end` is exclusive. */
export interface Match {
  readonly start: number
  readonly end: number
  /** The type of the match in capitals, such as `EMAIL`. */
  readonly type: string
}

type SearchedText = Pick<GuardPart, 'text' | 'isPiece' | 'starts'>

/** Finds words and phrases. */
export interface WordFinder {
  find(part: SearchedText): Match[]
  /** Returns how many characters at the end could be the start of a match. */
  countUnfinished(text: string): number
  readonly scan: TextScreen['scan']
}

/**
 * Finds words in linear time, ignoring case. A `*` at either end matches the rest of a word, and a space matches any whitespace. Look-alike, styled,
 * and accented letters match plain ones. Invisible characters are ignored, as are markup and escapes within a string.
 */
export function createWordFinder(words: readonly string[]): WordFinder {
  const automaton = buildAutomaton(words)
  let isFound = false
  const noteFound = () => {
    isFound = true
  }

  /** Finds words in a string as it is, or as one of its views. `isHidden`: other views may have more. */
  function findPlain(
    { text, isPiece = false, starts = [] }: SearchedText,
    view?: RewrittenText,
  ): { matches: Match[]; isHidden: boolean } {
    const searched = view?.text ?? text
    const edges = new Set(starts)
    const matches: Match[] = []
    let hasOther = false
    automaton.scan(searched, (state, end, isInside) => {
      for (const { length, opensWord, closesWord, letters } of automaton.listEnds(state)) {
        const start = findStart(searched, end, length)
        const from = view?.toOriginal(start) ?? start
        const until = view?.toOriginal(end - 1, true) ?? end
        const isAfterLetter = isLetterBefore(searched, start) && (!view || isLetterBefore(text, from))
        const isBeforeLetter =
          isInside || (isLetterAfter(searched, end, isPiece) && (!view || isLetterAfter(text, until, isPiece)))
        const isInWord =
          (opensWord && isAfterLetter && !edges.has(from)) || (closesWord && isBeforeLetter && !edges.has(until))
        hasOther ||= isInWord
        if (isInWord) continue
        if (letters && !hasLetters(searched.slice(start, findMarksEnd(searched, end)), letters, !closesWord)) continue
        matches.push({ start: from, end: until, type: 'WORD' })
      }
    })
    return { matches, isHidden: hasOther || automaton.getHint() === HIDDEN }
  }

  function countPlain(text: string): number {
    const tail = text.slice(findStart(text, text.length, MAX_TAIL))
    const depth = automaton.getDepth(automaton.scan(tail, () => {}))
    return depth === 0 ? 0 : tail.length - findStart(tail, tail.length, depth)
  }

  return {
    scan(text, from) {
      isFound = false
      const state = automaton.scan(text, noteFound, from)
      if (isFound) return FOUND
      const hint = automaton.getHint()
      if (hint === CLEAR) return state
      if (hint === HIDDEN)
        for (const view of listViews(text, automaton.hasPhrases)) {
          automaton.scan(view.text, noteFound, from)
          if (isFound) return FOUND
        }
      return UNCLEAR
    },
    find(part) {
      const { matches, isHidden } = findPlain(part)
      if (!isHidden) return matches
      const known = new Set(matches.map(({ start }) => start))
      for (const view of listViews(part.text, automaton.hasPhrases))
        for (const match of findPlain(part, view).matches)
          if (known.size !== known.add(match.start).size) matches.push(match)
      return matches
    },
    countUnfinished: (text) => countHidden(text, countPlain),
  }
}

/** Maximum visible characters to search for the beginning of a word. */
const MAX_TAIL = 1_000

interface WordEnd {
  length: number
  /** Set if only accents or alphabets distinguish the word from others that fold to the same characters. */
  letters: readonly FoldedLetter[] | undefined
  /** Whether the match must not follow a letter. */
  opensWord: boolean
  closesWord: boolean
}

/**
 * Builds an Aho-Corasick automaton as a table: one row per state, one column per folded character that the words contain. A state is the index at
 * which its row starts. A next state is negative (`~state`) if a word ends there, or if markup interrupts a word, so one test in the loop covers all.
 */
function buildAutomaton(words: readonly string[]) {
  const columns = new Uint16Array(0x1_0000)
  let width = 1
  const patterns = readPatterns(words)
  for (const { codes } of patterns) for (const code of codes) if (columns[code] === 0) columns[code] = width++
  const space = columns[0x20] ?? 0
  const hasPhrases = space !== 0
  const other = width++ // markup that isn't in words
  for (let code = 0; code < 0x80; code++) if (isMarkup[code] === 1 && columns[code] === 0) columns[code] = other
  const markupColumns = new Set([...columns.subarray(0, 0x80)].filter((_, code) => isMarkup[code] === 1))
  const escapeColumns = new Set(Array.from(ESCAPE_STARTS, (start) => columns[start.charCodeAt(0)] ?? 0))
  const size = patterns.reduce((sum, { codes }) => sum + codes.length, 1)
  const table = new Int32Array(size * width)
  const depths = new Map<number, number>()
  const endsByState = new Map<number, WordEnd[]>()
  let last = 0
  for (const { codes, ...boundaries } of patterns) {
    let state = 0
    for (const [index, code] of codes.entries()) {
      const cell = state + (columns[code] ?? 0)
      if (table[cell] === 0) {
        last += width
        table[cell] = last
        depths.set(last, index + 1)
      }
      state = table[cell] ?? 0
      if (code === 0x20) table[state + space] = state // additional spaces are ignored
    }
    if (state !== 0)
      endsByState.set(state, [...(endsByState.get(state) ?? []), { length: codes.length, ...boundaries }])
  }

  const { fallbacks, isEnd } = linkFallbacks(table, width, endsByState)
  for (const [cell, state] of table.entries()) {
    const column = cell % width
    const isBeforeMarkup = markupColumns.has(column) && (cell >= width || escapeColumns.has(column))
    if (isEnd.has(state) || isBeforeMarkup) table[cell] = ~state
  }

  for (let code = 0; code < 0x80; code++) columns[code] = columns[foldCode(code)] ?? 0
  /** Characters that can't start a word or markup, by code. */
  const isIdle = new Uint8Array(0x1_0000)
  for (let code = 0; code < 0x7f; code++) if (table[columns[code] ?? 0] === 0) isIdle[code] = 1

  /** A function of its own, because the other branches of `scan` would make this loop four times slower. */
  function skipIdle(text: string, from: number): number {
    let at = from
    while (at < text.length && isIdle[text.charCodeAt(at)] === 1) at++
    return at
  }

  const step = (state: number, code: number) => {
    const next = table[state + (columns[code] ?? 0)] ?? 0
    return next < 0 ? ~next : next
  }
  const getDepth = (state: number) => depths.get(state) ?? 0
  let hint: Hint = CLEAR

  /** Returns whether a word goes on, or begins, after the markup or the escape at a position. */
  function peek(text: string, at: number, state: number): Hint {
    if (state === 0 && !mayEscape(text, at)) return at + 1 < text.length ? CLEAR : UNFINISHED
    const markup = createMarkupReader(text)
    let hasTag = false
    let least: Hint = CLEAR
    for (let position = at; position < text.length; ) {
      const code = text.charCodeAt(position)
      const escaped = readEscape(text, position)
      const isStart = !escaped && isMarkup[code] === 1
      if (isStart && (markup.isUnfinished(position) || isUnfinishedEscape(text, position))) return UNFINISHED
      if (escaped?.end === text.length && isUnfinishedEscape(text, position)) least = UNFINISHED
      const end = escaped?.end ?? (isStart ? markup.findEnd(position) : position)
      hasTag ||= isStart && end > position && code === LESS_THAN
      const read = escaped ? readUnit(escaped.decoded, 0) : end > position ? NOTHING : readUnit(text, position)
      position = Math.max(end, position + (escaped ? 0 : read.length))
      if (read.code === 0) continue
      if (read.code === RIGHT_TO_LEFT) return HIDDEN
      if (escaped && isMarkup[read.code] === 1) {
        if (state !== 0 || mayEscapeTwice(escaped.decoded, text, position)) return HIDDEN
      }
      const next = step(state, read.code)
      if (next !== 0 && next === state) continue // another space
      if (getDepth(next) >= (state === 0 ? 1 : 2)) return HIDDEN
      return hasTag && getDepth(step(step(state, 0x20), read.code)) > 2 ? HIDDEN : least
    }
    return UNFINISHED
  }

  /**
   * Steps through the text, and returns the last state. `onEnd` gets each state in which a word ends, with the index after it, and whether that is
   * inside a character.
   */
  function scan(text: string, onEnd: (state: number, end: number, isInside: boolean) => void, from = 0): number {
    let state = from
    hint = CLEAR
    const peekAt = (at: number, before: number) => {
      if (hint !== HIDDEN) hint = Math.max(hint, peek(text, at, before)) as Hint
    }
    for (let at = 0; at < text.length; at++) {
      if (state === 0) {
        at = skipIdle(text, at)
        if (at === text.length) break
      }
      let code = text.charCodeAt(at)
      if (code >= 0x7f || code < 0x20) {
        const unit = code
        const isPair = code >= 0xd800 && code <= 0xdbff && at + 1 < text.length
        const pair = isPair ? foldPair(code, text.charCodeAt(at + 1)) : undefined
        if (pair !== undefined) at++
        code = pair ?? foldCode(code)
        if (code === 0) {
          if (unit === RIGHT_TO_LEFT) hint = HIDDEN
          else if (unit === ANSI && state !== 0) peekAt(at, state)
          continue
        }
        if (code >= EXPANDED_FLAG) {
          const codes = expandFold(code)
          for (const [index, foldedCode] of codes.entries()) {
            state = step(state, foldedCode)
            if (isEnd.has(state)) onEnd(state, at + 1, index < codes.length - 1)
          }
          continue
        }
        if (state === 0 && table[columns[code] ?? 0] === 0 && (unit < 0xd800 || unit > 0xdfff)) isIdle[unit] = 1
      }
      const before = state
      state = table[state + (columns[code] ?? 0)] ?? 0
      if (state < 0) {
        state = ~state
        if (isMarkup[code] === 1) peekAt(at, before)
        if (isEnd.has(state)) onEnd(state, at + 1, false)
      }
    }
    return state
  }

  return {
    scan,
    hasPhrases,
    getDepth,
    /** Returns what the last scan has noticed. */
    getHint: (): Hint => hint,
    /** Lists the words that end in a state, longest first. */
    *listEnds(state: number): Iterable<WordEnd> {
      for (let index = state; index !== 0; index = fallbacks.get(index) ?? 0) yield* endsByState.get(index) ?? []
    },
  }
}

/** Reads the spellings of the words, as the codes of their folded characters. Throws a TypeError for a word without visible characters. */
const readPatterns = (words: readonly string[]): WordPattern[] =>
  words.flatMap((word, index) => {
    const text = word.replace(/^\*|\*$/g, '').trim()
    if (readLetters(text).length === 0)
      throw new TypeError(`words().words[${index}] has no visible characters to find.`)
    const boundaries = {
      opensWord: !word.startsWith('*') && isLetter(text.at(0)),
      closesWord: !word.endsWith('*') && isLetter(text.at(-1)),
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

/** Whether markup or escapes hide a word: not, maybe with the text that follows, or maybe. */
type Hint = typeof CLEAR | typeof UNFINISHED | typeof HIDDEN
const CLEAR = 0
const UNFINISHED = 1
const HIDDEN = 2

/** Reads a character: its folded code, and its length. */
function readUnit(text: string, at: number): { code: number; length: number } {
  const code = text.charCodeAt(at) || 0
  const pair = code >= 0xd800 && code <= 0xdbff ? foldPair(code, text.charCodeAt(at + 1) || 0) : undefined
  const folded = pair ?? (code === RIGHT_TO_LEFT ? code : foldCode(code))
  return { code: folded >= EXPANDED_FLAG ? (expandFold(folded)[0] ?? 0) : folded, length: pair === undefined ? 1 : 2 }
}
const NOTHING = { code: 0, length: 0 }

/** Returns the index that is `length` folded characters before `end`. */
function findStart(text: string, end: number, length: number): number {
  let position = end
  let isSpace = false
  for (let remaining = length; position > 0; ) {
    const code = text.charCodeAt(position - 1)
    const pair =
      code >= 0xdc00 && code <= 0xdfff && position > 1 ? foldPair(text.charCodeAt(position - 2), code) : undefined
    const folded = pair ?? foldCode(code)
    const isRepeated = isSpace && folded === 0x20
    if (remaining <= 0 && !isRepeated) break
    position -= pair === undefined ? 1 : 2
    if (folded === 0 || isRepeated) continue
    remaining -= folded >= EXPANDED_FLAG ? expandFold(folded).length : 1
    isSpace = folded === 0x20
  }
  return position
}

function hasLetters(text: string, letters: readonly FoldedLetter[], isOpen: boolean): boolean {
  const found = readLetters(text)
  const last = letters.length - 1
  return (
    found.length !== letters.length ||
    letters.every((letter, at) => isSameLetter(letter, found[at] ?? letter, isOpen && at === last))
  )
}

/** Scripts without spaces have no word boundaries, so their letters don't count. */
const isLetter = (character: string | undefined): boolean =>
  character !== undefined && LETTER_PATTERN.test(character) && !SPACELESS_PATTERN.test(character)
const LETTER_PATTERN = /[\p{L}\p{N}\p{M}]/u
const SPACELESS_PATTERN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** By ASCII code: 1 for characters that begin escapes or markup. */
const isMarkup = new Uint8Array(0x80)
for (const character of MARKUP_STARTS + ESCAPE_STARTS) isMarkup[character.charCodeAt(0)] = 1

const RIGHT_TO_LEFT = 0x202e
const ANSI = 0x1b
const LESS_THAN = 0x3c

function isLetterBefore(text: string, start: number): boolean {
  let position = start - 1
  while (position >= 0 && foldCode(text.charCodeAt(position)) === 0) position--
  return isLetter(text[position])
}

/** Returns the index after the accents and invisible characters that follow a word. */
function findMarksEnd(text: string, end: number): number {
  let position = end
  while (position < text.length && foldCode(text.charCodeAt(position)) === 0) position++
  return position
}

/** The next piece may start with a letter. */
function isLetterAfter(text: string, end: number, isPiece: boolean): boolean {
  const marksEnd = findMarksEnd(text, end)
  return marksEnd < text.length ? isLetter(text[marksEnd]) : isPiece
}
