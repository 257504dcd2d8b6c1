import { crc32, encodeUtf8 } from '../../../src/lib/bytes.ts'

/** Builds an AWS event stream frame with string headers. */
export function frame(headers: Record<string, string>, payload: string | object): Uint8Array {
  const head = Object.entries(headers).flatMap(([name, value]) => {
    const [key, text] = [encodeUtf8(name), encodeUtf8(value)]
    return [key.length, ...key, 7, text.length >> 8, text.length & 0xff, ...text]
  })
  return toFrame(head, encodeUtf8(typeof payload === 'string' ? payload : JSON.stringify(payload)))
}

/** Builds a frame with headers of any type, given as bytes. */
export function toFrame(headers: readonly number[], payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(16 + headers.length + payload.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, bytes.length)
  view.setUint32(4, headers.length)
  view.setUint32(8, crc32(bytes.subarray(0, 8)))
  bytes.set(headers, 12)
  bytes.set(payload, 12 + headers.length)
  view.setUint32(bytes.length - 4, crc32(bytes.subarray(0, -4)))
  return bytes
}

export const eventFrame = (type: string, payload: object): Uint8Array =>
  frame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload)

export const exceptionFrame = (type: string, message: string): Uint8Array =>
  frame({ ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }, { message })

/** Builds the frames of a Converse stream that contains `text`, one word per frame. */
export function converseFrames(text = 'Hello there, world'): Uint8Array[] {
  return [
    eventFrame('messageStart', { role: 'assistant', p: 'abc' }),
    ...text
      .split(/(?<= )/)
      .map((word) => eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: word } })),
    eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
    eventFrame('messageStop', { stopReason: 'end_turn' }),
    eventFrame('metadata', {
      metrics: { latencyMs: 1 },
      usage: { inputTokens: 7, outputTokens: 3, totalTokens: 13, cacheReadInputTokens: 3 },
    }),
  ]
}

export const converseResponse = (text = 'Hello') => ({
  metrics: { latencyMs: 1 },
  output: { message: { role: 'assistant', content: [{ text }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 7, outputTokens: 1, totalTokens: 8 },
})
