import { isDeepStrictEqual } from 'node:util'
import { isGatewayError } from '../../src/errors.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { prepareRequest } from '../../src/protocols/formats/canonical/prepare/prepare.ts'
import { loadUpstreamFormat } from '../../src/protocols/formats/formats.ts'
import type { Translator, UpstreamTranslator } from '../../src/protocols/formats/translator.ts'
import { getTraits } from '../../src/protocols/providers/provider-traits.ts'
import type { Traits } from '../../src/traits.ts'
import { wireFormats } from '../../src/types/unions.ts'
import type { ProviderFormat, WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { fields as messages } from './fields/anthropic-messages.ts'
import type { Field } from './fields/field.ts'
import { fields as gemini } from './fields/gemini.ts'
import { fields as chat } from './fields/openai-chat.ts'
import { fields as responses } from './fields/openai-responses.ts'
import { contexts } from './support/contexts.ts'
import { getTranslator } from './support/matrix.ts'

const test = suite('every request field')

const fields: Readonly<Record<WireFormat, readonly Field[]>> = {
  'openai-chat': chat,
  'openai-responses': responses,
  'anthropic-messages': messages,
  gemini,
}

/** Each client's minimal request. */
const least: Readonly<Record<WireFormat, JsonObject>> = {
  'openai-chat': { messages: [{ role: 'user', content: 'Hi' }] },
  'openai-responses': { input: [{ role: 'user', content: 'Hi' }] },
  'anthropic-messages': { max_tokens: 8_000, messages: [{ role: 'user', content: 'Hi' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
}

/** Models of each format: an unknown one, and some with known quirks. */
const models: Readonly<Record<ProviderFormat, readonly [provider: string, model: string][]>> = {
  'openai-chat': [
    ['custom', 'm'],
    ['openai', 'gpt-5.6'],
    ['openai', 'gpt-4.1'],
    ['mistral', 'mistral-large'],
    ['deepseek', 'deepseek-chat'],
    ['openrouter', 'claude-opus-4.8'],
  ],
  'openai-responses': [
    ['custom', 'm'],
    ['openai', 'gpt-5.6'],
    ['openai', 'o3'],
  ],
  'anthropic-messages': [
    ['custom', 'm'],
    ['anthropic', 'claude-opus-4-8'],
    ['anthropic', 'claude-sonnet-4-5'],
    ['anthropic', 'claude-3-haiku'],
  ],
  gemini: [
    ['custom', 'm'],
    ['gemini', 'gemini-2.5-flash'],
    ['gemini', 'gemini-3-pro'],
  ],
  'bedrock-converse': [
    ['bedrock', 'm'],
    ['bedrock', 'anthropic.claude-sonnet-4-5'],
    ['bedrock', 'amazon.nova-2-lite'],
  ],
}

interface Sent {
  body: JsonObject
  warned: string[]
}

/** Returns the request as the target receives it from a client of `from`, or the rejected field. */
function send(body: JsonObject, from: Translator, to: UpstreamTranslator, target: Target): Sent | { refused: string } {
  const { warnings } = contexts(from)
  const original = { ...contexts(to, target).target, model: target.model, warnings }
  try {
    const parsed = from.parseRequest(body, { warnings, route: { model: 'm', stream: false } })
    const { request } = prepareRequest(parsed, { ...original, supportedOptions: to.supportedOptions })
    const written = to.writeRequest(request, original)
    return {
      body: JSON.parse(JSON.stringify({ ...written.body, beta: written.headers })),
      warned: warnings.list(),
    }
  } catch (error) {
    if (isGatewayError(error) && typeof error.data.param === 'string') return { refused: error.data.param }
    throw error
  }
}

interface Target {
  model: string
  format: ProviderFormat
  traits: Traits
}

/** Returns whether `name` is the field, a part of it, or an object that contains it. */
const getNames = (field: string, name: string): boolean => isWithin(name, field) || isWithin(field, name)
const isWithin = (inner: string, outer: string): boolean =>
  inner === outer || (/^[.[]/.test(inner.slice(outer.length)) && inner.startsWith(outer))

/**
 * Returns the fields that the target doesn't receive although no warning names them, and the fields that a warning names although the client didn't
 * send them.
 */
function findLosses(from: WireFormat, source: Translator, translator: UpstreamTranslator, target: Target): string[] {
  return fields[from].flatMap(([path, body, without = {}]) => {
    const sent = { ...least[from], ...body }
    const original = send(sent, source, translator, target)
    const bare = send({ ...least[from], ...without }, source, translator, target)
    const isRefused = 'refused' in bare && 'refused' in original && bare.refused === original.refused // rejected because of another field
    if (isRefused || MEANT_ANYWAY.some(([name, to]) => name.test(path) && to.test(`${target.format} ${target.model}`)))
      return []
    if ('refused' in original)
      return getNames(path, original.refused) ? [] : [`${path}: refused as ${original.refused}`]
    const warned = original.warned.map((warning) => warning.slice(warning.indexOf(':') + 1))
    if (warned.some((name) => getNames(path, name))) return []
    const strange = original.warned.filter((warning) => !/^added:/.test(warning) && !isSent(warning, sent))
    if (strange.length > 0) return [`${path}: named as ${strange.join(', ')}`]
    return !('refused' in bare) && isDeepStrictEqual(original.body, bare.body) ? [`${path}: lost`] : []
  })
}

/** Fields that request the target's default behavior, so they can be omitted. */
const MEANT_ANYWAY: readonly [path: RegExp, target: RegExp][] = [
  // The target reasons by default, or not at all.
  [/^(?:enable_)?thinking$/, / (?:gpt-5\.6|o3|gpt-4\.1|gemini-3-pro|mistral-large)$|^bedrock-converse m$/],
  // The target shows its reasoning, and the gateway hides it from clients that don't want it.
  [/summary|display|includeThoughts/, /^openai-chat (?:m|deepseek-chat|claude-opus-4\.8)$|^bedrock/],
  [/exclude|include_reasoning|display/, /./],
  // The gateway itself compacts conversations.
  [/^context_management$/, /./],
  // The target always enforces a schema.
  [/format.*strict$/, /^(?:anthropic|gemini|bedrock)/],
]

const isSent = (warning: string, sent: JsonObject) => Object.keys(sent).includes(/^\w+:(\w+)/.exec(warning)?.[1] ?? '')

for (const from of wireFormats) {
  for (const to of Object.keys(models) as ProviderFormat[]) {
    // the keys come from `models`
    if (from === to) continue
    test(`each field reaches the target or is named in a warning, from ${from} to ${to}`, async () => {
      const source = await getTranslator(from)
      const translator = await (await loadUpstreamFormat(to)).loadTranslator()
      const lost = models[to].flatMap(([provider, model]) => {
        const traits = getTraits(translator.traits, { provider, model, format: to }, {})
        return findLosses(from, source, translator, { model, format: to, traits }).map((path) => `${model}: ${path}`)
      })
      assert.equal(lost, [])
    })
  }
}
