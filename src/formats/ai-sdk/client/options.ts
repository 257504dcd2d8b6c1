import type { Effort } from '../../../traits.ts'
import { EFFORTS } from '../../canonical/base-traits.ts'
import { type Fields, fieldsOf } from '../../canonical/fields.ts'
import type { ReasoningOptions, RequestOptions } from '../../canonical/request.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'

/** What the options of a request say besides. */
interface ParsedOptions {
  options: RequestOptions
  /** `strictJsonSchema`, as the AI SDK's provider of OpenAI has it. */
  isStrict: boolean | undefined
}

/**
 * Parses the settings of a call, and `providerOptions`. The options of a provider of the AI SDK are read for all targets, as the model that
 * answers may be any; those that the canonical form does not know are losses.
 */
export function parseOptions(body: Fields, warnings: Warnings): ParsedOptions {
  const given = body.fields('providerOptions') ?? fieldsOf({}, 'providerOptions', warnings)
  const of = (...names: readonly string[]) =>
    names.map((name) => given.fields(name)).find((fields) => fields !== undefined) ??
    fieldsOf({}, given.path(names[0] ?? ''), warnings)
  const [openai, anthropic, google] = [of('openai', 'azure'), of('anthropic'), of('google', 'vertex')]
  const [signalbox, gateway] = [of('signalbox'), of('gateway')]
  const isSerial = anthropic.flag('disableParallelToolUse')
  const options = defined<RequestOptions>({
    cacheKey: openai.text('promptCacheKey'),
    endUser: signalbox.text('user') ?? gateway.text('user') ?? openai.text('safetyIdentifier') ?? openai.text('user'),
    frequencyPenalty: body.number('frequencyPenalty'),
    labels: openai.textsByName('metadata'),
    logitBias: openai.numbersByName('logitBias'),
    maxOutputTokens: body.number('maxOutputTokens') ?? openai.number('maxCompletionTokens'),
    modalities: google.texts('responseModalities')?.flatMap((name) => modalities.get(name) ?? []),
    parallelToolCalls: openai.flag('parallelToolCalls') ?? (isSerial === undefined ? undefined : !isSerial),
    presencePenalty: body.number('presencePenalty'),
    reasoning: parseReasoning({ body, openai, anthropic, google, signalbox }),
    seed: body.number('seed'),
    serviceTier: openai.wordOrDrop('serviceTier', ['auto', 'default', 'flex', 'priority']),
    stop: body.texts('stopSequences'),
    store: openai.flag('store'),
    temperature: body.number('temperature'),
    topK: body.number('topK'),
    topP: body.number('topP'),
    verbosity: openai.wordOrDrop('textVerbosity', ['low', 'medium', 'high']),
  })
  const isStrict = openai.flag('strictJsonSchema')
  for (const name of ['cacheControl', 'cache_control', 'sendReasoning', 'structuredOutputMode', 'toolStreaming'])
    anthropic.ignore(name) // they concern single parts, or the client alone
  given.ignore('azure', 'vertex')
  for (const fields of [openai, anthropic, google, signalbox, gateway, given]) fields.drop()
  return { options, isStrict }
}

const modalities = new Map<string, 'text' | 'audio' | 'image'>([
  ['TEXT', 'text'],
  ['IMAGE', 'image'],
  ['AUDIO', 'audio'],
])

/** How hard the model is to think: the setting of AI SDK 7, or what the providers of the AI SDK have for that. */
function parseReasoning({ body, openai, anthropic, google, signalbox }: Record<string, Fields>) {
  const general = body?.wordOrDrop('reasoning', ['provider-default', ...EFFORTS])
  const thinking = anthropic?.fields('thinking')
  const type = thinking?.text('type')
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
  const reasoning = defined<ReasoningOptions>({
    effort,
    budget: budget ?? (type === 'adaptive' ? 'auto' : undefined),
    show: isShown === false ? 'none' : isShown || summary ? 'summary' : undefined,
  })
  return Object.keys(reasoning).length > 0 ? reasoning : undefined
}
