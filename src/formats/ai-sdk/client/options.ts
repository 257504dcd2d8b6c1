import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { Effort } from '../../../traits.ts'
import type { ProviderFormat } from '../../../types.ts'
import { EFFORTS } from '../../canonical/base-traits.ts'
import { type Fields, fieldsOf } from '../../canonical/fields.ts'
import type { OwnForm } from '../../canonical/parts.ts'
import type { ReasoningOptions, RequestOptions } from '../../canonical/request.ts'
import type { SystemTurn } from '../../canonical/turns.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import { thinkingBudgetOf } from '../fields.ts'
import { snakeCased } from './hosted-tools.ts'
import { markIn } from './metadata.ts'

/** The other facts that the options of a request contain. */
interface ParsedOptions {
  options: RequestOptions
  /** `strictJsonSchema`, as the AI SDK's provider of OpenAI has it. */
  isStrict: boolean | undefined
  /** `instructions`, as the AI SDK's provider of OpenAI has them. */
  instructions: SystemTurn | undefined
  /** The options that only the vendor of the target has. */
  own: OwnForm | undefined
}

interface OptionContext {
  warnings: Warnings
  targetFormat: ProviderFormat | undefined
}

/**
 * Parses the settings of a call, and `providerOptions`. The options of a provider of the AI SDK are read for all targets, as the model that
 * answers may be any; those that the canonical form does not know are losses.
 */
export function parseOptions(body: Fields, { warnings, targetFormat }: OptionContext): ParsedOptions {
  const given = body.fields('providerOptions') ?? fieldsOf({}, 'providerOptions', warnings)
  const of = (...names: readonly string[]) =>
    names.map((name) => given.fields(name)).find((fields) => fields !== undefined) ??
    fieldsOf({}, given.path(names[0] ?? ''), warnings)
  const [openai, anthropic, google] = [of('openai', 'azure'), of('anthropic'), of('google', 'googleVertex', 'vertex')]
  const [signalbox, gateway] = [of('signalbox'), of('gateway')]
  refuseServerState({ openai, anthropic, google }, warnings)
  const isSerial = anthropic.flag('disableParallelToolUse')
  const customer = anthropic.fields('metadata')
  const limit = body.number('maxOutputTokens') ?? openai.number('maxCompletionTokens')
  const options = defined<RequestOptions>({
    cacheKey: openai.text('promptCacheKey'),
    cacheOptions: parseCacheOptions(openai, anthropic, warnings),
    endUser:
      signalbox.text('user') ??
      gateway.text('user') ??
      openai.text('safetyIdentifier') ??
      openai.text('user') ??
      customer?.text('userId'),
    frequencyPenalty: body.number('frequencyPenalty'),
    labels: openai.textsByName('metadata') ?? google.textsByName('labels'),
    logitBias: openai.numbersByName('logitBias'),
    maxOutputTokens: limit === undefined ? undefined : limit + thinkingBudgetOf(body.value),
    modalities: google.texts('responseModalities')?.flatMap((name) => modalities.get(name) ?? []),
    parallelToolCalls: openai.flag('parallelToolCalls') ?? (isSerial === undefined ? undefined : !isSerial),
    prediction: parsePrediction(openai),
    presencePenalty: body.number('presencePenalty'),
    reasoning: parseReasoning({ body, openai, anthropic, google, signalbox }, { warnings, targetFormat }),
    seed: body.number('seed'),
    serviceTier: parseTier({ openai, anthropic, google, gateway }),
    stop: body.texts('stopSequences'),
    store: openai.flag('store'),
    temperature: body.number('temperature'),
    topK: body.number('topK'),
    topP: body.number('topP'),
    verbosity: openai.wordOrDrop('textVerbosity', ['low', 'medium', 'high']),
  })
  const isStrict = openai.flag('strictJsonSchema')
  const text = openai.text('instructions')
  const own = parseOwn({ openai, anthropic, google }, targetFormat)
  for (const name of ['sendReasoning', 'structuredOutputMode', 'toolStreaming', 'includePings']) anthropic.ignore(name) // only the client uses them
  for (const name of ['forceReasoning', 'systemMessageMode', 'include']) openai.ignore(name) // concern OpenAI alone
  customer?.drop()
  given.ignore('azure', 'googleVertex', 'vertex')
  for (const fields of [openai, anthropic, google, gateway, given]) fields.drop() // those of Signalbox were checked before
  return { options, isStrict, instructions: text ? instructionsOf(text) : undefined, own }
}

