import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Exchange, UpstreamFetch } from '../../../src/index.ts'
import { isParsed, readBody, readParsedBody } from './request-body.ts'
import type { RequestTarget } from './request-target.ts'

const closeListeners = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls `listener` when the socket closes. Returns the function that removes it. Needed for pipelining: while a request waits behind another request
 * on the same connection, its response emits no `close`. Each socket has only one listener, regardless of how many requests wait.
 */
function onSocketClose(socket: Socket, listener: () => void): () => void {
  const listeners = closeListeners.get(socket) ?? watch(socket)
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function watch(socket: Socket): Set<() => void> {
  const listeners = new Set<() => void>()
  closeListeners.set(socket, listeners)
  socket.once('close', () => {
    for (const listener of listeners) listener()
  })
  return listeners
}

/** A Node request as an exchange. It creates Fetch objects only if your functions need one. It is a class, because one is created per request. */
export class NodeExchange implements Exchange {
  readonly method: string
  readonly path: string
  readonly query: string
  declare readonly upstream?: UpstreamFetch
  /** Whether the client disconnected before its response was complete. */
  isDisconnected = false
  readonly #req: IncomingMessage
  readonly #parsed: boolean
  #listeners: Array<() => void> | undefined = []

  constructor(req: IncomingMessage, res: ServerResponse, target: RequestTarget, upstream: UpstreamFetch | undefined) {
    this.method = req.method ?? 'GET'
    this.path = target.path
    this.query = target.query
    this.#req = req
    this.#parsed = isParsed(req)
    if (upstream) this.upstream = upstream
    if (res.destroyed) this.handleDisconnect()
    else watchClient(this, req, res)
  }

  header(name: string): string | undefined {
    const value: unknown = this.#req.headers[name] // a name such as `constructor` would find a prototype property
    if (this.#parsed && isWireHeader(name)) return undefined
    if (typeof value === 'string') return value
    return Array.isArray(value) ? value.join(', ') : undefined
  }

  copyHeaders(names: ReadonlySet<string>, into: Record<string, string>): void {
    for (const name in this.#req.headers) {
      const value = names.has(name) ? this.header(name) : undefined
      if (value !== undefined) into[name] = value
    }
  }

  body(maxBytes: number): Promise<Uint8Array> {
    return this.#parsed
      ? readParsedBody(this.#req, maxBytes)
      : readBody(this.#req, maxBytes, (listener) => this.onAbort(listener))
  }

  onAbort(listener: () => void): () => void {
    if (this.isDisconnected) listener()
    const listeners = this.#listeners
    listeners?.push(listener)
    return () => {
      const index = listeners?.indexOf(listener) ?? -1
      if (index >= 0) listeners?.splice(index, 1)
    }
  }

  get platform(): IncomingMessage {
    return this.#req
  }

  get scheme(): string {
    return 'encrypted' in this.#req.socket ? 'https' : 'http'
  }

  toRequest(): Request {
    const url = `${this.scheme}://${this.#req.headers.host ?? 'localhost'}${this.path}${this.query}`
    const request = createRequest(url, this.method, this)
    const { headers } = request // adding headers here is faster than copying a `Headers` object
    for (const [name, value] of Object.entries(this.#req.headers)) {
      if (Array.isArray(value)) for (const item of value) headers.append(name, item)
      else headers.append(name, value ?? '')
    }
    return request
  }

  /** Marks the response as complete: from now on, a closed connection doesn't mean that the client aborted. */
  settle(): void {
    this.#listeners = undefined
  }

  /** Handles a closed connection. */
  handleDisconnect(): void {
    const listeners = this.#listeners
    if (!listeners) return
    this.isDisconnected = true
    this.#listeners = undefined
    for (const listener of [...listeners]) listener() // a listener may remove itself or another listener
  }
}

type CreateRequest = (url: string, method: string, client: Pick<NodeExchange, 'onAbort'>) => Request

let create: CreateRequest | undefined

/**
 * Creates a Fetch request whose signal aborts when the client disconnects. The signal is created on first use, because it costs as much as the rest
 * of the request.
 */
const createRequest: CreateRequest = (...args) => {
  create ??= defineRequest()
  return create(...args)
}

/** Defines the class on first use, because accessing `Request` makes Node load its own `fetch`. */
function defineRequest(): CreateRequest {
  class IncomingRequest extends Request {
    readonly #client: Pick<NodeExchange, 'onAbort'>
    #signal: AbortSignal | undefined

    constructor(url: string, method: string, client: Pick<NodeExchange, 'onAbort'>) {
      super(url, { method })
      this.#client = client
    }

    override get signal(): AbortSignal {
      if (this.#signal) return this.#signal
      const abort = new AbortController()
      this.#signal = abort.signal
      this.#client.onAbort(() => abort.abort())
      return abort.signal
    }
  }
  return (...args) => new IncomingRequest(...args)
}

function watchClient(exchange: NodeExchange, req: IncomingMessage, res: ServerResponse): void {
  const onClose = () => {
    forget?.()
    exchange.handleDisconnect()
  }
  const forget = res.socket ? undefined : onSocketClose(req.socket, onClose)
  res.on('close', onClose)
}

/** Returns whether the header describes the bytes on the wire, which no longer match once a body parser has read them. */
const isWireHeader = (name: string): boolean => name === 'content-encoding' || name === 'content-length'
