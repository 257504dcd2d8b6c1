import { isObject, type JsonObject } from '../../lib/json.ts'
import { removeMember, setMember } from '../../lib/json-edit.ts'
import { scanTopLevel } from '../../lib/json-scan.ts'
import type { CanonicalRequest, RequestOptions } from '../../protocols/formats/canonical/canonical-request.ts'
import { omitUndefined } from '../../protocols/formats/canonical/canonical-values.ts'
import { createWarnings } from '../../protocols/formats/canonical/canonical-warnings.ts'
import { prepareOptions } from '../../protocols/formats/canonical/prepare/prepare-options.ts'
import { resolveReasoning } from '../../protocols/formats/canonical/prepare/reasoning.ts'
import { getSharedFormat } from '../../protocols/formats/formats.ts'
import { operations } from '../../protocols/formats/model-operations.ts'
import { getOutputLimit } from '../../protocols/formats/output-limits.ts'
import type { Translator } from '../../protocols/formats/translator.ts'
import { getTraits } from '../../protocols/providers/provider-traits.ts'
import type { OptionName } from '../../traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { Codec, CodecRequest } from './codec.ts'
import { isStrict } from './dropped-fields.ts'

/** Applies combo entry parameters to a request. An output limit that the gateway set takes precedence. */
export function applyEntryParams(
  parsed: CanonicalRequest,
  request: CodecRequest,
  target: RouteTarget,
): CanonicalRequest {
  return { ...parsed, options: overrideOptions(parsed.options, request, target) }
}

/** Overrides options with combo entry parameters. Keeps the request's setting for showing reasoning. */
function overrideOptions(
  options: RequestOptions,
  { call, outputLimit }: CodecRequest,
  target: RouteTarget,
): RequestOptions {
  const { operation } = call.endpoint
  const isGeneration = operation === operations.generate || operation === operations.complete
  const { maxTokens, stopSequences, reasoning, ...same } = isGeneration ? (target.params ?? {}) : {}
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty } = same
  const { show } = options.reasoning ?? {}
  return {
    ...options,
    ...omitUndefined<RequestOptions>({
      ...{ temperature, topP, topK, seed, presencePenalty, frequencyPenalty },
      stop: stopSequences,
      maxOutputTokens: outputLimit ?? maxTokens,
      reasoning: reasoning && { effort: reasoning, ...(show && { show }) },
    }),
  }
}

/**
 * Writes combo entry parameters into the body of a passed-through request: in the target's fields, within its ranges, and in place of every field
 * with the same meaning. Keeps all other characters, except for the client's sampling options that the target doesn't accept together with them.
 * Rejects with `INVALID_REQUEST` if a field of a strict request would be dropped.
 */
export async function writeEntryParams(request: CodecRequest, target: RouteTarget, codec: Codec): Promise<Codec> {
  const { call, context, format } = request
  const sharedFormat = getSharedFormat(format.name)
  const { body } = codec.request
  if (!sharedFormat || typeof body !== 'string') return codec
  const translator = await sharedFormat.loadTranslator()
  const { optionFields } = translator
  const warnings = createWarnings({ isStrict: isStrict(request), names: translator.fieldNames })
  const targetTraits = getTraits(translator.traits, target, context.catalog)
  const isChat = call.endpoint.operation === operations.generate
  const traits: Translator['traits'] = isChat
    ? targetTraits
    : { ...targetTraits, outputLimitField: 'max_tokens', reasoning: { ...targetTraits.reasoning, control: 'none' } }
  const origin = { format: sharedFormat.name, account: target.connection.id }
  const targetContext = { model: target.model, traits, origin, warnings }

  const params = overrideOptions({}, request, target)
  const sampling = getSampling(call.body, optionFields)
  const options = prepareOptions(
    { ...sampling, ...params },
    { ...targetContext, supportedOptions: translator.supportedOptions },
  )
  const requestLimit = getOutputLimit(call.endpoint)?.get(call.body)
  if (requestLimit !== undefined) options.maxOutputTokens ??= requestLimit // reasoning must fit within the client's limit
  resolveReasoning({ options, tools: [], toolChoice: undefined }, targetContext)
  const { body: wireBody } = translator.writeRequest(
    { ...PLACEHOLDER_REQUEST, model: target.model, options },
    targetContext,
  )

  const getPaths = (name: OptionName) => (optionFields[name] ?? []).map((field) => field.split('.'))
  const isUnchanged = (name: OptionName) => getPaths(name).some((path) => getValue(wireBody, path) === sampling[name])
  const paramNames = Object.keys(params) as OptionName[] // `EntryParams` has no other keys
  const overriddenSampling = SAMPLING_OPTIONS.filter(
    (name) => name in sampling && !(name in params) && !isUnchanged(name),
  )
  const paths = [...paramNames, ...overriddenSampling].flatMap(getPaths)
  const text = paths.reduce((body, path) => {
    const value = getValue(wireBody, path)
    return value === undefined ? removeField(body, path) : setField(body, path, value)
  }, body)
  return {
    ...codec,
    request: { ...codec.request, body: text },
    warnings: () => [...codec.warnings(), ...warnings.list()],
  }
}

