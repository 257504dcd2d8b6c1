import type { ByteStream } from './exchange.ts'
import type { HeaderFields } from './header-fields.ts'

/**
 * The body of a Fetch request or response. Small JSON of known length is read at once, as a stream would cost more than the rest of the
 * request on some platforms.
 */
export function bodyOf(message: Request | Response, header: HeaderFields['get']): ByteStream {
  return isSmallJson(header) ? wholeOf(message) : streamOf(message)
}

/** A compressed body may be larger than its length says. */
function isSmallJson(header: HeaderFields['get']): boolean {
  const length = header('content-length')
  if (length === undefined || Number(length) > MAX_WHOLE_BYTES || header('content-encoding') !== undefined) return false
  return header('content-type')?.includes('json') ?? false
}

const MAX_WHOLE_BYTES = 1024 * 1024

function wholeOf(message: Request | Response): ByteStream {
  let isTaken = false
  async function whole() {
    isTaken = true
    return new Uint8Array(await message.arrayBuffer())
  }
  return {
    whole,
    async next() {
      const bytes = isTaken ? undefined : await whole()
      return bytes?.length ? bytes : undefined
    },
    cancel() {
      if (!isTaken) streamOf(message).cancel()
      isTaken = true
    },
  }
}

function streamOf({ body }: Request | Response): ByteStream {
  const reader = body?.getReader()
  return {
    next: async () => (await reader?.read())?.value,
    cancel: (reason) => void reader?.cancel(reason).catch(() => {}), // the caller has already moved on
  }
}
