import { checkCatalog, defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { findProviderProblem } from '../../src/protocols/providers/catalog-problem.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('custom catalogs')

const FORMATS = 'openai-chat, openai-responses, anthropic-messages, gemini, bedrock-converse'
const ADDRESS = 'a URL that starts with http:// or https://'

const rejected: Array<[provider: unknown, says: string]> = [
  [undefined, 'mine must be an object, such as { baseUrl, models }.'],
  ['https://mine.example', 'mine must be an object, such as { baseUrl, models }.'],
  [[], 'mine must be an object, such as { baseUrl, models }.'],
  [{ base_url: 'https://mine.example' }, 'mine.base_url is not a provider field. Did you mean "baseUrl"?'],
  [{ Models: [] }, 'mine.Models is not a provider field. Did you mean "models"?'],
  [{ alias: 5 }, 'mine.alias must be a string.'],
  [{ catalogAlias: null }, 'mine.catalogAlias must be a string.'],
  [{ name: {} }, 'mine.name must be a string.'],
  [{ baseUrl: '' }, `mine.baseUrl must be ${ADDRESS}.`],
  [{ baseUrl: 'mine.example/v1' }, `mine.baseUrl must be ${ADDRESS}.`],
  [{ baseUrl: 'https://' }, `mine.baseUrl must be ${ADDRESS}.`],
  [{ baseUrl: new URL('https://mine.example') }, `mine.baseUrl must be ${ADDRESS}.`],
  [{ format: 'openai' }, `mine.format must be one of ${FORMATS}.`],
  [{ format: 'constructor' }, `mine.format must be one of ${FORMATS}.`],
  [{ formats: [] }, 'mine.formats must be an object.'],
  [{ formats: { 'claude-': 'anthropic' } }, `mine.formats.claude- must be one of ${FORMATS}.`],
  [{ alsoSpeaks: 'gemini' }, 'mine.alsoSpeaks must be an array.'],
  [{ alsoSpeaks: ['google'] }, `mine.alsoSpeaks[0] must be one of ${FORMATS}.`],
  [{ auth: 'basic' }, 'mine.auth must be one of bearer, x-api-key, x-goog-api-key, api-key.'],
  [{ cloud: 'aws' }, 'mine.cloud must be one of azure, bedrock, vertex.'],
  [{ serviceKinds: 'llm' }, 'mine.serviceKinds must be an array.'],
  [{ serviceKinds: [null] }, 'mine.serviceKinds[0] must be a string.'],
  [{ models: { m: {} } }, 'mine.models must be an array.'],
  [{ models: [{ id: 'm' }, 'n'] }, 'mine.models[1] must be an object.'],
  [{ models: [{ name: 'm' }] }, 'mine.models[0].id must be a string.'],
  [{ models: [{ id: 'm', type: 5 }] }, 'mine.models[0].type must be a string.'],
  [{ models: [{ id: 'm', contextWindow: '8k' }] }, 'mine.models[0].contextWindow must be a non-negative number.'],
  [{ models: [{ id: 'm', price: 5 }] }, 'mine.models[0].price must be an object.'],
  [{ models: [{ id: 'm', price: { input: '1' } }] }, 'mine.models[0].price.input must be a non-negative number.'],
  [{ ttsConfig: { models: [{}] } }, 'mine.ttsConfig.models[0].id must be a string.'],
  [{ embeddingConfig: true }, 'mine.embeddingConfig must be an object.'],
  [{ searchConfig: 'yes' }, 'mine.searchConfig must be an object.'],
]
for (const [provider, message] of rejected) {
  test(`the provider ${JSON.stringify(provider)} is rejected: ${message}`, () => {
    assert.is(findProviderProblem(provider, 'mine'), message)
  })
}

test('a custom catalog may have additional fields, unknown kinds, and undefined values', () => {
  for (const provider of [
    {},
    { alias: ' ', models: [], serviceKinds: [] },
    { alias: undefined, format: undefined, models: [{ id: '', type: 'video', mine: 1 }], mine: { any: 'thing' } },
    {
      baseUrl: 'http://localhost:1/v1',
      searchConfig: {},
      fetchConfig: {},
      ttsConfig: {},
      embeddingConfig: { models: [] },
    },
  ])
    assert.is(findProviderProblem(provider, 'mine'), undefined)
})

test('the error for a custom catalog names the provider, and the built-in catalog causes no error', () => {
  for (const [id, provider] of Object.entries(defaultCatalog)) assert.is(findProviderProblem(provider, id), undefined)
  checkCatalog({ ...defaultCatalog, mine: {} })
  const check = () => Reflect.apply(checkCatalog, undefined, [{ ...defaultCatalog, mine: { models: null } }])
  assert.throws(
    check,
    (error: unknown) => error instanceof TypeError && error.message === 'catalog.mine.models must be an array.',
  )
})
