import { readdirSync, readFileSync } from 'node:fs'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { catalogProviders } from '../../src/protocols/providers/traits/openai-compatible-traits.ts'
import { assert, suite } from '../support/suite.ts'
import { type Expected, findTraits, hold, SAMPLING } from './expected-traits.ts'

const test = suite('vendor and model traits')

const UP_TO_MAX = ['low', 'medium', 'high', 'xhigh', 'max'] as const

const table: Record<string, Expected> = {
  'openai/gpt-4o': {
    maxOutputTokens: 16_384,
    takes: ['temperature', 'stop', 'prediction'],
    lacks: ['verbosity', 'cacheOptions'],
    inputs: ['image', 'image-url', 'file'],
    webSearch: false,
    cacheBreakpoints: 'none',
    reasoning: { control: 'none' },
  },
  'openai/gpt-4o-search-preview': { webSearch: true },
  'openai/gpt-audio-1.5': { inputs: ['image', 'image-url', 'file', 'audio'] },
  'openai/o3': {
    lacks: ['stop', 'parallelToolCalls'],
    outputLimitField: 'max_completion_tokens',
    reasoning: { efforts: ['low', 'medium', 'high'], isDefault: true, rejectsTools: false },
  },
  'openai/gpt-5-mini-2025-08-07': {
    takes: ['verbosity'],
    reasoning: { control: 'effort', efforts: ['minimal', 'low', 'medium', 'high'], isDefault: true },
  },
  'openai/gpt-5-chat-latest': { reasoning: { control: 'none', isDefault: false } },
  'openai/gpt-5.1': {
    reasoning: { efforts: ['none', 'low', 'medium', 'high'], isDefault: false, rejectsTools: false },
  },
  'openai/gpt-5.4-mini': {
    reasoning: { efforts: ['none', 'low', 'medium', 'high', 'xhigh'], isDefault: false, rejectsTools: true },
  },
  'openai/gpt-5.5-pro': { reasoning: { efforts: ['medium', 'high', 'xhigh'], isDefault: true } },
  'openai/gpt-6-sol': {
    cacheBreakpoints: 'prompt_cache_breakpoint',
    developerRole: true,
    freeFormTools: true,
    reasoning: { efforts: ['none', ...UP_TO_MAX], isDefault: true, rejectsTools: true },
  },
  'openai/gpt-6-astra': { reasoning: { efforts: ['low', 'medium', 'high', 'xhigh'] } },
  'openai/gpt-9-of-tomorrow': { reasoning: { control: 'effort', isDefault: true } },
  'azure/gpt-5.1': {
    outputLimitField: 'max_completion_tokens',
    inputs: ['image', 'image-url'],
    developerRole: true,
    lacks: ['stop', 'serviceTier'],
    takes: ['verbosity', 'store', 'temperature'],
    reasoning: { control: 'effort', isDefault: false },
  },
  'azure/our-own-name': {
    outputLimitField: 'max_completion_tokens',
    developerRole: false,
    takes: ['temperature', 'stop'],
    reasoning: { control: 'none' },
  },
  'openai-compatible-litellm/gpt-5': {
    outputLimitField: 'max_completion_tokens',
    developerRole: false,
    lacks: ['stop'],
    takes: ['store', 'verbosity', 'topK'],
    reasoning: { control: 'effort', isDefault: true },
  },
  'openai-compatible-home/Qwen/Qwen3.8-27B': {
    outputLimitField: 'max_tokens',
    developerRole: false,
    freeFormTools: false,
    strictTools: true,
    toolChoices: ['none', 'required', 'tool'],
    outputFormats: ['json', 'json-schema'],
    inputs: ['image', 'image-url', 'file', 'audio', 'video', 'video-url', 'youtube'],
    takes: ['temperature', 'seed', 'stop', 'store', 'labels', 'serviceTier', 'cacheKey', 'endUser', 'topK'],
    reasoning: { control: 'effort', efforts: ['none', 'low', 'medium', 'high'], replay: 'tool-loop' },
  },
  'openai-compatible-litellm/anthropic/claude-opus-4-8': { lacks: SAMPLING, prefill: false, lateSystem: false },
  'openai-compatible-litellm/us.anthropic.claude-sonnet-4-6': { takes: ['temperature'], prefill: false },
  'ollama/gpt-oss:20b': {
    inputs: ['image'],
    toolChoices: [],
    reasoning: { control: 'effort', efforts: ['low', 'medium', 'high'], field: 'reasoning' },
  },
  'ollama/llama3.3': { reasoning: { control: 'none' } },
  'lmstudio/qwen/qwen3-coder-30b': { outputFormats: ['json-schema'], toolChoices: ['none', 'required'] },

  'anthropic/claude-fable-5-2': {
    lacks: SAMPLING,
    prefill: false,
    toolChoices: ['none'],
    lateSystem: 'before-answer',
    maxOutputTokens: 128_000,
    reasoning: { control: 'adaptive', efforts: UP_TO_MAX, bindsReasoning: true },
  },
  'anthropic/claude-opus-5-5': { toolChoices: ['none'], reasoning: { efforts: UP_TO_MAX } },
  'anthropic/claude-sonnet-5-5': {
    toolChoices: ['none'],
    lateSystem: 'before-answer',
    reasoning: { efforts: ['none', ...UP_TO_MAX], disabledType: 'between_tools' },
  },
  'anthropic/claude-haiku-5-5': {
    toolChoices: ['none', 'required', 'tool', 'search'],
    lateSystem: 'before-answer',
    reasoning: { efforts: ['none', ...UP_TO_MAX], disabledType: 'disabled' },
  },
  'anthropic/claude-opus-5': {
    lacks: SAMPLING,
    toolChoices: ['none', 'required', 'tool', 'search'],
    reasoning: {
      control: 'adaptive',
      efforts: ['none', ...UP_TO_MAX],
      rejectsForcedTool: false,
      bindsReasoning: false,
    },
  },
  'anthropic/claude-sonnet-5': { lateSystem: false, toolChoices: ['none', 'required', 'tool', 'search'] },
  'anthropic/claude-opus-4-8': { lacks: SAMPLING, lateSystem: 'before-answer' },
  'anthropic/claude-opus-4-7': {
    lacks: SAMPLING,
    lateSystem: false,
    toolChoices: ['none', 'required', 'tool', 'search'],
  },
  'anthropic/claude-sonnet-4-6': {
    takes: SAMPLING,
    prefill: false,
    reasoning: { control: 'adaptive', efforts: ['none', 'low', 'medium', 'high', 'max'] },
  },
  'anthropic/claude-sonnet-4-5-20250929': {
    takes: [...SAMPLING, 'serviceTier', 'endUser'],
    prefill: true,
    maxOutputTokens: 64_000,
    outputFormats: ['json-schema'],
    strictTools: true,
    reasoning: { control: 'budget', rejectsForcedTool: true },
  },
  'anthropic/claude-opus-4-1-20250805': { outputFormats: ['json-schema'], reasoning: { control: 'budget' } },
  'anthropic/claude-opus-4-20250514': { prefill: true, outputFormats: [], strictTools: false },
  'anthropic/claude-3-7-sonnet-20250219': { takes: SAMPLING, reasoning: { control: 'budget' }, outputFormats: [] },
  'anthropic/claude-3-5-haiku-20241022': { takes: SAMPLING, maxOutputTokens: 4_096, reasoning: { control: 'none' } },
  'anthropic-compatible-bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0': {
    prefill: true,
    lacks: ['serviceTier', 'cacheOptions'],
    reasoning: { control: 'budget' },
  },
  'anthropic-compatible-vertex/claude-opus-4@20250514': { outputFormats: [], reasoning: { control: 'budget' } },
  'anthropic-compatible-vertex/claude-opus-5-5': {
    lateSystem: false,
    lacks: SAMPLING,
    reasoning: { bindsReasoning: false },
  },
  'anthropic-compatible-zai/glm-5.3': {
    takes: SAMPLING,
    prefill: true,
    outputFormats: [],
    webSearch: false,
    reasoning: { control: 'budget' },
  },

  'vertex/claude-opus-5-5': { lateSystem: false, lacks: [...SAMPLING, 'cacheOptions'], callIds: true },
  'vertex/claude-sonnet-4-5@20250929': { takes: SAMPLING, reasoning: { control: 'budget' } },
  'vertex/gemini-3-flash-preview': {
    takes: ['labels', 'seed'],
    lacks: ['store', 'logprobs'],
    callIds: false,
    reportsSearches: false,
    reasoning: { control: 'level' },
  },
  'vertex/openai/gpt-oss-120b-maas': { lacks: ['labels'], callIds: true },

  'deepseek/deepseek-v4-pro': {
    outputFormats: ['json'],
    developerRole: false,
    reasoning: {
      control: 'thinking-effort',
      efforts: ['none', 'low', 'high', 'max'],
      rejectsForcedTool: true,
      isDefault: true,
      replay: 'always',
      field: 'reasoning_content',
      needsField: true,
    },
  },
  'mistral/mistral-large-4': {
    outputLimitField: 'max_tokens',
    streamUsage: false,
    prefill: false,
    toolIds: { characters: 'A-Za-z0-9', maxLength: 9, isExact: true },
    lacks: ['seed', 'store'],
    reasoning: { control: 'none', field: 'thinking-parts' },
  },
  'mistral/mistral-medium-3.5': { reasoning: { control: 'effort', efforts: ['none', 'high'] } },
  'xai/grok-4.7': { lacks: ['stop', 'frequencyPenalty'], reasoning: { efforts: ['low', 'medium', 'high'] } },
  'xai/grok-4.3': { reasoning: { efforts: ['none', 'low', 'medium', 'high'] } },
  'cohere/command-a-reasoning-08-2025': {
    maxTemperature: 1,
    reasoning: { control: 'effort', efforts: ['none', 'high'] },
  },
  'moonshot/kimi-k3.1-pro': {
    lacks: ['temperature', 'topP'],
    toolChoices: ['none'],
    reasoning: { control: 'effort', efforts: ['low', 'high', 'max'] },
  },
  'moonshot/kimi-k2.6': { reasoning: { control: 'thinking', efforts: ['none', 'high'] } },
  'moonshot/kimi-k2.7-code': { reasoning: { control: 'none' } },
  'zai/glm-5.3-flash': {
    maxTemperature: 1,
    maxStopSequences: 1,
    toolChoices: [],
    outputFormats: ['json'],
    reasoning: { control: 'thinking-effort', efforts: ['low', 'high', 'max'] },
  },
  'zai/glm-4.6': { reasoning: { control: 'thinking', efforts: ['none', 'high'] } },
  'alibaba/qwen3.8-max': { takes: ['topK'], reasoning: { control: 'enable_thinking', rejectsForcedTool: true } },
  'alibaba/qwen3-coder-plus': { reasoning: { control: 'none' } },
  'minimax/MiniMax-M3': { outputFormats: [], toolChoices: [], maxTemperature: 1 },
  'openrouter/openai/gpt-5.6-sol': {
    outputLimitField: 'max_tokens',
    lacks: ['stop'],
    takes: ['topK'],
    cacheBreakpoints: 'none',
    reasoning: { control: 'reasoning-object', field: 'reasoning_details', rejectsTools: false },
  },
  'openrouter/anthropic/claude-opus-5.5': { lacks: ['temperature'], cacheBreakpoints: 'cache_control', prefill: false },
  'openrouter/openai/gpt-oss-120b': { reasoning: { control: 'reasoning-object', field: 'reasoning_details' } },
  'groq/openai/gpt-oss-120b': {
    outputFormats: ['json', 'json-schema'],
    reasoning: { control: 'effort', field: 'reasoning' },
  },
  'groq/llama-3.3-70b-versatile': { outputFormats: ['json'], reasoning: { control: 'none' } },
  'cerebras/gpt-oss-120b': { lacks: ['frequencyPenalty'], outputLimitField: 'max_completion_tokens' },
  'fireworks/accounts/fireworks/models/glm-5p3': { reasoning: { control: 'effort', efforts: ['none', 'high', 'max'] } },
  'perplexity-agent/openai/gpt-5.5': { webSearch: true, lacks: ['store', 'verbosity'], freeFormTools: false },
}

