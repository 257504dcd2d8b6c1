import type { JsonObject } from '../../../lib/json.ts'
import { type Fields, fieldsOf } from '../../canonical/fields.ts'
import type { CanonicalRequest, OutputFormat, RequestOptions } from '../../canonical/request.ts'
import { defined } from '../../canonical/values.ts'
import { noteNames, type Warnings } from '../../canonical/warnings.ts'
import type { ParseContext } from '../../translator.ts'
import { parseMark } from '../fields.ts'
import { parseTurns } from './conversation.ts'
import { parseReasoning } from './reasoning.ts'
import { parseToolChoice, parseTools } from './tools.ts'

const SYNONYMS = {
  reasoning: ['thinking', 'output_config.effort'],
  serviceTier: ['speed', 'service_tier'],
  output: ['output_config.format', 'output_format'],
}

/** Parses a client's request for a message, or for the count of its tokens, which is the same without a limit of tokens. */
export function parseRequest(json: JsonObject, { warnings, version }: ParseContext): CanonicalRequest {
  const body = fieldsOf(json, '', warnings)
  noteNames(json, SYNONYMS, warnings)
  const { toolChoice, parallelToolCalls } = parseToolChoice(body, warnings)
  const options = parseOptions(body, version, warnings)
  const request = defined<CanonicalRequest>({
    model: body.text('model') ?? '',
    stream: body.flag('stream') ?? false,
    streamUsage: true, // always reported in this format
    turns: parseTurns(body, warnings),
    tools: parseTools(body, toolChoice, warnings),
    toolChoice,
    output: parseOutput(body, warnings),
    options: parallelToolCalls === undefined ? options : { ...options, parallelToolCalls },
  })
  body.drop()
  return request
}

/** Parses the options of a request. `version`: the version of the API that the client names. */
function parseOptions(body: Fields, version: string | undefined, warnings: Warnings): RequestOptions {
  refuseServerState(body, warnings)
  if (body.number('max_tokens') === 0)
    warnings.refuse('max_tokens', 'must be above 0: only Anthropic can fill its cache without an answer.')
  const auto = parseMark(body, warnings)
  const options = defined<RequestOptions>({
    maxOutputTokens: body.number('max_tokens'),
    stop: body.texts('stop_sequences'),
    temperature: body.number('temperature'),
    topP: body.number('top_p'),
    topK: body.number('top_k'),
    reasoning: parseReasoning(body, warnings),
    serviceTier: parseTier(body),
    endUser: parseUser(body),
    cacheOptions: auto && { auto },
  })
  if (version !== undefined && version >= WITHOUT_SAMPLING)
    for (const name of ['temperature', 'top_p', 'top_k'])
      if (body.any(name) !== undefined) warnings.refuse(name, `is not in version ${version} of this API.`)
  return options
}

/** From this version of the API on, Anthropic refuses the fields that control sampling. */
const WITHOUT_SAMPLING = '2026-10-21'

/** Refuses fields about data that only Anthropic stores, and tools that only Anthropic runs. */
function refuseServerState(body: Fields, warnings: Warnings) {
  for (const name of ['container', 'mcp_servers', 'thread']) {
    const value = body.any(name)
    const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0)
    if (!isEmpty) warnings.refuse(name, 'only Anthropic has this; it cannot be passed on.')
  }
  const place = body.text('inference_geo')
  if (place !== undefined && place !== 'global')
    warnings.refuse('inference_geo', 'where a model computes cannot be promised of another provider.')
}

function parseTier(body: Fields): RequestOptions['serviceTier'] {
  const tier = body.wordOrDrop('service_tier', ['auto', 'standard_only'])
  if (body.wordOrDrop('speed', ['standard', 'fast']) === 'fast') return 'fast'
  return tier === 'standard_only' ? 'default' : tier
}

function parseUser(body: Fields): string | undefined {
  const metadata = body.fields('metadata')
  const user = metadata?.text('user_id')
  metadata?.drop()
  return user
}

/** Parses `output_config.format`, or the field that it had in the beta. */
function parseOutput(body: Fields, warnings: Warnings): OutputFormat | undefined {
  const config = body.fields('output_config')
  config?.ignore('effort')
  const format = config?.fields('format') ?? body.fields('output_format')
  config?.drop()
  if (!format) return undefined
  format.word('type', ['json_schema'])
  const schema = format.object('schema') ?? warnings.refuse(format.path('schema'), 'is required.')
  format.drop()
  const output: OutputFormat = { type: 'json-schema', schema }
  warnings.place(output, format.at)
  return output
}
