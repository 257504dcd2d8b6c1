import type { JsonObject } from '../../../../lib/json.ts'
import { type Fields, readFields } from '../../canonical/canonical-fields.ts'
import type { CanonicalRequest, OutputFormat } from '../../canonical/canonical-request.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import type { ParseContext } from '../../translator.ts'
import { type ProtocolVersion, protocolVersions } from '../ai-sdk-fields.ts'
import type { WireDocument } from '../ai-sdk-wire.ts'
import { listCitableDocuments, parsePrompt } from './ai-sdk-client-conversation.ts'
import { parseOptions } from './ai-sdk-client-options.ts'
import { parseTools } from './ai-sdk-client-tools.ts'

/** Request details that are needed to write the response. */
export interface AiSdkClient {
  version: ProtocolVersion
  /** The client's name for the provider's web search, if the client offered one. */
  search?: string
  /** Maps the vendor's names for tools that it runs to the client's names. */
  hostedToolNames: Readonly<Record<string, string>>
  /** The documents that a response may cite, in order. */
  documents: readonly WireDocument[]
  /** Whether the client also wants the provider's own events. */
  includesRawChunks: boolean
}

/** Parses an AI SDK model's call options. */
export function parseRequest(
  json: JsonObject,
  { warnings, route, version = '', targetFormat }: ParseContext,
): CanonicalRequest {
  const protocolVersion = protocolVersions[version]
  if (!protocolVersion) {
    const supportedVersions = Object.keys(protocolVersions).join(' or ')
    return warnings.reject('ai-language-model-specification-version', `the version must be ${supportedVersions}.`)
  }
  const body = readFields(json, '', warnings)
  const { tools, toolChoice, search, hostedToolNames } = parseTools(body, { warnings, targetFormat })
  const { options, isStrict, instructions, native } = parseOptions(body, { warnings, targetFormat })
  const conversation = parsePrompt(body, { warnings, targetFormat, tools })
  const turns = instructions ? [instructions, ...conversation] : conversation
  const client = omitUndefined<AiSdkClient>({
    version: protocolVersion,
    search,
    hostedToolNames,
    documents: listCitableDocuments(turns),
    includesRawChunks: body.boolean('includeRawChunks') ?? false,
  })
  const request = omitUndefined<CanonicalRequest>({
    model: route?.model ?? '',
    stream: route?.stream ?? false,
    streamUsage: true,
    turns,
    tools,
    toolChoice,
    output: parseOutput(body, isStrict, warnings),
    options,
    native,
    client: { ...client },
  })
  body.ignore('headers', 'model', 'stream') // the body's `headers` belong to the client's own request
  body.dropUnread()
  return request
}

function parseOutput(body: Fields, isStrict: boolean | undefined, warnings: Warnings): OutputFormat | undefined {
  const format = body.fields('responseFormat')
  if (format?.oneOf('type', ['text', 'json']) !== 'json') return undefined
  const schema = format.object('schema')
  const output: OutputFormat = schema
    ? omitUndefined<OutputFormat & { type: 'json-schema' }>({
        type: 'json-schema',
        schema,
        name: format.string('name'),
        description: format.string('description'),
        strict: isStrict,
        prefersStrict: isStrict === undefined ? true : undefined,
      })
    : { type: 'json' }
  format.ignore('name', 'description')
  format.dropUnread()
  warnings.setPath(output, format.path)
  return output
}

/** Returns the details that `parseRequest` stored for the response. */
export function getClient({ client }: CanonicalRequest): AiSdkClient {
  return client as unknown as AiSdkClient // only `parseRequest` creates it
}
