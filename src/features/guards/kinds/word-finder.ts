import { foldCode, foldPair } from './fold-text.ts'

/** A match in a text, in UTF-16 code units; `end` is excluded. */
export interface Match {
  readonly start: number
  readonly end: number
  /** The type of the match in capitals, such as `EMAIL`. */
  readonly type: string
}

/** Finds words and phrases. */
export interface WordFinder {
  find(text: string, isPiece: boolean): Match[]
  /** Returns how many characters at the end may begin a match. */
  countUnfinished(text: string): number
}

/**
 * Finds words in any case, in one pass over the text. A `*` at an end matches the rest of a word. Look-alike and styled letters match plain ones, and
 * invisible characters are ignored.
 */
export function createWordFinder(words: readonly string[]): WordFinder {
  const automaton = buildAutomaton(words)

  function addMatches(
    matches: Match[],
    text: string,
    { state, end, isPiece }: { state: number; end: number; isPiece: boolean },
  ) {
    for (const { length, opensWord, closesWord } of automaton.listEnds(state)) {
      const start = findStart(text, end, length)
      if (opensWord && isLetterBefore(text, start)) continue
      if (closesWord && isLetterAfter(text, end, isPiece)) continue
      matches.push({ start, end, type: 'WORD' })
    }
  }

  return {
    find(text, isPiece) {
      const matches: Match[] = []
      automaton.scan(text, (state, end) => addMatches(matches, text, { state, end, isPiece }))
      return matches
    },
    countUnfinished(text) {
      const tail = text.slice(-MAX_TAIL)
      const depth = automaton.getDepth(automaton.scan(tail, () => {}))
      return depth === 0 ? 0 : tail.length - findStart(tail, tail.length, depth)
    },
  }
}

/** The maximum number of characters that are searched for the beginning of a word, including invisible ones. */
const MAX_TAIL = 2_000

interface WordEnd {
  length: number
  /** Whether the word must not follow a letter. */
  opensWord: boolean
  closesWord: boolean
}

/**
 * Builds an Aho-Corasick automaton as a table: one row per state, one column per folded character that the words contain. A state is the index at
 * which its row starts. A next state is negative (`~state`) if a word ends there, so that one test in the loop covers both.
 */
function buildAutomaton(words: readonly string[]) {
  const columns = new Uint16Array(0x1_0000)
  let width = 1
  const patterns = words.map((word) => {
    const text = word.replace(/^\*|\*$/g, '')
    const codes = toCodes(text)
    for (const code of codes) if (columns[code] === 0) columns[code] = width++
    const opensWord = !word.startsWith('*') && isLetter(text.at(0))
    return { codes, opensWord, closesWord: !word.endsWith('*') && isLetter(text.at(-1)) }
  })
  const size = patterns.reduce((sum, { codes }) => sum + codes.length, 1)
  const table = new Int32Array(size * width)
  const depths = new Map<number, number>()
  const own = new Map<number, WordEnd[]>()
  let last = 0
  for (const { codes, ...boundaries } of patterns) {
    let state = 0
    for (const [at, code] of codes.entries()) {
      const cell = state + (columns[code] ?? 0)
      if (table[cell] === 0) {
        last += width
        table[cell] = last
        depths.set(last, at + 1)
      }
      state = table[cell] ?? 0
    }
    if (state !== 0) own.set(state, [...(own.get(state) ?? []), { length: codes.length, ...boundaries }])
  }

  const fallbacks = new Map<number, number>()
  const isEnd = new Set<number>()
  const queue = [...table.subarray(1, width)].filter((state) => state !== 0)
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] ?? 0
    const fallback = fallbacks.get(state) ?? 0
    if (own.has(state) || isEnd.has(fallback)) isEnd.add(state)
    for (let column = 1; column < width; column++) {
      const next = table[state + column] ?? 0
      const other = table[fallback + column] ?? 0
      if (next === 0) table[state + column] = other
      else {
        fallbacks.set(next, other)
        queue.push(next)
      }
    }
  }
  for (const [cell, state] of table.entries()) if (isEnd.has(state)) table[cell] = ~state

  for (let code = 0; code < 0x80; code++) columns[code] = columns[foldCode(code)] ?? 0

  /** Steps through the text, and returns the last state. `onEnd` gets each state in which a word ends, with the index after it. */
  function scan(text: string, onEnd: (state: number, end: number) => void): number {
    let state = 0
    for (let at = 0; at < text.length; at++) {
      let code = text.charCodeAt(at)
      if (code >= 0x80 || code < 0x09) {
        const isPair = code >= 0xd800 && code <= 0xdbff && at + 1 < text.length
        const pair = isPair ? foldPair(code, text.charCodeAt(at + 1)) : undefined
        if (pair !== undefined) at++
        code = pair ?? foldCode(code)
        if (code === 0) continue
      }
      state = table[state + (columns[code] ?? 0)] ?? 0
      if (state < 0) {
        state = ~state
        onEnd(state, at + 1)
      }
    }
    return state
  }

  return {
    scan,
    getDepth: (state: number): number => depths.get(state) ?? 0,
    /** Lists the words that end in a state, the longest first. */
    *listEnds(state: number): Iterable<WordEnd> {
      for (let at = state; at !== 0; at = fallbacks.get(at) ?? 0) yield* own.get(at) ?? []
    },
  }
}

function toCodes(text: string): number[] {
  const codes: number[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const pair = code >= 0xd800 && code <= 0xdbff ? foldPair(code, text.charCodeAt(at + 1)) : undefined
    if (pair !== undefined) at++
    const read = pair ?? foldCode(code)
    if (read !== 0) codes.push(read)
  }
  return codes
}

/** Returns the index that is `length` visible characters before `end`. */
function findStart(text: string, end: number, length: number): number {
  let at = end
  for (let left = length; left > 0 && at > 0; ) {
    at--
    const code = text.charCodeAt(at)
    const pair = code >= 0xdc00 && code <= 0xdfff && at > 0 ? foldPair(text.charCodeAt(at - 1), code) : undefined
    if (pair !== undefined) at--
    if ((pair ?? foldCode(code)) !== 0) left--
  }
  return at
}

const isLetter = (character: string | undefined): boolean => character !== undefined && LETTER.test(character)
const LETTER = /[\p{L}\p{N}\p{M}]/u

function isLetterBefore(text: string, start: number): boolean {
  let at = start - 1
  while (at >= 0 && foldCode(text.charCodeAt(at)) === 0) at--
  return isLetter(text[at])
}

/** The next piece may start with a letter. */
function isLetterAfter(text: string, end: number, isPiece: boolean): boolean {
  let at = end
  while (at < text.length && foldCode(text.charCodeAt(at)) === 0) at++
  return at < text.length ? isLetter(text[at]) : isPiece
}
