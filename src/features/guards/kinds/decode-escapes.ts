import { entities } from './entities.ts'
import { type RewrittenText, TextRewriter } from './rewritten-text.ts'

/** Decodes HTML entities and the escapes of JavaScript, JSON, Python, CSS, and URLs, in linear time. Returns `undefined` if there are none. */
export function decodeEscapes(text: string): RewrittenText | undefined {
  const rewriter = new TextRewriter()
  let lastEnd = 0
  for (let index = 0; index < text.length; index++) {
    const escapeSequence = readEscape(text, index)
    if (!escapeSequence) continue
    rewriter.add(text.slice(lastEnd, index), { from: lastEnd, until: index })
    rewriter.add(escapeSequence.decoded, { from: index, until: escapeSequence.end, isReplacement: true })
    lastEnd = escapeSequence.end
    index = lastEnd - 1
  }
  if (lastEnd === 0) return undefined
  rewriter.add(text.slice(lastEnd), { from: lastEnd, until: text.length })
  return rewriter.finish()
}

/** Reads the escape that begins at a position. */
export function readEscape(text: string, start: number): { decoded: string; end: number } | undefined {
  const code = text.charCodeAt(start)
  const pattern =
    code === AMPERSAND
      ? ENTITY_PATTERN
      : code === PERCENT
        ? PERCENT_CODE_PATTERN
        : code === BACKSLASH
          ? BACKSLASH_ESCAPE_PATTERN
          : undefined
  if (!pattern) return undefined
  pattern.lastIndex = start
  const match = pattern.exec(text)
  const decoded = match ? decodeMatch(match) : undefined
  return match && decoded !== undefined ? { decoded, end: start + match[0].length } : undefined
}

/** Returns whether an escape may begin at a position. Faster than `readEscape`. */
export function mayStartEscape(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  const nextCode = text.charCodeAt(index + 1)
  if (code === AMPERSAND) return nextCode === HASH || isLetter(nextCode)
  if (code === PERCENT) return isHex(nextCode) || nextCode === LOWER_U || nextCode === UPPER_U
  return code === BACKSLASH && (isDigit(nextCode) || nextCode === BACKSLASH || 'uxUN'.includes(text.charAt(index + 1)))
}

/** Returns whether an escape that ends at this position decodes to the start of another escape. */
export function mayBeDoubleEscaped(decoded: string, text: string, end: number): boolean {
  if (!ESCAPE_STARTS.includes(decoded)) return false
  const candidate = decoded + text.slice(end, end + MAX_NAME_LENGTH)
  return (
    readEscape(candidate, 0) !== undefined ||
    isUnfinishedEscape(candidate, 0) ||
    ESCAPE_STARTS.includes(text.charAt(end))
  )
}

/** Returns whether later text may complete the escape at a position. */
export function isUnfinishedEscape(text: string, start: number): boolean {
  STICKY_UNFINISHED_PATTERN.lastIndex = start
  return STICKY_UNFINISHED_PATTERN.test(text)
}

/** The characters that begin escapes. */
export const ESCAPE_STARTS = '&%\\'
const MAX_NAME_LENGTH = 40

/** Matches an incomplete escape or half a surrogate pair at the end of a string, or else the end itself. */
export const UNFINISHED_ESCAPE_PATTERN =
  /(?:&(?:amp;|#0*38;|#x0*26;)*[#\w]{0,32}|\\{1,64}(?:[ux]\{?[\da-f]{0,6}|U[\da-f]{0,7}|N[{A-Z ]{0,24}|\d{0,6})?|%(?:25)*(?:u[\da-f]{0,3}|[\da-f]?|[c-f][\da-f](?:%[89ab][\da-f]){0,2}(?:%[89ab]?)?)|[\ud800-\udbff])?$/i
const STICKY_UNFINISHED_PATTERN = new RegExp(UNFINISHED_ESCAPE_PATTERN.source, 'iy')

const AMPERSAND = 0x26
const PERCENT = 0x25
const BACKSLASH = 0x5c
const HASH = 0x23
const LOWER_U = 0x75
const UPPER_U = 0x55
const isDigit = (code: number) => code >= 0x30 && code <= 0x39
const isLetter = (code: number) => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
const isHex = (code: number) => isDigit(code) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66)

// The groups are the fields of `EscapeParts`. `&amp;#115;` and `%2573` are encoded more than once.
const ENTITY_PATTERN =
  /&(?:amp;|#0*38;|#x0*26;)*(?:#x0*(?<hex>[\da-f]{1,6});?|#0*(?<decimal>\d{1,7});?|(?<name>[a-z][a-z\d]{1,30});|(?<legacy>nbsp|shy|amp|lt|gt|quot|[a-z](?:acute|grave|circ|uml|tilde|cedil|ring|slash)))/iy
const PERCENT_CODE_PATTERN =
  /%(?:25)*(?:u(?<hex>[\da-f]{4})|(?<bytes>[0-7][\da-f]|[c-f][\da-f](?:%[89ab][\da-f]){1,3}))/iy
const BACKSLASH_ESCAPE_PATTERN =
  /\\+(?:u(?<hex>[\da-fA-F]{4})|[ux]\{0*(?<braced>[\da-fA-F]{1,6})\}|x(?<short>[\da-fA-F]{2})|U00(?<long>[\da-fA-F]{6})|N\{LATIN (?:SMALL|CAPITAL) LETTER (?<letter>[A-Z])\}|0{4}(?<padded>[2-7][\da-fA-F])|(?<octal>[01][0-7]{2})|(?<css>[2-7][\da-fA-F])(?: |(?![\da-fA-F]))|(?<space>[nrtvfb0])|(?<none>(?=[!-/:-@[-`{-~])))/y

type EscapeParts = Partial<
  Record<
    | 'hex'
    | 'decimal'
    | 'name'
    | 'legacy'
    | 'bytes'
    | 'braced'
    | 'short'
    | 'long'
    | 'letter'
    | 'octal'
    | 'padded'
    | 'css'
    | 'space'
    | 'none',
    string
  >
>

/** Returns `undefined` if the match isn't an escape after all. */
function decodeMatch({ groups = {} }: RegExpExecArray): string | undefined {
  const {
    hex,
    decimal,
    name,
    legacy,
    bytes,
    braced,
    short,
    long,
    letter,
    octal,
    padded,
    css,
    space,
    none,
  }: EscapeParts = groups
  if (letter !== undefined) return letter
  if (space !== undefined) return ' '
  if (none !== undefined) return ''
  if (name !== undefined || legacy !== undefined) return decodeName(name ?? legacy ?? '')
  if (bytes !== undefined) return decodeBytes(bytes)
  const digits = hex ?? braced ?? short ?? long ?? padded ?? css
  const code = Number.parseInt(
    digits ?? decimal ?? octal ?? '',
    digits === undefined ? (decimal === undefined ? 8 : 10) : 16,
  )
  return code <= 0x10_ffff ? String.fromCodePoint(code) : undefined
}

function decodeBytes(bytes: string): string | undefined {
  try {
    return decodeURIComponent(`%${bytes}`)
  } catch {
    return undefined
  }
}

const ACCENTED_ENTITY_PATTERN =
  /^([a-z])(?:acute|grave|circ|uml|tilde|cedil|caron|ring|macr|breve|dot|ogon|strok|slash|dblac|scr|fr|opf)$/i

function decodeName(name: string): string | undefined {
  const entity = entities.get(name.toLowerCase())
  if (entity === undefined) return ACCENTED_ENTITY_PATTERN.exec(name)?.[1]
  return /^[A-Z]/.test(name) ? entity.toUpperCase() : entity
}
