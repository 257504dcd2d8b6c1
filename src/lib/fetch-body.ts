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

/**
 * By `arrayBuffer()`, which every platform has: the requests of some hosts inherit the platform's `bytes()`, which rejects an object that the
 * platform did not make. What a host passes for a response may lack it.
 */
async function bytesOf(message: Request | Response): Promise<Uint8Array> {
  return new Uint8Array(await message.arrayBuffer())
}

function streamOf({ body }: Request | Response): ByteStream {
  const reader = body?.getReader()
  return {
    next: async () => (await reader?.read())?.value,
    cancel: (reason) => void reader?.cancel(reason).catch(() => {}), // the caller has already moved on
  }
}
