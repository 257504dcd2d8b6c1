import { assert, suite } from '../support/suite.ts'
import { type GateOptions, messages, openGate, readError } from './support/world.ts'

const test = suite("ways around a key's allowed models")

const combos = { mixed: ['two/m', 'one/m'], others: ['two/m', 'claude/c'], outer: ['others'], listed: ['two/m'] }
const aliases = { nick: 'two/m', good: 'one/m' }
const open = (options: GateOptions = {}) => openGate({ models: ['one/*', 'listed'], combos, aliases, ...options })

const chat = { model: 'one/m', messages }
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

/** Requests for models that the key may not use: path, body, and the status if it isn't 403. */
const ways: Record<string, [path: string, body: unknown, status?: number]> = {
  'by its own name': ['/v1/chat/completions', { ...chat, model: 'two/m' }],
  'by an alias': ['/v1/chat/completions', { ...chat, model: 'nick' }],
  'by a combo': ['/v1/chat/completions', { ...chat, model: 'others' }],
  'by a nested combo': ['/v1/chat/completions', { ...chat, model: 'outer' }],
  'with capital letters': ['/v1/chat/completions', { ...chat, model: 'TWO/m' }, 404],
  'by a name without its provider': ['/v1/chat/completions', { ...chat, model: 'm' }, 404],
  'with two model names, the allowed one first': [
    '/v1/chat/completions',
    `{"model":"one/m","model":"two/m","messages":${JSON.stringify(messages)}}`,
  ],
  'in a stream': ['/v1/chat/completions', { ...chat, model: 'two/m', stream: true }],
  'in another format': ['/v1/messages', { model: 'claude/c', messages, max_tokens: 9 }],
  'with a token counting request': ['/v1/messages/count_tokens', { model: 'claude/c', messages }],
  'with a token counting request that the gateway answers itself': [
    '/v1/messages/count_tokens',
    { model: 'two/m', messages },
  ],
  'with a completion request': ['/v1/completions', { model: 'two/m', prompt: 'Hi' }],
  'with a Responses request': ['/v1/responses', { model: 'open/r', input: 'Hi' }],
  'with a compaction request': ['/v1/responses/compact', { model: 'open/r', input: 'Hi' }],
  'with a Gemini path': ['/v1beta/models/google/g:generateContent', { contents }],
  'with an encoded Gemini path': ['/v1beta/models/google%2Fg:generateContent', { contents }],
  'with a Gemini path and another model in the body': [
    '/v1beta/models/google/g:generateContent',
    { contents, model: 'one/m' },
  ],
  'with a Gemini token counting request that contains an allowed model': [
    '/v1beta/models/google/g:countTokens',
    { generateContentRequest: { model: 'models/one/m', contents } },
  ],
}

for (const [title, [path, body, status = 403]] of Object.entries(ways))
  test(`a key can't reach a forbidden model ${title}`, async () => {
    const { post, upstream, used } = await open({ limits: { requests: { total: 9 } } })
    const rejected = await readError(await post(path, body))
    assert.is(rejected.status, status, rejected.message)
    if (status === 403) assert.match(rejected.message, /^The API key "alice" is not allowed to use the model "/)
    assert.not.match(rejected.message, /Did you mean/)
    assert.equal([upstream.calls.length, await used('requests')], [0, 0])
  })

test("a key can use its allowed models, their aliases, and an allowed combo's models", async () => {
  const { chat: send, upstream } = await open()
  for (const [model, provider] of [
    ['one/m', 'one'],
    ['good', 'one'],
    ['listed', 'two'],
    ['mixed', 'one'],
  ]) {
    const reply = await send({ model })
    assert.equal([reply.status, upstream.providers.at(-1)], [200, provider], model)
  }
  assert.is(upstream.calls.length, 4)
})

test('a name that starts with an allowed provider goes to that provider', async () => {
  const { chat: send, upstream } = await open()
  for (const model of ['one/../two/m', 'one/*', 'one/two/m']) assert.is((await send({ model })).status, 200)
  assert.equal(upstream.providers, ['one', 'one', 'one'])
})

test("a fallback doesn't call a model that the key isn't allowed to use", async () => {
  const { chat: send, upstream } = await open({
    respond: () => Response.json({ error: { message: 'Down' } }, { status: 503 }),
    combos: { chain: ['one/m', 'two/m', 'claude/c'] },
    aliases: {},
    models: ['one/*'],
  })
  assert.is((await send({ model: 'chain' })).status, 503)
  assert.equal(new Set(upstream.providers), new Set(['one']))
})

test("a group's allowed models also restrict its keys", async () => {
  const { gateway, upstream } = await openGate()
  const { id } = await gateway.api.groups.create({ name: 'Team', models: ['two/*'] })
  const { key } = await gateway.api.keys.create({ name: 'bob', group: id, models: ['one/*', 'two/*'] })
  const send = async (model: string) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model, messages })
    return (await gateway.fetch('http://gateway/v1/chat/completions', { method: 'POST', headers, body })).status
  }
  assert.equal([await send('one/m'), await send('two/m')], [403, 200])
  assert.is(upstream.calls.length, 1)
})

test("a key restricted to another kind of model can't send chat requests", async () => {
  const { gateway, upstream } = await openGate()
  const { key } = await gateway.api.keys.create({ name: 'bob', kinds: ['embedding'] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  for (const path of ['/v1/chat/completions', '/v1/messages/count_tokens']) {
    const reply = await gateway.fetch(`http://gateway${path}`, { method: 'POST', headers, body: JSON.stringify(chat) })
    const { status, code, message } = await readError(reply)
    assert.equal([status, code], [403, 'model_not_allowed'])
    assert.match(message, 'The API key "bob" is not allowed to use models of kind "llm".')
  }
  assert.is(upstream.calls.length, 0)
})
