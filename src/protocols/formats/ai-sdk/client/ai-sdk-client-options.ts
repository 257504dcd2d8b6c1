import { isObject, type JsonObject } from '../../../../lib/json.ts'
import type { Effort } from '../../../../traits.ts'
import type { ProviderFormat } from '../../../../types.ts'
import { ALL_EFFORTS } from '../../canonical/base-traits.ts'
import { type Fields, readFields } from '../../canonical/canonical-fields.ts'
import type { NativeValue } from '../../canonical/canonical-parts.ts'
import type { ReasoningOptions, RequestOptions } from '../../canonical/canonical-request.ts'
import type { SystemTurn } from '../../canonical/canonical-turns.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import { normalizeRetention } from '../../openai-fields.ts'
import { readThinkingBudget } from '../ai-sdk-fields.ts'
import { recordGatewayOptions } from './ai-sdk-client-gateway.ts'
import { snakeCaseKeys } from './ai-sdk-client-hosted-tools.ts'
import { parseAnthropicBreakpoint } from './ai-sdk-client-metadata.ts'

interface ParsedOptions {
  options: RequestOptions
  /** `strictJsonSchema` of the AI SDK's OpenAI provider. */
  isStrict: boolean | undefined
  /** `instructions` of the AI SDK's OpenAI provider. */
  instructions: SystemTurn | undefined
  /** Options that only the target's vendor supports. */
  native: NativeValue | undefined
}

interface OptionContext {
  warnings: Warnings
  targetFormat: ProviderFormat | undefined
}

/**
 * Parses a call's settings and `providerOptions`. Reads every AI SDK provider's options for all targets, because any model may respond. Options
 * without a canonical equivalent are dropped with a warning.
 */
export function parseOptions(body: Fields, { warnings, targetFormat }: OptionContext): ParsedOptions {
  const providerOptions = body.fields('providerOptions') ?? readFields({}, 'providerOptions', warnings)
  const readFirst = (...names: readonly string[]) =>
    names.map((name) => providerOptions.fields(name)).find((fields) => fields !== undefined) ??
    readFields({}, providerOptions.getPath(names[0] ?? ''), warnings)
  const [openai, anthropic, google] = [
    readFirst('openai', 'azure'),
    readFirst('anthropic'),
    readFirst('google', 'googleVertex', 'vertex'),
  ]
  const [signalbox, gateway] = [readFirst('signalbox'), readFirst('gateway')]
  rejectServerState({ openai, anthropic, google }, warnings)
  const isParallelDisabled = anthropic.boolean('disableParallelToolUse')
  const metadata = anthropic.fields('metadata')
  const maxOutputTokens = body.number('maxOutputTokens') ?? openai.number('maxCompletionTokens')
  const options = omitUndefined<RequestOptions>({
    cacheKey: openai.string('promptCacheKey'),
    cacheOptions: parseCacheOptions(openai, anthropic, warnings),
    cacheRetention: normalizeRetention(openai.string('promptCacheRetention')),
    endUser:
      signalbox.string('user') ??
      gateway.string('user') ??
      openai.string('safetyIdentifier') ??
      openai.string('user') ??
      metadata?.string('userId'),
    frequencyPenalty: body.number('frequencyPenalty'),
    labels: openai.stringsByName('metadata') ?? google.stringsByName('labels'),
    logitBias: openai.numbersByName('logitBias'),
    maxOutputTokens: maxOutputTokens === undefined ? undefined : maxOutputTokens + readThinkingBudget(body.value),
    modalities: google.strings('responseModalities')?.flatMap((name) => modalities.get(name) ?? []),
    parallelToolCalls:
      openai.boolean('parallelToolCalls') ?? (isParallelDisabled === undefined ? undefined : !isParallelDisabled),
    prediction: parsePrediction(openai),
    presencePenalty: body.number('presencePenalty'),
    reasoning: parseReasoning({ body, openai, anthropic, google, signalbox }, { warnings, targetFormat }),
    seed: body.number('seed'),
    serviceTier: parseTier({ openai, anthropic, google, gateway }),
    stop: body.strings('stopSequences'),
    store: openai.boolean('store'),
    temperature: body.number('temperature'),
    topK: body.number('topK'),
    topP: body.number('topP'),
    verbosity: openai.oneOfOrDrop('textVerbosity', ['low', 'medium', 'high']),
  })
  const isStrict = openai.boolean('strictJsonSchema')
  const text = openai.string('instructions')
  const vendorOptions = parseVendorOptions({ openai, anthropic, google }, targetFormat)
  for (const name of ['sendReasoning', 'structuredOutputMode', 'toolStreaming', 'includePings']) anthropic.ignore(name) // only affect the client
  for (const name of ['forceReasoning', 'systemMessageMode', 'include']) openai.ignore(name) // only affect OpenAI's own API
  metadata?.dropUnread()
  recordGatewayOptions(gateway, warnings)
  providerOptions.ignore('azure', 'googleVertex', 'vertex')
  for (const fields of [openai, anthropic, google, gateway, providerOptions]) fields.dropUnread() // Signalbox's options have already been checked
  const instructions: SystemTurn | undefined = text
    ? { role: 'system', sentAs: 'instructions', content: [{ type: 'text', text }] }
    : undefined
  return { options, isStrict, instructions, native: vendorOptions }
}

