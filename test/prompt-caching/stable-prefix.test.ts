import { setImmediate } from 'node:timers/promises'
import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { createWarnings } from '../../src/protocols/formats/canonical/canonical-warnings.ts'
import { prepareRequest } from '../../src/protocols/formats/canonical/prepare/prepare.ts'
import { getFormat, loadUpstreamFormat } from '../../src/protocols/formats/formats.ts'
import type { UpstreamTranslator } from '../../src/protocols/formats/translator.ts'
import { getTraits } from '../../src/protocols/providers/provider-traits.ts'
import { clientFormats } from '../../src/types/unions.ts'
import type { ClientFormat, ProviderFormat } from '../../src/types.ts'
import { contexts } from '../formats/support/contexts.ts'
import { isCi, isFull } from '../support/ci.ts'
import { createRandom, type Random } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import {
  type ConversationOptions,
  clientWriters,
  createConversation,
  listRequestEnds,
  type Step,
} from './support/conversations.ts'

const test = suite('prompt caching: stable prefixes')

interface Target {
  format: ProviderFormat
  provider: string
  model: string
}

/** Models whose rules change a conversation the most. */
const targets: readonly Target[] = [
  { format: 'openai-chat', provider: 'openai', model: 'gpt-5.4' },
  { format: 'openai-chat', provider: 'deepseek', model: 'deepseek-flash' },
  { format: 'openai-chat', provider: 'mistral', model: 'mistral-large-3' },
  { format: 'openai-chat', provider: 'openrouter', model: 'anthropic/claude-sonnet-4-5' },
  { format: 'openai-responses', provider: 'openai', model: 'gpt-5.6' },
  { format: 'anthropic-messages', provider: 'anthropic', model: 'claude-sonnet-5-5' },
  { format: 'anthropic-messages', provider: 'anthropic', model: 'claude-sonnet-4-5' },
  { format: 'gemini', provider: 'google', model: 'gemini-3-pro-preview' },
  { format: 'bedrock-converse', provider: 'bedrock', model: 'us.anthropic.claude-sonnet-4-5' },
  { format: 'bedrock-converse', provider: 'bedrock', model: 'us.amazon.nova-pro-v1:0' },
]

type Send = (steps: readonly Step[]) => JsonObject

/** Returns the function that translates a client's request for a target. `order` reorders the client's fields. */
async function createSender(client: ClientFormat, target: Target, order = <T>(value: T): T => value): Promise<Send> {
  const from = await getFormat(client).loadTranslator()
  const to: UpstreamTranslator = await (await loadUpstreamFormat(target.format)).loadTranslator()
  const traits = getTraits(to.traits, target, {})
  return (steps) => {
    const warnings = createWarnings({ isStrict: false, names: from.fieldNames })
    const body = order(clientWriters[client](steps))
    const parsed = from.parseRequest(body, { warnings, version: '4', route: { model: 'm', stream: false } })
    const context = { ...contexts(to, { format: target.format }).target, model: target.model, traits, warnings }
    const { request } = prepareRequest(parsed, { ...context, supportedOptions: to.supportedOptions })
    return to.writeRequest(request, context).body
  }
}

/** Splits the bytes of a request into everything before its last message, and all other fields. */
function split(body: JsonObject): { messages: string[]; rest: string } {
  const name = ['messages', 'input', 'contents'].find((value) => Array.isArray(body[value])) ?? ''
  const messages = body[name]
  return {
    messages: Array.isArray(messages) ? messages.map((message) => JSON.stringify(message)) : [],
    rest: JSON.stringify({ ...body, [name]: [] }).replace(BINDING, ''),
  }
}

/** The setting for thinking blocks that no longer match. It is only sent once there are any, and isn't part of the prompt. */
const BINDING = /,"thinking":\{"type":"adaptive","block_binding":\{[^}]*\}\}/

