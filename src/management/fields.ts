import * as v from 'valibot'
import { kinds, strategies, wireFormats } from '../lib/unions.ts'
import type { Strategy } from '../types.ts'

/** The schemas of single fields that several resources share. Lengths are in UTF-16 units. */
export const fields = {
  text: v.string(notText),
  flag: v.boolean('must be true or false'),
  kind: oneOf(kinds),
  strategy: oneOf(strategies),
  format: oneOf(wireFormats),
  /** A name of 1 to 200 characters, trimmed. */
  name: trimmed(200),
  /** A model's name or id of 1 to 512 characters, trimmed. */
  model: trimmed(512),
  /** The two as parts of a path, which cannot be `.` or `..`. */
  nameInPath: v.pipe(trimmed(200), notDots()),
  modelInPath: v.pipe(trimmed(512), notDots()),
  /** The id of a record that a host has chosen; it stands in paths. */
  recordId: v.pipe(
    v.string(notText),
    v.regex(/^[\w.-]{1,200}$/, 'must be 1 to 200 letters, digits, ".", "_" or "-"'),
    notDots(),
  ),
  /** A model's name where an object with a model may stand as well. */
  modelOrObject: trimmed(512, 'must be text, or an object with "model"'),
  /** Text that values are compared with, as it is. */
  patternText: pattern(notText),
  patternTextOr: pattern,
  /** Text that may be blank and stays as it is. */
  raw: (maxLength: number) => v.pipe(v.string(notText), ...bounds(maxLength)),
  /** Sent back by clients that change what they have read, and ignored. */
  ignored: v.exactOptional(v.unknown()),
  /** Shown, and always refused. */
  notYet: v.exactOptional(v.never('cannot be changed yet; leave it out')),
}

function trimmed(maxLength: number, message: string | typeof notText = notText) {
  return v.pipe(v.string(message), v.trim(), v.nonEmpty('must not be blank'), ...bounds(maxLength))
}

const STICKY_LIMIT = 'must be a whole number from 1 to 1000'

/** So many requests in a row. */
export const stickyLimit = v.pipe(
  v.number(STICKY_LIMIT),
  v.integer(STICKY_LIMIT),
  v.minValue(1, STICKY_LIMIT),
  v.maxValue(1_000, STICKY_LIMIT),
)

const OF_CONNECTIONS = [
  'fallback',
  'round-robin',
  'weighted',
  'random',
  'least-latency',
  'least-cost',
  'least-busy',
  'sticky',
] as const satisfies Strategy[]

/** Connections of a provider all weigh and cost the same. They bring no conditions to choose by. */
export const connectionStrategy = v.picklist(OF_CONNECTIONS, ({ input }) =>
  input === 'conditional'
    ? 'cannot be "conditional": connections have no conditions. Give the entries of a combo a "when", and choose another one here'
    : choice(OF_CONNECTIONS),
)

/** Control characters and line breaks forge log lines and displays; half a surrogate pair is no text at all. */
function bounds(maxLength: number) {
  return [
    v.maxLength<string, number, string>(maxLength, `must not be longer than ${maxLength} characters`),
    v.check<string, string>((value) => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value), 'must not hold control characters'),
  ] as const
}

function notDots() {
  return v.check<string, string>(
    (value) => !/^\.\.?$/.test(value),
    'must not be "." or "..", which no address can hold',
  )
}

function pattern(message: string | typeof notText) {
  return v.pipe(v.string(message), v.nonEmpty('must not be empty'), ...bounds(512))
}

function choice(options: readonly string[]): string {
  return `must be one of ${options.map((option) => `"${option}"`).join(', ')}`
}

function oneOf<const Options extends readonly string[]>(options: Options) {
  return v.picklist(options, choice(options))
}

function notText(issue: v.StringIssue): string {
  return issue.input === undefined ? 'must not be blank' : 'must be text'
}
