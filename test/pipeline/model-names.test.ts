import { wireFormats } from '../../src/types/unions.ts'
import type { Catalog, ProviderSpecificData, WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { type FakeUpstream, fakeUpstream, json } from './support/upstream.ts'
import { openWorld, type World } from './support/world.ts'

const test = suite('the URLs of model requests')

/**
 * Names with a part that leads to another folder, in any spelling, because some servers decode a path twice or treat a backslash as a slash. They are
 * rejected for providers that put the name in the path.
 */
const rejectedFirst = [
  ...['.', '..', '%2e', '%2E', '.%2e', '%2e.', '%2E%2e', '%252e', '%252e%252E', '%25252e.'],
  ...[
    '../x',
    './x',
    '..\\x',
    '..%2Fx',
    '..%2fx',
    '..%5cx',
    '..%252fx',
    '%2e%2e/x',
    '%2E%2e%2fx',
    '.%2e\\x',
    '..%25252Fx',
  ],
]
const rejectedLater = [
  'gem/../../v1beta/cachedContents?x=',
  ...['x/..', 'x/.', 'a/../b', 'x%2f..%2fy', 'x\\..\\y', 'x/%2e%2E/y', 'x%5C%2e%2e', 'x%252f%252e%252e'],
]
const rejected = [...rejectedFirst, ...rejectedLater]

/** Names that occupy a single path segment. */
const kept = [
  'plain-1.5',
  'vendor/model',
  'vendor/model:free',
  'a@20250929',
  'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3',
  'publishers/vendor/models/x',
  '..;/x',
  '..\u0000',
  'x?key=1',
  'x#part',
  'x?alt=sse',
  'x:generateContent',
  'x%',
  'x%2fy',
  '...',
  '.x',
  'x..y',
  'v1..2',
  'x/..y',
  'x../y',
  '..x/...',
  'x%2f..y',
  '//evil.test/x',
  'http://evil.test/x',
  '@evil.test',
  'x\\y',
  'x\ty\r\nz',
  'x\u0000',
  'modèle 1',
  '模型',
  '😀',
  "it's(x)!*",
  '{x}|^`<">&a=b',
]

interface Place {
  provider: string
  settings?: ProviderSpecificData
  /** The prefix of the names, by which a cloud recognizes their format. */
  start?: string
  /** The URL, with `{}` in place of the name. Without `{}`, the name is in the body. */
  address: Record<'whole' | 'stream' | 'count', string>
}

const vertex = 'https://aiplatform.googleapis.com'
const everyKind = (address: string) => ({ whole: address, stream: address, count: address })

const places: Record<string, Place> = {
  'openai-chat': { provider: 'chat', address: everyKind('http://chat.test/v1/chat/completions') },
  'openai-responses': {
    provider: 'responses',
    address: {
      ...everyKind('http://responses.test/v1/responses'),
      count: 'http://responses.test/v1/responses/input_tokens',
    },
  },
  'anthropic-messages': {
    provider: 'claude',
    address: { ...everyKind('http://claude.test/v1/messages'), count: 'http://claude.test/v1/messages/count_tokens' },
  },
  'anthropic-messages with a full URL': {
    provider: 'claude',
    settings: { baseUrl: 'http://claude.test/v2/messages', format: 'anthropic-messages' },
    address: { ...everyKind('http://claude.test/v2/messages'), count: 'http://claude.test/v2/messages/count_tokens' },
  },
  gemini: {
    provider: 'google',
    address: {
      whole: 'http://google.test/v1beta/models/{}:generateContent',
      stream: 'http://google.test/v1beta/models/{}:streamGenerateContent?alt=sse',
      count: 'http://google.test/v1beta/models/{}:countTokens',
    },
  },
  'Azure OpenAI': {
    provider: 'azure',
    settings: { resource: 'mine', apiVersion: 'preview' },
    address: everyKind('https://mine.openai.azure.com/openai/v1/chat/completions?api-version=preview'),
  },
  'Azure OpenAI with deployments': {
    provider: 'azure',
    settings: { resource: 'mine', apiVersion: '2024-10-21' },
    address: {
      ...everyKind('https://mine.openai.azure.com/openai/deployments/{}/chat/completions?api-version=2024-10-21'),
      count: 'none: counts are estimated',
    },
  },
  'AWS Bedrock': {
    provider: 'bedrock',
    settings: { region: 'us-east-1' },
    address: {
      whole: 'https://bedrock-runtime.us-east-1.amazonaws.com/model/{}/converse',
      stream: 'https://bedrock-runtime.us-east-1.amazonaws.com/model/{}/converse-stream',
      count: 'https://bedrock-runtime.us-east-1.amazonaws.com/model/{}/count-tokens',
    },
  },
  'Gemini on Vertex AI': {
    provider: 'vertex',
    settings: { project: 'mine' },
    address: {
      whole: `${vertex}/v1beta1/projects/mine/locations/global/publishers/google/models/{}:generateContent`,
      stream: `${vertex}/v1beta1/projects/mine/locations/global/publishers/google/models/{}:streamGenerateContent?alt=sse`,
      count: `${vertex}/v1beta1/projects/mine/locations/global/publishers/google/models/{}:countTokens`,
    },
  },
  'Claude on Vertex AI': {
    provider: 'vertex',
    start: 'claude-',
    settings: { project: 'mine', baseUrl: 'http://psc.test/v1/' },
    address: {
      whole: 'http://psc.test/v1/projects/mine/locations/global/publishers/anthropic/models/{}:rawPredict',
      stream: 'http://psc.test/v1/projects/mine/locations/global/publishers/anthropic/models/{}:streamRawPredict',
      count: 'http://psc.test/v1/projects/mine/locations/global/publishers/anthropic/models/count-tokens:rawPredict',
    },
  },
  'other vendors on Vertex AI': {
    provider: 'vertex',
    start: 'meta/',
    settings: { project: 'mine' },
    address: everyKind(`${vertex}/v1/projects/mine/locations/global/endpoints/openapi/chat/completions`),
  },
}

const catalog: Catalog = {
  chat: { baseUrl: 'http://chat.test/v1' },
  responses: { baseUrl: 'http://responses.test/v1', format: 'openai-responses' },
  claude: { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages' },
  google: { baseUrl: 'http://google.test/v1beta', format: 'gemini' },
  azure: { cloud: 'azure' },
  bedrock: { cloud: 'bedrock', format: 'bedrock-converse' },
  vertex: { cloud: 'vertex', format: 'gemini', formats: { 'claude-': 'anthropic-messages', 'meta/': 'openai-chat' } },
}

const hi = [{ role: 'user', content: 'Hi' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

type Kind = 'whole' | 'stream' | 'count'
type RequestInput = [path: string, body: object]

/** Requests by clients of a format. Chat Completions has no token count. */
const questions: Record<WireFormat, (model: string, kind: Kind) => RequestInput | undefined> = {
  'openai-chat': (model, kind) =>
    kind === 'count' ? undefined : ['/v1/chat/completions', { model, messages: hi, stream: kind === 'stream' }],
  'openai-responses': (model, kind) =>
    kind === 'count'
      ? ['/v1/responses/input_tokens', { model, input: 'Hi' }]
      : ['/v1/responses', { model, input: 'Hi', stream: kind === 'stream' }],
  'anthropic-messages': (model, kind) =>
    kind === 'count'
      ? ['/v1/messages/count_tokens', { model, messages: hi }]
      : ['/v1/messages', { model, max_tokens: 9, messages: hi, stream: kind === 'stream' }],
  gemini: (model, kind) => [`/v1beta/models/${encodeURIComponent(model)}:${METHODS[kind]}`, { contents }],
}

const METHODS = { whole: 'generateContent', stream: 'streamGenerateContent?alt=sse', count: 'countTokens' }

const unable = () => json({ error: { message: 'not today', code: 400, status: 'INVALID_ARGUMENT' } }, 400)

async function openPlace({ provider, settings }: Place, extra: { aliases?: Record<string, string> } = {}) {
  const upstream = fakeUpstream(unable)
  const connections = [
    { provider, apiKey: 'a-credential-0123456789', ...(settings && { providerSpecificData: settings }) },
  ]
  return { upstream, world: await openWorld({ fetch: upstream, catalog, connections, ...extra }) }
}

/** Resolves to the URLs that a request called, and the response. */
async function getAddresses(world: World, upstream: FakeUpstream, [path, body]: RequestInput) {
  const before = upstream.calls.length
  const response = await world.post(path, body)
  return { response, text: await response.text(), urls: upstream.calls.slice(before).map(({ url }) => url) }
}

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Returns the model's name in a URL, if the URL is the expected one. */
function getName(url: URL, address: string): string | undefined {
  const [before = '', behind = ''] = address.split('{}')
  const [, name] = new RegExp(`^${escapePattern(before)}([^/?#:]+)${escapePattern(behind)}$`).exec(url.href) ?? []
  return name === undefined ? undefined : decodeURIComponent(name)
}

for (const [title, place] of Object.entries(places)) {
  for (const format of wireFormats) {
    test(`every model name is a single URL segment for ${title} (${format} client)`, async () => {
      const { upstream, world } = await openPlace(place)
      let calls = 0
      for (const kind of ['whole', 'stream', 'count'] as const) {
        const address = place.address[kind]
        const names = kind === 'stream' ? [...kept.slice(0, 12), ...rejected] : [...kept, ...rejected] // its path is built like the others
        for (const name of names) {
          const model = (place.start ?? '') + name
          const request = questions[format](`${place.provider}/${model}`, kind)
          if (!request) continue
          const { response, text, urls } = await getAddresses(world, upstream, request)
          calls += urls.length
          for (const url of urls) {
            if (!address.includes('{}')) assert.is(url.href, address, model)
            else assert.is(getName(url, address), model, `${model}: ${url.href}`)
          }
          const isRejected = rejectedLater.includes(name) || (place.start === undefined && rejectedFirst.includes(name))
          const isInvalidInPath = isRejected && address.includes('{}')
          if (isInvalidInPath) {
            assert.equal([response.status, urls.length], [400, 0], `${kind} ${model}: ${text}`)
            assert.match(JSON.parse(text).error.message, /cannot be used in a URL path/)
          } else if (kind !== 'count') assert.is(urls.length, 1, `${kind} ${model}: ${text}`)
        }
      }
      assert.ok(calls > 0 || format === 'openai-chat')
    })
  }
}

for (const [title, place] of Object.entries(places)) {
  if (!place.address.whole.includes('{}') || place.start) continue
  test(`a model name can't escape its URL path segment for ${title}, even through an alias, a combo, or a fallback`, async () => {
    for (const name of rejected) {
      const model = `${place.provider}/${name}`
      const { upstream, world } = await openPlace(place, { aliases: { short: model } })
      await world.api.connections.create({ provider: 'chat', apiKey: 'another-credential-1' })
      await world.api.combos.create({ name: 'chain', models: [model] })
      await world.api.combos.create({ name: 'both', models: [model, 'chat/m'] })
      for (const pending of ['short', 'chain']) {
        const response = await world.chat({ model: pending, messages: hi })
        assert.equal([response.status, upstream.calls.length], [400, 0], `${pending} ${name}`)
      }
      await world.chat({ model: 'both', messages: hi })
      for (const { url } of upstream.calls) assert.is(url.href, 'http://chat.test/v1/chat/completions', name)
      if (place.provider !== 'azure')
        assert.is(upstream.calls.length, 1, 'the target without a model name in its path is called')
    }
  })
}

test('a Google tuned model is called at the tunedModels path by clients of every format', async () => {
  const place = places.gemini as Place
  const { upstream, world } = await openPlace(place)
  for (const format of wireFormats) {
    const request = questions[format]('google/tunedModels/mine?x', 'whole')
    const { urls } = await getAddresses(world, upstream, request as RequestInput)
    assert.equal(
      urls.map(({ href }) => href),
      ['http://google.test/v1beta/tunedModels/mine%3Fx:generateContent'],
    )
  }
})
