import type { LiveEvent, LiveEventType } from '../features/live/live-feed.ts'
import { ClientError } from './client-error.ts'
import { openEvents, type SendOptions, startTimer } from './send.ts'

/** Which events to follow, and where to start. */
export interface LiveOptions {
  /** Default: all. */
  types?: readonly LiveEventType[]
  /** Continues after the event with this ID. Default: start with the requests in flight. */
  after?: string
  /** Ends the iteration. */
  signal?: AbortSignal
  /**
   * Called without an error each time the connection opens, and with the error each time it is lost or can't be opened. The iteration ends if this
   * function throws.
   */
  onConnection?(error: ClientError | undefined): void
}

/** The delay before the first attempt to reconnect, in ms. It doubles with each attempt, up to `MAX_BACKOFF_MS`. */
const MIN_BACKOFF_MS = 500
const MAX_BACKOFF_MS = 10_000
/** How long a connection can be silent before it is treated as lost, in ms. The gateway sends at least a comment every 15 s. */
const SILENCE_TIMEOUT_MS = 40_000

/** Follows a gateway's live events, and reconnects when the connection is lost. */
export async function* followEvents(options: LiveOptions, sendOptions: SendOptions): AsyncGenerator<LiveEvent, void> {
  const { types, signal, onConnection } = options
  const path = `/api/live${types ? `?types=${types.join(',')}` : ''}`
  let { after } = options
  let backoffMs = MIN_BACKOFF_MS

  while (!signal?.aborted) {
    const abortController = new AbortController()
    const abortStream = () => abortController.abort()
    signal?.addEventListener('abort', abortStream)
    let cancelSilenceTimer = startTimer(sendOptions.clock, SILENCE_TIMEOUT_MS, abortStream)
    try {
      const headers: Record<string, string> = after === undefined ? {} : { 'last-event-id': after }
      const body = await openEvents(sendOptions, path, { headers, signal: abortController.signal })
      onConnection?.(undefined)
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      let buffer = ''
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        cancelSilenceTimer()
        cancelSilenceTimer = startTimer(sendOptions.clock, SILENCE_TIMEOUT_MS, abortStream)
        backoffMs = MIN_BACKOFF_MS
        const events = (buffer + chunk.value).split('\n\n')
        buffer = events.pop() ?? ''
        for (const event of events.map(parseEvent)) {
          if (!event) continue
          after = event.id
          yield event
        }
      }
      throw createLostError(sendOptions)
    } catch (cause) {
      if (signal?.aborted) return
      const error = cause instanceof ClientError ? cause : createLostError(sendOptions, cause)
      if (error.status >= 400 && error.status < 500) throw error
      onConnection?.(error)
    } finally {
      signal?.removeEventListener('abort', abortStream)
      cancelSilenceTimer()
      abortStream()
    }
    await wait(backoffMs, options, sendOptions)
    backoffMs = Math.min(2 * backoffMs, MAX_BACKOFF_MS)
  }
}

const createLostError = ({ base }: SendOptions, cause?: unknown) =>
  new ClientError(0, `The connection to ${base} has ended.`, { code: 'UNREACHABLE', cause })

function parseEvent(text: string): LiveEvent | undefined {
  const [, id, type, data] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(text) ?? []
  if (id === undefined || type === undefined || data === undefined) return undefined // a comment, such as a keep-alive
  return { id, type, data: JSON.parse(data) } as LiveEvent // the gateway sends exactly these fields
}

function wait(ms: number, { signal }: LiveOptions, { clock }: SendOptions): Promise<void> {
  return new Promise((resolve) => {
    const cancelTimer = startTimer(clock, ms, done)
    signal?.addEventListener('abort', done)
    function done() {
      cancelTimer()
      signal?.removeEventListener('abort', done)
      resolve()
    }
  })
}
