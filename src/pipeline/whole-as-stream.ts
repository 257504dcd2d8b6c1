import { answerEvents } from '../formats/canonical/answer-events.ts'
import { exactObject } from '../formats/canonical/exact-json.ts'
import { createLosses } from '../formats/canonical/losses.ts'
import { restoreAnswer } from '../formats/canonical/restore.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { withoutLineSeparators } from '../lib/line-separators.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { WholeAnswer } from './attempt.ts'
import type { SpokenRequest } from './model-request.ts'
import { newId } from './new-id.ts'
import { translateRequest } from './translate-request.ts'

/**
 * The stream of a client whose provider has sent the answer whole, in one piece. Rejects with `UPSTREAM_INVALID` when the answer cannot be
 * read, and with `INVALID_REQUEST` when the request, which decides the form of the stream, cannot.
 */
export async function wholeAsStream(
  request: SpokenRequest,
  { json, bytes }: WholeAnswer,
  target: RouteTarget,
): Promise<Uint8Array> {
  const { call, context } = request
  if (call.endpoint.operation === 'complete') return encodeUtf8(`data: ${JSON.stringify(json)}\n\ndata: [DONE]\n\n`)
  const carried = await translateRequest(request, target, (client, ...given) => client.parseRequest(...given))
  const { client, upstream, asked, restoration } = carried
  const { origin, traits } = carried.target
  const losses = createLosses()
  const read = { origin, traits, newId, losses }
  const answer = upstream.parseAnswer(exactObject(decodeUtf8Lenient(bytes), json), read)
  let text = ''
  const write = { request: asked, model: target.model, newId, now: Math.floor(context.clock.now() / 1_000), losses }
  const writer = client.createWriter(write, (event) => {
    text += event
  })
  for (const event of answerEvents(restoreAnswer(answer, restoration))) writer.push(event)
  return encodeUtf8(withoutLineSeparators(text))
}
