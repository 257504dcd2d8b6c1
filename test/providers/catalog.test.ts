import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { validateCatalog } from '../../src/features/catalog/validate-catalog.ts'
import { modelSources, models } from '../../src/protocols/providers/catalog.data.ts'
import { defaultCatalog, mergeCatalog } from '../../src/protocols/providers/catalog.ts'
import { definitions } from '../../src/protocols/providers/definitions.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the built-in catalog')

test('the built-in catalog is well-formed', () => {
  const advice = 'Models come from catalog.extra.ts, or from the network (CONTRIBUTING.md, Add a provider).'
  assert.equal(validateCatalog(defaultCatalog), [], advice)
})

test('the built-in catalog contains all popular providers', () => {
  const names = new Set(Object.values(defaultCatalog).map((provider) => provider.name))
  const wanted = [
    'OpenAI',
    'Anthropic',
    'Google',
    'Mistral',
    'Groq',
    'DeepSeek',
    'xAI',
    'OpenRouter',
    'Together AI',
    'Fireworks AI',
    'Cerebras',
    'Perplexity',
    'Cohere',
    'Ollama',
    'LM Studio',
    'Moonshot AI',
    'Z.ai',
    'Alibaba Cloud Model Studio',
    'NVIDIA NIM',
    'Hugging Face Inference Providers',
    'SambaNova',
    'DeepInfra',
    'MiniMax',
    'Nebius Token Factory',
    'Novita AI',
    'Voyage AI',
    'Jina AI',
    'Tavily',
    'Exa',
    'Brave Search',
    'Firecrawl',
  ]
  assert.equal(
    wanted.filter((name) => !names.has(name)),
    [],
  )
})

test('every provider in the built-in catalog has a name, documentation, and a service', () => {
  for (const [id, provider] of Object.entries(defaultCatalog)) {
    const { baseUrl, cloud, searchConfig, fetchConfig, models: list = [] } = provider
    if (cloud) continue // the connection supplies its URL
    assert.ok(baseUrl ? list.length > 0 : searchConfig || fetchConfig, `${id} has no base URL, or no models`)
    assert.ok(provider.name && provider.docsUrl, `${id} has no name or documentation`)
  }
})

test('only five providers in the built-in catalog use a format other than chat completions', () => {
  const others = Object.entries(defaultCatalog).flatMap(([id, { format }]) => (format ? [`${id} ${format}`] : []))
  assert.equal(others, [
    'anthropic anthropic-messages',
    'google gemini',
    'perplexity-agent openai-responses',
    'bedrock bedrock-converse',
    'vertex gemini',
  ])
})

test('the built-in catalog has prices for the models of vendors that bill by the token', () => {
  for (const id of ['openai', 'anthropic', 'deepseek', 'xai', 'moonshot', 'alibaba', 'minimax']) {
    const unpriced = (defaultCatalog[id]?.models ?? []).filter((model) => !model.type && !model.price?.output)
    assert.equal(unpriced, [], id)
  }
})

test('only five providers in the built-in catalog have models with a price of zero', () => {
  const free = Object.entries(defaultCatalog).flatMap(([id, { models: list = [] }]) =>
    list.some((model) => model.price?.input === 0) ? [id] : [],
  )
  assert.equal(free, ['openai', 'zai', 'openrouter', 'ollama', 'lmstudio'])
})

test("the built-in catalog lists the source and date of every provider's data", () => {
  assert.equal(Object.keys(modelSources), Object.keys(models))
  for (const [id, source] of Object.entries(modelSources))
    assert.match(source, /^https:\/\/\S+.*, \d{4}-\d\d-\d\d$/, id)
  for (const id of Object.keys(models)) assert.ok(Object.hasOwn(definitions, id), `${id} has models, but no definition`)
})

test('generated data in the built-in catalog replaces a handwritten model with the same ID', () => {
  const data = { a: [{ id: 'x', contextWindow: 2 }] }
  const merged = mergeCatalog({ a: { name: 'A' } }, data, { extra: { a: [{ id: 'x' }, { id: 'y' }] } })
  assert.equal(merged, { a: { name: 'A', models: [{ id: 'x', contextWindow: 2 }, { id: 'y' }] } })
})

test('the built-in catalog is under 25 kB gzipped as a separate entry point', async () => {
  const entryPoints = [new URL('../../src/protocols/providers/catalog.ts', import.meta.url).pathname]
  const { outputFiles } = await build({ entryPoints, bundle: true, minify: true, format: 'esm', write: false })
  const bytes = gzipSync(outputFiles[0]?.contents ?? '').length
  assert.ok(bytes > 1_000 && bytes < 25_000, `${bytes} bytes`)
})