const instructionsOf = (text: string): SystemTurn => ({
  role: 'system',
  as: 'instructions',
  content: [{ type: 'text', text }],
})

type Providers = 'openai' | 'anthropic' | 'google' | 'gateway'

/** Refuses options that refer to a conversation or to files that one vendor stores: without them the request would mean something else. */
function refuseServerState(
  { openai, anthropic, google }: Record<Exclude<Providers, 'gateway'>, Fields>,
  warnings: Warnings,
) {
  const stored = [
    ...['previousResponseId', 'conversation'].map((name) => [openai, name] as const),
    ...['container', 'mcpServers', 'thread'].map((name) => [anthropic, name] as const),
    [google, 'cachedContent'] as const,
  ]
  for (const [provider, name] of stored) {
    const value = provider.any(name)
    if (value !== undefined && !(Array.isArray(value) && value.length === 0))
      warnings.refuse(
        provider.path(name),
        'what is stored at one vendor cannot be passed on; send it with the request.',
      )
  }
}

/** The options that only the vendor of the target has, in the words of its API. */
function parseOwn(
  { openai, anthropic, google }: Record<'openai' | 'anthropic' | 'google', Fields>,
  format: ProviderFormat | undefined,
): OwnForm | undefined {
  if (format !== 'gemini' && format !== 'openai-responses' && format !== 'anthropic-messages') return undefined
  const value =
    format === 'gemini'
      ? googleOwn(google)
      : format === 'openai-responses'
        ? openaiOwn(openai)
        : anthropicOwn(anthropic)
  return Object.keys(value).length > 0 ? { format, value } : undefined
}

function openaiOwn(openai: Fields): JsonObject {
  const [mode, context] = [openai.text('reasoningMode'), openai.text('reasoningContext')]
  return defined<JsonObject>({
    include: openai.texts('include'),
    truncation: openai.text('truncation'),
    max_tool_calls: openai.number('maxToolCalls'),
    reasoning: (mode ?? context) && defined<JsonObject>({ mode, context }),
  })
}

function anthropicOwn(anthropic: Fields): JsonObject {
  const management = anthropic.fields('contextManagement')
  const edits = management?.list('edits')?.filter(isObject)
  const budget = anthropic.object('taskBudget')
  management?.drop()
  return defined<JsonObject>({
    context_management: edits && { edits: edits.map(snakeCased) },
    output_config: budget && { task_budget: budget },
    inference_geo: anthropic.text('inferenceGeo'),
  })
}

function googleOwn(google: Fields): JsonObject {
  const threshold = google.text('threshold')
  const config = defined<JsonObject>({
    audioTimestamp: google.flag('audioTimestamp'),
    imageConfig: google.object('imageConfig'),
    mediaResolution: google.text('mediaResolution'),
  })
  const retrievalConfig = google.object('retrievalConfig')
  return defined<JsonObject>({
    safetySettings: google.list('safetySettings') ?? (threshold && HARMS.map((category) => ({ category, threshold }))),
    generationConfig: Object.keys(config).length > 0 ? config : undefined,
    toolConfig: retrievalConfig && { retrievalConfig },
  })
}

/** The categories for which `threshold` stands, as in the AI SDK's provider of Google. */
const HARMS = [
  'HARM_CATEGORY_HATE_SPEECH',
  'HARM_CATEGORY_DANGEROUS_CONTENT',
  'HARM_CATEGORY_HARASSMENT',
  'HARM_CATEGORY_SEXUALLY_EXPLICIT',
]

