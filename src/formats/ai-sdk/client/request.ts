import type { JsonObject } from '../../../lib/json.ts'
import { type Fields, fieldsOf } from '../../canonical/fields.ts'
import type { CanonicalRequest, OutputFormat } from '../../canonical/request.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import type { ParseContext } from '../../translator.ts'
import { type ProtocolVersion, versions } from '../fields.ts'
import type { WireDocument } from '../wire.ts'
import { citableDocuments, parsePrompt } from './conversation.ts'
import { parseOptions } from './options.ts'
import { parseTools } from './tools.ts'

/** What the writing of an answer needs of the request. */
export interface AiSdkClient {
  version: ProtocolVersion
  /** The client's name of the web search that a provider runs, if it has offered one. */
  search?: string
  /** The client's names of the tools that run at the target, by the vendor's. */
  hosted: Readonly<Record<string, string>>
  /** The documents that an answer may cite, in their order. */
  documents: readonly WireDocument[]
  /** Does the client want the provider's own events, too? */
  isRaw: boolean
}

/** Parses the call options of a model of the AI SDK. */
export function parseRequest(
  json: JsonObject,
  { warnings, route, version = '', targetFormat }: ParseContext,
): CanonicalRequest {
  const protocol = versions[version]
  if (!protocol) {
    const known = Object.keys(versions).join(' or ')
    return warnings.refuse('ai-language-model-specification-version', `the version must be ${known}.`)
  }
  const body = fieldsOf(json, '', warnings)
  const { tools, toolChoice, search, hosted } = parseTools(body, { warnings, targetFormat })
  const { options, isStrict, instructions, own } = parseOptions(body, { warnings, targetFormat })
  const conversation = parsePrompt(body, { warnings, targetFormat, tools })
  const turns = instructions ? [instructions, ...conversation] : conversation
  const client = defined<AiSdkClient>({
    version: protocol,
    search,
    hosted,
    documents: citableDocuments(turns),
    isRaw: body.flag('includeRawChunks') ?? false,
  })
  const request = defined<CanonicalRequest>({
    model: route?.model ?? '',
    stream: route?.stream ?? false,
    streamUsage: true,
    turns,
    tools,
    toolChoice,
    output: parseOutput(body, isStrict, warnings),
    options,
    own,
    client: { ...client },
  })
  body.ignore('headers', 'model', 'stream') // `headers` are those of the client's own request
  body.drop()
  return request
}

function parseOutput(body: Fields, isStrict: boolean | undefined, warnings: Warnings): OutputFormat | undefined {
  const format = body.fields('responseFormat')
  if (format?.word('type', ['text', 'json']) !== 'json') return undefined
  const schema = format.object('schema')
  const output: OutputFormat = schema
    ? defined<OutputFormat & { type: 'json-schema' }>({
        type: 'json-schema',
        schema,
        name: format.text('name'),
        description: format.text('description'),
        strict: isStrict,
        prefersStrict: isStrict === undefined ? true : undefined,
      })
    : { type: 'json' }
  format.ignore('name', 'description')
  format.drop()
  warnings.place(output, format.at)
  return output
}

/** What `parseRequest` has noted for the answer. */
export function clientOf({ client }: CanonicalRequest): AiSdkClient {
  return client as unknown as AiSdkClient // `parseRequest` alone makes it
}
