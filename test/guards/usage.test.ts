import { memoryStorage } from '../../adapters/storage/memory.ts'
import { judge, words } from '../../src/features/guards/guards.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions, RequestRecord } from '../../src/index.ts'
import { chatChunk, chatResponse } from '../pipeline/support/responses.ts'
import { type Call, fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { WORD } from './world.ts'

const test = suite('usage records of guarded requests')

const TOKEN = 'token-of-the-scrape-0123456789abcdef'
const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 }

/** Opens a gateway with a model and a judge. The judge rejects texts that contain the word, and costs $0.002 per call. */
function open(guards: GatewayOptions['guards'], options: Partial<GatewayOptions> = {}) {
  const upstream = fakeUpstream(({ provider, body }: Call) => {
    const verdict = `{"verdict":"${body.includes(WORD) ? 'refuse' : 'allow'}"}`
    return json({ ...chatResponse(provider === 'judge' ? verdict : 'Hello'), usage })
  })
  const records: RequestRecord[] = []
  const connect = (name: string) => ({
    ...{ provider: name, apiKey: 'k', baseUrl: `https://${name}.test/v1` },
    prices: { m: { input: 1, output: 10 } },
  })
  const gateway = createGateway({
    ...{ storage: memoryStorage(), fetch: upstream, logger: false },
    hooks: { onRequest: (record) => void records.push(record) },
    observe: [prometheus({ token: TOKEN })],
    connections: { one: connect('one'), judge: connect('judge') },
    ...(guards && { guards }),
    ...options,
  })
  const sendText = (content: string, key?: string) =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model: 'one/m', messages: [{ role: 'user', content }] }),
    })
  const findRecord = () => records.find(({ path, model }) => path.endsWith('completions') && model === 'one/m')
  return { gateway, api: gateway.api, upstream, say: sendText, records, findRecord }
}

const noTime = ({ ms, ...entry }: { ms: number }) => entry

test("a rejected request's usage record contains the guard, the stage, and the category", async () => {
  const storage = memoryStorage()
  const guards = [words({ name: 'word', words: [WORD] }), words({ name: 'other', words: ['x'] })]
  const { say, findRecord, api, gateway } = open(guards, { storage })
  assert.is((await say(`Open ${WORD}`)).status, 400)
  const record = findRecord()
  const expected = [{ name: 'word', stage: 'request', verdict: 'refuse', parts: 1, category: 'word' }]
  assert.equal(record?.guards?.slice(0, 1).map(noTime), expected)
  assert.is(record?.servedBy, 'guard')
  const readEntries = async (from: typeof api) =>
    (await from.usage.requests()).requests[0]?.guards?.slice(0, 1).map(noTime)
  assert.equal(await readEntries(api), expected)
  await gateway.close()
  assert.equal(await readEntries(open(undefined, { storage }).api), expected, 'the stored record has the same entries')
})

test("a passing request's usage record contains verdicts from both stages, or none if there are no guards", async () => {
  const { say, findRecord } = open([words({ name: 'word', words: [WORD] })])
  await say('Hello')
  assert.equal(
    findRecord()?.guards?.map(({ name, stage, verdict }) => ({ name, stage, verdict })),
    [
      { name: 'word', stage: 'request', verdict: 'pass' },
      { name: 'word', stage: 'answer', verdict: 'pass' },
    ],
  )
  const plain = open(undefined)
  await plain.say('Hello')
  assert.not.ok('guards' in (plain.findRecord() ?? {}))
})

test('a guard in watch mode lets the request pass, and its verdict is recorded', async () => {
  const { say, findRecord } = open([words({ name: 'word', words: [WORD], mode: 'watch' })])
  assert.is((await say(WORD)).status, 200)
  const [entry] = findRecord()?.guards ?? []
  assert.is(entry?.verdict, 'refuse')
  assert.is(entry?.isWatched, true)
})

test("a judge's cost is recorded, and counts toward the key's limits", async () => {
  const { api, say, findRecord } = open([judge({ name: 'judge', model: 'judge/m', policy: 'No.', on: ['request'] })])
  const { key, id } = await api.keys.create({ name: 'app', limits: { usd: { day: 1 } } })
  const getSpent = async () => (await api.keys.limits.get(id)).limits.find(({ unit }) => unit === 'usd')?.used
  assert.is((await say(WORD, key)).status, 400)
  assert.is(findRecord()?.guardUsd, 0.002)
  assert.is(findRecord()?.costUsd, undefined)
  assert.is(await getSpent(), 0.002)
  assert.is((await say('Hello', key)).status, 200)
  assert.is(await getSpent(), 0.006)
})

test('metrics count guard verdicts, without content', async () => {
  const { gateway, say } = open([words({ name: 'word', words: [WORD] })])
  await say(WORD)
  await say('Hello')
  const reply = await gateway.fetch('http://gateway/metrics', { headers: { authorization: `Bearer ${TOKEN}` } })
  const text = await reply.text()
  for (const line of [
    'signalbox_guard_checks_total{signalbox_guard="word",signalbox_stage="request",signalbox_verdict="refuse"} 1',
    'signalbox_guard_checks_total{signalbox_guard="word",signalbox_stage="request",signalbox_verdict="pass"} 1',
    'signalbox_guard_duration_seconds_count{signalbox_guard="word",signalbox_stage="answer"} 1',
  ])
    assert.ok(text.includes(line), `${line}\n${text.split('\n').filter((value) => value.includes('guard'))}`)
  assert.not.match(text, /SESAME/)
})

test('the request record and the metrics contain how long guards held back a stream', async () => {
  const clock = fakeClock()
  async function* events() {
    yield chatChunk({ content: 'Open SES' })
    await clock.advance(300)
    yield chatChunk({ content: 'AM' })
    await clock.advance(200)
    yield chatChunk({ content: ' now.' })
    yield chatChunk({}, 'stop')
    yield 'data: [DONE]\n\n'
  }
  const fetch = fakeUpstream(() => sse(events()))
  const { gateway, records } = open([words({ name: 'word', words: [WORD] })], { fetch, clock })
  const response = await gateway.fetch('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'one/m', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  assert.match(await response.text(), 'SES')
  assert.is(records[0]?.guardHeldMs, 500)
  const reply = await gateway.fetch('http://gateway/metrics', { headers: { authorization: `Bearer ${TOKEN}` } })
  const text = await reply.text()
  assert.match(text, 'signalbox_guard_held_seconds_sum{gen_ai_operation_name="chat"} 0.5')
})
