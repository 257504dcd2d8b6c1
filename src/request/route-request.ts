import { type ErrorCode, type GatewayError, gatewayError } from '../errors.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { ClientKey } from '../records/key-lookup.ts'
import type { Caller, CallerAccount } from './caller.ts'
import type { RequestRecord, ServedBy } from './hook-records.ts'
import type { RequestLog, ServedRoute } from './request-log.ts'

/** The parts of a request to a route. */
export type RouteRequestParts = Pick<RouteRequest, 'exchange' | 'route' | 'caller' | 'log'>

/** A request with a known caller and a body that hasn't been read. */
export class KeyRequest {
  readonly exchange: Exchange
  readonly caller: Caller

  constructor({ exchange, caller }: Pick<KeyRequest, 'exchange' | 'caller'>) {
    this.exchange = exchange
    this.caller = caller
  }

  get key(): ClientKey | undefined {
    return this.caller.key
  }

  get method(): string {
    return this.exchange.method
  }

  get path(): string {
    return this.exchange.path
  }

  header(name: string): string | undefined {
    return this.exchange.header(name)
  }

  reject(message: string, { status = 403 }: { status?: number } = {}): never {
    throw createRejection(message, status)
  }
}

/** A request to a recorded route. */
export class RouteRequest extends KeyRequest {
  readonly route: ServedRoute
  readonly log: RequestLog

  constructor(parts: RouteRequestParts) {
    super(parts)
    this.route = parts.route
    this.log = parts.log
  }

  /** Whether the route calls a model. Requests to other routes make no attempts. */
  get callsModel(): boolean {
    return this.route.operation.kind !== undefined
  }

  get account(): CallerAccount | undefined {
    return this.caller.account
  }

  get id(): string {
    return this.log.id
  }

  get signal(): AbortSignal {
    return this.log.client.signal
  }

  get servedBy(): ServedBy {
    return this.log.servedBy
  }

  set servedBy(by: ServedBy) {
    this.log.servedBy = by
  }

  onEnd(listener: (record: RequestRecord) => void): void {
    this.log.onEnd(listener)
  }

  waitUntil(work: Promise<unknown>): void {
    this.log.waitFor(work)
  }
}

/** Creates the error that a step throws to reject a request or a target. */
export const createRejection = (message: string, status: number): GatewayError =>
  gatewayError(codeByStatus[status] ?? (status < 500 ? 'INVALID_REQUEST' : 'INTERNAL'), { status, message })

const codeByStatus: Partial<Record<number, ErrorCode>> = {
  401: 'IDENTITY_REQUIRED',
  402: 'BUDGET_EXCEEDED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  429: 'RATE_LIMIT_EXCEEDED',
  502: 'UPSTREAM_FAILED',
  503: 'TOO_BUSY',
  504: 'UPSTREAM_TIMEOUT',
}
