import type { JsonObject } from '../../src/lib/json.ts'
import type { AssistantPart, CacheBreakpoint, UserPart } from '../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest } from '../../src/protocols/formats/canonical/canonical-request.ts'
import type { Turn } from '../../src/protocols/formats/canonical/canonical-turns.ts'
import { prepareRequest } from '../../src/protocols/formats/canonical/prepare/prepare.ts'
import { loadUpstreamFormat } from '../../src/protocols/formats/formats.ts'
import { getTraits } from '../../src/protocols/providers/provider-traits.ts'
import type { ProviderFormat } from '../../src/types.ts'
import { contexts } from '../formats/support/contexts.ts'
import { randomCases } from '../support/ci.ts'
import { createRandom, type Random } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { findMarkProblem } from './support/breakpoint-rules.ts'

const test = suite('prompt caching: random client breakpoints')

const REQUESTS = randomCases(100_000, 4_000)

const pick = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)] as T // never empty

function randomMark(random: Random): { cache?: CacheBreakpoint } {
  if (random.next() < 0.6) return {}
  const ttl = pick(random, [undefined, '5m', '1h', '30m', '12h'] as const)
  return { cache: ttl ? { ttl } : {} }
}

const randomText = (random: Random) => pick(random, ['a', 'b', ' ', '', '\n', 'words'])

const PNG = { type: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const

function randomUserPart(random: Random): UserPart {
  const mark = randomMark(random)
  return random.next() < 0.8
    ? { type: 'text', text: randomText(random), ...mark }
    : { type: 'image', source: PNG, ...mark }
}

function randomAssistantPart(random: Random, id: string): AssistantPart {
  const chance = random.next()
  if (chance < 0.4) return { type: 'text', text: randomText(random), ...randomMark(random) }
  if (chance < 0.6)
    return { type: 'reasoning', text: 'Hm.', state: { kind: 'signature', data: 'c2ln', origin: ORIGIN } }
  return { type: 'tool-call', id, name: 'f', arguments: '{}', ...randomMark(random) }
}

const ORIGIN = { format: 'anthropic-messages', account: 'vendor/1' } as const

const repeat = <T>(random: Random, most: number, make: (at: number) => T): T[] =>
  Array.from({ length: random.below(most + 1) }, (_, index) => make(index))

function randomRequest(random: Random): CanonicalRequest {
  const turns: Turn[] = repeat(random, 2, () => ({
    ...{ role: 'system', sentAs: 'instructions' },
    content: [{ type: 'text', text: randomText(random), ...randomMark(random) }],
  }))
  for (let round = 0; round <= random.below(4); round++) {
    turns.push({ role: 'user', content: [randomUserPart(random), ...repeat(random, 2, () => randomUserPart(random))] })
    if (random.next() < 0.2) continue
    const content = repeat(random, 4, (index) => randomAssistantPart(random, `call_${round}_${index}`))
    turns.push({ role: 'assistant', content })
    const calls = content.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
    if (calls.length === 0) continue
    const results = calls.map(({ id, name }) => ({
      ...{ callId: id, name, ...randomMark(random) },
      content: repeat(random, 2, () => randomUserPart(random)),
    }))
    turns.push({ role: 'tool', results })
  }
  const auto = randomMark(random).cache
  return {
    ...{ model: 'm', stream: false, streamUsage: false, turns },
    tools: repeat(random, 3, (index) => ({
      ...{ type: 'function', name: index === 0 ? 'f' : `f${index}`, schema: { type: 'object' } },
      ...randomMark(random),
    })),
    options: auto ? { cacheOptions: { auto } } : {},
  }
}

const targets: Record<string, { format: ProviderFormat; provider: string; model: string }> = {
  Anthropic: { format: 'anthropic-messages', provider: 'anthropic', model: 'claude-sonnet-4-5' },
  Vertex: { format: 'anthropic-messages', provider: 'vertex', model: 'claude-sonnet-4-5' },
  Bedrock: { format: 'bedrock-converse', provider: 'bedrock', model: 'us.anthropic.claude-sonnet-4-5' },
  Nova: { format: 'bedrock-converse', provider: 'bedrock', model: 'eu.amazon.nova-pro-v1:0' },
  OpenRouter: { format: 'openai-chat', provider: 'openrouter', model: 'anthropic/claude-sonnet-4-5' },
}

for (const [name, target] of Object.entries(targets))
  test(`random client breakpoints never exceed the maximum, break the order, or end up on the wrong block (${name})`, async () => {
    const { format, model } = target
    const translator = await (await loadUpstreamFormat(format)).loadTranslator()
    const traits = getTraits(translator.traits, target, {})
    const random = createRandom()
    for (let count = 0; count < REQUESTS / 5; count++) {
      const context = { ...contexts(translator, { format, traits }).target, model }
      const { supportedOptions } = translator
      const { request } = prepareRequest(randomRequest(random), { ...context, supportedOptions })
      const body: JsonObject = translator.writeRequest(request, context).body
      const problem = findMarkProblem(body, { acceptsTools: name !== 'Nova', acceptsTop: name === 'Anthropic' })
      assert.is(problem, undefined, `seed ${random.seed}, request ${count}: ${problem}: ${JSON.stringify(body)}`)
    }
  })
