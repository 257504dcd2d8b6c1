import { type RewrittenText, TextRewriter } from './rewritten-text.ts'

/**
 * Decodes HTML entities and the escapes of JavaScript, JSON, URLs, and Markdown, and drops emphasis and tags in words. Returns `undefined` if there are
 * none. Linear time.
 */
export function decodeMarkup(text: string): RewrittenText | undefined {
  const rewriter = new TextRewriter()
  let position = 0
  for (const { 0: found, 1: letter, index: from } of text.matchAll(MARKUP)) {
    rewriter.add(text.slice(position, from), { from: position, until: from })
    position = from + found.length
    rewriter.add(letter ?? decode(found), { from, until: position, isNew: true })
  }
  if (position === 0) return undefined
  rewriter.add(text.slice(position), { from: position, until: text.length })
  return rewriter.finish()
}

/** The first group is the letter of a name such as `&eacute;`. */
const MARKUP =
  /&#x0*[\da-f]{1,6};?|&#0*\d{1,7};?|&(?:nbsp|shy|zwj|zwnj|amp|lt|gt|quot|lrm|rlm|nobreak|zerowidthspace|invisibletimes|([a-z])(?:acute|grave|circ|uml|tilde|cedil|caron|ring|macr|breve|dot|ogon|strok|slash|scr|fr|opf));|%u[\da-f]{4}|\\u[\da-f]{4}|\\u\{0*[\da-f]{1,6}\}|\\x[\da-f]{2}|%[0-7][\da-f]|%[c-f][\da-f](?:%[89ab][\da-f]){1,3}|\\(?=[!-/:-@[-`{-~])|(?<=[\p{L}\p{N}])(?:\*{1,3}|__|~~|`|<\/?[a-z]{1,10}(?:\s[^<>]{0,200})?\/?>|<!--[^<>]{0,200}-->)+(?=[\p{L}\p{N}])/giu

const NAMED: Readonly<Record<string, string>> = { nbsp: ' ', amp: '&', lt: '<', gt: '>', quot: '"' }

function decode(found: string): string {
  if (/^%[^u]/i.test(found)) {
    try {
      return decodeURIComponent(found)
    } catch {
      return found
    }
  }
  const [, hex, decimal] = /^(?:&#x|%u|\\[ux]\{?)([\da-f]+)|^&#(\d+)/i.exec(found) ?? []
  if (hex !== undefined || decimal !== undefined) {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10_ffff ? String.fromCodePoint(code) : found
  }
  return found.startsWith('&') ? (NAMED[found.slice(1, -1).toLowerCase()] ?? '') : ''
}
