import { strategies } from '../../src/types/unions.ts'
import type { Condition } from '../../src/types.ts'
import { askRaw } from '../pipeline/support/raw.ts'
import type { ErrorAnswer } from '../pipeline/support/responses.ts'
import { messageResponse } from '../pipeline/support/responses.ts'
import { json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { openPool } from './support/pool.ts'

const test = suite('combo conditions')

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const headers = (named: Record<string, string>) => ({ headers: named })
const meta = (metadata: unknown) => ({ metadata })
const tool = { type: 'function', function: { name: 'f' } }

type Request = [body: object, init?: RequestInit]
/** Each condition, with requests that meet it and requests that don't. */
const rows: Array<[when: Condition, meeting: Request[], others: Request[]]> = [
  [{ model: 'pool' }, [[{}], [{ model: 'pool' }]], [[{ model: 'nick' }], [{ model: 'outer' }]]],
  [{ model: ['x', 'nick'] }, [[{ model: 'nick' }]], [[{}]]],
  [{ model: '*out*' }, [[{ model: 'outer' }]], [[{}], [{ model: 'nick' }]]],
  [{ stream: true }, [[{ stream: true }]], [[{}], [{ stream: false }], [{ stream: 'true' }]]],
  [{ stream: false }, [[{}], [{ stream: false }]], [[{ stream: true }]]],
  [{ tools: true }, [[{ tools: [tool] }], [{ functions: [{}] }]], [[{}], [{ tools: [] }], [{ tools: null }]]],
  [{ tools: false }, [[{}], [{ tools: [] }]], [[{ tools: [tool] }]]],
  [
    { images: true },
    [[user([image])], [user([{ type: 'text', text: 'see' }, image])], [user([{ type: 'input_image' }])]],
    [[{}], [user('an image')], [user([{ type: 'text', text: 'image_url' }])], [{ messages: image.type }]],
  ],
  [{ images: false }, [[{}], [user('hi')]], [[user([image])]]],
  [{ bytes: { min: 2_000 } }, [[user('x'.repeat(2_000))]], [[{}], [user('x'.repeat(1_000))]]],
  [{ bytes: { max: 2_000 } }, [[{}], [user('x'.repeat(1_000))]], [[user('x'.repeat(2_000))]]],
  [{ bytes: { min: 500, max: 2_000 } }, [[user('x'.repeat(1_000))]], [[{}], [user('x'.repeat(2_000))]]],
  [{ headers: { 'x-team': 'red' } }, [[{}, headers({ 'X-Team': 'red' })]], [[{}], [{}, headers({ 'x-team': 'Red' })]]],
  [
    { headers: { 'X-TEAM': ['red', 'b*e'] } },
    [[{}, headers({ 'x-team': 'blue' })]],
    [[{}, headers({ 'x-team': 'blues' })]],
  ],
  [{ headers: { 'x-team': true } }, [[{}, headers({ 'x-team': 'any' })]], [[{}]]],
  [{ headers: { 'x-team': false } }, [[{}]], [[{}, headers({ 'x-team': 'any' })]]],
  [
    { headers: { a: '1', b: '2' } },
    [[{}, headers({ a: '1', b: '2' })]],
    [
      [{}, headers({ a: '1' })],
      [{}, headers({ a: '1', b: '1' })],
    ],
  ],
  [
    { metadata: { tier: 'gold' } },
    [[meta({ tier: 'gold' })]],
    [[{}], [meta({ tier: 'silver' })], [meta('gold')], [meta(null)]],
  ],
  [{ metadata: { level: '7' } }, [[meta({ level: 7 })], [meta({ level: '7' })]], [[meta({ level: 70 })]]],
  [{ metadata: { beta: 'true' } }, [[meta({ beta: true })]], [[meta({ beta: false })]]],
  [{ metadata: { x: true } }, [[meta({ x: '' })], [meta({ x: 0 })]], [[meta({ x: null })], [meta({ x: {} })], [{}]]],
  [{ metadata: { toString: false } }, [[meta({})], [{}]], [[meta({ toString: 'x' })]]],
  [
    { metadata: { user: 'a*b*c' } },
    [[meta({ user: 'a--b--c' })], [meta({ user: 'abc' })]],
    [[meta({ user: 'acb' })], [meta({ user: 'ab' })]],
  ],
  [{ metadata: { user: '*' } }, [[meta({ user: '' })], [meta({ user: 'x' })]], [[{}]]],
  [{ metadata: { user: 'a.c' } }, [[meta({ user: 'a.c' })]], [[meta({ user: 'abc' })]]],
  [
    { metadata: { user: 'aba*aba' } },
    [[meta({ user: 'abaaba' })]],
    [[meta({ user: 'aba' })], [meta({ user: 'ababa' })]],
  ],
  [{ metadata: { user: '*ab*b' } }, [[meta({ user: 'abb' })]], [[meta({ user: 'ab' })]]],
  [{ stream: false, tools: true }, [[{ tools: [tool] }]], [[{}], [{ tools: [tool], stream: true }]]],
]
for (const [when, meeting, others] of rows) {
  test(`the condition ${JSON.stringify(when)} accepts matching requests and no others`, async () => {
    const { sendAll } = await openPool(
      { models: [{ model: 'one/m', when }, 'two/m'], strategy: 'conditional' },
      { combos: { outer: ['pool'] }, aliases: { nick: 'pool' } },
    )
    for (const request of meeting) assert.is(await sendAll(1, ...request), 'one', JSON.stringify(request))
    for (const request of others) assert.is(await sendAll(1, ...request), 'two', JSON.stringify(request))
  })
}

test('a header condition matches the lowercase header names that adapters provide', async () => {
  const { world, upstream } = await openPool({
    models: [{ model: 'one/m', when: { headers: { 'X-Team': 'red' } } }, 'two/m'],
  })
  const send = (headers: Record<string, string>) =>
    askRaw(world.gateway, '/v1/chat/completions', { model: 'pool', messages: [] }, headers)
  await send({ 'x-team': 'red' })
  await send({})
  assert.equal(upstream.providers, ['one', 'two'])
})

test('conditions recognize images and tools in AI SDK calls', async () => {
  const when: Condition = { images: true, tools: true }
  const { world, upstream } = await openPool([], {
    combos: { talk: { models: [{ model: 'one/m', when }, 'two/m'], strategy: 'conditional' } },
  })
  const tools = [{ type: 'function', name: 'f', inputSchema: { type: 'object' } }]
  const text = { type: 'text', text: 'Hi' }
  const file = { type: 'file', mediaType: 'image/png' }
  const call = { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: {} }
  const withResult = (value: object) => [
    { role: 'user', content: [text] },
    { role: 'assistant', content: [call] },
    { role: 'tool', content: [{ ...call, type: 'tool-result', output: { type: 'content', value: [value] } }] },
  ]
  const withImage = [
    ...[
      { ...file, data: 'AA==' },
      { ...file, data: { type: 'data', data: 'AA==' } },
      { ...file, mediaType: 'image', data: 'AA==' },
    ].map((part) => [{ role: 'user', content: [text, part] }]),
    withResult({ type: 'image-url', url: 'https://example.com/a' }),
    withResult({ type: 'image-data', data: 'AA==', mediaType: 'image/png' }),
  ]
  for (const prompt of [...withImage, withResult(text)])
    await world.post('/v4/ai/language-model', { prompt, tools }, { headers: { 'ai-language-model-id': 'talk' } })
  assert.equal(upstream.providers, [...withImage.map(() => 'one'), 'two'])
})

test('conditions recognize images and tools in Anthropic requests', async () => {
  const when: Condition = { images: true, tools: true }
  const { world, upstream } = await openPool([], {
    combos: { talk: { models: [{ model: 'claude/seeing', when }, 'claude/plain'], strategy: 'conditional' } },
    respond: () => json(messageResponse()),
  })
  const part = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }
  const tools = [{ name: 'f', input_schema: { type: 'object' } }]
  const result = { type: 'tool_result', tool_use_id: 't', content: [part] }
  for (const content of [[part], [result], 'hi'])
    await world.messages({ model: 'talk', tools, messages: [{ role: 'user', content }] })
  assert.equal(
    upstream.calls.map(({ body }) => JSON.parse(body).model),
    ['seeing', 'seeing', 'plain'],
  )
})

