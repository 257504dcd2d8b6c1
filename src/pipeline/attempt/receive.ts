import { failureOfError } from '../../codec/failure.ts'
import type { FailedResponse, ReceivedResponse } from '../../codec/response.ts'
import { gatewayError } from '../../errors.ts'
import type { AnswerReader, StreamState, UpstreamFormat } from '../../formats/format.ts'
import type { Operation } from '../../formats/operations.ts'
import type { ByteStream, UpstreamAnswer } from '../../lib/exchange.ts'
import { AnswerWithBody, type ProviderCall } from '../../upstream/provider-call.ts'
import type { PipelineContext } from '../context.ts'
import { readErrorStatus } from './read-failure.ts'
import { receiveEvents, receiveMislabelled, receiveObject, receiveUnasked } from './unexpected.ts'

/** The body of an error is read for so long, in ms, as the status suffices. */
const ERROR_BODY_MS = 5_000

/** What a call asks for, and how large the response may be. */
export interface Expected extends Pick<PipelineContext, 'clock' | 'limits'> {
  format: UpstreamFormat
  operation: Operation
  answers: AnswerReader
  stream: boolean
  /** Called with the state of each stream of events that is read. */
  onEvents(state: StreamState): void
}

/** Reads the response to a call: to its end, or a stream to its first content. Never rejects: every error is a failure with a class. */
export async function receive(
  opening: Promise<UpstreamAnswer>,
  call: ProviderCall,
  expected: Expected,
): Promise<ReceivedResponse | FailedResponse> {
  try {
    const head = await opening
    if (head.status < 200 || head.status > 299) {
      call.limitRemaining(ERROR_BODY_MS)
      return await readErrorStatus(head, expected)
    }
    const { isInBytes, bytesAs } = expected.answers
    if (isInBytes) {
      if (!isInBytes(head.header('content-type')?.toLowerCase() ?? '')) return await receiveObject(head, expected)
      return await receiveEvents(new AnswerWithBody(head, ofItsLength(head)), expected, call)
    }
    if (expected.stream) {
      if (!maybeStream(head)) return await receiveMislabelled(head, expected, call)
      return await receiveEvents(head, expected, call)
    }
    if (isEventStream(head)) return await receiveUnasked(head, expected)
    return await receiveObject(bytesAs === undefined ? head : new AnswerWithBody(head, ofItsLength(head)), expected)
  } catch (thrown) {
    call.cancel(thrown)
    return { kind: 'failure', failure: failureOfError(thrown) }
  }
}

/** The body, which rejects with `UPSTREAM_CUT` if it is shorter than its headers say: not every HTTP client notices. */
function ofItsLength(head: UpstreamAnswer): ByteStream {
  const { body } = head
  let left = head.header('content-encoding') === undefined ? Number(head.header('content-length') ?? 0) : 0
  return {
    async next() {
      const chunk = await body.next()
      left -= chunk?.length ?? 0
      if (!chunk && left > 0)
        throw gatewayError('UPSTREAM_CUT', { message: 'The provider ended its answer before it was complete.' })
      return chunk
    },
    cancel: (reason) => body.cancel(reason),
  }
}

/** Is the response by its content type a stream? */
const isEventStream = (head: UpstreamAnswer) => /event-?stream/.test(head.header('content-type') ?? '')

/** May it be one by its content type? */
function maybeStream(head: UpstreamAnswer): boolean {
  const mediaType = head.header('content-type')?.toLowerCase() ?? ''
  return !mediaType.includes('json') && !mediaType.includes('html')
}