/** Placeholder values for the other parts of a request, because only its options are written. */
const PLACEHOLDER_REQUEST = {
  stream: false,
  streamUsage: false,
  turns: [{ role: 'user', content: [{ type: 'text', text: '.' }] }],
  tools: [],
} satisfies Partial<CanonicalRequest>

const SAMPLING_OPTIONS = ['temperature', 'topP', 'topK'] as const

/** Returns the client's sampling options. Some targets accept certain ones only without others, or without reasoning. */
function getSampling(body: JsonObject, optionFields: Translator['optionFields']): RequestOptions {
  const options: RequestOptions = {}
  for (const name of SAMPLING_OPTIONS) {
    const values = (optionFields[name] ?? []).map((field) => getValue(body, field.split('.')))
    const value = values.find((value) => typeof value === 'number')
    if (typeof value === 'number') options[name] = value
  }
  return options
}

/** Lists a field name's spellings: Google also accepts snake_case. */
const listSpellings = (name: string): string[] => [name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]

function getValue(object: JsonObject, [name = '', ...nestedPath]: readonly string[]): unknown {
  const spelling = listSpellings(name).find((spelling) => Object.hasOwn(object, spelling))
  const value = spelling === undefined ? undefined : object[spelling]
  if (nestedPath.length === 0) return value ?? undefined
  return isObject(value) ? getValue(value, nestedPath) : undefined
}

const hasField = (text: string, name: string) => scanTopLevel(text, [name]).spans.length > 0

/** Removes a field from an object's text. An object that becomes empty is also removed. */
function removeField(text: string, [name = '', ...nestedPath]: readonly string[]): string {
  return listSpellings(name).reduce((body, spelling) => {
    if (!hasField(body, spelling)) return body
    if (nestedPath.length === 0) return removeMember(body, spelling)
    let isEmpty = false
    const updatedBody = setMember(body, spelling, (value = '') => {
      if (!value.startsWith('{')) return value
      const innerText = removeField(value, nestedPath)
      isEmpty ||= innerText !== value && /^\{\s*\}$/.test(innerText)
      return innerText
    })
    return isEmpty ? removeMember(updatedBody, spelling) : updatedBody
  }, text)
}

/** Sets a field exactly once in an object's text. An existing field keeps its spelling. */
function setField(text: string, [name = '', ...nestedPath]: readonly string[], value: unknown): string {
  const [spelling = name, ...otherSpellings] = listSpellings(name).filter((candidate) => hasField(text, candidate))
  const deduplicatedText = otherSpellings.reduce((body, other) => removeField(body, [other, ...nestedPath]), text)
  return setMember(deduplicatedText, spelling, (currentValue) =>
    nestedPath.length === 0
      ? JSON.stringify(value)
      : setField(currentValue?.startsWith('{') ? currentValue : '{}', nestedPath, value),
  )
}
