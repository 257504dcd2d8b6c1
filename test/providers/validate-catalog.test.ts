import { validateCatalog } from '../../src/features/catalog/validate-catalog.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('validateCatalog')

const provider = {
  name: 'Acme',
  docsUrl: 'https://acme.example/docs',
  baseUrl: 'https://api.acme.example/v1',
  models: [
    { id: 'large', contextWindow: 200_000, maxOutputTokens: 64_000, price: { input: 3, output: 15, cacheRead: 0.3 } },
  ],
}
const withModel = (model: unknown) => ({ acme: { ...provider, models: [model] } })
const withPrice = (price: unknown) => withModel({ id: 'large', price })

test('validateCatalog finds no problem in a complete catalog', () => {
  const search = {
    name: 'Find',
    docsUrl: 'https://find.example',
    serviceKinds: ['webSearch'],
    searchConfig: { baseUrl: 'https://api.find.example' },
  }
  const home = {
    ...provider,
    alias: 'h',
    catalogAlias: 'house',
    auth: 'bearer',
    format: 'gemini',
    baseUrl: 'http://localhost:1234/v1',
    serviceKinds: ['llm', 'tts', 'embedding'],
    ttsConfig: { models: [{ id: 'speak' }] },
    embeddingConfig: { models: [{ id: 'embed' }] },
    models: [
      { id: 'speak', type: 'tts' },
      { id: 'vendor/free', price: { input: 0, output: 0 } },
    ],
  }
  assert.equal(validateCatalog({ acme: provider, find: search, home }), [])
})

