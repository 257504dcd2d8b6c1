import { answerEvents } from '../formats/canonical/answer-events.ts'
import { notTooDeep } from '../formats/canonical/deep-answer.ts'
import { exactObject } from '../formats/canonical/exact-json.ts'
import { createLosses } from '../formats/canonical/losses.ts'
import { restoreAnswer } from '../formats/canonical/restore.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { withoutLineSeparators } from '../lib/line-separators.ts'
import type { RouteTarget } from '../routing/group.ts'
import { eventOf } from './array-events.ts'
import { carryRequest } from './compaction.ts'
import { writeContextOf } from './format-contexts.ts'
import { lossComment } from './loss-comment.ts'
import type { SpokenRequest } from './model-request.ts'
import { newId } from './new-id.ts'
import { type Transform, wantsArray } from './transform.ts'

/**
 * The transform of a request for a stream whose provider has sent the answer whole, in one piece. Where a stream's events are answers, too,
 * and need no translation, it is the only one. Rejects with `INVALID_REQUEST` when the request, which decides the form of other streams,
 * cannot be read; `whole` throws `UPSTREAM_INVALID` when the answer cannot.
 */
export async function wholeAsStream(
  request: SpokenRequest,
  { target, transform }: { target: RouteTarget; transform: Transform },
): Promise<Transform> {
  const { call } = request
  if (call.endpoint.operation === 'complete')
    return {
      ...transform,
      whole({ json, bytes }) {
        notTooDeep(decodeUtf8Lenient(bytes))
        return encodeUtf8(`data: ${JSON.stringify(json)}\n\ndata: [DONE]\n\n`)
      },
    }
  if (transform.isVerbatim && transform.format.streamsArrays) return { ...transform, whole: onlyChunk(request) }
  const carried = await carryRequest(request, target)
  const { client, upstream, asked, restoration, shape } = carried
  const { origin, traits } = carried.target
  const losses = createLosses()
  const read = { origin, traits, newId, losses }

  return {
    ...transform,
    warnings: () => [...transform.warnings(), ...losses.list()],
    whole({ json, bytes }) {
      const answer = upstream.parseAnswer(exactObject(notTooDeep(decodeUtf8Lenient(bytes)), json), read)
      let text = ''
      const say = (event: string) => {
        text += event
      }
      const beforeEnd = () => say(lossComment(losses) ?? '') // the headers may be gone already
      const write = writeContextOf(request, { request: asked, model: target.model, losses })
      const writer = client.createWriter({ ...write, beforeEnd }, say)
      for (const event of answerEvents(shape(restoreAnswer(answer, restoration)))) writer.push(event)
      return encodeUtf8(withoutLineSeparators(text))
    },
  }
}

/** The answer with every field that it has. */
function onlyChunk(request: SpokenRequest): Transform['whole'] {
  const framed = wantsArray(request) ? (json: string) => `[${json}]` : eventOf
  return ({ bytes }) => encodeUtf8(framed(decodeUtf8Lenient(bytes).trim()))
}
