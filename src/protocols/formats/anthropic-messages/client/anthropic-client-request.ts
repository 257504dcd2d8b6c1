import type { JsonObject } from '../../../../lib/json.ts'
import { type Fields, readFields } from '../../canonical/canonical-fields.ts'
import type { CanonicalRequest, OutputFormat, RequestOptions } from '../../canonical/canonical-request.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import { recordFieldNames, type Warnings } from '../../canonical/canonical-warnings.ts'
import type { ParseContext } from '../../translator.ts'
import { parseBreakpoint } from '../anthropic-fields.ts'
import { parseTurns } from './anthropic-client-conversation.ts'
import { parseReasoning } from './anthropic-client-reasoning.ts'
import { parseToolChoice, parseTools } from './anthropic-client-tools.ts'

const FIELD_SYNONYMS = {
  reasoning: ['thinking', 'output_config.effort'],
  serviceTier: ['speed', 'service_tier'],
  output: ['output_config.format', 'output_format'],
}

/** Parses a client's Messages request, or its token-count request, which has no token limit. */
export function parseRequest(json: JsonObject, { warnings, version }: ParseContext): CanonicalRequest {
  const body = readFields(json, '', warnings)
  recordFieldNames(json, FIELD_SYNONYMS, warnings)
  const { toolChoice, parallelToolCalls } = parseToolChoice(body, warnings)
  const options = parseOptions(body, version, warnings)
  const request = omitUndefined<CanonicalRequest>({
    model: body.string('model') ?? '',
    stream: body.boolean('stream') ?? false,
    streamUsage: true, // responses in this format always report it
    turns: parseTurns(body, warnings),
    tools: parseTools(body, toolChoice, warnings),
    toolChoice,
    output: parseOutput(body, warnings),
    options: parallelToolCalls === undefined ? options : { ...options, parallelToolCalls },
  })
  body.dropUnread()
  return request
}

/** Parses a request's options. `version` is the API version in the client's header. */
function parseOptions(body: Fields, version: string | undefined, warnings: Warnings): RequestOptions {
  rejectServerState(body, warnings)
  if (body.number('max_tokens') === 0)
    warnings.reject('max_tokens', 'must be above 0, because only Anthropic can fill its cache without a response.')
  const autoBreakpoint = parseBreakpoint(body, warnings)
  const options = omitUndefined<RequestOptions>({
    maxOutputTokens: body.number('max_tokens'),
    stop: body.strings('stop_sequences'),
    temperature: body.number('temperature'),
    topP: body.number('top_p'),
    topK: body.number('top_k'),
    reasoning: parseReasoning(body, warnings),
    serviceTier: parseTier(body),
    endUser: parseEndUser(body),
    cacheOptions: autoBreakpoint && { auto: autoBreakpoint },
  })
  if (version !== undefined && version >= SAMPLING_REMOVED_VERSION)
    for (const name of ['temperature', 'top_p', 'top_k'])
      if (body.any(name) !== undefined) warnings.reject(name, `is not part of version ${version} of this API.`)
  return options
}

/** The first API version in which Anthropic rejects the sampling fields. */
const SAMPLING_REMOVED_VERSION = '2026-10-21'

function rejectServerState(body: Fields, warnings: Warnings) {
  for (const name of ['container', 'mcp_servers', 'thread']) {
    const value = body.any(name)
    const isUnset = value === undefined || (Array.isArray(value) && value.length === 0)
    if (!isUnset) warnings.reject(name, 'only Anthropic supports this.')
  }
  const region = body.string('inference_geo')
  if (region !== undefined && region !== 'global')
    warnings.reject('inference_geo', 'only Anthropic can guarantee where a model runs.')
}

function parseTier(body: Fields): RequestOptions['serviceTier'] {
  const tier = body.oneOfOrDrop('service_tier', ['auto', 'standard_only'])
  if (body.oneOfOrDrop('speed', ['standard', 'fast']) === 'fast') return 'fast'
  return tier === 'standard_only' ? 'default' : tier
}

function parseEndUser(body: Fields): string | undefined {
  const metadata = body.fields('metadata')
  const user = metadata?.string('user_id')
  metadata?.dropUnread()
  return user
}

/** Parses `output_config.format`, or `output_format` from the beta. */
function parseOutput(body: Fields, warnings: Warnings): OutputFormat | undefined {
  const config = body.fields('output_config')
  config?.ignore('effort')
  const format = config?.fields('format') ?? body.fields('output_format')
  config?.dropUnread()
  if (!format) return undefined
  format.oneOf('type', ['json_schema'])
  const schema = format.object('schema') ?? warnings.reject(format.getPath('schema'), 'is required.')
  format.dropUnread()
  const output: OutputFormat = { type: 'json-schema', schema }
  warnings.setPath(output, format.path)
  return output
}
