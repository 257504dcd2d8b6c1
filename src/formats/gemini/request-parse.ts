import type { JsonObject } from '../../lib/json.ts'
import { defined } from '../canonical/defined.ts'
import { type Fields, fieldsOf } from '../canonical/fields.ts'
import type { ImagePart } from '../canonical/parts.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Turn } from '../canonical/turns.ts'
import type { Warnings } from '../canonical/warnings.ts'
import type { ParseContext } from '../translator.ts'
import { camelCased } from './camel-case.ts'
import { parseContents, parseSystem } from './contents-parse.ts'
import { detailOf } from './media-resolution.ts'
import { parseOptions, parseOutput } from './options-parse.ts'
import { parseToolChoice, parseTools } from './tools-parse.ts'

/** A client's request to generate content. Model and streaming are in its path. */
export function parseRequest(json: JsonObject, { warnings, route }: ParseContext): CanonicalRequest {
  const body = fieldsOf(camelCased(json), '', warnings)
  refuseForeign(body, warnings)
  const config = body.fields('generationConfig') ?? fieldsOf({}, 'generationConfig', warnings)
  const stream = route?.stream ?? false
  const given = body.any('contents')
  if (given === undefined || (Array.isArray(given) && given.length === 0)) warnings.refuse('contents', 'is required.')
  const said = parseContents(body, warnings)
  const turns = withDetail([...parseSystem(body, warnings), ...said], detailOf(config.text('mediaResolution')))
  const tools = parseTools(body, warnings)
  const request = defined<CanonicalRequest>({
    model: route?.model ?? (body.text('model') ?? '').replace(/^models\//, ''),
    stream,
    streamUsage: stream,
    turns,
    tools,
    toolChoice: parseToolChoice(body, warnings),
    output: parseOutput(config, warnings),
    options: parseOptions(body, config, warnings),
    client: route?.isArray ? { isArray: true } : undefined,
  })
  body.ignore('model')
  config.drop()
  body.drop()
  return request
}

/** State that only Google holds. */
function refuseForeign(body: Fields, warnings: Warnings) {
  if (body.any('cachedContent') !== undefined)
    warnings.refuse('cachedContent', 'what is cached at Google cannot be passed on; send the contents.')
  if (body.any('continuationToken') !== undefined)
    warnings.refuse('continuationToken', 'an answer can only be continued by the one who began it.')
}

/** The resolution of all media is that of each image which does not say its own. */
function withDetail(turns: readonly Turn[], detail: ImagePart['detail']): Turn[] {
  if (detail)
    for (const turn of turns)
      if (turn.role === 'user') for (const part of turn.content) if (part.type === 'image') part.detail ??= detail
  return [...turns]
}
