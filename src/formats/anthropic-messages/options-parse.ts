import { defined } from '../canonical/defined.ts'
import type { Fields } from '../canonical/fields.ts'
import type { OutputFormat, RequestOptions } from '../canonical/request.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { parseMark } from './marks.ts'
import { parseReasoning } from './reasoning.ts'

/** What a client says besides its conversation and its tools. `version`: of the API, as it names it. */
export function parseOptions(body: Fields, version: string | undefined, warnings: Warnings): RequestOptions {
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

/** From this version on Anthropic refuses fields that choose how tokens are drawn. */
const WITHOUT_SAMPLING = '2026-10-21'

/** What only Anthropic keeps or runs. */
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
  const tier = body.wish('service_tier', ['auto', 'standard_only'])
  if (body.wish('speed', ['standard', 'fast']) === 'fast') return 'fast'
  return tier === 'standard_only' ? 'default' : tier
}

function parseUser(body: Fields): string | undefined {
  const metadata = body.fields('metadata')
  const user = metadata?.text('user_id')
  metadata?.drop()
  return user
}

/** `output_config.format`, or where the beta had it. */
export function parseOutput(body: Fields, warnings: Warnings): OutputFormat | undefined {
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
