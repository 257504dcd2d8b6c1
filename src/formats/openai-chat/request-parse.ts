import type { JsonObject } from '../../lib/json.ts'
import { defined } from '../canonical/defined.ts'
import { type Fields, fieldsOf } from '../canonical/fields.ts'
import type { CanonicalRequest, OutputFormat } from '../canonical/request.ts'
import { noteNames } from '../canonical/said-names.ts'
import type { Warnings } from '../canonical/warnings.ts'
import type { ParseContext } from '../translator.ts'
import { synonyms } from './option-names.ts'
import { parseOptions } from './options-parse.ts'
import { parseToolChoice, parseTools } from './tools-parse.ts'
import { parseTurns } from './turns-parse.ts'

/** A client's request for a chat completion. */
export function parseRequest(json: JsonObject, { warnings }: ParseContext): CanonicalRequest {
  const body = fieldsOf(json, '', warnings)
  noteNames(json, synonyms, warnings)
  const messages = body.list('messages') ?? warnings.refuse('messages', 'is required.')
  const stream = body.flag('stream') ?? false
  const wantsUsage = body.fields('stream_options')?.flag('include_usage') ?? false // means nothing without a stream
  const toolChoice = parseToolChoice(body, warnings)
  const request = defined<CanonicalRequest>({
    model: body.text('model') ?? '',
    stream,
    streamUsage: stream && wantsUsage,
    turns: parseTurns(messages, warnings),
    tools: parseTools(body, toolChoice, warnings),
    toolChoice,
    output: parseOutput(body, warnings),
    options: parseOptions(body, warnings),
    client: json.functions ? { functions: true } : undefined,
  })
  body.drop()
  return request
}

function parseOutput(body: Fields, warnings: Warnings): OutputFormat | undefined {
  const format = body.fields('response_format')
  if (!format) return undefined
  const type = format.word('type', ['text', 'json_object', 'json_schema'])
  if (type === 'json_object') return { type: 'json' }
  if (type !== 'json_schema') return undefined
  const named = format.fields('json_schema') ?? warnings.refuse(format.path('json_schema'), 'is required.')
  const output = defined<OutputFormat & { type: 'json-schema' }>({
    type: 'json-schema',
    schema: named.object('schema') ?? {},
    name: named.text('name'),
    description: named.text('description'),
    strict: named.flag('strict'),
  })
  named.drop()
  format.drop()
  warnings.place(output, named.at)
  return output
}
