import * as v from 'valibot'
import type { Condition, Pattern } from '../types.ts'
import { fields } from './fields.ts'
import { closed, noList } from './input.ts'

const PATTERN = 'must be text, a list of texts, true or false'
const TEXTS = 'must be text or a list of texts'
const PATTERNS = 'must be an object of patterns'
const SIZE = 'must be a whole number of bytes'
const MAX_PATTERNS = 100

const texts = v.pipe(
  v.array(fields.patternText, TEXTS),
  v.nonEmpty('must name at least one text'),
  v.maxLength(MAX_PATTERNS, `must not name more than ${MAX_PATTERNS} texts`),
)
const textOrTexts = v.lazy((input) => (Array.isArray(input) ? texts : fields.patternTextOr(TEXTS)))
const pattern = v.lazy((input) =>
  typeof input === 'boolean' ? v.boolean() : Array.isArray(input) ? texts : fields.patternTextOr(PATTERN),
)
const patterns = (name: v.GenericSchema<string>) =>
  v.pipe(
    noList(PATTERNS),
    v.record(name, pattern, PATTERNS),
    v.check<Record<string, Pattern>, string>((named) => Object.keys(named).length > 0, 'must name at least one'),
  )
const headerName = v.pipe(v.string(), v.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is no name of a header'))
const size = v.pipe(v.number(SIZE), v.integer(SIZE), v.minValue(0, SIZE))
const bytes = v.pipe(
  noList(),
  closed({ min: v.exactOptional(size), max: v.exactOptional(size) }),
  v.check(({ min, max }) => min !== undefined || max !== undefined, 'must have "min", "max" or both'),
  v.check(({ min = 0, max = Number.POSITIVE_INFINITY }) => min <= max, 'must have a "min" that is not above "max"'),
)

/** What a request must be like to go to an entry of a combo. */
export const condition = v.pipe(
  noList(),
  closed({
    model: v.exactOptional(textOrTexts),
    bytes: v.exactOptional(bytes),
    stream: v.exactOptional(fields.flag),
    tools: v.exactOptional(fields.flag),
    images: v.exactOptional(fields.flag),
    headers: v.exactOptional(patterns(headerName)),
    metadata: v.exactOptional(patterns(v.string())),
  }),
  v.check<Condition, string>(
    (given) => Object.keys(given).length > 0,
    'must ask for something; leave it out for an entry that is for all requests',
  ),
)
