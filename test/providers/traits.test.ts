import { messagesTranslator } from '../../src/formats/anthropic-messages/translator.ts'
import { chatTranslator } from '../../src/formats/openai-chat/translator.ts'
import { defaultCatalog } from '../../src/providers/catalog.ts'
import { targetOf } from '../../src/providers/target.ts'
import { traitsFor } from '../../src/providers/traits.ts'
import type { ReasoningTraits, Traits } from '../../src/traits.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('traits of vendors and models')

const bases: Record<string, Traits> = {
  'openai-chat': chatTranslator.traits,
  'anthropic-messages': messagesTranslator.traits,
}

/** `provider/model`, in the provider's own format. */
function traitsOf(name: string): Traits {
  const slash = name.indexOf('/')
  const provider = name.slice(0, slash)
  const target = targetOf(defaultCatalog, { id: 'c', provider }, name.slice(slash + 1))
  const base = bases[target.format]
  if (!base) throw new Error(`no traits of ${target.format}`)
  return traitsFor(base, target, defaultCatalog)
}

const SAMPLING = ['temperature', 'topP', 'topK'] as const

type Expected = Partial<Omit<Traits, 'reasoning' | 'lacks'>> & {
  reasoning?: Partial<ReasoningTraits>
  lacks?: Traits['lacks']
  takes?: Traits['lacks']
}

const table: Record<string, Expected> = {
  'openai/gpt-4o': {
    outputLimitField: 'max_completion_tokens',
    maxOutputTokens: 16_384,
    takes: ['temperature', 'stop', 'prediction'],
    lacks: ['verbosity'],
    reasoning: { by: 'none' },
  },
  'openai/gpt-5-mini-2025-08-07': {
    lacks: ['temperature', 'topP', 'stop', 'logprobs'],
    takes: ['verbosity'],
    reasoning: { by: 'effort', efforts: ['minimal', 'low', 'medium', 'high'] },
  },
  'openai/gpt-5.2': { reasoning: { efforts: ['none', 'low', 'medium', 'high', 'xhigh'] } },
  'openai/gpt-5.5-pro': { reasoning: { efforts: ['medium', 'high', 'xhigh'] } },
  'openai/gpt-6-sol': {
    cacheMarks: 'prompt_cache_breakpoint',
    reasoning: { efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] },
  },
  'openai/gpt-6-astra': { reasoning: { efforts: ['low', 'medium', 'high', 'xhigh', 'max'] } },
  'openai/o3': {
    lacks: ['temperature', 'parallelToolCalls'],
    cacheMarks: 'none',
    reasoning: { efforts: ['low', 'medium', 'high'] },
  },
  'openai-compatible-azure/gpt-5': {
    outputLimitField: 'max_completion_tokens',
    developerRole: false,
    lacks: ['temperature', 'store'],
    reasoning: { by: 'effort' },
  },
  'openai-compatible-home/qwen3.8-27b': {
    outputLimitField: 'max_tokens',
    developerRole: false,
    freeFormTools: false,
    lacks: ['store', 'verbosity', 'topK'],
    takes: ['temperature', 'seed'],
    reasoning: { by: 'none' },
  },
  'ollama/gpt-oss:20b': { reasoning: { by: 'effort', efforts: ['low', 'medium', 'high'] } },
  'anthropic/claude-opus-5-5': {
    lacks: [...SAMPLING],
    prefill: false,
    toolChoices: ['none'],
    reasoning: { by: 'adaptive', efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
  },
  'anthropic/claude-opus-5': {
    lacks: [...SAMPLING],
    prefill: false,
    toolChoices: ['none', 'required', 'tool'],
    reasoning: { by: 'adaptive', efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] },
  },
  'anthropic/claude-fable-5': {
    toolChoices: ['none'],
    reasoning: { efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
  },
  'anthropic/claude-opus-4-7': {
    lacks: [...SAMPLING],
    maxOutputTokens: 128_000,
    toolChoices: ['none', 'required', 'tool'],
  },
  'anthropic/claude-sonnet-4-6': {
    takes: [...SAMPLING],
    prefill: false,
    reasoning: { by: 'adaptive', efforts: ['none', 'low', 'medium', 'high', 'max'] },
  },
  'anthropic/claude-sonnet-4-5-20250929': {
    takes: [...SAMPLING],
    prefill: true,
    maxOutputTokens: 64_000,
    outputFormats: ['json-schema'],
    reasoning: { by: 'budget', refusesForcedTool: true },
  },
  'anthropic/claude-opus-4-20250514': {
    takes: [...SAMPLING],
    prefill: true,
    outputFormats: [],
    reasoning: { by: 'budget' },
  },
  'anthropic/claude-3-5-haiku-20241022': { takes: [...SAMPLING], reasoning: { by: 'none' }, outputFormats: [] },
  'anthropic-compatible-bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0': {
    prefill: true,
    lacks: ['serviceTier'],
    reasoning: { by: 'budget' },
  },
  'anthropic-compatible-vertex/claude-opus-4@20250514': { reasoning: { by: 'budget' } },
  'anthropic-compatible-zai/glm-5.3': {
    takes: ['temperature'],
    prefill: true,
    outputFormats: [],
    reasoning: { by: 'budget' },
  },
  'deepseek/deepseek-v4-pro': {
    outputFormats: ['json'],
    toolChoices: ['none'],
    developerRole: false,
    reasoning: { by: 'thinking', replay: 'tool-loop', field: 'reasoning_content' },
  },
  'mistral/mistral-large-4': {
    outputLimitField: 'max_tokens',
    streamUsage: false,
    toolIds: { characters: 'A-Za-z0-9', maxLength: 9, isExact: true },
    lacks: ['seed'],
    reasoning: { field: 'thinking-parts' },
  },
  'openrouter/openai/gpt-5.6-sol': {
    outputLimitField: 'max_tokens',
    lacks: ['temperature'],
    reasoning: { by: 'reasoning-object', field: 'reasoning_details' },
  },
}

for (const [name, expected] of Object.entries(table)) {
  test(name, () => {
    const traits = traitsOf(name)
    const { reasoning = {}, lacks = [], takes = [], ...fields } = expected
    for (const [field, value] of Object.entries(fields)) assert.equal(traits[field as keyof Traits], value, field)
    for (const [field, value] of Object.entries(reasoning))
      assert.equal(traits.reasoning[field as keyof ReasoningTraits], value, `reasoning.${field}`)
    assert.equal(
      lacks.filter((option) => !traits.lacks.includes(option)),
      [],
      'is to lack',
    )
    assert.equal(
      takes.filter((option) => traits.lacks.includes(option)),
      [],
      'is to take',
    )
  })
}
