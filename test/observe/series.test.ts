import { MAX_SERIES } from '../../src/features/observe/measures.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import { metered } from '../gate/support/metered-providers.ts'
import { json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { openObserved, read } from './world.ts'

const test = suite('metric time series')

const TOKEN = 'token-of-the-scrape-0123456789abcdef'
const REQUESTS = process.env.CI ? 40_000 : 1_500

/** Names that clients make up, including malformed versions of the gateway's own. */
const names: ((word: string) => string)[] = [
  (word) => `one/${word}`,
  (word) => word,
  (word) => `${word}/m`,
  (word) => `one/m:${word}`,
  (word) => `one/m ${word}`,
  (word) => ` one/m${' '.repeat(word.length)}`,
  (word) => [...'one/m'].map((letter, index) => (word.charCodeAt(index) % 2 ? letter.toUpperCase() : letter)).join(''),
  (word) => `fast${word}`,
  (word) => `one/${'x/'.repeat(word.length)}m`,
  () => 'one/m',
  () => 'fast',
]
const methods = ['POST', 'POST', 'POST', 'PUT', 'PATCH', 'PROPFIND']
const statuses = [200, 400, 404, 429, 500]

test(`${REQUESTS} requests with random models, keys, paths, methods, and agents add no label values`, {
  timeoutMs: 300_000,
}, async () => {
  const good = metered({}, { tokens: 0 })
  let responses = 0
  const world = await openObserved([prometheus({ token: TOKEN })], (call, index) => {
    const status = statuses[responses++ % statuses.length] ?? 200
    return status === 200 ? good(call, index) : json({ error: { message: `${Math.random()}` } }, status)
  })
  const scrape = async () => {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const text = await read(world.gateway.fetch('http://gateway/metrics', { headers }))
    return text.split('\n').filter((line) => !line.startsWith('#') && !line.startsWith('signalbox_target_state'))
  }

  async function send(index: number): Promise<void> {
    const word = Math.random().toString(36).slice(2)
    const model = names[index % names.length]?.(word) ?? word
    const method = methods[index % methods.length] ?? 'POST'
    const isGemini = index % 7 === 0
    const path = isGemini
      ? `/v1beta/models/${encodeURIComponent(model)}:generateContent?alt=${word}`
      : index % 13 === 0
        ? `/v1/${word}`
        : `/v1/chat/completions?${word}=1`
    const headers: Record<string, string> = { 'content-type': 'application/json', 'user-agent': `agent ${word}` }
    if (index % 3 === 0) headers.authorization = `Bearer sbx_${word}`
    if (index % 5 === 0) headers.traceparent = word
    const body = { model, user: word, stream: index % 4 === 0, [word]: 1, messages: [{ role: 'user', content: word }] }
    const contents = [{ role: 'user', parts: [{ text: word }] }]
    await read(
      world.gateway.fetch(`http://gateway${path}`, {
        method,
        headers,
        body: JSON.stringify(isGemini ? { contents } : body),
      }),
    )
    if (index % 200 === 0) await world.clock.advance(60_000) // ends the cooldowns, so targets are called again
  }

  for (let index = 0; index < 1_000; index++) await send(index)
  const before = await scrape()
  for (let index = 1_000; index < 1_000 + REQUESTS; index++) await send(index)
  const after = await scrape()
  const getLabels = (lines: string[]) => new Set(lines.map((line) => line.slice(0, line.lastIndexOf(' '))))
  const known = getLabels(before)
  assert.equal(
    [...getLabels(after)].filter(
      (value) => !known.has(value) && !/_bucket|error_type|status_code|outcome|reason/.test(value),
    ),
    [],
  )
  assert.ok(after.length < 2_500, `${after.length} lines`)
  assert.ok(after.length < MAX_SERIES.all)
  assert.equal(
    after.filter((line) => /signalbox_metrics_overflow_total\{/.test(line)),
    [],
  )
})
