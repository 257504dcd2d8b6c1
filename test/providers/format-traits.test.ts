import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { anthropicTranslator } from '../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import { assert, suite } from '../support/suite.ts'
import { type Expected, findTraits, hold, SAMPLING } from './expected-traits.ts'

const test = suite('traits in other formats')

const native: Record<string, Expected> = {
  'google/gemini-4-argon': { lacks: SAMPLING, reasoning: { control: 'level', efforts: ['low', 'medium', 'high'] } },
  'google/gemini-3.1-flash-lite': { takes: ['temperature'], prefill: true },
  'google/gemini-3.5-flash-lite': {
    lacks: SAMPLING,
    prefill: false,
    reasoning: { control: 'level', efforts: ['minimal', 'low', 'medium', 'high'] },
  },
  'google/gemini-3-pro-preview': { reasoning: { efforts: ['low', 'high'] } },
  'google/gemini-3.1-pro-preview': { reasoning: { efforts: ['low', 'medium', 'high'] } },
  'google/gemini-2.5-pro': { reasoning: { control: 'budget', minBudget: 128, maxBudget: 32_768 } },
  'google/gemini-2.5-flash': {
    toolResultInputs: [],
    reasoning: { control: 'budget', minBudget: 512, maxBudget: 24_576 },
  },
  'google/gemini-2.0-flash': { reasoning: { control: 'none' } },
}

for (const [name, expected] of Object.entries(native))
  test(`${name} has the expected traits in its own format`, () => hold(findTraits(name), expected))

const asChat: Record<string, Expected> = {
  'google/gemini-3.8-flash': {
    lacks: ['temperature', 'topP', 'seed', 'frequencyPenalty', 'parallelToolCalls'],
    reasoning: { control: 'effort', efforts: ['low', 'medium', 'high'] },
  },
  'google/gemini-2.5-pro': { takes: ['temperature'], lacks: ['presencePenalty'], reasoning: { control: 'effort' } },
  'google/gemma-4-31b-it': { reasoning: { control: 'none' } },
}

for (const [name, expected] of Object.entries(asChat))
  test(`${name} has the expected traits behind an OpenAI-compatible API`, () =>
    hold(findTraits(name, 'openai-chat'), expected))

test('an unknown provider gets everything that its format supports', () => {
  const traits = findTraits('anthropic-compatible-x/claude-of-tomorrow')
  assert.equal(traits.inputs, anthropicTranslator.traits.inputs)
  assert.equal(traits.reasoning.control, 'adaptive')
})

test('the provider traits module is under 4 kB gzipped', async () => {
  const { outputFiles } = await build({
    entryPoints: [new URL('../../src/protocols/providers/provider-traits.ts', import.meta.url).pathname],
    bundle: true,
    format: 'esm',
    minify: true,
    write: false,
  })
  const bytes = gzipSync(outputFiles[0]?.contents ?? '').length
  assert.ok(bytes > 500 && bytes < 4_000, `${bytes} bytes`)
})
