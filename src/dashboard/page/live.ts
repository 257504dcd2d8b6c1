import type { KeptRequest } from './kept-request.ts'
import { addressOf, credentials, watchedFetch } from './session.ts'

/** In ms: so often at most new requests are handed over, and so long it waits before it connects again. */
const BATCH = 250
const AGAIN = 3_000

/**
 * Follows the requests that end, while the page is visible, and hands them over in batches, the newest first. Returns the function that stops it.
 * It is a fetch and no EventSource, which could send no token.
 */
export function openLive(onEnded: (requests: KeptRequest[]) => void): () => void {
  let stop = new AbortController()
  let again: ReturnType<typeof setTimeout> | undefined
  let waiting: KeptRequest[] = []
  let handing: ReturnType<typeof setTimeout> | undefined

  function take(request: KeptRequest) {
    waiting.unshift(request)
    handing ??= setTimeout(() => {
      handing = undefined
      onEnded(waiting)
      waiting = []
    }, BATCH)
  }

  async function follow(signal: AbortSignal) {
    const response = await watchedFetch(addressOf('api/usage/live'), { headers: credentials(), signal })
    if (!response.ok || !response.body) return
    let text = ''
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      text += chunk.value
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const lines = event.split('\n')
        const data = lines.find((line) => line.startsWith('data: '))
        if (data && lines.includes('event: request')) take(JSON.parse(data.slice(6)))
      }
    }
  }

  function start() {
    clearTimeout(again)
    stop.abort()
    stop = new AbortController()
    const { signal } = stop
    if (document.hidden) return
    follow(signal)
      .catch(() => {}) // it connects again
      .finally(() => {
        if (!signal.aborted) again = setTimeout(start, AGAIN)
      })
  }

  start()
  document.addEventListener('visibilitychange', start)
  return () => {
    document.removeEventListener('visibilitychange', start)
    clearTimeout(again)
    clearTimeout(handing)
    stop.abort()
  }
}
