import { KEEP_ALIVE } from './keep-alive.ts'

/** How the chunks of a stream are told apart. */
export interface Frame {
  contentType: string
  chunk(json: string): string
  end(): string
  keepAlive(): string
}

/** Server-sent events, for who asks for `alt=sse`. */
export const sseFrame: Frame = {
  contentType: 'text/event-stream',
  chunk: (json) => `data: ${json}\n\n`,
  end: () => '',
  keepAlive: () => KEEP_ALIVE,
}

/** One JSON array that grows, for who does not. */
export function createArrayFrame(): Frame {
  let isOpen = false
  return {
    contentType: 'application/json',
    chunk(json) {
      const before = isOpen ? ',\r\n' : '['
      isOpen = true
      return before + json
    },
    end: () => (isOpen ? ']' : '[]'),
    keepAlive: () => '\n',
  }
}
