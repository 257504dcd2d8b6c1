import type { Answer } from '../formats/canonical/answer.ts'
import { exactObject, notTooDeep } from '../formats/canonical/exact-json.ts'
import type { OutputFormat } from '../formats/canonical/request.ts'
import { createResponseWarnings, createWarnings } from '../formats/canonical/warnings.ts'
import { gatherStream } from '../formats/translate-stream.ts'
import type { ReadContext } from '../formats/translator.ts'
import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import { newId } from '../lib/new-id.ts'
import { sseFraming } from '../lib/sse.ts'
import { traitsFor } from '../providers/traits.ts'
import type { AnswerPlace, AskedRequest } from './codec.ts'
import type { WholeResponse } from './response.ts'
import { parseContextOf } from './translate-request.ts'

/* What requests and their answers say in the canonical form, whether they are translated or passed through. */

/** The form that a request asks the answer to have; `undefined` where it asks for none, or cannot be read. */
export async function outputOf(request: AskedRequest): Promise<OutputFormat | undefined> {
  const { call, format } = request
  const client = await format.loadTranslator()
  try {
    const warnings = createWarnings({ isStrict: false, names: client.fieldNames })
    return client.parseRequest(call.body, parseContextOf(request, { warnings, stream: call.stream })).output
  } catch {
    return undefined
  }
}

/** An answer as the client is to read it; `undefined` when it cannot be read. */
export async function answerOf(
  { json, bytes, events }: Pick<WholeResponse, 'json' | 'bytes' | 'events'>,
  place: AnswerPlace,
): Promise<Answer | undefined> {
  const { codec } = place
  const from = await codec.format.loadTranslator()
  const read = readContextOf(place, from.traits)
  try {
    const answer = events
      ? gatherStream(events, { from, read, candidates: undefined })
      : from.parseAnswer(exactObject(notTooDeep(decodeUtf8Lenient(bytes)), json), read)
    return codec.restored?.(answer) ?? answer
  } catch {
    return undefined
  }
}

/** Do the first chunks of a stream say that a content filter has ended the answer, or that the model refuses? */
export async function seemsFiltered(head: readonly Uint8Array[], place: AnswerPlace): Promise<boolean> {
  const { format } = place.codec
  const from = await format.loadTranslator()
  let isSeen = false
  const reader = from.createReader(readContextOf(place, from.traits), (event) => {
    if (event.type === 'finish') isSeen ||= event.finish.reason === 'content-filter'
    if (event.type === 'part-start') isSeen ||= event.part.type === 'refusal'
  })
  const { framing = sseFraming } = format
  framing((event) => reader.observe(event)).push(concatBytes(head))
  return isSeen
}

const readContextOf = (
  { codec, request, route: { target } }: AnswerPlace,
  traits: ReadContext['traits'],
): ReadContext => ({
  origin: { format: codec.format.name, account: target.connection.id },
  traits: traitsFor(traits, { ...target, format: codec.format.name }, request.context.catalog),
  newId,
  responseWarnings: createResponseWarnings(),
})
