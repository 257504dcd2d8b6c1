import { notTooDeep } from '../formats/canonical/deep-answer.ts'
import { exactObject } from '../formats/canonical/exact-json.ts'
import { createLosses } from '../formats/canonical/losses.ts'
import { createWarnings } from '../formats/canonical/warnings.ts'
import { gatherStream } from '../formats/gather-stream.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import { parseContextOf, writeContextOf } from './format-contexts.ts'
import type { SpokenRequest } from './model-request.ts'
import { newId } from './new-id.ts'
import type { Transform } from './transform.ts'

/**
 * The transform of a request that was passed through, for a provider that streams an answer which was to be whole: there is nothing to pass
 * through then. The answer is the one that the stream's end tells, if it does; else it is put together, without fields that the
 * canonical form has no place for.
 */
export async function gathered(
  spoken: SpokenRequest,
  { target, transform }: { target: RouteTarget; transform: Transform },
): Promise<Transform> {
  const { call, context, format } = spoken
  const client = await format.loadTranslator()
  const { name } = format
  const traits = traitsFor(client.traits, { ...target, format: name }, context.catalog)
  const origin = { format: name, account: target.connection.id }
  const losses = createLosses()
  const read = { origin, traits, newId, losses }

  function asked() {
    const warnings = createWarnings({ isStrict: false }) // the request was sent as it is
    return client.parseRequest(exactObject(call.text, call.body), parseContextOf(spoken, { warnings, stream: false }))
  }

  return {
    ...transform,
    isVerbatim: false,
    warnings: losses.list,
    whole({ events = [] }) {
      for (const { data } of events) notTooDeep(data)
      const told = client.answerIn?.(events)
      if (told) return encodeUtf8(JSON.stringify(told))
      const request = asked()
      const answer = gatherStream(events, { from: client, read, candidates: request.options.candidates })
      const write = writeContextOf(spoken, { request, model: answer.model ?? target.model, losses })
      return encodeUtf8(JSON.stringify(client.writeAnswer(answer, write)))
    },
  }
}
