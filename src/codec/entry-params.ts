import { prepareOptions } from '../formats/canonical/prepare/options.ts'
import { settleReasoning } from '../formats/canonical/prepare/reasoning.ts'
import type { CanonicalRequest, RequestOptions } from '../formats/canonical/request.ts'
import { defined } from '../formats/canonical/values.ts'
import { createWarnings } from '../formats/canonical/warnings.ts'
import { sharedFormatOf } from '../formats/formats.ts'
import { operations } from '../formats/operations.ts'
import type { Translator } from '../formats/translator.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { scanTopLevel, withMember, withoutMember } from '../lib/json-scan.ts'
import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { OptionName } from '../traits.ts'
import type { AskedRequest, Codec } from './codec.ts'
import { isStrict } from './losses.ts'

/** The request with what entries of combos set for the target. A lower limit of its answer that the gateway sets stays. */
export function withinEntry(asked: CanonicalRequest, request: AskedRequest, target: RouteTarget): CanonicalRequest {
  return { ...asked, options: withParams(asked.options, request, target) }
}

/** The options with what entries of combos set in their place. How reasoning is shown stays as the request says it. */
function withParams(given: RequestOptions, { call, outputLimit }: AskedRequest, target: RouteTarget): RequestOptions {
  const { operation } = call.endpoint
  const isAnswer = operation === operations.generate || operation === operations.complete
  const { maxTokens, stopSequences, reasoning, ...same } = isAnswer ? (target.params ?? {}) : {}
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty } = same
  const { show } = given.reasoning ?? {}
  return {
    ...given,
    ...defined<RequestOptions>({
      ...{ temperature, topP, topK, seed, presencePenalty, frequencyPenalty },
      stop: stopSequences,
      maxOutputTokens: outputLimit ?? maxTokens,
      reasoning: reasoning && { effort: reasoning, ...(show && { show }) },
    }),
  }
}

/**
 * The codec of a request that is passed through, with what entries of combos set in its body: in the fields of the target, within its ranges, and in
 * place of every field that says the same. All other characters stay, but for sampling options of the client that the target does not take beside
 * them. Rejects with `INVALID_REQUEST` when a strict request would lose something.
 */
export async function settingParams(request: AskedRequest, target: RouteTarget, codec: Codec): Promise<Codec> {
  const { call, context, format } = request
  const shared = sharedFormatOf(format.name)
  const { body } = codec.request
  if (!shared || typeof body !== 'string') return codec
  const translator = await shared.loadTranslator()
  const { optionPlaces } = translator
  const warnings = createWarnings({ isStrict: isStrict(request), names: translator.fieldNames })
  const known = traitsFor(translator.traits, target, context.catalog)
  const isChat = call.endpoint.operation === operations.generate
  const traits: Translator['traits'] = isChat
    ? known
    : { ...known, outputLimitField: 'max_tokens', reasoning: { ...known.reasoning, by: 'none' } }
  const origin = { format: shared.name, account: target.connection.id }
  const into = { model: target.model, traits, origin, warnings }

  const params = withParams({}, request, target)
  const sampling = samplingIn(call.body, optionPlaces)
  const options = prepareOptions({ ...sampling, ...params }, { ...into, carries: translator.carries })
  const ownLimit = call.endpoint.outputLimit?.of(call.body)
  if (ownLimit !== undefined) options.maxOutputTokens ??= ownLimit // within which reasoning has to fit
  settleReasoning({ options, tools: [], toolChoice: undefined }, into)
  const { body: written } = translator.writeRequest({ ...PLACEHOLDER, model: target.model, options }, into)

  const placesOf = (name: OptionName) => (optionPlaces[name] ?? []).map((place) => place.split('.'))
  const isKept = (name: OptionName) => placesOf(name).some((place) => valueAt(written, place) === sampling[name])
  const set = Object.keys(params) as OptionName[] // the options have no other keys
  const refitted = SAMPLING.filter((name) => name in sampling && !(name in params) && !isKept(name))
  const places = [...set, ...refitted].flatMap(placesOf)
  const text = places.reduce((body, place) => {
    const value = valueAt(written, place)
    return value === undefined ? withoutPlace(body, place) : withPlace(body, place, value)
  }, body)
  return {
    ...codec,
    request: { ...codec.request, body: text },
    warnings: () => [...codec.warnings(), ...warnings.list()],
  }
}

/** Stands for the rest of a request of which only the options are written. */
const PLACEHOLDER = {
  stream: false,
  streamUsage: false,
  turns: [{ role: 'user', content: [{ type: 'text', text: '.' }] }],
  tools: [],
} satisfies Partial<CanonicalRequest>

const SAMPLING = ['temperature', 'topP', 'topK'] as const

/** The sampling options that a client has set, as targets take some of them only without others, or without reasoning. */
function samplingIn(body: JsonObject, places: Translator['optionPlaces']): RequestOptions {
  const options: RequestOptions = {}
  for (const name of SAMPLING) {
    const values = (places[name] ?? []).map((place) => valueAt(body, place.split('.')))
    const value = values.find((one) => typeof one === 'number')
    if (typeof value === 'number') options[name] = value
  }
  return options
}

/** The names that a member may have: Google takes each in snake_case, too. */
const spellings = (name: string): string[] => [name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]

function valueAt(object: JsonObject, [name = '', ...rest]: readonly string[]): unknown {
  const found = spellings(name).find((one) => Object.hasOwn(object, one))
  const value = found === undefined ? undefined : object[found]
  if (rest.length === 0) return value ?? undefined
  return isObject(value) ? valueAt(value, rest) : undefined
}

const hasMember = (text: string, name: string) => scanTopLevel(text, [name]).spans.length > 0

/** The text of an object without the member at a place. An object that has nothing else goes, too. */
function withoutPlace(text: string, [name = '', ...rest]: readonly string[]): string {
  return spellings(name).reduce((left, one) => {
    if (!hasMember(left, one)) return left
    if (rest.length === 0) return withoutMember(left, one)
    let isEmpty = false
    const without = withMember(left, one, (given = '') => {
      if (!given.startsWith('{')) return given
      const inner = withoutPlace(given, rest)
      isEmpty ||= inner !== given && /^\{\s*\}$/.test(inner)
      return inner
    })
    return isEmpty ? withoutMember(without, one) : without
  }, text)
}

/** The text of an object with the member at a place, under the spelling that it has, and once. */
function withPlace(text: string, [name = '', ...rest]: readonly string[], value: unknown): string {
  const [spelt = name, ...others] = spellings(name).filter((one) => hasMember(text, one))
  const once = others.reduce((left, other) => withoutPlace(left, [other, ...rest]), text)
  return withMember(once, spelt, (given) =>
    rest.length === 0 ? JSON.stringify(value) : withPlace(given?.startsWith('{') ? given : '{}', rest, value),
  )
}
