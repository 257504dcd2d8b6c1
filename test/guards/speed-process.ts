/* Measures a word guard, in a process whose code was optimized for texts of many kinds, and not for those of other test files. */
import { GuardTally } from '../../src/features/guards/guard-tally.ts'
import { guardCall } from '../../src/features/guards/guarded-call.ts'
import { words } from '../../src/features/guards/guards.ts'
import { createWordFinder } from '../../src/features/guards/kinds/word-finder.ts'
import type { Reply } from '../../src/lib/exchange.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { CallRequest } from '../../src/request/call-steps.ts'
import { fakeClock } from '../support/clock.ts'
import { busyMs, cpuMs, roundsUntil } from '../support/cpu-time.ts'

const guards = [words({ name: 'w', words: ['project falcon', 'falcon-*', 'sesame'] })]
/** One and a half times the target of 5 ms, on a machine that parses a megabyte of blocks in `PARSE_MS`. */
const MOST_MS = 7.5
const PARSE_MS = 3.5
const REPEATS = 10 // some systems count time in ticks of 4 ms
const sentence = 'The quick brown fox jumps over the lazy dog again. '

/** Creates a request body with a megabyte of messages. */
function createBody(content: unknown): string {
  const message = JSON.stringify({ role: 'user', content })
  return `{"model":"one/m","messages":[${Array(Math.ceil(1_000_000 / message.length))
    .fill(message)
    .join()}]}`
}

const blocks = createBody([{ type: 'text', text: sentence.slice(0, 50) }])

/** Returns how many times slower this machine is than the machine of `PARSE_MS`, including its other load, but at least 1. */
function measurePace(): number {
  const ms = cpuMs(() => {
    for (let time = 0; time < REPEATS; time++) JSON.parse(blocks)
  })
  return Math.max(1, ms / REPEATS / PARSE_MS)
}

/** Returns how long a guard works on a one-megabyte request, in ms. */
async function measureGuard(text: string, body: JsonObject): Promise<number> {
  const call = {
    exchange: {},
    log: { responseChecks: [] },
    signal: new AbortController().signal,
    request: { call: { endpoint: { operation: { kind: 'llm', name: 'generate' } }, text, body } },
  } as unknown as CallRequest // only the fields that guards read
  const reply: Reply = { status: 200, headers: {} }
  const unused = () => Promise.reject(new Error('not called'))
  const deps = {
    guards,
    clock: fakeClock(),
    basePath: '',
    serve: unused,
    onError: () => {},
    upstream: () => unused,
    tally: new GuardTally(),
    events: { add: () => () => {} },
  }
  const before = busyMs()
  for (let time = 0; time < REPEATS; time++) await guardCall(call, async () => reply, deps)
  return (busyMs() - before) / REPEATS
}

/** Texts of many kinds. V8 optimizes code for the kinds that it has seen first. */
const variedTexts = [
  'Schöne Grüße',
  '日本語テキスト',
  'SES**AM**E',
  'x&#115;esame',
  '𝐒𝐄𝐒𝐀𝐌𝐄',
  '\u202eemases',
  '<b>s</b>esame',
]

/** Returns a text in each representation that V8 has for strings: flat, internalized, sliced, and concatenated. */
function listRepresentations(text: string): string[] {
  const long = text.repeat(5)
  return [
    JSON.parse(JSON.stringify(long)),
    Object.keys({ [long]: 1 })[0] ?? '',
    long.slice(1),
    `${long.slice(2)}${long}`,
  ]
}

const { find, scan, measurePartialMatch } = createWordFinder(['project falcon', 'sesame'])
const texts = variedTexts.flatMap((text) => [text, ...listRepresentations(text)])
for (let time = 0; time < 200; time++)
  for (const text of texts) {
    scan(text, 0)
    find({ text })
    measurePartialMatch(text)
  }

const contents = {
  'long strings': sentence.repeat(400),
  '50-character messages': sentence.slice(0, 50),
  'long strings with escapes': 'one "line"\n'.repeat(2_000),
  '50-character blocks': [{ type: 'text', text: sentence.slice(0, 50) }],
  'single-block messages': [{ type: 'text', text: sentence.repeat(4) }],
  'strings with umlauts': 'Schöne Grüße aus Köln. '.repeat(500),
}

const results: Record<string, number[]> = {}
for (const [title, content] of Object.entries(contents)) {
  const text = createBody(content)
  const body = JSON.parse(text)
  results[title] = await roundsUntil(MOST_MS, async () => {
    const before = measurePace()
    const ms = await measureGuard(text, body)
    return ms / Math.min(before, measurePace())
  })
}
console.log(JSON.stringify(results))
