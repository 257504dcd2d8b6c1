/** How the chunks of a stream are told apart. */
export interface Frame {
  contentType: string
  chunk(json: string): string
  end(): string
  /** Blank lines: Google's client for Python takes a comment for a chunk. */
  keepAlive(): string
}

/** Server-sent events, for who asks for `alt=sse`. */
export const sseFrame: Frame = {
  contentType: 'text/event-stream',
  chunk: (json) => `data: ${json}\n\n`,
  end: () => '',
  keepAlive: () => '\n\n',
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
