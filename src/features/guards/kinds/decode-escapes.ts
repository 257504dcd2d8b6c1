import { entities } from './entities.ts'
import { type RewrittenText, TextRewriter } from './rewritten-text.ts'

/** Decodes HTML entities and the escapes of JavaScript, JSON, Python, CSS, and URLs. Returns `undefined` if there are none. Linear time. */
export function decodeEscapes(text: string): RewrittenText | undefined {
  const rewriter = new TextRewriter()
  let last = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const pattern =
      code === AMPERSAND ? ENTITY : code === PERCENT ? PERCENT_CODE : code === BACKSLASH ? ESCAPE : undefined
    if (!pattern) continue
    pattern.lastIndex = at
    const found = pattern.exec(text)
    const decoded = found ? decode(found) : undefined
    if (!found || decoded === undefined) continue
    const until = at + found[0].length
    rewriter.add(text.slice(last, at), { from: last, until: at })
    rewriter.add(decoded, { from: at, until, isNew: true })
    last = until
    at = until - 1
  }
  if (last === 0) return undefined
  rewriter.add(text.slice(last), { from: last, until: text.length })
  return rewriter.finish()
}

/** Matches an incomplete escape or half a character at the end of a string, or the end itself. */
export const UNFINISHED_ESCAPE =
  /(?:&(?:amp;|#0*38;|#x0*26;)*[#\w]{0,32}|\\+(?:[ux]\{?[\da-f]{0,6}|U[\da-f]{0,7}|N[{A-Z ]{0,24}|\d{0,6})?|%(?:25)*(?:u[\da-f]{0,3}|[\da-f]?|[c-f][\da-f](?:%[89ab][\da-f]){0,2}(?:%[89ab]?)?)|[\ud800-\udbff])?$/i

const AMPERSAND = 0x26
const PERCENT = 0x25
const BACKSLASH = 0x5c

// The groups are those of `EscapeParts`. `&amp;#115;` and `%2573` are encoded more than once.
const ENTITY =
  /&(?:amp;|#0*38;|#x0*26;)*(?:#x0*(?<hex>[\da-f]{1,6});?|#0*(?<decimal>\d{1,7});?|(?<name>[a-z][a-z\d]{1,30});|(?<legacy>nbsp|shy|amp|lt|gt|quot|[a-z](?:acute|grave|circ|uml|tilde|cedil|ring|slash)))/iy
const PERCENT_CODE = /%(?:25)*(?:u(?<hex>[\da-f]{4})|(?<bytes>[0-7][\da-f]|[c-f][\da-f](?:%[89ab][\da-f]){1,3}))/iy
const ESCAPE =
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
function decode({ groups = {} }: RegExpExecArray): string | undefined {
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

const ACCENTED =
  /^([a-z])(?:acute|grave|circ|uml|tilde|cedil|caron|ring|macr|breve|dot|ogon|strok|slash|dblac|scr|fr|opf)$/i

function decodeName(name: string): string | undefined {
  const known = entities.get(name.toLowerCase())
  if (known === undefined) return ACCENTED.exec(name)?.[1]
  return /^[A-Z]/.test(name) ? known.toUpperCase() : known
}
