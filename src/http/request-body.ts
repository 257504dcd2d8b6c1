import { gatewayError, isGatewayError } from '../errors.ts'
import { checkSize, readAll } from '../lib/bytes.ts'
import type { ByteStream } from '../lib/exchange.ts'
import { bodyOf } from '../lib/fetch-body.ts'
import type { HeaderFields } from '../lib/header-fields.ts'
import type { ClientSignal } from './client-signal.ts'

/** The size of a body in bytes at most, and who tells that its client has left. */
export interface BodyTerms {
  maxBytes: number
  /** Must a body that is refused be held rather than cancelled? */
  holdsRefused: boolean
  client: Pick<ClientSignal, 'isAborted' | 'onAbort'>
}

/** The body of a Fetch request; see `Exchange.body`. */
export function readBody(
  request: Request,
  fields: HeaderFields,
  { maxBytes, holdsRefused, client }: BodyTerms,
): Promise<Uint8Array> {
  if (Number(fields.get('content-length')) > maxBytes) {
    if (holdsRefused && !request.bodyUsed) request.body?.getReader()
    return Promise.reject(tooLarge(maxBytes))
  }
  if (request.bodyUsed) return Promise.reject(gatewayError('BODY_ALREADY_READ', { message: USED }))
  const body = holdsRefused ? held(bodyOf(request, fields)) : bodyOf(request, fields)
  if (client.isAborted) {
    body.cancel(request.signal.reason)
    return Promise.reject(gatewayError('CLIENT_CLOSED_REQUEST'))
  }
  const broken = (cause: unknown) => notRead(request, cause)
  const whole = body.whole?.()
  if (whole !== undefined) return whole.then((bytes) => checkSize(bytes, maxBytes, tooLarge), broken) // it cannot be cancelled
  return unlessLeft(readAll(body, maxBytes, tooLarge), { request, body, client }).catch(broken)
}

/** Rejects when the client leaves, whatever the platform does with the body then. */
function unlessLeft(
  reading: Promise<Uint8Array>,
  { request, body, client }: Pick<BodyTerms, 'client'> & { request: Request; body: ByteStream },
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const stopListening = client.onAbort(() => {
      reject(gatewayError('CLIENT_CLOSED_REQUEST'))
      body.cancel(request.signal.reason)
    })
    reading.then(resolve, reject).finally(stopListening)
  })
}

function notRead({ signal }: Request, cause: unknown): never {
  if (isGatewayError(cause)) throw cause
  if (signal.aborted) throw gatewayError('CLIENT_CLOSED_REQUEST', { cause })
  throw gatewayError('INVALID_REQUEST', { message: 'The request body cannot be read to its end.', cause })
}

/** The body, of which nothing more is taken once it is cancelled. */
function held(body: ByteStream): ByteStream {
  const whole = body.whole?.bind(body)
  return { next: () => body.next(), ...(whole && { whole }), cancel() {} }
}

/** The connection is closed after that answer, where the platform heeds it, as the rest of the body would follow. */
const tooLarge = (maxBytes: number) =>
  gatewayError('PAYLOAD_TOO_LARGE', {
    message: `The request body is larger than ${maxBytes} bytes.`,
    headers: { connection: 'close' },
  })

const USED =
  'The request body was read before it came to the gateway. Call the gateway before whatever reads it, or with a clone that was made before.'
