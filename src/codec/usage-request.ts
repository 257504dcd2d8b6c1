import type { UsageRequest } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import { createSseParser, splitEvents } from '../lib/sse.ts'
import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { AskedRequest, Codec } from './codec.ts'
import { bodyFor } from './model-call.ts'
import type { RelayedStream } from './relay.ts'

/**
 * The codec of a stream that is passed through, with the question for its usage, whose answer is kept from the client. The same as
 * before where the client asks itself, or the target takes no such question.
 */
export async function askingForUsage(
  { call, context, format }: AskedRequest,
  target: RouteTarget,
  codec: Codec,
): Promise<Codec> {
  const { usageRequest: question } = call.endpoint
  if (!question?.isOpen(call.body)) return codec
  const { traits } = await format.loadTranslator()
  if (!traitsFor(traits, target, context.catalog).streamUsage) return codec
  return {
    ...codec,
    request: { ...codec.request, body: question.ask(bodyFor(target.model, call)) },
    relay: (...given) => withoutAnswer(codec.relay(...given), question),
  }
}

/** The stream, whose pieces are whole events, without the answer. It is still counted and watched with all of them. */
function withoutAnswer(stream: RelayedStream, question: UsageRequest): RelayedStream {
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

function isAnswer(bytes: Uint8Array, question: UsageRequest): boolean {
  let found = false
  const parser = createSseParser((event) => {
    found = question.isAnswer(event)
  })
  parser.push(decodeUtf8Lenient(bytes))
  return found
}
