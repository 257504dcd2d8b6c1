import { gatewayError } from '../errors.ts'
import { encodeUtf8 } from './bytes.ts'
import type { Exchange, InternalCaller, UpstreamFetch } from './exchange.ts'

interface InternalRequest {
  /** Includes the base path. */
  path: string
  /** With the leading `?`. Default: none. */
  query?: string
  /** JSON, or a value to write as JSON. */
  body: object | string
  /** The names must be lowercase. `content-type` is set to JSON. */
  headers: ReadonlyMap<string, string>
  actsAs: InternalCaller
  /** The client request that caused this request. */
  outerExchange?: Pick<Exchange, 'onAbort' | 'waitUntil' | 'upstream'> | undefined
}

/** A JSON `POST` request that the gateway sends to itself. */
export class InternalExchange implements Exchange {
  readonly method = 'POST'
  readonly path: string
  readonly query: string
  readonly actsAs: InternalCaller
  declare readonly waitUntil?: (work: Promise<unknown>) => void
  declare readonly upstream?: UpstreamFetch
  readonly #headers: ReadonlyMap<string, string>
  readonly #body: Uint8Array
  readonly #outerExchange: InternalRequest['outerExchange']

  constructor({ path, query = '', body, headers, actsAs, outerExchange }: InternalRequest) {
    this.path = path
    this.query = query
    this.actsAs = actsAs
    this.#headers = new Map([...headers, ['content-type', 'application/json']])
    this.#body = encodeUtf8(typeof body === 'string' ? body : JSON.stringify(body))
    this.#outerExchange = outerExchange
    if (outerExchange?.waitUntil) this.waitUntil = outerExchange.waitUntil.bind(outerExchange)
    if (outerExchange?.upstream) this.upstream = outerExchange.upstream
  }

  header(name: string): string | undefined {
    return this.#headers.get(name)
  }

  copyHeaders(names: ReadonlySet<string>, into: Record<string, string>): void {
    for (const [name, value] of this.#headers) if (names.has(name)) into[name] = value
  }

  async body(maxBytes: number): Promise<Uint8Array> {
    if (this.#body.byteLength > maxBytes)
      throw gatewayError('PAYLOAD_TOO_LARGE', { message: `The request body is larger than ${maxBytes} bytes.` })
    return this.#body
  }

  onAbort(listener: () => void): () => void {
    return this.#outerExchange?.onAbort(listener) ?? (() => {})
  }

  toRequest(): Request {
    return new Request(`http://localhost${this.path}${this.query}`, { method: 'POST', headers: [...this.#headers] })
  }
}
