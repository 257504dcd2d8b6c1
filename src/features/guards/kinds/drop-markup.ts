import { charCodeAt } from '../../../lib/char-code-at.ts'
import { type RewrittenText, TextRewriter } from './rewritten-text.ts'

/** Text without its markup. */
export interface PlainText extends RewrittenText {
  /** Where the content of tags, comments, and links starts. It is appended at the end. */
  hiddenFrom: number
  /** The first and last positions of unfinished markup that later text may complete. */
  unfinished: readonly number[]
}

interface Range {
  from: number
  until: number
  /** The number of tags, comments, and links that contain the range. */
  depth: number
}

/**
 * Drops HTML tags and comments, Markdown, TeX, and terminal styles, so the words that they interrupt become whole. Appends the content of tags,
 * comments, and links if it contains markup too. Returns `undefined` if nothing changes. Runs in linear time.
 */
export function dropMarkup(
  text: string,
  { isPiece = false, tagsAreSpaces = false }: { isPiece?: boolean; tagsAreSpaces?: boolean } = {},
): PlainText | undefined {
  const rewriter = new TextRewriter()
  const hidden: Range[] = []
  const unfinished: number[] = []
  let isChanged = false
  const markup = createMarkupReader(text)

  function drop({ from, until, depth }: Range) {
    let last = from
    for (let at = from; at < until; at++) {
      const code = charCodeAt(text, at)
      if (code >= 0x80 || IS_MARKUP[code] === 0) continue
      if (isPiece && depth === 0 && markup.isUnfinished(at)) unfinished[unfinished.length === 0 ? 0 : 1] = at
      const end = markup.findEnd(at)
      if (end === at || end > until) continue
      if (last === from && depth > 0) rewriter.add('\n', { from, until: from, isNew: true })
      rewriter.add(text.slice(last, at), { from: last, until: at })
      if (tagsAreSpaces && code === LESS_THAN) rewriter.add(' ', { from: at, until: end, isNew: true })
      if (CONTENT_STARTS.includes(text.charAt(at)) && end - at > LONGEST_EMPTY && depth < MAX_DEPTH)
        hidden.push({ from: at + 1, until: end - 1, depth: depth + 1 })
      last = end
      at = end - 1
    }
    isChanged ||= last > from
    if (last > from || depth === 0) rewriter.add(text.slice(last, until), { from: last, until })
  }

  drop({ from: 0, until: text.length, depth: 0 })
  const hiddenFrom = rewriter.length
  for (const range of hidden) drop(range)
  return isChanged || unfinished.length > 0 ? { ...rewriter.finish(), hiddenFrom, unfinished } : undefined
}

/** Finds markup at a position in a string. */
export interface MarkupReader {
  /** Returns the position after the markup, or `at` if there is none. */
  findEnd(at: number): number
  /** Returns whether later text may complete the markup. */
  isUnfinished(at: number): boolean
}

export function createMarkupReader(text: string): MarkupReader {
  let lastCommentEnd: number | undefined
  const isComment = (at: number) => text.startsWith('<!--', at)
  const endsComment = (at: number) => {
    lastCommentEnd ??= text.lastIndexOf('-->')
    return lastCommentEnd >= at + 2
  }
  return {
    findEnd(at) {
      if (isComment(at) && endsComment(at)) return text.indexOf('-->', at + 2) + 3
      MARKUP.lastIndex = at
      return MARKUP.test(text) ? MARKUP.lastIndex : at
    },
    isUnfinished(at) {
      if (isComment(at)) return !endsComment(at)
      UNFINISHED.lastIndex = at
      return UNFINISHED.test(text)
    },
  }
}

/** The characters that begin markup. */
export const MARKUP_STARTS = "<*_~`^=|+'$[]{}!-\\\u001b"
const IS_MARKUP = new Uint8Array(0x80)
for (const character of MARKUP_STARTS) IS_MARKUP[character.charCodeAt(0)] = 1

const LESS_THAN = 0x3c

/** The characters that begin tags, comments, links, and footnotes, whose content is also searched. */
const CONTENT_STARTS = '<[]!'
/** Markup up to this length can't contain nested markup. */
const LONGEST_EMPTY = 4
const MAX_DEPTH = 3

const alternatives = (...patterns: ReadonlyArray<RegExp | string>) =>
  patterns.map((pattern) => (typeof pattern === 'string' ? pattern : pattern.source)).join('|')

const MARKUP = new RegExp(
  alternatives(
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

const UNFINISHED = new RegExp(
  `(?:${alternatives(
    /<(?:[a-z/!?][^<>]*)?/,
    /<[a-z][^<>"']*(?:(?:"[^"]*"|'[^']*')[^<>"']*){0,20}(?:"[^"]*|'[^']*)?/,
    /\]\((?:[^()\n]|\([^()\n]*\))*(?:\([^()\n]*)?|\]\[\d{0,4}|\[(?:\^[^[\]\n]*)?/,
    /[!_=|+'\]]|\\[a-z]{0,12}\s?|-\r?\n?[ \t]*/,
    '\u001b(?:\\[[\\d;:?]*)?',
  )})$`,
  'iy',
)
