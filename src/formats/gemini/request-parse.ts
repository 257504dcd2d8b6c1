import type { JsonObject } from '../../lib/json.ts'
import { defined } from '../canonical/defined.ts'
import { type Fields, fieldsOf } from '../canonical/fields.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { noteNames } from '../canonical/said-names.ts'
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
  const spelling = new Map<string, string>()
  const body = fieldsOf(camelCased(json, spelling), '', warnings)
  warnings.spell(spelling)
  noteNames(json, SYNONYMS, warnings)
  refuseForeign(body, warnings)
  const config = body.fields('generationConfig') ?? fieldsOf({}, 'generationConfig', warnings)
  const stream = route?.stream ?? false
  const given = body.any('contents')
  if (given === undefined || (Array.isArray(given) && given.length === 0)) warnings.refuse('contents', 'is required.')
  const said = parseContents(body, warnings)
  const turns = withDetail([...parseSystem(body, warnings), ...said], config, warnings)
  const toolChoice = parseToolChoice(body, warnings)
  const tools = parseTools(body, toolChoice, warnings)
  const request = defined<CanonicalRequest>({
    model: route?.model ?? (body.text('model') ?? '').replace(/^models\//, ''),
    stream,
    streamUsage: stream,
    turns,
    tools,
    toolChoice,
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
function withDetail(turns: readonly Turn[], config: Fields, warnings: Warnings): Turn[] {
  const resolution = config.text('mediaResolution')
  if (resolution === undefined) return [...turns]
  const path = config.path('mediaResolution')
  const detail = detailOf(resolution)
  const parts = turns.flatMap((turn) => (turn.role === 'user' ? turn.content : []))
  const images = parts.filter((part) => part.type === 'image' && part.detail === undefined)
  if (!detail || images.length < parts.filter(({ type }) => type !== 'text').length) warnings.dropped(path)
  for (const image of detail ? images : []) {
    Object.assign(image, { detail })
    warnings.place(image, warnings.pathOf(image, 'contents'), { detail: `/${path}` })
  }
  return [...turns]
}

const SYNONYMS = {
  output: [
    'generationConfig.responseFormat',
    'generationConfig.responseSchema',
    'generationConfig.responseJsonSchema',
    'generationConfig.responseMimeType',
  ],
}
