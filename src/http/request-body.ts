import { gatewayError, isGatewayError } from '../errors.ts'
import { readAll } from '../lib/bytes.ts'
import type { ByteStream, Exchange } from '../lib/exchange.ts'
import { bodyOf } from '../lib/fetch-body.ts'
import type { HeaderFields } from '../lib/header-fields.ts'

/** The size of a body in bytes at most, and who tells that its client has left. */
export interface BodyTerms {
  maxBytes: number
  exchange: Pick<Exchange, 'onAbort'>
}

/** The body of a Fetch request; see `Exchange.body`. */
export function readBody(request: Request, fields: HeaderFields, terms: BodyTerms): Promise<Uint8Array> {
  const { maxBytes } = terms
  if (Number(fields.get('content-length')) > maxBytes) return Promise.reject(tooLarge(maxBytes))
  if (request.bodyUsed) return Promise.reject(gatewayError('INTERNAL', { cause: new TypeError(USED) }))
  const body = bodyOf(request, fields)
  if (request.signal.aborted) {
    body.cancel(request.signal.reason)
    return Promise.reject(gatewayError('CLIENT_CLOSED_REQUEST'))
  }
  return body.whole ? readWhole(body.whole(), request, maxBytes) : readStream(body, request, terms)
}

/** What the platform reads by itself. It may not notice that the client leaves; whoever waits for the body watches for that, too. */
const readWhole = (reading: Promise<Uint8Array>, request: Request, maxBytes: number): Promise<Uint8Array> =>
  reading.then(
    (bytes) => {
      if (bytes.length > maxBytes) throw tooLarge(maxBytes)
      return bytes
    },
    (cause: unknown) => notRead(request, cause),
  )

/** Rejects as soon as the client leaves, on whatever platform. */
function readStream(body: ByteStream, request: Request, { maxBytes, exchange }: BodyTerms): Promise<Uint8Array> {
  const reading = new Promise<Uint8Array>((resolve, reject) => {
    const stopListening = exchange.onAbort(() => {
      reject(gatewayError('CLIENT_CLOSED_REQUEST'))
      body.cancel(request.signal.reason)
    })
    readAll(body, maxBytes, () => tooLarge(maxBytes))
      .then(resolve, reject)
      .finally(stopListening)
  })
  return reading.catch((cause: unknown) => notRead(request, cause))
}

function notRead({ signal }: Request, cause: unknown): never {
  if (isGatewayError(cause)) throw cause
  if (signal.aborted) throw gatewayError('CLIENT_CLOSED_REQUEST', { cause })
  throw gatewayError('INVALID_REQUEST', { message: 'The request body cannot be read to its end.', cause })
}

const tooLarge = (maxBytes: number) =>
  gatewayError('PAYLOAD_TOO_LARGE', { message: `The request body is larger than ${maxBytes} bytes.` })

const USED = 'The body of the request was read before the gateway got it.'
