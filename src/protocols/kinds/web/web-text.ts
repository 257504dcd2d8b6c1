/** Removes inline tags and decodes entities, because vendors send titles and snippets as HTML. */
export function toPlainText(text: unknown): string {
  if (typeof text !== 'string') return ''
  const untaggedText = text.includes('<') ? text.replace(INLINE_TAG_PATTERN, '') : text
  return untaggedText.includes('&') ? untaggedText.replace(ENTITY_PATTERN, decodeEntity) : untaggedText
}

/** Matches only inline tags, because a title may contain `List<String>`. */
const INLINE_TAG_PATTERN = /<\/?(?:a|b|br|code|em|i|mark|p|s|small|span|strong|sub|sup|u|wbr)(?:\s[^<>]{0,500})?\/?>/gi

const ENTITY_PATTERN =
  /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp|hellip|ndash|mdash|lsquo|rsquo|ldquo|rdquo));/gi

function decodeEntity(entity: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return NAMED_ENTITIES[name.toLowerCase()] ?? entity
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
  const isTextCharacter = code >= 32 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isTextCharacter ? String.fromCodePoint(code) : entity
}

const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
}

/**
 * Parses a vendor's date. ISO 8601 stays unchanged. `Nov 3, 2026`, `Tue, 03 Nov 2026 …`, and `3 days ago` become ISO 8601 dates. Returns `undefined`
 * for anything else. `now` is in epoch ms.
 */
export function parseDate(value: unknown, now: number): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_DATE_LENGTH) return undefined
  const text = value.trim().replace(WEEKDAY_PATTERN, '')
  if (/^\d{4}-\d{2}-\d{2}(?:$|[T ])/.test(text)) return Number.isNaN(Date.parse(text)) ? undefined : text
  const relativeDate = RELATIVE_DATE_PATTERN.exec(text)
  if (relativeDate)
    return formatDay(now - parseCount(relativeDate[1]) * (MS_PER_UNIT[(relativeDate[2] ?? '').toLowerCase()] ?? 0))
  if (/^yesterday$/i.test(text)) return formatDay(now - DAY_MS)
  const [, usMonth = '', usDay, usYear] = MONTH_FIRST_PATTERN.exec(text) ?? []
  const [, euDay, euMonth = '', euYear] = DAY_FIRST_PATTERN.exec(text) ?? []
  const month = MONTHS.indexOf((usMonth || euMonth).slice(0, 3).toLowerCase())
  if (month < 0) return undefined
  return formatDay(Date.UTC(Number(usYear ?? euYear), month, Number(usDay ?? euDay)))
}

const MAX_DATE_LENGTH = 60
const WEEKDAY_PATTERN = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}, /i
const DAY_MS = 86_400_000
const MS_PER_UNIT: Readonly<Record<string, number>> = {
  second: 1_000,
  sec: 1_000,
  minute: 60_000,
  min: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
  year: 365 * DAY_MS,
}
const RELATIVE_DATE_PATTERN = /^(an?|\d{1,4}) (second|sec|minute|min|hour|day|week|month|year)s? ago$/i
const parseCount = (word = '') => (/^an?$/i.test(word) ? 1 : Number(word))
const MONTH_FIRST_PATTERN = /^([a-z]{3,9})\.? (\d{1,2}),? (\d{4})(?:,? \d{1,2}:.*)?$/i
const DAY_FIRST_PATTERN = /^(\d{1,2})\.? ([a-z]{3,9})\.?,? (\d{4})(?:,? \d{1,2}:.*)?$/i
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Formats epoch ms as a date (`YYYY-MM-DD`), or returns `undefined` if the time is invalid. */
const formatDay = (ms: number): string | undefined =>
  Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString().slice(0, 10) : undefined

/** Truncates text to a number of characters (code points). */
export function truncateText(
  text: string,
  maxLength = MAX_CHARACTERS,
): { text: string; length: number; truncated: boolean } {
  let length = 0
  let offset = 0
  while (offset < text.length && length < maxLength) {
    offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1
    length++
  }
  return { text: text.slice(0, offset), length, truncated: offset < text.length }
}

/** The default maximum length of a page. */
const MAX_CHARACTERS = 1_000_000

/** Returns the value if it is a string that isn't blank. */
export const getText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined

/** Returns the value if it is a finite, non-negative number. */
export const getAmount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