for (const strategy of strategies) {
  test(`"${strategy}" excludes entries with an unmet condition`, async () => {
    const models = [{ model: 'one/m', when: { tools: true } }, { model: 'two/m', when: { stream: true } }, 'three/m']
    const { upstream, sendAll } = await openPool({ models, strategy })
    await sendAll(20, { user: 'somebody' })
    await sendAll(20, { user: 'nobody' })
    assert.equal(new Set(upstream.providers), new Set(['three']))
    upstream.calls.length = 0
    for (let time = 0; time < 60; time++) await sendAll(1, { user: `u${time}`, tools: [tool] })
    assert.is(upstream.providers.includes('two'), false)
    assert.is(upstream.providers.includes('one'), true)
  })
}

test('round-robin alternates evenly among entries with a met condition', async () => {
  const models = ['one/m', { model: 'two/m', when: { tools: true } }, 'three/m']
  const { sendAll } = await openPool({ models, strategy: 'round-robin' })
  assert.is(await sendAll(4), 'one three one three')
  assert.is(await sendAll(3, { tools: [tool] }), 'one two three')
})

test("a request that meets no entry's condition is rejected with an error in the client's format", async () => {
  const combos = {
    talk: { models: [{ model: 'claude/c', when: { tools: true } }], strategy: 'conditional' as const },
    outer: ['pool'],
  }
  const models = [{ model: 'one/m', when: { stream: true } }]
  const { world, upstream } = await openPool({ models, strategy: 'conditional' }, { combos })
  const sentence = (name: string) =>
    `No reachable model in the combo "${name}" matches this request. Check the conditions ("when") of its models.`
  for (const model of ['pool', 'outer']) {
    const response = await world.chat({ model })
    assert.is(response.status, 400)
    const { error }: ErrorAnswer = await response.json()
    assert.equal([error.type, error.message], ['invalid_request_error', sentence('pool')])
  }
  const response = await world.messages({ model: 'talk' })
  assert.is(response.status, 400)
  const { error }: ErrorAnswer = await response.json()
  assert.equal([error.type, error.message], ['invalid_request_error', sentence('talk')])
  assert.is(upstream.calls.length, 0)
})

test("if none of an inner combo's entries match the request, the next entry is used", async () => {
  const combos = { inner: { models: [{ model: 'one/m', when: { tools: true } }], strategy: 'conditional' as const } }
  const { sendAll } = await openPool(['inner', 'two/m'], { combos })
  assert.is(await sendAll(1), 'two')
  assert.is(await sendAll(1, { tools: [tool] }), 'one')
})

test('under weighted, the other entries share the requests of an entry in cooldown by weight', async () => {
  const models = [
    { model: 'one/m', weight: 900 },
    { model: 'two/m', weight: 3 },
    'three/m',
    { model: 'two/spare', weight: 0 },
  ]
  const { upstream, down, sendAll } = await openPool({ models, strategy: 'weighted' })
  down.set('one', 401)
  while (!upstream.providers.includes('one')) await sendAll(1)
  upstream.calls.length = 0
  await sendAll(400)
  const three = upstream.providers.filter((provider) => provider === 'three').length
  assert.is(upstream.calls.length, 400)
  assert.ok(three > 50 && three < 150, `${three} of 400`)
})
