import type { GuardPart } from '../guard.ts'
import { FOUND, type TextScreen, UNCLEAR } from '../text-screen.ts'
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
import type { RewrittenText } from './rewritten-text.ts'
import { buildAutomaton, CLEAR, HIDDEN, isLetter } from './word-automaton.ts'

/** A match in a string, in UTF-16 code units; `end` is exclusive. */
export interface Match {
  readonly start: number
  readonly end: number
  /** The match's type in capitals, such as `EMAIL`. */
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

  /** Finds words in a string or in one of its views. `isHidden` is set if other views may contain more. */
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

/** Maximum number of visible characters to search for the beginning of a word. */
const MAX_TAIL = 1_000

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

/** Returns whether a letter follows. Also returns `true` at the end of a piece, because the next piece may start with a letter. */
function isLetterAfter(text: string, end: number, isPiece: boolean): boolean {
  const marksEnd = findMarksEnd(text, end)
  return marksEnd < text.length ? isLetter(text[marksEnd]) : isPiece
}
