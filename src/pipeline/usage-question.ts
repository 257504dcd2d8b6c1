import type { UsageQuestion } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import { splitEvents } from '../lib/split-events.ts'
import { createSseParser } from '../lib/sse.ts'
import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import { bodyFor } from './call.ts'
import type { SpokenRequest } from './model-request.ts'
import type { RelayedStream } from './relay.ts'
import type { Transform } from './transform.ts'

/**
 * The transform of a stream that is passed through, with the question for its usage, whose answer is kept from the client. The same as
 * before where the client asks itself, or the target takes no such question.
 */
export async function askingForUsage(
  { call, context, format }: SpokenRequest,
  { target, transform }: { target: RouteTarget; transform: Transform },
): Promise<Transform> {
  const [client, question] = await Promise.all([format.loadTranslator(), format.loadUsageQuestion?.()])
  if (!question?.isOpen(call.body) || !traitsFor(client.traits, target, context.catalog).streamUsage) return transform
  return {
    ...transform,
    ask: { ...transform.ask, body: question.ask(bodyFor(target.model, call)) },
    stream: (...given) => withoutAnswer(transform.stream(...given), question),
  }
}

/** The stream, whose pieces are whole events, without the answer. It is still counted and watched with all of them. */
function withoutAnswer(stream: RelayedStream, question: UsageQuestion): RelayedStream {
  return {
    ...stream,
    async next() {
      for (let piece = await stream.next(); piece; piece = await stream.next()) {
        const kept = splitEvents(piece).filter((event) => !isAnswer(event, question))
        if (kept.length > 0) return concatBytes(kept)
      }
      return undefined
    },
  }
}

function isAnswer(bytes: Uint8Array, question: UsageQuestion): boolean {
  let found = false
  const parser = createSseParser((event) => {
    found = question.isAnswer(event)
  })
  parser.push(decodeUtf8Lenient(bytes))
  return found
}
