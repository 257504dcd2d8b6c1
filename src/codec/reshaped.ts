import { answerEvents } from '../formats/canonical/answer-events.ts'
import { exactObject, notTooDeep } from '../formats/canonical/exact-json.ts'
import { restoreAnswer } from '../formats/canonical/restore.ts'
import { createResponseWarnings, createWarnings } from '../formats/canonical/warnings.ts'
import { sharedFormatOf } from '../formats/formats.ts'
import { operations } from '../formats/operations.ts'
import { gatherStream } from '../formats/translate-stream.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { newId } from '../lib/new-id.ts'
import { withoutLineSeparators } from '../lib/sse.ts'
import { eventOf } from '../lib/sse-array.ts'
import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { AskedRequest, Codec } from './codec.ts'
import { carryRequest } from './compaction.ts'
import { lossComment } from './losses.ts'
import { wantsArray } from './model-call.ts'
import { parseContextOf, type TranslationMemory, writeContextOf } from './translate-request.ts'

/**
 * The codec of a request that was passed through, for a provider that streams an answer which was to be whole: there is nothing to pass
 * through then. The answer is the one that the stream's end reports, if it does; else it is put together, without fields that the
 * canonical form has no place for.
 */
export async function forEvents(request: AskedRequest, target: RouteTarget, codec: Codec): Promise<Codec> {
  const { call, context, format } = request
  const shared = sharedFormatOf(format.name)
  if (!shared) return codec // never passed through
  const client = await shared.loadTranslator()
  const { name } = shared
  const traits = traitsFor(client.traits, { ...target, format: name }, context.catalog)
  const origin = { format: name, account: target.connection.id }
  const responseWarnings = createResponseWarnings()
  const read = { origin, traits, newId, responseWarnings }

  function parsedRequest() {
    const warnings = createWarnings({ isStrict: false }) // the request was sent as it is
    return client.parseRequest(exactObject(call.text, call.body), parseContextOf(request, { warnings, stream: false }))
  }

  return {
    ...codec,
    isPassThrough: false,
    warnings: responseWarnings.list,
    readWhole({ events = [] }) {
      for (const { data } of events) notTooDeep(data)
      const reported = client.answerInStream?.(events)
      if (reported) return encodeUtf8(JSON.stringify(reported))
      const asked = parsedRequest()
      const answer = gatherStream(events, { from: client, read, candidates: asked.options.candidates })
      const write = writeContextOf(request, { request: asked, model: answer.model ?? target.model, responseWarnings })
      return encodeUtf8(JSON.stringify(client.writeAnswer(answer, write)))
    },
  }
}

/**
 * The codec of a request for a stream whose provider has sent the answer whole, in one piece. Where a stream's events are answers, too,
 * and need no translation, it is the only one. Rejects with `INVALID_REQUEST` when the request, which decides the form of other streams,
 * cannot be read; `readWhole` throws `UPSTREAM_INVALID` when the answer cannot.
 */
export async function forWhole(
  request: AskedRequest,
  target: RouteTarget,
  { codec, memory }: { codec: Codec; memory: TranslationMemory },
): Promise<Codec> {
  if (request.call.endpoint.operation === operations.complete) return { ...codec, readWhole: onlyEvent }
  if (codec.isPassThrough && codec.format.streamsArrays) return { ...codec, readWhole: onlyChunk(request) }
  const carried = await carryRequest(request, target, memory)
  const { client, upstream, asked, restoration, shape } = carried
  const { origin, traits } = carried.target
  const responseWarnings = createResponseWarnings()
  const read = { origin, traits, newId, responseWarnings }

  return {
    ...codec,
    warnings: () => [...codec.warnings(), ...responseWarnings.list()],
    readWhole({ json, bytes }) {
      const answer = upstream.parseAnswer(exactObject(notTooDeep(decodeUtf8Lenient(bytes)), json), read)
      let text = ''
      const add = (event: string) => {
        text += event
      }
      const beforeEnd = () => add(lossComment(responseWarnings) ?? '') // the headers may be gone already
      const write = writeContextOf(request, { request: asked, model: target.model, responseWarnings })
      const writer = client.createWriter({ ...write, beforeEnd }, add)
      for (const event of answerEvents(shape(restoreAnswer(answer, restoration)))) writer.push(event)
      return encodeUtf8(withoutLineSeparators(text))
    },
  }
}

/** The response of an operation without translation as the only event of a stream. */
const onlyEvent: Codec['readWhole'] = ({ json, bytes }) => {
  notTooDeep(decodeUtf8Lenient(bytes))
  return encodeUtf8(`data: ${JSON.stringify(json)}\n\ndata: [DONE]\n\n`)
}

/** The answer with every field that it has. */
function onlyChunk(request: AskedRequest): Codec['readWhole'] {
  const framed = wantsArray(request) ? (json: string) => `[${json}]` : eventOf
  return ({ bytes }) => encodeUtf8(framed(decodeUtf8Lenient(bytes).trim()))
}
