import { charCodeAt } from '../../../lib/char-code-at.ts'
import { type RewrittenText, TextRewriter } from './rewritten-text.ts'

/** Text without its markup. */
export interface PlainText extends RewrittenText {
  /** Where the content of tags, comments, and links starts. It is appended at the end. */
  hiddenStart: number
  /** The first and last positions of unfinished markup that later text may complete. */
  unfinishedPositions: readonly number[]
}

interface Range {
  from: number
  until: number
  /** The number of tags, comments, and links that contain the range. */
  depth: number
}

/**
 * Drops HTML tags and comments, Markdown, TeX, and terminal styles, and rejoins the words that they split. Appends the content of tags,
 * comments, and links if it contains markup too. Returns `undefined` if nothing changes. Runs in linear time.
 */
export function dropMarkup(
  text: string,
  { isPiece = false, tagsAreSpaces = false }: { isPiece?: boolean; tagsAreSpaces?: boolean } = {},
): PlainText | undefined {
  const rewriter = new TextRewriter()
  const hiddenRanges: Range[] = []
  const unfinishedPositions: number[] = []
  let isChanged = false
  const markup = createMarkupReader(text)

  function dropRange({ from, until, depth }: Range) {
    let lastEnd = from
    for (let index = from; index < until; index++) {
      const code = charCodeAt(text, index)
      if (code >= 0x80 || MARKUP_CODES[code] === 0) continue
      if (isPiece && depth === 0 && markup.isUnfinished(index))
        unfinishedPositions[unfinishedPositions.length === 0 ? 0 : 1] = index
      const end = markup.findEnd(index)
      if (end === index || end > until) continue
      if (lastEnd === from && depth > 0) rewriter.add('\n', { from, until: from, isReplacement: true })
      rewriter.add(text.slice(lastEnd, index), { from: lastEnd, until: index })
      if (tagsAreSpaces && code === LESS_THAN) rewriter.add(' ', { from: index, until: end, isReplacement: true })
      if (CONTENT_STARTS.includes(text.charAt(index)) && end - index > MAX_EMPTY_LENGTH && depth < MAX_DEPTH)
        hiddenRanges.push({ from: index + 1, until: end - 1, depth: depth + 1 })
      lastEnd = end
      index = end - 1
    }
    isChanged ||= lastEnd > from
    if (lastEnd > from || depth === 0) rewriter.add(text.slice(lastEnd, until), { from: lastEnd, until })
  }

  dropRange({ from: 0, until: text.length, depth: 0 })
  const hiddenStart = rewriter.length
  for (const range of hiddenRanges) dropRange(range)
  return isChanged || unfinishedPositions.length > 0
    ? { ...rewriter.finish(), hiddenStart, unfinishedPositions }
    : undefined
}

/** Finds markup at a position in a string. */
export interface MarkupReader {
  /** Returns the position after the markup, or `at` if there is none. */
  findEnd(start: number): number
  /** Returns whether later text may complete the markup. */
  isUnfinished(start: number): boolean
}

export function createMarkupReader(text: string): MarkupReader {
  let lastCommentEnd: number | undefined
  const isComment = (start: number) => text.startsWith('<!--', start)
  const isCommentClosed = (start: number) => {
    lastCommentEnd ??= text.lastIndexOf('-->')
    return lastCommentEnd >= start + 2
  }
  return {
    findEnd(start) {
      if (isComment(start) && isCommentClosed(start)) return text.indexOf('-->', start + 2) + 3
      MARKUP_PATTERN.lastIndex = start
      return MARKUP_PATTERN.test(text) ? MARKUP_PATTERN.lastIndex : start
    },
    isUnfinished(start) {
      if (isComment(start)) return !isCommentClosed(start)
      UNFINISHED_MARKUP_PATTERN.lastIndex = start
      return UNFINISHED_MARKUP_PATTERN.test(text)
    },
  }
}

/** The characters that begin markup. */
export const MARKUP_STARTS = "<*_~`^=|+'$[]{}!-\\\u001b"
const MARKUP_CODES = new Uint8Array(0x80)
for (const character of MARKUP_STARTS) MARKUP_CODES[character.charCodeAt(0)] = 1

const LESS_THAN = 0x3c

/** The characters that begin tags, comments, links, and footnotes, whose content is also searched. */
const CONTENT_STARTS = '<[]!'
/** Markup up to this length can't contain nested markup. */
const MAX_EMPTY_LENGTH = 4
const MAX_DEPTH = 3

const joinAlternatives = (...patterns: ReadonlyArray<RegExp | string>) =>
  patterns.map((pattern) => (typeof pattern === 'string' ? pattern : pattern.source)).join('|')

const MARKUP_PATTERN = new RegExp(
  joinAlternatives(
    /<!\[CDATA\[|\]\]>/,
    /<\/?(?:[a-z][\w-]*(?::[a-z][\w-]*)?)?(?:[\s/][^<>"']*(?:(?:"[^"]*"|'[^']*')[^<>"']*){0,20})?>/, // a tag
    /<\/?[a-z][\w-]*(?::[a-z][\w-]*)?[\s/][^<>]*>/, // a tag with an odd quote
    /<[!?][^<>]*>/,
    /\]\((?:[^()\n]|\([^()\n]*\))*\)/, // the rest of a link
    /\]\[\d{0,4}\]|\[\^[^[\]\n]*\]|!(?=\[)/, // parts of a reference, a footnote, and the start of an image
    /\*+|_{2,}|~+|`+|\^+|={2,}|\|{2,}|\+{2,}|'{2,}|\$+|[{}[\]]/,
    /\\(?:text[a-z]*|math[a-z]+|emph|underline|[hm]box|operatorname)\s?\{/,
    /(?<=[^\s-])-\r?\n[ \t]*(?=[^\s-])/, // a hyphen at the end of a line
    '\u001b\\[[\\d;:?]*[a-z]', // a terminal style
  ),
  'iy',
)

const UNFINISHED_MARKUP_PATTERN = new RegExp(
  `(?:${joinAlternatives(
    /<(?:[a-z/!?][^<>]*)?/,
    /<[a-z][^<>"']*(?:(?:"[^"]*"|'[^']*')[^<>"']*){0,20}(?:"[^"]*|'[^']*)?/,
    /\]\((?:[^()\n]|\([^()\n]*\))*(?:\([^()\n]*)?|\]\[\d{0,4}|\[(?:\^[^[\]\n]*)?/,
    /[!_=|+'\]]|\\[a-z]{0,12}\s?|-\r?\n?[ \t]*/,
    '\u001b(?:\\[[\\d;:?]*)?',
  )})$`,
  'iy',
)