type Providers = 'openai' | 'anthropic' | 'google' | 'gateway'

/** Rejects options that refer to conversations or files stored by one vendor: without them, the request would mean something else. */
function rejectServerState(
  { openai, anthropic, google }: Record<Exclude<Providers, 'gateway'>, Fields>,
  warnings: Warnings,
) {
  const serverStateFields = [
    ...['previousResponseId', 'conversation'].map((name) => [openai, name] as const),
    ...['container', 'mcpServers', 'thread'].map((name) => [anthropic, name] as const),
    [google, 'cachedContent'] as const,
  ]
  for (const [provider, name] of serverStateFields) {
    const value = provider.any(name)
    if (value !== undefined && !(Array.isArray(value) && value.length === 0))
      warnings.reject(
        provider.getPath(name),
        'content stored with one vendor cannot be sent to another. Send it with the request.',
      )
  }
}

/** Parses the options that only the target's vendor supports, under its API's names. */
function parseVendorOptions(
  { openai, anthropic, google }: Record<'openai' | 'anthropic' | 'google', Fields>,
  format: ProviderFormat | undefined,
): NativeValue | undefined {
  if (format !== 'gemini' && format !== 'openai-responses' && format !== 'anthropic-messages') return undefined
  const value =
    format === 'gemini'
      ? parseGoogleOptions(google)
      : format === 'openai-responses'
        ? parseOpenAIOptions(openai)
        : parseAnthropicOptions(anthropic)
  return Object.keys(value).length > 0 ? { format, value } : undefined
}

function parseOpenAIOptions(openai: Fields): JsonObject {
  const [mode, context] = [openai.string('reasoningMode'), openai.string('reasoningContext')]
  return omitUndefined<JsonObject>({
    include: openai.strings('include'),
    truncation: openai.string('truncation'),
    max_tool_calls: openai.number('maxToolCalls'),
    reasoning: (mode ?? context) && omitUndefined<JsonObject>({ mode, context }),
  })
}

function parseAnthropicOptions(anthropic: Fields): JsonObject {
  const contextManagement = anthropic.fields('contextManagement')
  const edits = contextManagement?.list('edits')?.filter(isObject)
  const budget = anthropic.object('taskBudget')
  contextManagement?.dropUnread()
  return omitUndefined<JsonObject>({
    context_management: edits && { edits: edits.map(snakeCaseKeys) },
    output_config: budget && { task_budget: budget },
    inference_geo: anthropic.string('inferenceGeo'),
  })
}

function parseGoogleOptions(google: Fields): JsonObject {
  const threshold = google.string('threshold')
  const config = omitUndefined<JsonObject>({
    audioTimestamp: google.boolean('audioTimestamp'),
    imageConfig: google.object('imageConfig'),
    mediaResolution: google.string('mediaResolution'),
  })
  const retrievalConfig = google.object('retrievalConfig')
  return omitUndefined<JsonObject>({
    safetySettings:
      google.list('safetySettings') ?? (threshold && HARM_CATEGORIES.map((category) => ({ category, threshold }))),
    generationConfig: Object.keys(config).length > 0 ? config : undefined,
    toolConfig: retrievalConfig && { retrievalConfig },
  })
}

/** The categories that `threshold` applies to, as in the AI SDK's Google provider. */
const HARM_CATEGORIES = [
  'HARM_CATEGORY_HATE_SPEECH',
  'HARM_CATEGORY_DANGEROUS_CONTENT',
  'HARM_CATEGORY_HARASSMENT',
  'HARM_CATEGORY_SEXUALLY_EXPLICIT',
]

