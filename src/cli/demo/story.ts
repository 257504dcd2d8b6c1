import { setTimeout as sleep } from 'node:timers/promises'

const TEXT =
  'A train stands before a red signal: the line ahead is broken. In the signal box somebody pulls another lever, the points ' +
  'swing over, and the train takes the other track. Nobody on board notices more than a gentle curve.'

/** What the demo tells, a word at a time with the blank before it. */
export const words: readonly string[] = TEXT.split(/(?= )/)
export const story = TEXT

const MS_BETWEEN_WORDS = 40

/** The tokens of a request and of the story, counted by the length of their text. */
export function tokensOf(messages: unknown): { input: number; output: number } {
  return { input: Math.ceil((JSON.stringify(messages ?? '') ?? '').length / 4), output: words.length }
}

/** The events as a stream that is pulled: those that carry a word come some time after each other. Ends at once when aborted. */
export function eventStream(
  events: Iterable<{ text: string; isWord: boolean }>,
  signal: AbortSignal | undefined,
): Response {
  const left = events[Symbol.iterator]()
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = left.next()
        if (done) return controller.close()
        if (value.isWord) await sleep(MS_BETWEEN_WORDS, undefined, signal ? { signal } : {})
        controller.enqueue(encoder.encode(value.text))
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