/** Malformed catalogs, each with the problem that must be reported. */
const malformed: Record<string, [catalog: unknown, line: string]> = {
  'a value that is not an object': [[], 'the catalog is not an object'],
  'a provider that is not an object': [{ acme: 'Acme' }, 'acme: is not an object'],
  'a blank provider ID': [{ ' ': provider }, ' : the id " " has other characters than a-z, 0-9 and "-"'],
  'a slash in an alias': [
    { acme: { ...provider, alias: 'a/b' } },
    'acme: alias "a/b" has other characters than a-z, 0-9 and "-"',
  ],
  'a blank catalog alias': [
    { acme: { ...provider, catalogAlias: '' } },
    'acme: catalogAlias "" has other characters than a-z, 0-9 and "-"',
  ],
  "an alias that is another provider's ID": [
    { acme: provider, other: { ...provider, alias: 'acme' } },
    'other: the name "acme" belongs to acme already',
  ],
  'the same alias for two providers': [
    { acme: { ...provider, alias: 'a' }, other: { ...provider, catalogAlias: 'a' } },
    'other: the name "a" belongs to acme already',
  ],
  'a misspelled field': [{ acme: { ...provider, baseURL: '' } }, 'acme: baseURL is not a known field'],
  'a blank name': [{ acme: { ...provider, name: ' ' } }, 'acme: name is missing or blank'],
  'a missing documentation URL': [{ acme: { ...provider, docsUrl: undefined } }, 'acme: docsUrl is missing or blank'],
  'a missing base URL': [{ acme: { ...provider, baseUrl: undefined } }, 'acme: baseUrl is missing'],
  'an invalid base URL': [
    { acme: { ...provider, baseUrl: 'api.acme.example' } },
    'acme: baseUrl "api.acme.example" is not an http(s) URL',
  ],
  'a plain HTTP base URL': [
    { acme: { ...provider, baseUrl: 'http://api.acme.example/v1' } },
    'acme: baseUrl "http://api.acme.example/v1" is not https',
  ],
  'a base URL with a trailing slash': [
    { acme: { ...provider, baseUrl: 'https://api.acme.example/v1/' } },
    'acme: baseUrl "https://api.acme.example/v1/" ends in a slash, or has a query or a fragment',
  ],
  'a base URL that contains a credential': [
    { acme: { ...provider, baseUrl: 'https://me:secret@api.acme.example/v1' } },
    'acme: baseUrl holds a credential',
  ],
  'an unknown format': [
    { acme: { ...provider, format: 'openai' } },
    'acme: format "openai" is none of openai-chat, openai-responses, anthropic-messages, gemini, bedrock-converse',
  ],
  'an unknown additional format': [
    { acme: { ...provider, alsoSpeaks: ['openai'] } },
    'acme: alsoSpeaks "openai" is none of openai-chat, openai-responses, anthropic-messages, gemini, bedrock-converse',
  ],
  'alsoSpeaks as a string': [
    { acme: { ...provider, alsoSpeaks: 'openai-responses' } },
    'acme: alsoSpeaks is not a list',
  ],
  'an unknown format for some models': [
    { acme: { ...provider, formats: { 'claude-': 'anthropic' } } },
    'acme: formats.claude- "anthropic" is none of openai-chat, openai-responses, anthropic-messages, gemini, bedrock-converse',
  ],
  'formats of the wrong type': [{ acme: { ...provider, formats: ['gemini'] } }, 'acme: formats is not an object'],
  'an unknown auth': [
    { acme: { ...provider, auth: 'basic' } },
    'acme: auth "basic" is none of bearer, x-api-key, x-goog-api-key, api-key',
  ],
  'an unknown service kind': [
    { acme: { ...provider, serviceKinds: ['llm', 'video'] } },
    'acme: serviceKinds "video" is none of llm, image, tts, stt, embedding, imageToText, webSearch, webFetch, rerank, moderation',
  ],
  'a repeated service kind': [
    { acme: { ...provider, serviceKinds: ['llm', 'llm'] } },
    'acme: serviceKinds names a kind twice',
  ],
  'an empty list of service kinds': [
    { acme: { ...provider, serviceKinds: [] } },
    'acme: serviceKinds is not a list with a kind in it',
  ],
  'search without its base URL': [
    { acme: { ...provider, serviceKinds: ['llm', 'webSearch'] } },
    'acme: serves webSearch without searchConfig',
  ],
  'an invalid fetch base URL': [
    { acme: { ...provider, serviceKinds: ['llm', 'webFetch'], fetchConfig: {} } },
    'acme: fetchConfig.baseUrl is missing or blank',
  ],
  'a base URL for a kind that is not served': [
    { acme: { ...provider, searchConfig: { baseUrl: 'https://api.acme.example' } } },
    'acme: has searchConfig without webSearch in serviceKinds',
  ],
  'voices that are not a list': [
    { acme: { ...provider, serviceKinds: ['llm', 'tts'], ttsConfig: { models: ['speak'] } } },
    'acme: ttsConfig.models is not a list of { id }',
  ],
  'models that are not a list': [
    { acme: { ...provider, serviceKinds: ['webSearch'], searchConfig: { baseUrl: 'https://a.example' }, models: {} } },
    'acme: models is not a list',
  ],
  'missing models': [{ acme: { ...provider, models: [] } }, 'acme: has no models'],
  'a model without an ID': [withModel({ contextWindow: 1 }), 'acme: models[0] has no id, or a blank one'],
  'a blank model ID': [withModel({ id: '  ' }), 'acme: models[0] has no id, or a blank one'],
  'a model ID with trailing whitespace': [withModel({ id: 'large ' }), 'acme/large : id has blanks around it'],
  'a repeated model ID': [
    { acme: { ...provider, models: [{ id: 'large' }, { id: 'large' }] } },
    'acme/large: is there twice',
  ],
  'a model ID that the listing would shorten': [
    withModel({ id: 'acme/large' }),
    'acme/acme/large: the listing would take the leading "acme/" off its id',
  ],
  'a misspelled model field': [withModel({ id: 'large', context: 1 }), 'acme/large: context is not a known field'],
  'an unknown model kind': [
    withModel({ id: 'large', type: 'chat' }),
    'acme/large: type "chat" is none of llm, image, tts, stt, embedding, imageToText, webSearch, webFetch, rerank, moderation',
  ],
  "a service kind that models can't have": [
    withModel({ id: 'large', type: 'webFetch' }),
    'acme/large: type webFetch is not a kind of model',
  ],
  "a kind that the provider doesn't serve": [
    withModel({ id: 'large', type: 'image' }),
    'acme/large: serviceKinds does not have its kind, image',
  ],
  'a context window of zero': [
    withModel({ id: 'large', contextWindow: 0 }),
    'acme/large: contextWindow 0 is not a positive integer',
  ],
  'a fraction of a token': [
    withModel({ id: 'large', contextWindow: 1.5 }),
    'acme/large: contextWindow 1.5 is not a positive integer',
  ],
  'a limit that is a string': [
    withModel({ id: 'large', maxOutputTokens: '8k' }),
    'acme/large: maxOutputTokens "8k" is not a positive integer',
  ],
  'more output than the context window': [
    withModel({ id: 'large', contextWindow: 10, maxOutputTokens: 11 }),
    'acme/large: maxOutputTokens is larger than contextWindow',
  ],
  'a price that is a number': [withPrice(3), 'acme/large: price is not an object'],
  'an empty price': [withPrice({}), 'acme/large: price is empty'],
  'a negative price': [withPrice({ input: -1 }), 'acme/large: price.input -1 is negative'],
  'a price that is a string': [withPrice({ input: '3' }), 'acme/large: price.input "3" is not a number'],
  'a price that is not a number': [withPrice({ input: Number.NaN }), 'acme/large: price.input null is not a number'],
  'a misspelled price': [withPrice({ input: 3, cache_read: 1 }), 'acme/large: price.cache_read is not a known field'],
  'a cache price without an input price': [
    withPrice({ cacheRead: 1 }),
    'acme/large: price.cacheRead without an input price',
  ],
  'a cache read price above the input price': [
    withPrice({ input: 1, cacheRead: 2 }),
    'acme/large: price.cacheRead is higher than the input price',
  ],
}

for (const [label, [catalog, line]] of Object.entries(malformed)) {
  test(`validateCatalog rejects ${label}`, () => assert.equal(validateCatalog(catalog), [line]))
}

test('validateCatalog reports every malformed entry, not just the first', () => {
  const lines = validateCatalog({
    acme: { ...provider, name: '' },
    ...{ other: { ...provider, models: [{ id: '' }] } },
  })
  assert.is(lines.length, 2)
})
