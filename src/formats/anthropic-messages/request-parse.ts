import type { JsonObject } from '../../lib/json.ts'
import { defined } from '../canonical/defined.ts'
import { fieldsOf } from '../canonical/fields.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { noteNames } from '../canonical/said-names.ts'
import type { ParseContext } from '../translator.ts'
import { parseOptions, parseOutput } from './options-parse.ts'
import { parseToolChoice, parseTools } from './tools-parse.ts'
import { parseTurns } from './turns-parse.ts'

const SYNONYMS = {
  reasoning: ['thinking', 'output_config.effort'],
  serviceTier: ['speed', 'service_tier'],
  output: ['output_config.format', 'output_format'],
}

/** A client's request for a message, or for the count of its tokens, which is the same without a limit. */
export function parseRequest(json: JsonObject, { warnings, version }: ParseContext): CanonicalRequest {
  const body = fieldsOf(json, '', warnings)
  noteNames(json, SYNONYMS, warnings)
  const { toolChoice, parallelToolCalls } = parseToolChoice(body, warnings)
  const options = parseOptions(body, version, warnings)
  const request = defined<CanonicalRequest>({
    model: body.text('model') ?? '',
    stream: body.flag('stream') ?? false,
    streamUsage: true, // always told in this format
    turns: parseTurns(body, warnings),
    tools: parseTools(body, toolChoice, warnings),
    toolChoice,
    output: parseOutput(body, warnings),
    options: parallelToolCalls === undefined ? options : { ...options, parallelToolCalls },
  })
  body.drop()
  return request
}
