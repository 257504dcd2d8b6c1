import { concatBytes, decodeUtf8Lenient } from '../../lib/bytes.ts'
import { newId } from '../../lib/new-id.ts'
import { sseFraming } from '../../lib/sse.ts'
import type { OutputFormat } from '../../protocols/formats/canonical/canonical-request.ts'
import type { CanonicalResponse } from '../../protocols/formats/canonical/canonical-response.ts'
import { createResponseWarnings, createWarnings } from '../../protocols/formats/canonical/canonical-warnings.ts'
import { checkDepth, parseExactObject } from '../../protocols/formats/canonical/exact-json.ts'
import { assembleStream } from '../../protocols/formats/translate-stream.ts'
import type { ReaderContext } from '../../protocols/formats/translator.ts'
import { getTraits } from '../../protocols/providers/provider-traits.ts'
import type { CodecRequest, ResponseSource } from './codec.ts'
import type { BufferedResponse } from './response.ts'
import { createParseContext } from './translate-request.ts'

/* Reads requests and responses in the canonical format, whether they are translated or passed through. */

/** Returns the output format that the request specifies, or `undefined` if it specifies none or can't be read. */
export async function getOutputFormat(request: CodecRequest): Promise<OutputFormat | undefined> {
  const { call, format } = request
  const client = await format.loadTranslator()
  try {
    const warnings = createWarnings({ isStrict: false, names: client.fieldNames })
    return client.parseRequest(call.body, createParseContext(request, { warnings, stream: call.stream })).output
  } catch {
    return undefined
  }
}

/** Reads a response as the client will see it. Returns `undefined` if it can't be read. */
export async function readCanonicalResponse(
  { json, bytes, events }: Pick<BufferedResponse, 'json' | 'bytes' | 'events'>,
  source: ResponseSource,
): Promise<CanonicalResponse | undefined> {
  const { codec } = source
  const from = await codec.format.loadTranslator()
  const readerContext = createReaderContext(source, from.traits)
  try {
    const response = events
      ? assembleStream(events, { from, readerContext, candidates: undefined })
      : from.parseResponse(parseExactObject(checkDepth(decodeUtf8Lenient(bytes)), json), readerContext)
    return codec.restoreResponse?.(response) ?? response
  } catch {
    return undefined
  }
}

/** Returns whether a stream's first chunks show that a content filter ended the response, or that the model refused. */
export async function isFiltered(head: readonly Uint8Array[], source: ResponseSource): Promise<boolean> {
  const { format } = source.codec
  const from = await format.loadTranslator()
  let hasFilter = false
  const reader = from.createReader(createReaderContext(source, from.traits), (event) => {
    if (event.type === 'finish') hasFilter ||= event.finish.reason === 'content-filter'
    if (event.type === 'part-start') hasFilter ||= event.part.type === 'refusal'
  })
  const { framing = sseFraming } = format
  framing((event) => reader.observe(event)).push(concatBytes(head))
  return hasFilter
}

const createReaderContext = (
  { codec, request, route: { target } }: ResponseSource,
  traits: ReaderContext['traits'],
): ReaderContext => ({
  origin: { format: codec.format.name, account: target.connection.id },
  traits: getTraits(traits, { ...target, format: codec.format.name }, request.context.catalog),
  newId,
  responseWarnings: createResponseWarnings(),
})
