import type { UsageLimits } from '../../src/types/limits.ts'
import { assert, suite } from '../support/suite.ts'
import { messages, openGate, readError } from './support/world.ts'

const test = suite('fields that can make providers use other models or paid services')

const detours: Record<string, [param: string, fields: object]> = {
  'a list of additional models': ['models', { models: ['two/m'] }],
  plugins: ['plugins', { plugins: [{ id: 'web' }] }],
  'a preset': ['preset', { preset: 'dear' }],
  'proxy fallbacks': ['fallbacks', { fallbacks: ['two/m'] }],
  'options with additional models': [
    'providerOptions.gateway.models',
    { providerOptions: { gateway: { models: ['two/m'] } } },
  ],
  'a router-specific tool': [
    'tools[1]',
    { tools: [{ type: 'function', function: { name: 'f' } }, { type: 'openrouter:web_search' }] },
  ],
}

const TOKENS: UsageLimits = { tokens: { total: 50_000 } }
const USD: UsageLimits = { usd: { total: 1 } }
const REQUESTS: UsageLimits = { requests: { total: 9 } }

for (const [title, [param, fields]] of Object.entries(detours))
  test(`a key with allowed models or a token or dollar limit may not send ${title}`, async () => {
    for (const options of [{ models: ['one/*'] }, { limits: TOKENS }, { limits: USD }, { groupLimits: TOKENS }]) {
      const { chat, upstream, used } = await openGate(options)
      const { status, code, message } = await readError(await chat({ model: 'one/m', ...fields }))
      assert.equal([status, code], [400, 'invalid_request'], message)
      assert.is(message.startsWith(`"${param}" can reach models or paid services`), true, message)
      assert.equal([upstream.calls.length, await used('requests')], [0, 0])
    }
  })

test('fields that can reach other models are allowed under a request limit, or if they are empty', async () => {
  const { chat, upstream } = await openGate({ limits: REQUESTS })
  assert.is((await chat({ model: 'one/m', models: ['two/m'] })).status, 200)
  assert.equal(JSON.parse(upstream.calls[0]?.body ?? '').models, ['two/m'])
  const limited = await openGate({ limits: TOKENS, models: ['one/*'] })
  const nothing = { models: [], plugins: null, providerOptions: { gateway: { order: ['a'] } }, tools: [] }
  assert.is((await limited.chat({ model: 'one/m', messages, ...nothing })).status, 200)
})

const ambiguous: Record<string, [param: string, members: string]> = {
  'a second model field in capital letters': ['Model', '"Model":"dear"'],
  'a maximum in capital letters': ['MAX_TOKENS', '"max_tokens":5,"MAX_TOKENS":4000'],
  'a maximum with a letter that case-folds to an ASCII one': [
    'max_to\u212aens',
    '"max_tokens":5,"max_to\u212aens":4000',
  ],
  'two maxima, the last one low': ['max_tokens', '"max_tokens":4000,"max_tokens":5'],
  'two maxima, one of them with an escape': ['max_tokens', '"max\\u005ftokens":4000,"max_tokens":5'],
  'two choice counts': ['n', '"n":50,"n":1'],
  'two message lists': ['messages', '"messages":[]'],
}

for (const [title, [param, members]] of Object.entries(ambiguous))
  test(`a key with allowed models or a token or dollar limit may not send ${title}`, async () => {
    for (const options of [{ models: ['one/*'] }, { limits: TOKENS }, { limits: USD }]) {
      const { post, upstream } = await openGate(options)
      const text = `{"model":"one/m",${members},"messages":${JSON.stringify(messages)}}`
      const { status, code, message } = await readError(await post('/v1/chat/completions', text))
      assert.equal([status, code], [400, 'invalid_request'], message)
      assert.is(message.startsWith(`"${param}" `), true, message)
      assert.is(upstream.calls.length, 0)
    }
  })
