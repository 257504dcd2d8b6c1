/** The wait that a sentence asks for, in ms: "try again in 1m30.5s", "Please retry after 59 seconds", "wait 5 minutes before retrying". */
export function waitInWords(text: string): number | undefined {
  const asked = ASKS.exec(text.slice(0, MAX_READ))?.[1]
  if (asked === undefined) return undefined
  let ms = 0
  for (const [, amount, unit = 's'] of asked.matchAll(PART)) ms += Number(amount) * (UNITS[unit.toLowerCase()] ?? 0)
  return ms
}

/** Vendors say it at the beginning. */
const MAX_READ = 2_000

const DURATION = String.raw`\d{1,9}(?:\.\d{1,9})?\s?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z])`
const ASKS = new RegExp(
  String.raw`\b(?:(?:try again|retry(?: your requests?)?) (?:in|after)|resets? in|wait(?: for)?) (${DURATION}(?:,? ?(?:and )?${DURATION}){0,3})`,
  'i',
)
const PART = /(?<![\d.])(\d+(?:\.\d+)?)\s?(milli|ms|[smhd])/gi

const UNITS: Readonly<Record<string, number>> = {
  milli: 1,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