function parseCacheOptions(openai: Fields, anthropic: Fields, warnings: Warnings): RequestOptions['cacheOptions'] {
  const options = openai.fields('promptCacheOptions')
  const cacheOptions = omitUndefined<NonNullable<RequestOptions['cacheOptions']>>({
    mode: options?.oneOfOrDrop('mode', ['implicit', 'explicit']),
    ttl: options?.string('ttl'),
    auto: parseAnthropicBreakpoint(anthropic, warnings),
  })
  options?.dropUnread()
  return Object.keys(cacheOptions).length > 0 ? cacheOptions : undefined
}

function parsePrediction(openai: Fields): string | undefined {
  const prediction = openai.fields('prediction')
  if (typeof prediction?.value.content !== 'string') prediction?.dropUnread()
  return typeof prediction?.value.content === 'string' ? prediction.value.content : undefined
}

function parseTier({ openai, anthropic, google, gateway }: Record<Providers, Fields>): RequestOptions['serviceTier'] {
  const speed = anthropic.oneOfOrDrop('speed', ['standard', 'fast'])
  const tier =
    openai.oneOfOrDrop('serviceTier', ['auto', 'default', 'flex', 'priority', 'fast']) ??
    (speed === 'fast' ? speed : undefined) ??
    anthropic.oneOfOrDrop('serviceTier', ['auto', 'standard_only', 'standard', 'priority']) ??
    google.oneOfOrDrop('serviceTier', ['standard', 'flex', 'priority']) ??
    gateway.oneOfOrDrop('serviceTier', ['flex', 'priority'])
  return tier === 'standard' || tier === 'standard_only' ? 'default' : tier
}

const modalities = new Map<string, 'text' | 'audio' | 'image'>([
  ['TEXT', 'text'],
  ['IMAGE', 'image'],
  ['AUDIO', 'audio'],
])

/** The fields of `providerOptions` that set reasoning. Later fields take precedence. */
const REASONING_FIELDS = [
  ['anthropic', 'thinking'],
  ['google', 'thinkingConfig'],
  ['anthropic', 'effort'],
  ['openai', 'reasoningEffort'],
  ['signalbox', 'reasoning'],
] as const

/**
 * Parses the reasoning options: AI SDK 7's setting, or the AI SDK providers' options. As in the AI SDK's OpenAI provider, an effort requests a
 * summary from a Responses API, unless `reasoningSummary` is set.
 */
function parseReasoning(providers: Record<string, Fields>, { warnings, targetFormat }: OptionContext) {
  const { body, openai, anthropic, google, signalbox } = providers
  for (const [provider, name] of REASONING_FIELDS) {
    const fields = providers[provider]
    if (fields?.value[name] !== undefined) warnings.setFieldName('reasoning', fields.getPath(name))
  }
  const generalEffort = body?.oneOfOrDrop('reasoning', ['provider-default', ...ALL_EFFORTS])
  const thinking = anthropic?.fields('thinking')
  const type = thinking?.string('type')
  const display = thinking?.string('display')
  const config = google?.fields('thinkingConfig')
  const budget = thinking?.number('budgetTokens') ?? config?.number('thinkingBudget')
  const includesThoughts = config?.boolean('includeThoughts')
  const summary = openai?.string('reasoningSummary')
  const effort: Effort | undefined =
    signalbox?.oneOfOrDrop('reasoning', ALL_EFFORTS) ??
    openai?.oneOfOrDrop('reasoningEffort', ALL_EFFORTS) ??
    anthropic?.oneOfOrDrop('effort', ALL_EFFORTS) ??
    config?.oneOfOrDrop('thinkingLevel', ALL_EFFORTS) ??
    (type === 'disabled' ? 'none' : generalEffort === 'provider-default' ? undefined : generalEffort)
  thinking?.dropUnread()
  config?.dropUnread()
  const summarizesByDefault = targetFormat === 'openai-responses' && openai?.value.reasoningSummary === undefined
  const hidesReasoning = includesThoughts === false || display === 'omitted'
  const wantsSummary =
    targetFormat === 'anthropic-messages' && ![undefined, 'none', 'provider-default'].includes(generalEffort)
  const wantsFullReasoning =
    summary === 'detailed' || (summarizesByDefault && effort !== undefined && effort !== 'none')
  const reasoning = omitUndefined<ReasoningOptions>({
    effort,
    budget: budget ?? (type === 'adaptive' || type === 'enabled' ? 'auto' : undefined),
    show: hidesReasoning
      ? 'none'
      : wantsFullReasoning
        ? 'full'
        : includesThoughts || summary || display || wantsSummary
          ? 'summary'
          : undefined,
  })
  return Object.keys(reasoning).length > 0 ? reasoning : undefined
}
