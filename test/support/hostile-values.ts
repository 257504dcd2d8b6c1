import fc from 'fast-check'
import type { World } from '../pipeline/support/world.ts'
import { assert } from './suite.ts'

/** Names of properties that every JavaScript object has, or with a special meaning in JavaScript. */
const names = [
  'toString',
  'valueOf',
  '__proto__',
  'length',
  'then',
  'toJSON',
  'constructor',
  'hasOwnProperty',
  'type',
  'id',
  'text',
  'url',
]
/** Values that have broken the gateway before, or are likely to. */
const HOSTILE = [
  ...['{"toString":1}', '{"valueOf":1,"toString":null}', '{"__proto__":{"toString":1}}', '{"toJSON":1}', '{"then":1}'],
  ...[
    '{"length":4294967295}',
    '[{"toString":1}]',
    '{"type":{"toString":1}}',
    '1e400',
    '-1',
    '""',
    '"\\ud800"',
    'null',
    '[[]]',
  ],
]
const leaf = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.constantFrom(
    'null',
    'true',
    'false',
    '0',
    '-1',
    '-0',
    '1.5',
    '1e400',
    '-1e400',
    '12345678901234567890',
    '1e21',
    '5e-324',
    '99999999',
  ),
  fc.constantFrom(
    '""',
    '" "',
    '"x"',
    '"\\ud800"',
    '"\\udc00x"',
    '"\\u0000"',
    '"NaN"',
    '"-1"',
    '"https://x"',
    '"data:,"',
    '"__proto__"',
    '[]',
    '{}',
  ),
  fc.string().map((text) => JSON.stringify(text)),
)
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }).map((list) => `[${list.join(',')}]`),
    fc
      .array(fc.tuple(fc.constantFrom(...names), tie('value')), { maxLength: 3 })
      .map((members) => `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${inner}`).join(',')}}`),
  ),
}))

/** Returns a body's JSON with the values at these positions replaced, at any depth. */
function getText(body: unknown, places: readonly number[], values: readonly string[], at = { nth: 0 }): string {
  const replaced = places.indexOf(at.nth++)
  const found = values[replaced]
  if (replaced >= 0 && found !== undefined) return found
  if (Array.isArray(body)) return `[${body.map((item) => getText(item, places, values, at)).join(',')}]`
  if (typeof body !== 'object' || body === null) return JSON.stringify(body)
  const members = Object.entries(body).map(
    ([name, inner]) => `${JSON.stringify(name)}:${getText(inner, places, values, at)}`,
  )
  return `{${members.join(',')}}`
}

const getSize = (body: unknown): number =>
  typeof body === 'object' && body !== null
    ? Object.values(body).reduce<number>((sum, item) => sum + getSize(item), 1)
    : 1

/**
 * A body, and how to send it. With `isEach`, each position is also tried with each value that is likely to break something. `runs` is the number of
 * random changes.
 */
interface HostileBody {
  at: string
  body: object
  headers?: Record<string, string>
  isEach: boolean
  runs: number
}

/** Checks that no variation of the body causes a 500 or an internal error. */
export const neverFails = (body: HostileBody, world: World): Promise<void> =>
  eachHostile(body, async (text) => {
    const response = await world.post(body.at, text, { headers: body.headers ?? {} })
    await response.text().catch(() => '')
    assert.is.not(response.status, 500, text)
    assert.equal(world.recorded.errors.splice(0).map(String), [], text)
    world.recorded.requests.length = world.recorded.attempts.length = world.recorded.usages.length = 0
  })

/** Calls `check` with variations of the body's JSON in which one to three values are replaced. */
export async function eachHostile(
  { body, isEach, runs }: Pick<HostileBody, 'body' | 'isEach' | 'runs'>,
  check: (text: string) => Promise<void>,
): Promise<void> {
  const most = getSize(body) - 1
  if (isEach)
    for (let index = 1; index <= most; index++)
      for (const value of HOSTILE) await check(getText(body, [index], [value]))
  const place = fc.integer({ min: 1, max: Math.max(1, most) })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(place, value), { minLength: 1, maxLength: 3 }), (changes) =>
      check(
        getText(
          body,
          changes.map(([first]) => first),
          changes.map(([, one]) => one),
        ),
      ),
    ),
    { numRuns: runs },
  )
}
