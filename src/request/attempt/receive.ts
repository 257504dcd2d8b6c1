import { gatewayError } from '../../errors.ts'
import type { ByteStream, UpstreamResponse } from '../../lib/exchange.ts'
import { once } from '../../lib/promises.ts'
import { loadErrorReaders } from '../../protocols/formats/errors/load-error-readers.ts'
import type { ResponseReader, StreamState, UpstreamFormat } from '../../protocols/formats/format.ts'
import type { Operation } from '../../protocols/formats/model-operations.ts'
import type { FailedResponse, ReceivedResponse } from '../codec/response.ts'
import type { PipelineContext } from '../context.ts'
import { type ProviderCall, ResponseWithBody } from '../upstream/provider-call.ts'
import { loadFailedCalls, loadFailureReader, readBytes, readResponse } from './read-response.ts'

/** The time limit for reading an error body, in ms. The status alone is enough. */
const ERROR_BODY_MS = 5_000

/** The kind of response that a call expects, and its size limits. */
export interface ReceiveOptions extends Pick<PipelineContext, 'clock' | 'limits'> {
  format: UpstreamFormat
  operation: Operation
  reader: ResponseReader
  isStreaming: boolean
  /** Called with the progress of each event stream that is being read. */
  onEvents(progress: Pick<StreamState, 'usage'>): void
}

/** Reads the response to a call to its end, or a stream up to its first content. Never rejects: every error becomes a classified failure. */
export async function receive(
  responsePromise: Promise<UpstreamResponse>,
  call: ProviderCall,
  options: ReceiveOptions,
): Promise<ReceivedResponse | FailedResponse> {
  try {
    const head = await responsePromise
    if (head.status < 200 || head.status > 299) {
      call.limitRemaining(ERROR_BODY_MS)
      const { readErrorStatus } = await loadFailureReader()
      return await readErrorStatus(head, options)
    }
    const { isBinary, bytesField } = options.reader
    if (isBinary) {
      if (!isBinary(head.header('content-type')?.toLowerCase() ?? '')) return await receiveObject(head, options)
      return await receiveEvents(new ResponseWithBody(head, checkLength(head)), options, call)
    }
    if (options.isStreaming) {
      if (!mayBeStream(head)) return await (await loadUnexpected()).receiveMislabelled(head, options, call)
      return await receiveEvents(head, options, call)
    }
    if (isEventStream(head)) return await (await loadUnexpected()).receiveUnrequestedStream(head, options)
    return await receiveObject(bytesField === undefined ? head : new ResponseWithBody(head, checkLength(head)), options)
  } catch (error) {
    call.cancel(error)
    const { toFailure } = await loadFailedCalls()
    return { kind: 'failure', failure: toFailure(error) }
  }
}

/** Loaded while waiting for the first stream. */
export const loadReceiveStream = once(() => import('./receive-stream.ts'))

/** Lazy-loaded, because few responses are unexpected. */
const loadUnexpected = once(async () => {
  const [unexpected] = await Promise.all([import('./unexpected-response.ts'), loadErrorReaders()])
  return unexpected
})

/** Reads a response that should be a JSON object. */
async function receiveObject(
  head: UpstreamResponse,
  options: ReceiveOptions,
): Promise<ReceivedResponse | FailedResponse> {
  const bytes = await readBytes(head, options)
  return (await readResponse(bytes, head, options)) ?? (await loadUnexpected()).receiveNonObject(bytes, head, options)
}

/** Reads a response that should be a stream, up to its first content. */
async function receiveEvents(
  head: UpstreamResponse,
  options: ReceiveOptions,
  call: ProviderCall,
): Promise<ReceivedResponse | FailedResponse> {
  const { receiveStream } = await loadReceiveStream()
  const received = await receiveStream(head, options, call)
  if (received.kind !== undefined) return received
  return (await loadUnexpected()).receiveUncommitted(received, head, options, call)
}

/** Wraps the body so that it rejects with `UPSTREAM_CUT` if it is shorter than its headers declare, which not every HTTP client notices. */
function checkLength(head: UpstreamResponse): ByteStream {
  const { body } = head
  let remainingBytes = head.header('content-encoding') === undefined ? Number(head.header('content-length') ?? 0) : 0
  return {
    async next() {
      const chunk = await body.next()
      remainingBytes -= chunk?.length ?? 0
      if (!chunk && remainingBytes > 0)
        throw gatewayError('UPSTREAM_CUT', {
          message: 'The provider closed the connection before the response was complete.',
        })
      return chunk
    },
    cancel: (reason) => body.cancel(reason),
  }
}

/** Returns whether the content type declares an event stream. */
const isEventStream = (head: UpstreamResponse) => /event-?stream/.test(head.header('content-type') ?? '')

/** Returns whether the content type allows a stream. */
function mayBeStream(head: UpstreamResponse): boolean {
  const mediaType = head.header('content-type')?.toLowerCase() ?? ''
  return !mediaType.includes('json') && !mediaType.includes('html')
}
