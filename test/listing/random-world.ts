import fc from 'fast-check'
import type { Kind } from '../../src/types.ts'
import type { World } from './world.ts'

/** Worlds that are small enough to read after a failure. Their names collide, nest, are blank, or are inherited properties. */

const PROVIDERS = [
  'openai',
  'acme',
  'p/q',
  'constructor',
  '__proto__',
  'toString',
  'openai-compatible',
  'openai-compatible-lab',
  'openai-compatible-1234567',
  'openai-compatible-12345678',
  'openai-compatible-x12345678',
  'anthropic-compatible-lab',
  'anthropic-compatible_DEADBEE',
  'anthropic-compatible_DEADBEEF01',
]
const NAMES = ['oa', ' oa ', 'openai', 'acme', 'p', 'p/q', 'constructor', '__proto__']
const WORDS = [
  'gpt',
  'GPT',
  ' gpt ',
  'search',
  'constructor',
  '__proto__',
  'text-EMBED-3',
  'embed-audio-image',
  'tts-1',
  'my-Voice',
  'flux-speech',
  'DALL-E-3',
  'usd-coin',
  'imagenet',
]
const KINDS: Kind[] = ['llm', 'image', 'tts', 'stt', 'embedding', 'imageToText', 'webSearch', 'webFetch']
const URLS = [
  'http://a.test/v1',
  'http://a.test/v1/',
  ' http://a.test/v1// ',
  'http://b.test/messages',
  'http://b.test/messages/',
  '',
  '  ',
]
const ASKED = [
  'http://a.test/v1/models',
  'http://a.test/v1//models',
  'http://b.test/messages/models',
  'http://b.test/models',
]

const word = fc.constantFrom(...WORDS)
const name = fc.constantFrom(...NAMES, ...PROVIDERS)
const modelId = fc.oneof(
  { arbitrary: word, weight: 4 },
  { arbitrary: fc.tuple(name, word).map(([a, b]) => `${a.trim()}/${b}`), weight: 4 },
  { arbitrary: fc.tuple(name, name, word).map(([a, b, c]) => `${a}/${b}/${c}`), weight: 1 },
  { arbitrary: name.map((a) => `${a}/`), weight: 1 },
  { arbitrary: fc.constantFrom('', ' ', '/', '/gpt'), weight: 1 },
)
const few = <T>(arbitrary: fc.Arbitrary<T>, maxLength = 4) => fc.array(arbitrary, { maxLength })
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
/** Removes undefined fields. */
const some = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> =>
  fc
    .record(fields)
    .map((created) => Object.fromEntries(Object.entries(created).filter(([, value]) => value !== undefined)))

const kind = fc.constantFrom(...KINDS)
const oddKind = fc.constantFrom('llm', 'llm', ...KINDS, 'video') // includes an unknown type
const listed = few(fc.record({ id: modelId }))

const provider = some({
  alias: maybe(fc.constantFrom(...NAMES)),
  catalogAlias: maybe(fc.constantFrom(...NAMES)),
  serviceKinds: fc.oneof(fc.constant(undefined), fc.constant(KINDS), few(kind, 3)),
  models: maybe(few(some({ id: modelId, type: maybe(oddKind) }), 5)),
  ttsConfig: maybe(fc.record({ models: listed })),
  embeddingConfig: maybe(fc.record({ models: listed })),
  searchConfig: maybe(fc.constant({})),
  fetchConfig: maybe(fc.constant({})),
})

const enabledModels = fc.oneof(
  few(fc.oneof(modelId, modelId, fc.constantFrom(null, 7, '', ' '))),
  fc.constantFrom('gpt', null, {}),
)

const connection = some({
  provider: fc.constantFrom(...PROVIDERS, 'openai-compatible-lab', 'anthropic-compatible-lab'),
  isActive: fc.constantFrom(undefined, true, true, false),
  priority: maybe(fc.integer({ min: 0, max: 2 })),
  apiKey: fc.constantFrom(undefined, '', ...Array(8).fill('k')),
  createdAt: maybe(fc.integer({ min: 0, max: 3 }).map((days) => new Date(days * 86_400_000).toISOString())),
  providerSpecificData: maybe(
    some({
      prefix: fc.constantFrom(undefined, undefined, '', '  ', ...NAMES),
      enabledModels: fc.oneof(
        { arbitrary: fc.constant(undefined), weight: 2 },
        { arbitrary: enabledModels, weight: 1 },
      ),
      baseUrl: fc.constantFrom(undefined, ...URLS, ...ASKED.map((url) => url.replace('/models', ''))),
    }),
  ),
})

const customModel = some({
  id: modelId,
  type: fc.constantFrom(undefined, undefined, 'llm', 'image', null),
  providerAlias: fc.oneof(name, fc.constant('')),
})

/** Upstream responses: lists in every kind of wrapper, and invalid responses. */
const element = fc.oneof(
  { arbitrary: some({ id: maybe(modelId), name: maybe(modelId), model: maybe(modelId) }), weight: 5 },
  { arbitrary: fc.constantFrom(null, 'gpt', 7, ['gpt'], { id: 7, name: ' ', model: 'gpt' }), weight: 1 },
)
const response = fc.oneof(
  few(element),
  some({ data: maybe(few(element)), models: maybe(few(element)), results: maybe(few(element)) }),
  fc.constantFrom(undefined, null, 'gpt', 7, { data: { id: 'gpt' }, results: [{ id: 'behind an object' }] }),
)

/** Provider definitions by ID, including an own `__proto__` property, as JSON.parse would create it. */
const catalog = fc
  .array(fc.tuple(fc.constantFrom(...PROVIDERS), provider), { minLength: 1, maxLength: 8 })
  .map((entries) => Object.fromEntries(entries))

export const randomWorld = fc.record({
  catalog,
  connections: fc.oneof({ arbitrary: few(connection, 8), weight: 5 }, { arbitrary: fc.constant([]), weight: 1 }),
  combos: few(some({ name: fc.oneof(word, fc.constant('oa/gpt')), kind: maybe(kind) })),
  customModels: few(customModel, 5),
  aliases: few(
    fc.oneof(
      modelId,
      fc.tuple(name, modelId).map(([a, b]) => `${a}/${b}`),
    ),
    5,
  ),
}) as fc.Arbitrary<World> // invalid on purpose, like stored records and custom catalogs

export const randomKinds = fc.oneof(
  fc.constant<Kind[]>(['llm']),
  fc.constant(KINDS),
  fc.constant<Kind[]>(['webSearch', 'webFetch']),
  fc.subarray(KINDS),
)

/** Responses by URL. */
export const randomAnswers = fc.record(Object.fromEntries(ASKED.map((url) => [url, response])))
