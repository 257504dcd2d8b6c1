import { decodeEscapes, UNFINISHED_ESCAPE } from './decode-escapes.ts'
import { dropMarkup } from './drop-markup.ts'
import { foldText } from './fold-text.ts'
import { composeTexts, type RewrittenText, TextRewriter } from './rewritten-text.ts'
import type { Match } from './word-finder.ts'

/**
 * Lists the ways to read a string other than as plain text: with escapes decoded, without markup, and with reversed text. With `hasPhrases`, also
 * with spaces in place of tags.
 */
export function* listViews(text: string, hasPhrases = true): Generator<RewrittenText> {
  let decoded: RewrittenText | undefined
  for (decoded of listDecoded(text)) yield decoded
  const last = decoded ?? { text, toOriginal: (index, isEnd) => index + (isEnd ? 1 : 0) }
  const reversed = reverseOverridden(last.text)
  if (reversed) yield composeTexts(last, reversed)
  const plain = dropMarkup(last.text)
  if (plain) yield composeTexts(last, plain)
  const undecoded = decoded && dropMarkup(text)
  if (undecoded) yield undecoded
  const spaced = hasPhrases && last.text.includes('<') && dropMarkup(last.text, { tagsAreSpaces: true })
  if (spaced) yield composeTexts(last, spaced)
}

/** Decodes escapes layer by layer, because an escape may itself be escaped. */
function* listDecoded(text: string): Generator<RewrittenText> {
  let decoded: RewrittenText | undefined
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = decodeEscapes(decoded?.text ?? text)
    if (!next) return
    decoded = decoded ? composeTexts(decoded, next) : next
    yield decoded
  }
}

const MAX_ROUNDS = 5

/**
 * Finds matches in a string as written and as it reads without invisible characters, accents, look-alike and styled characters, markup, and escapes.
 * Matches may overlap.
 */
export function findHidden(text: string, find: (text: string) => Match[]): Match[] {
  const matches = find(text)
  const add = (view: RewrittenText) => {
    for (const { start, end, type } of find(view.text))
      matches.push({ start: view.toOriginal(start), end: view.toOriginal(end - 1, true), type })
  }
  const folded = foldText(text)
  if (folded && folded.text !== text) add(folded)
  for (const view of listViews(text)) {
    add(view)
    const inner = foldText(view.text)
    if (inner && inner.text !== view.text) add(composeTexts(view, inner))
  }
  return matches
}

/**
 * Returns how many characters at the end of a string could start a match, including those in incomplete markup or escapes. `count` counts them in
 * plain text.
 */
export function countHidden(text: string, count: (text: string) => number): number {
  const tail = text.slice(-MAX_TAIL)
  let most = count(text)
  const hold = (start: number) => {
    most = Math.max(most, tail.length - start)
  }
  const holdView = (view: RewrittenText, end: number) => {
    const found = count(view.text.slice(0, end))
    if (found > 0) hold(view.toOriginal(end - found))
  }
  function holdMarkup({ text: read, toOriginal }: RewrittenText) {
    const view = { text: read.slice(0, read.search(UNFINISHED_ESCAPE)), toOriginal }
    for (const tagsAreSpaces of [false, true]) {
      const plain = dropMarkup(view.text, { isPiece: true, tagsAreSpaces })
      if (!plain) return
      holdView(composeTexts(view, plain), plain.hiddenFrom)
      for (const position of plain.unfinished) {
        const before = dropMarkup(view.text.slice(0, position), { tagsAreSpaces })
        holdView(before ? composeTexts(view, before) : view, before?.hiddenFrom ?? position)
      }
      if (!view.text.includes('<')) return
    }
  }

  /** Holds back a match that may start at the end of the view, and the last escape if later text may complete it. */
  function holdEnd(view: RewrittenText) {
    const { text: read } = view
    const override = read.lastIndexOf(RIGHT_TO_LEFT)
    if (override !== -1 && !OVERRIDE_END.test(read.slice(override))) hold(view.toOriginal(override))
    const escapeAt = read.search(UNFINISHED_ESCAPE)
    holdView(view, read.length)
    if (escapeAt === read.length) return
    hold(view.toOriginal(escapeAt))
    holdView(view, escapeAt)
  }

  const unchanged: RewrittenText = { text: tail, toOriginal: (index, isEnd) => index + (isEnd ? 1 : 0) }
  let decoded = unchanged
  holdEnd(unchanged)
  holdMarkup(unchanged)
  for (decoded of listDecoded(tail)) holdEnd(decoded)
  if (decoded !== unchanged) holdMarkup(decoded)
  const reversed = reverseOverridden(decoded.text)
  if (reversed) holdView(composeTexts(decoded, reversed), reversed.text.length)
  return most
}

/** Returns a `count` for `countHidden` that also looks at the folded string. */
export const countFolded =
  (count: (text: string) => number) =>
  (text: string): number => {
    const folded = foldText(text)
    const found = folded ? count(folded.text) : 0
    return Math.max(count(text), folded && found > 0 ? text.length - folded.toOriginal(folded.text.length - found) : 0)
  }

/** Maximum length of markup within a word that a stream holds back, in characters. */
const MAX_TAIL = 10_000

/** Reverses the text after right-to-left overrides, as it is displayed. Returns `undefined` if there is none. */
function reverseOverridden(text: string): RewrittenText | undefined {
  if (!text.includes(RIGHT_TO_LEFT)) return undefined
  const rewriter = new TextRewriter()
  let last = 0
  for (const { 0: found, index } of text.matchAll(OVERRIDDEN)) {
    rewriter.add(text.slice(last, index), { from: last, until: index })
    last = index + found.length
    rewriter.add(Array.from(found).reverse().join(''), { from: index, until: last, isNew: true })
  }
  rewriter.add(text.slice(last), { from: last, until: text.length })
  return rewriter.finish()
}

const RIGHT_TO_LEFT = '\u202e'
const OVERRIDDEN = /\u202e[^\u202c\n]*/g
const OVERRIDE_END = /[\u202c\n]/
