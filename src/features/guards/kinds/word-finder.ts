import type { GuardPart } from '../guard.ts'
import { FOUND, type TextScreen, UNCLEAR } from '../text-screen.ts'
import { listViews, measureHidden } from './find-hidden.ts'
import {
  EXPANDED_FLAG,
  expandFold,
  type FoldedLetter,
  foldCode,
  foldPair,
  matchesLetter,
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
  measurePartialMatch(text: string): number
  readonly scan: TextScreen['scan']
}

/**
 * Finds words in linear time, ignoring case. A `*` at either end matches the rest of a word, and a space matches any whitespace. Look-alike, styled,
 * and accented letters match plain ones. Invisible characters are ignored, as are markup and escapes within a string.
 */
export function createWordFinder(words: readonly string[]): WordFinder {
  const automaton = buildAutomaton(words)
  let hasMatch = false
  const recordMatch = () => {
    hasMatch = true
  }

  /** Finds words in a string or in one of its views. `isHidden` is set if other views may contain more. */
  function findInView(
    { text, isPiece = false, starts = [] }: SearchedText,
    view?: RewrittenText,
  ): { matches: Match[]; isHidden: boolean } {
    const viewText = view?.text ?? text
    const boundaries = new Set(starts)
    const matches: Match[] = []
    let hasMatchInsideWord = false
    automaton.scan(viewText, (state, end, isInside) => {
      for (const { length, startsAtBoundary, endsAtBoundary, letters } of automaton.listEnds(state)) {
        const start = findStart(viewText, end, length)
        const from = view?.toOriginal(start) ?? start
        const until = view?.toOriginal(end - 1, true) ?? end
        const isAfterLetter = isLetterBefore(viewText, start) && (!view || isLetterBefore(text, from))
        const isBeforeLetter =
          isInside || (isLetterAfter(viewText, end, isPiece) && (!view || isLetterAfter(text, until, isPiece)))
        const isInsideWord =
          (startsAtBoundary && isAfterLetter && !boundaries.has(from)) ||
          (endsAtBoundary && isBeforeLetter && !boundaries.has(until))
        hasMatchInsideWord ||= isInsideWord
        if (isInsideWord) continue
        if (letters && !matchesLetters(viewText.slice(start, findMarksEnd(viewText, end)), letters, !endsAtBoundary))
          continue
        matches.push({ start: from, end: until, type: 'WORD' })
      }
    })
    return { matches, isHidden: hasMatchInsideWord || automaton.getHint() === HIDDEN }
  }

  function measurePlain(text: string): number {
    const tail = text.slice(findStart(text, text.length, MAX_TAIL_LENGTH))
    const depth = automaton.getDepth(automaton.scan(tail, () => {}))
    return depth === 0 ? 0 : tail.length - findStart(tail, tail.length, depth)
  }

  return {
    scan(text, from) {
      hasMatch = false
      const state = automaton.scan(text, recordMatch, from)
      if (hasMatch) return FOUND
      const hint = automaton.getHint()
      if (hint === CLEAR) return state
      if (hint === HIDDEN)
        for (const view of listViews(text, automaton.hasPhrases)) {
          automaton.scan(view.text, recordMatch, from)
          if (hasMatch) return FOUND
        }
      return UNCLEAR
    },
    find(part) {
      const { matches, isHidden } = findInView(part)
      if (!isHidden) return matches
      const matchStarts = new Set(matches.map(({ start }) => start))
      for (const view of listViews(part.text, automaton.hasPhrases))
        for (const match of findInView(part, view).matches)
          if (matchStarts.size !== matchStarts.add(match.start).size) matches.push(match)
      return matches
    },
    measurePartialMatch: (text) => measureHidden(text, measurePlain),
  }
}

/** Maximum number of visible characters to search for the beginning of a word. */
const MAX_TAIL_LENGTH = 1_000

/** Returns the index that is `length` folded characters before `end`. */
function findStart(text: string, end: number, length: number): number {
  let position = end
  let isSpace = false
  for (let remaining = length; position > 0; ) {
    const code = text.charCodeAt(position - 1)
    const pair =
      code >= 0xdc00 && code <= 0xdfff && position > 1 ? foldPair(text.charCodeAt(position - 2), code) : undefined
    const foldedCode = pair ?? foldCode(code)
    const isRepeated = isSpace && foldedCode === 0x20
    if (remaining <= 0 && !isRepeated) break
    position -= pair === undefined ? 1 : 2
    if (foldedCode === 0 || isRepeated) continue
    remaining -= foldedCode >= EXPANDED_FLAG ? expandFold(foldedCode).length : 1
    isSpace = foldedCode === 0x20
  }
  return position
}

function matchesLetters(text: string, letters: readonly FoldedLetter[], isOpenEnded: boolean): boolean {
  const textLetters = readLetters(text)
  const lastIndex = letters.length - 1
  return (
    textLetters.length !== letters.length ||
    letters.every((letter, index) =>
      matchesLetter(letter, textLetters[index] ?? letter, isOpenEnded && index === lastIndex),
    )
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