/** Asserts that each request starts with the bytes of the previous one, up to its last message. */
function assertStable(bodies: readonly JsonObject[], hint: string): void {
  let before: ReturnType<typeof split> | undefined
  for (const [index, body] of bodies.entries()) {
    const now = split(body)
    if (before) {
      assert.is(now.rest, before.rest, `${hint}, request ${index}`)
      const kept = before.messages.slice(0, -1)
      assert.equal(now.messages.slice(0, kept.length), kept, `${hint}, request ${index}`)
    }
    before = now
  }
}

const send = (sender: Send, steps: readonly Step[], stride = 1): JsonObject[] =>
  listRequestEnds(steps)
    .filter((_, index) => index % stride === 0)
    .map((end) => sender(steps.slice(0, end)))

const shuffle = <T>(values: readonly T[], random: Random): T[] =>
  values
    .map((value) => [random.next(), value] as const)
    .sort(([first], [other]) => first - other)
    .map(([, value]) => value)

/** Shuffles object fields, except in a tool's schema and input, which are the client's own data. */
function shuffleFields<T>(value: T, random: Random): T
function shuffleFields(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffleFields(item, random))
  if (!isObject(value)) return value
  return Object.fromEntries(
    shuffle(Object.entries(value), random).map(([name, field]) => [
      name,
      OWN_DATA.has(name) || (name === 'input' && !Array.isArray(field)) ? field : shuffleFields(field, random),
    ]),
  )
}

const OWN_DATA = new Set(['input_schema', 'parameters', 'inputSchema', 'parametersJsonSchema', 'args', 'response'])

const LONG = isCi ? 1_000 : 60
/** Only every nth request of a long conversation is tested. */
const STRIDE = isFull ? 25 : isCi ? 125 : 6
const TURNS = isFull ? 40 : isCi ? 24 : 10
const CONVERSATIONS = isFull ? 4 : 2

for (const client of clientFormats)
  test(`each request begins with the previous one, from ${client} clients to every format`, async () => {
    const random = createRandom()
    for (const target of targets) {
      const hint = `${client} to ${target.model}, seed ${random.seed}`
      const sender = await createSender(client, target)
      await setImmediate() // thousands of requests keep the CPU busy
      assertStable(send(sender, createConversation(random, LONG), STRIDE), hint)
      for (let count = 0; count < CONVERSATIONS; count++)
        assertStable(send(sender, createConversation(random, TURNS)), hint)
    }
  })

for (const client of clientFormats)
  test(`the order of the client's fields doesn't affect the prefix, from ${client} clients`, async () => {
    const random = createRandom()
    for (const target of targets) {
      const order = <T>(value: T) => shuffleFields(value, random)
      const sender = await createSender(client, target, order)
      const hint = `${client} to ${target.model}, seed ${random.seed}`
      assertStable(send(sender, createConversation(random, TURNS)), hint)
    }
  })

const special: Record<string, ConversationOptions> = {
  reasoning: { hasReasoning: true },
  'images by URL': { hasImages: true },
  'late instructions': { hasLateSystem: true },
}

for (const [label, options] of Object.entries(special))
  for (const client of clientFormats)
    test(`each request begins with the previous one, with ${label}, from ${client} clients`, async () => {
      const random = createRandom()
      for (const target of targets) {
        const hint = `${client} to ${target.model}, seed ${random.seed}`
        const sender = await createSender(client, target)
        for (let count = 0; count < CONVERSATIONS; count++) {
          const steps = createConversation(random, TURNS, options)
          try {
            sender(steps)
          } catch {
            continue // the target doesn't support image URLs, so the gateway downloads them
          }
          assertStable(send(sender, steps), hint)
        }
      }
    })

test('two translations of a conversation are byte-identical', async () => {
  const random = createRandom()
  for (const client of clientFormats)
    for (const target of targets) {
      const steps = createConversation(random, TURNS, { hasReasoning: true })
      const [first, second] = await Promise.all([createSender(client, target), createSender(client, target)])
      assert.is(JSON.stringify(first(steps.slice(0, -1))), JSON.stringify(second(structuredClone(steps.slice(0, -1)))))
    }
})
