import { isDeepStrictEqual } from 'node:util'
import { isGatewayError } from '../../src/errors.ts'
import { prepareRequest } from '../../src/formats/canonical/prepare/prepare.ts'
import { upstreamFormatOf } from '../../src/formats/formats.ts'
import type { Translator, UpstreamTranslator } from '../../src/formats/translator.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { traitsFor } from '../../src/providers/traits.ts'
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
import { translatorOf } from './support/matrix.ts'

const test = suite('every field of a request')

const fields: Readonly<Record<WireFormat, readonly Field[]>> = {
  'openai-chat': chat,
  'openai-responses': responses,
  'anthropic-messages': messages,
  gemini,
}

/** What each client says at least. */
const least: Readonly<Record<WireFormat, JsonObject>> = {
  'openai-chat': { messages: [{ role: 'user', content: 'Hi' }] },
  'openai-responses': { input: [{ role: 'user', content: 'Hi' }] },
  'anthropic-messages': { max_tokens: 8_000, messages: [{ role: 'user', content: 'Hi' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
}

/** Models of each format: one that nothing is known of, and some whose differences are known. */
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

/** What a client of `from` asks, as the target gets it; or the field that is refused. */
function send(body: JsonObject, from: Translator, to: UpstreamTranslator, target: Target): Sent | { refused: string } {
  const { warnings } = contexts(from)
  const given = { ...contexts(to, target).target, model: target.model, warnings }
  try {
    const asked = from.parseRequest(body, { warnings, route: { model: 'm', stream: false } })
    const { request } = prepareRequest(asked, { ...given, carries: to.carries })
    const written = to.writeRequest(request, given)
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

/** Is it the field, something in it, or the whole that it is a part of? */
const names = (field: string, name: string): boolean => isWithin(name, field) || isWithin(field, name)
const isWithin = (inner: string, outer: string): boolean =>
  inner === outer || (/^[.[]/.test(inner.slice(outer.length)) && inner.startsWith(outer))

/** Which fields are neither in what the target gets nor named, or named as something that the client has not sent. */
function lostIn(from: WireFormat, source: Translator, translator: UpstreamTranslator, target: Target): string[] {
  return fields[from].flatMap(([path, body, without = {}]) => {
    const sent = { ...least[from], ...body }
    const given = send(sent, source, translator, target)
    const bare = send({ ...least[from], ...without }, source, translator, target)
    const isRefused = 'refused' in bare && 'refused' in given && bare.refused === given.refused // for something else
    if (isRefused || MEANT_ANYWAY.some(([name, to]) => name.test(path) && to.test(`${target.format} ${target.model}`)))
      return []
    if ('refused' in given) return names(path, given.refused) ? [] : [`${path}: refused as ${given.refused}`]
    const warned = given.warned.map((warning) => warning.slice(warning.indexOf(':') + 1))
    if (warned.some((name) => names(path, name))) return []
    const strange = given.warned.filter((warning) => !/^added:/.test(warning) && !isSent(warning, sent))
    if (strange.length > 0) return [`${path}: named as ${strange.join(', ')}`]
    return !('refused' in bare) && isDeepStrictEqual(given.body, bare.body) ? [`${path}: lost`] : []
  })
}

/** What the target does in any case, so that it has not to be asked. */
const MEANT_ANYWAY: readonly [path: RegExp, target: RegExp][] = [
  // It thinks unasked, or not at all.
  [/^(?:enable_)?thinking$/, / (?:gpt-5\.6|o3|gpt-4\.1|gemini-3-pro|mistral-large)$|^bedrock-converse m$/],
  // It shows its thoughts, and the gateway hides them from who does not want to see them.
  [/summary|display|includeThoughts/, /^openai-chat (?:m|deepseek-chat|claude-opus-4\.8)$|^bedrock/],
  [/exclude|include_reasoning|display/, /./],
  // The gateway compacts conversations itself.
  [/^context_management$/, /./],
  // It keeps to a schema that it is given.
  [/format.*strict$/, /^(?:anthropic|gemini|bedrock)/],
]

const isSent = (warning: string, sent: JsonObject) => Object.keys(sent).includes(/^\w+:(\w+)/.exec(warning)?.[1] ?? '')

for (const from of wireFormats) {
  for (const to of Object.keys(models) as ProviderFormat[]) {
    // its keys are these
    if (from === to) continue
    test(`each field arrives or is named in a warning: ${from} for ${to}`, async () => {
      const source = await translatorOf(from)
      const translator = await (await upstreamFormatOf(to)).loadTranslator()
      const lost = models[to].flatMap(([provider, model]) => {
        const traits = traitsFor(translator.traits, { provider, model, format: to }, {})
        return lostIn(from, source, translator, { model, format: to, traits }).map((path) => `${model}: ${path}`)
      })
      assert.equal(lost, [])
    })
  }
}
