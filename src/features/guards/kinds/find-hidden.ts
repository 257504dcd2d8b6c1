import { decodeEscapes, UNFINISHED_ESCAPE_PATTERN } from './decode-escapes.ts'
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
  for (decoded of listDecodedViews(text)) yield decoded
  const decodedView = decoded ?? { text, toOriginal: (index, isEnd) => index + (isEnd ? 1 : 0) }
  const reversedView = reverseOverridden(decodedView.text)
  if (reversedView) yield composeTexts(decodedView, reversedView)
  const plainView = dropMarkup(decodedView.text)
  if (plainView) yield composeTexts(decodedView, plainView)
  const undecodedView = decoded && dropMarkup(text)
  if (undecodedView) yield undecodedView
  const spacedView =
    hasPhrases && decodedView.text.includes('<') && dropMarkup(decodedView.text, { tagsAreSpaces: true })
  if (spacedView) yield composeTexts(decodedView, spacedView)
}

/** Decodes escapes layer by layer, because an escape may itself be escaped. */
function* listDecodedViews(text: string): Generator<RewrittenText> {
  let decoded: RewrittenText | undefined
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const nextLayer = decodeEscapes(decoded?.text ?? text)
    if (!nextLayer) return
    decoded = decoded ? composeTexts(decoded, nextLayer) : nextLayer
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
  const addMatches = (view: RewrittenText) => {
    for (const { start, end, type } of find(view.text))
      matches.push({ start: view.toOriginal(start), end: view.toOriginal(end - 1, true), type })
  }
  const foldedText = foldText(text)
  if (foldedText && foldedText.text !== text) addMatches(foldedText)
  for (const view of listViews(text)) {
    addMatches(view)
    const foldedView = foldText(view.text)
    if (foldedView && foldedView.text !== view.text) addMatches(composeTexts(view, foldedView))
  }
  return matches
}

/**
 * Returns how many characters at the end of a string could start a match, including those in incomplete markup or escapes. `count` counts them in
 * plain text.
 */
export function measureHidden(text: string, count: (text: string) => number): number {
  const tail = text.slice(-MAX_TAIL_LENGTH)
  let longest = count(text)
  const holdFrom = (start: number) => {
    longest = Math.max(longest, tail.length - start)
  }
  const holdView = (view: RewrittenText, end: number) => {
    const matchLength = count(view.text.slice(0, end))
    if (matchLength > 0) holdFrom(view.toOriginal(end - matchLength))
  }
  function holdMarkup({ text: viewText, toOriginal }: RewrittenText) {
    const view = { text: viewText.slice(0, viewText.search(UNFINISHED_ESCAPE_PATTERN)), toOriginal }
    for (const tagsAreSpaces of [false, true]) {
      const plainView = dropMarkup(view.text, { isPiece: true, tagsAreSpaces })
      if (!plainView) return
      holdView(composeTexts(view, plainView), plainView.hiddenStart)
      for (const position of plainView.unfinishedPositions) {
        const precedingView = dropMarkup(view.text.slice(0, position), { tagsAreSpaces })
        holdView(precedingView ? composeTexts(view, precedingView) : view, precedingView?.hiddenStart ?? position)
      }
      if (!view.text.includes('<')) return
    }
  }

  /** Holds back a match that may start at the end of the view, and the last escape if later text may complete it. */
  function holdEnd(view: RewrittenText) {
    const { text: viewText } = view
    const overrideIndex = viewText.lastIndexOf(RIGHT_TO_LEFT)
    if (overrideIndex !== -1 && !OVERRIDE_END_PATTERN.test(viewText.slice(overrideIndex)))
      holdFrom(view.toOriginal(overrideIndex))
    const escapeIndex = viewText.search(UNFINISHED_ESCAPE_PATTERN)
    holdView(view, viewText.length)
    if (escapeIndex === viewText.length) return
    holdFrom(view.toOriginal(escapeIndex))
    holdView(view, escapeIndex)
  }

  const originalView: RewrittenText = { text: tail, toOriginal: (index, isEnd) => index + (isEnd ? 1 : 0) }
  let decodedView = originalView
  holdEnd(originalView)
  holdMarkup(originalView)
  for (decodedView of listDecodedViews(tail)) holdEnd(decodedView)
  if (decodedView !== originalView) holdMarkup(decodedView)
  const reversedView = reverseOverridden(decodedView.text)
  if (reversedView) holdView(composeTexts(decodedView, reversedView), reversedView.text.length)
  return longest
}

/** Returns a `count` for `measureHidden` that also looks at the folded string. */
export const measureFolded =
  (count: (text: string) => number) =>
  (text: string): number => {
    const folded = foldText(text)
    const matchLength = folded ? count(folded.text) : 0
    return Math.max(
      count(text),
      folded && matchLength > 0 ? text.length - folded.toOriginal(folded.text.length - matchLength) : 0,
    )
  }

/** Maximum length of markup within a word that a stream holds back, in characters. */
const MAX_TAIL_LENGTH = 10_000

/** Reverses the text after right-to-left overrides, as it is displayed. Returns `undefined` if there is none. */
function reverseOverridden(text: string): RewrittenText | undefined {
  if (!text.includes(RIGHT_TO_LEFT)) return undefined
  const rewriter = new TextRewriter()
  let lastEnd = 0
  for (const { 0: overriddenText, index } of text.matchAll(OVERRIDDEN_TEXT_PATTERN)) {
    rewriter.add(text.slice(lastEnd, index), { from: lastEnd, until: index })
    lastEnd = index + overriddenText.length
    rewriter.add(Array.from(overriddenText).reverse().join(''), { from: index, until: lastEnd, isReplacement: true })
  }
  rewriter.add(text.slice(lastEnd), { from: lastEnd, until: text.length })
  return rewriter.finish()
}

const RIGHT_TO_LEFT = '\u202e'
const OVERRIDDEN_TEXT_PATTERN = /\u202e[^\u202c\n]*/g
const OVERRIDE_END_PATTERN = /[\u202c\n]/