function parseCacheOptions(openai: Fields, anthropic: Fields, warnings: Warnings): RequestOptions['cacheOptions'] {
  const options = openai.fields('promptCacheOptions')
  const cacheOptions = defined<NonNullable<RequestOptions['cacheOptions']>>({
    mode: options?.wordOrDrop('mode', ['implicit', 'explicit']),
    ttl: options?.text('ttl') ?? openai.text('promptCacheRetention'),
    auto: markIn(anthropic, warnings),
  })
  options?.drop()
  return Object.keys(cacheOptions).length > 0 ? cacheOptions : undefined
}

function parsePrediction(openai: Fields): string | undefined {
  const prediction = openai.fields('prediction')
  if (typeof prediction?.value.content !== 'string') prediction?.drop()
  return typeof prediction?.value.content === 'string' ? prediction.value.content : undefined
}

function parseTier({ openai, anthropic, google, gateway }: Record<Providers, Fields>): RequestOptions['serviceTier'] {
  const speed = anthropic.wordOrDrop('speed', ['standard', 'fast'])
  const tier =
    openai.wordOrDrop('serviceTier', ['auto', 'default', 'flex', 'priority', 'fast']) ??
    (speed === 'fast' ? speed : undefined) ??
    anthropic.wordOrDrop('serviceTier', ['auto', 'standard_only', 'standard', 'priority']) ??
    google.wordOrDrop('serviceTier', ['standard', 'flex', 'priority']) ??
    gateway.wordOrDrop('serviceTier', ['flex', 'priority'])
  return tier === 'standard' || tier === 'standard_only' ? 'default' : tier
}

const modalities = new Map<string, 'text' | 'audio' | 'image'>([
  ['TEXT', 'text'],
  ['IMAGE', 'image'],
  ['AUDIO', 'audio'],
])

/** The members of `providerOptions` that ask for reasoning; a later one wins over an earlier one. */
const REASONING_MEMBERS = [
  ['anthropic', 'thinking'],
  ['google', 'thinkingConfig'],
  ['anthropic', 'effort'],
  ['openai', 'reasoningEffort'],
  ['signalbox', 'reasoning'],
] as const

/**
 * How hard the model is to think: by the setting of AI SDK 7, or by the options of the AI SDK's providers. As in the AI SDK's provider of OpenAI, an
 * effort asks a Responses API for a summary, unless `reasoningSummary` says otherwise.
 */
function parseReasoning(providers: Record<string, Fields>, { warnings, targetFormat }: OptionContext) {
  const { body, openai, anthropic, google, signalbox } = providers
  for (const [provider, member] of REASONING_MEMBERS) {
    const fields = providers[provider]
    if (fields?.value[member] !== undefined) warnings.useName('reasoning', fields.path(member))
  }
  const general = body?.wordOrDrop('reasoning', ['provider-default', ...EFFORTS])
  const thinking = anthropic?.fields('thinking')
  const type = thinking?.text('type')
  const display = thinking?.text('display')
  const config = google?.fields('thinkingConfig')
  const budget = thinking?.number('budgetTokens') ?? config?.number('thinkingBudget')
  const isShown = config?.flag('includeThoughts')
  const summary = openai?.text('reasoningSummary')
  const effort: Effort | undefined =
    signalbox?.wordOrDrop('reasoning', EFFORTS) ??
    openai?.wordOrDrop('reasoningEffort', EFFORTS) ??
    anthropic?.wordOrDrop('effort', EFFORTS) ??
    config?.wordOrDrop('thinkingLevel', EFFORTS) ??
    (type === 'disabled' ? 'none' : general === 'provider-default' ? undefined : general)
  thinking?.drop()
  config?.drop()
  const isSummarized = targetFormat === 'openai-responses' && openai?.value.reasoningSummary === undefined
  const isHidden = isShown === false || display === 'omitted'
  const isShort = targetFormat === 'anthropic-messages' && ![undefined, 'none', 'provider-default'].includes(general)
  const isFull = summary === 'detailed' || (isSummarized && effort !== undefined && effort !== 'none')
  const reasoning = defined<ReasoningOptions>({
    effort,
    budget: budget ?? (type === 'adaptive' || type === 'enabled' ? 'auto' : undefined),
    show: isHidden ? 'none' : isFull ? 'full' : isShown || summary || display || isShort ? 'summary' : undefined,
  })
  return Object.keys(reasoning).length > 0 ? reasoning : undefined
}