for (const [name, expected] of Object.entries(table))
  test(`${name} has the expected traits`, () => hold(findTraits(name), expected))

test("exactly the catalog's chat providers are treated as vendors", () => {
  const answering = Object.entries(defaultCatalog).filter(([, { serviceKinds = ['llm'] }]) =>
    serviceKinds.includes('llm'),
  )
  const unknown = answering.map(([id]) => id).filter((id) => id !== 'openai' && !catalogProviders.test(id))
  assert.equal(
    unknown,
    [],
    'Add them to catalogProviders in src/protocols/providers/traits/openai-compatible-traits.ts.',
  )
  assert.not(catalogProviders.test('openai-compatible-home'))
})

test('trait rows name only providers in the catalog', () => {
  const folder = new URL('../../src/protocols/providers/traits/', import.meta.url)
  const named = readdirSync(folder).flatMap((file) => {
    const patterns = readFileSync(new URL(file, folder), 'utf8').matchAll(/providers: (\/.+?\/),?\s/g)
    return [...patterns].flatMap(([, pattern = '']) =>
      (pattern.match(/[a-z][\w-]*/g) ?? []).map((id) => ({ file, id })),
    )
  })
  assert.ok(named.length > 40, `only ${named.length} providers were found`)
  assert.equal(
    named.filter(({ id }) => !Object.hasOwn(defaultCatalog, id)),
    [],
    'Correct the names in "providers", or the rows never apply.',
  )
})
