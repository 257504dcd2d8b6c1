import { decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import { newId } from '../../lib/new-id.ts'
import { escapeLineSeparators } from '../../lib/sse.ts'
import { formatDataEvent } from '../../lib/sse-array.ts'
import { createResponseWarnings, createWarnings } from '../../protocols/formats/canonical/canonical-warnings.ts'
import { checkDepth, parseExactObject } from '../../protocols/formats/canonical/exact-json.ts'
import { toStreamEvents } from '../../protocols/formats/canonical/response-events.ts'
import { restoreResponse } from '../../protocols/formats/canonical/restore.ts'
import { getSharedFormat } from '../../protocols/formats/formats.ts'
import { operations } from '../../protocols/formats/model-operations.ts'
import { assembleStream } from '../../protocols/formats/translate-stream.ts'
import { getTraits } from '../../protocols/providers/provider-traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { Codec, CodecRequest } from './codec.ts'
import { translateExchange } from './compaction-codec.ts'
import { createDroppedFieldsComment } from './dropped-fields.ts'
import { shouldSendArray } from './model-call.ts'
import { createParseContext, createWriterContext, type TranslationMemory } from './translate-request.ts'

/**
 * Returns the codec for a provider that streams a response that should be complete, which can't be passed through. If the end of the stream contains
 * the complete response, the client gets that. Otherwise, the response is assembled from events, without the fields that the canonical format lacks.
 */
export async function adaptToEvents(request: CodecRequest, target: RouteTarget, codec: Codec): Promise<Codec> {
  const { call, context, format } = request
  const sharedFormat = getSharedFormat(format.name)
  if (!sharedFormat) return codec // the response is never passed through
  const client = await sharedFormat.loadTranslator()
  const { name } = sharedFormat
  const traits = getTraits(client.traits, { ...target, format: name }, context.catalog)
  const origin = { format: name, account: target.connection.id }
  const responseWarnings = createResponseWarnings()
  const readerContext = { origin, traits, newId, responseWarnings }

  function parseRequest() {
    const warnings = createWarnings({ isStrict: false }) // the request was sent unchanged, so nothing can have been dropped
    return client.parseRequest(
      parseExactObject(call.text, call.body),
      createParseContext(request, { warnings, stream: false }),
    )
  }

  return {
    ...codec,
    isPassThrough: false,
    warnings: responseWarnings.list,
    readWhole({ events = [] }) {
      for (const { data } of events) checkDepth(data)
      const finalResponse = client.findResponse?.(events)
      if (finalResponse) return encodeUtf8(JSON.stringify(finalResponse))
      const parsed = parseRequest()
      const response = assembleStream(events, {
        from: client,
        readerContext,
        candidates: parsed.options.candidates,
      })
      const write = createWriterContext(request, {
        request: parsed,
        model: response.model ?? target.model,
        responseWarnings,
      })
      return encodeUtf8(JSON.stringify(client.writeResponse(response, write)))
    },
  }
}

/**
 * Returns the codec for a provider that sends a complete response instead of a stream. If the format's events are complete responses that need no
 * translation, the response becomes the only event. Rejects with `INVALID_REQUEST` if the request, which determines the form of other streams, can't be
 * read. `readWhole` throws `UPSTREAM_INVALID` if the response can't be read.
 */
export async function adaptToWhole(
  request: CodecRequest,
  target: RouteTarget,
  { codec, memory }: { codec: Codec; memory: TranslationMemory },
): Promise<Codec> {
  if (request.call.endpoint.operation === operations.complete) return { ...codec, readWhole: writeOnlyEvent }
  if (codec.isPassThrough && codec.format.streamsArrays) return { ...codec, readWhole: createChunkWriter(request) }
  const translated = await translateExchange(request, target, memory)
  const { client, upstream, canonicalRequest, restoration, convertResponse } = translated
  const { origin, traits } = translated.target
  const responseWarnings = createResponseWarnings()
  const readerContext = { origin, traits, newId, responseWarnings }

  return {
    ...codec,
    warnings: () => [...codec.warnings(), ...responseWarnings.list()],
    readWhole({ json, bytes }) {
      const response = upstream.parseResponse(
        parseExactObject(checkDepth(decodeUtf8Lenient(bytes)), json),
        readerContext,
      )
      let text = ''
      const append = (event: string) => {
        text += event
      }
      const beforeEnd = () => append(createDroppedFieldsComment(responseWarnings) ?? '') // the headers may already have been sent
      const write = createWriterContext(request, { request: canonicalRequest, model: target.model, responseWarnings })
      const writer = client.createWriter({ ...write, beforeEnd }, append)
      for (const event of toStreamEvents(convertResponse(restoreResponse(response, restoration)))) writer.push(event)
      return encodeUtf8(escapeLineSeparators(text))
    },
  }
}

/** Sends the response to an operation without translation as the only event in a stream. */
const writeOnlyEvent: Codec['readWhole'] = ({ json, bytes }) => {
  checkDepth(decodeUtf8Lenient(bytes))
  return encodeUtf8(`data: ${JSON.stringify(json)}\n\ndata: [DONE]\n\n`)
}

/** Sends the response as the only event, with all its fields. */
function createChunkWriter(request: CodecRequest): Codec['readWhole'] {
  const frame = shouldSendArray(request) ? (json: string) => `[${json}]` : formatDataEvent
  return ({ bytes }) => encodeUtf8(frame(decodeUtf8Lenient(bytes).trim()))
}
