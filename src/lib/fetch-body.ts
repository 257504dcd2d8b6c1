import type { ByteStream } from './exchange.ts'
import type { HeaderFields } from './header-fields.ts'

/**
 * The body of a Fetch request or response. Small JSON of known length is read at once, as a stream would cost more than the rest of the
 * request on some platforms.
 */
export function bodyOf(message: Request | Response, fields: Pick<HeaderFields, 'get'>): ByteStream {
  return isSmallJson(fields) ? new WholeBody(message) : streamOf(message)
}

/** A compressed body may be larger than its length says. */
function isSmallJson(fields: Pick<HeaderFields, 'get'>): boolean {
  const length = fields.get('content-length')
  if (length === undefined || Number(length) > MAX_WHOLE_BYTES || fields.get('content-encoding') !== undefined)
    return false
  return fields.get('content-type')?.includes('json') ?? false
}

const MAX_WHOLE_BYTES = 1024 * 1024

/** A body that the platform reads by itself. */
class WholeBody implements ByteStream {
  readonly #message: Request | Response
  #isTaken = false

  constructor(message: Request | Response) {
    this.#message = message
  }

  whole(): Promise<Uint8Array> {
    this.#isTaken = true
    return bytesOf(this.#message)
  }

  async next(): Promise<Uint8Array | undefined> {
    const bytes = this.#isTaken ? undefined : await this.whole()
    return bytes?.length ? bytes : undefined
  }

  cancel(): void {
    if (!this.#isTaken) streamOf(this.#message).cancel()
    this.#isTaken = true
  }
}

/** Not every platform has `bytes()` yet, and what a host passes for a response may have neither. */
function bytesOf(message: (Request | Response) & { bytes?(): Promise<Uint8Array> }): Promise<Uint8Array> {
  try {
    return message.bytes ? message.bytes() : message.arrayBuffer().then((buffer) => new Uint8Array(buffer))
  } catch (thrown) {
    return Promise.reject(thrown)
  }
}

function streamOf({ body }: Request | Response): ByteStream {
  const reader = body?.getReader()
  return {
    next: async () => (await reader?.read())?.value,
    cancel: (reason) => void reader?.cancel(reason).catch(() => {}), // the caller has already moved on
  }
}
